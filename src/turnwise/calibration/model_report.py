"""One judge against the labels: its figures, what it could not be asked, and what it may be used for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graders.verdict import Status, Verdict
from ..stats.percentiles import Percentiles
from .disagreements import disagreements_of
from .figures import compare, confusion_counts
from .people import has_several, majority_pairs, pooled_pairs
from .recommendation import Thresholds, recommend
from .report import Bounds, Confusion, InvalidOutput, Latency, ModelReport, RepeatCounts, TokenUsage

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from ..stats.statistic import Statistic
    from .judgement import Output, SampleVerdict
    from .measure import Measure, Pairs
    from .report import Baseline

__all__ = ["ModelInputs", "model_report"]


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """What the report of a model is made of. `is_slice`: only a part of the samples, so only the figures are wanted."""

    model: str
    verdicts: Sequence[SampleVerdict]
    outputs: Mapping[str, Sequence[Output]]
    classes: Mapping[Code, int]
    baseline: Baseline | None
    thresholds: Thresholds
    settings: Mapping[str, object]
    is_slice: bool = False


def model_report(samples: Sequence[LabelledSample], inputs: ModelInputs, measure: Measure) -> ModelReport:
    """All about one judge but how it differs from others."""
    verdicts = inputs.verdicts
    values = [verdict.value for verdict in verdicts]
    pairs = pooled_pairs(samples, values)
    figures = compare(pairs, measure)
    several = has_several(samples)
    majority, without = majority_pairs(samples, values) if several else (None, 0)
    counts = confusion_counts(pairs, measure)
    repeats = _repeats(verdicts)
    given = [output for each in samples for output in inputs.outputs.get(each.sample.id, ())]
    whole = not inputs.is_slice
    return ModelReport(
        model=inputs.model,
        total=sum(max(1, len(verdict.answers)) for verdict in verdicts),
        valid=sum(isinstance(answer, Verdict) for verdict in verdicts for answer in verdict.answers),
        invalid=_invalid(verdicts),
        repaired=_repaired(verdicts),
        bounds=Bounds(None, None) if measure.scale.kind == "continuous" else _bounds(samples, values),
        headline=measure.headline,
        statistics={**figures, **(_repeat_figures(samples, verdicts) if repeats is not None else {})},
        statistics_majority=None if majority is None else compare(majority, measure),
        without_majority=without,
        confusion=None if counts is None else Confusion(measure.classes, counts),
        design_effect=_design_effect(figures, measure),
        verdict=recommend(
            figures,
            inputs.baseline,
            _judged_classes(pairs, inputs.classes, measure),
            measure,
            inputs.thresholds,
            _chance(pairs),
        ),
        disagreements=disagreements_of(samples, verdicts, measure) if whole else (),
        invalid_outputs=_invalid_outputs(samples, verdicts) if whole else (),
        repeats=repeats,
        usage=_usage(given),
        cost_usd=_cost(given),
        cost_usd_per_1000=_cost_per_1000(given, len(samples)),
        latency_ms=_latency(given),
        settings=inputs.settings,
    )


def _invalid(verdicts: Sequence[SampleVerdict]) -> dict[str, int]:
    """Outputs that are no verdicts, by kind; a sample without any output is one that is missing."""
    kinds = Counter(answer.kind for verdict in verdicts for answer in verdict.answers if isinstance(answer, Status))
    kinds["missing"] += sum(not verdict.answers for verdict in verdicts)
    return {kind: count for kind, count in kinds.most_common() if count}


def _repaired(verdicts: Sequence[SampleVerdict]) -> dict[str, int]:
    answers = (answer for verdict in verdicts for answer in verdict.answers if isinstance(answer, Verdict))
    return dict(Counter(repair for answer in answers for repair in answer.repairs).most_common())


def _bounds(samples: Sequence[LabelledSample], values: Sequence[Code | None]) -> Bounds:
    """The agreement over all votes, where those on samples without a verdict are all wrong, or all right."""
    right = without = votes = 0
    for labelled, value in zip(samples, values, strict=True):
        votes += len(labelled.labels)
        if value is None:
            without += len(labelled.labels)
        else:
            right += sum(label.code == value for label in labelled.labels)
    return Bounds(right / votes, (right + without) / votes) if votes else Bounds(None, None)


def _judged_classes(pairs: Pairs, classes: Mapping[Code, int], measure: Measure) -> dict[Code, int]:
    """How many labels of each class the judge has given a verdict on: the others tell nothing about it."""
    counts = Counter(pairs.human)
    if measure.scale.kind == "continuous" and measure.has_rates:
        good = sum(count for label, count in counts.items() if measure.is_good(label))
        return {"good": good, "not good": len(pairs) - good}
    return {label: counts[label] for label in classes}


def _chance(pairs: Pairs) -> float | None:
    """The agreement that two raters with these habits would have by chance."""
    n = len(pairs)
    if not n:
        return None
    human, judge = Counter(pairs.human), Counter(pairs.judge)
    expected = sum(count * judge[label] for label, count in human.items()) / n**2
    return expected if expected < 1.0 else None


def _design_effect(figures: Mapping[str, Statistic], measure: Measure) -> float | None:
    names = (measure.decisive, "agreement", "mae")
    found = (figures[name].design_effect for name in names if name in figures)
    return next((effect for effect in found if effect is not None), None)


def _invalid_outputs(samples: Sequence[LabelledSample], verdicts: Sequence[SampleVerdict]) -> tuple[InvalidOutput, ...]:
    return tuple(
        InvalidOutput(labelled.sample.id, repeat, answer.kind, answer.detail, answer.raw)
        for labelled, verdict in zip(samples, verdicts, strict=True)
        for repeat, answer in enumerate(verdict.answers, start=1)
        if isinstance(answer, Status)
    )


def _repeats(verdicts: Sequence[SampleVerdict]) -> RepeatCounts | None:
    from .judgement import UNDECIDED

    most = max((len(verdict.answers) for verdict in verdicts), default=0)
    if most < 2:
        return None
    answers = [answer for verdict in verdicts for answer in verdict.answers]
    valid = sum(isinstance(answer, Verdict) for answer in answers)
    return RepeatCounts(most, len(answers), valid, sum(verdict.status == UNDECIDED for verdict in verdicts))


def _repeat_figures(samples: Sequence[LabelledSample], verdicts: Sequence[SampleVerdict]) -> dict[str, Statistic]:
    """How far the judge agrees with itself on the samples that people have labelled, as in all other figures."""
    from ..stats.repeats import flip_rate, self_agreement

    kept = [(each.sample, verdict.values) for each, verdict in zip(samples, verdicts, strict=True) if each.labels]
    values, clusters = [given for _, given in kept], [sample.cluster for sample, _ in kept]
    return {"self_agreement": self_agreement(values, clusters), "flip_rate": flip_rate(values, clusters)}


def _usage(outputs: Sequence[Output]) -> TokenUsage | None:
    counted = [each for each in outputs if each.input_tokens is not None or each.output_tokens is not None]
    if not counted:
        return None
    total = (sum(each.input_tokens or 0 for each in counted), sum(each.output_tokens or 0 for each in counted))
    return TokenUsage(*total, len(counted))


def _cost(outputs: Sequence[Output]) -> float | None:
    """What all outputs cost; None where the cost of any of them is not known."""
    costs = [each.cost_usd for each in outputs if each.failure is None and not each.is_cached]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _cost_per_1000(outputs: Sequence[Output], samples: int) -> float | None:
    """What a thousand verdicts cost, repeats included. Answers from the cache cost nothing now, and tell nothing; None
    where the cost of any other is not known."""
    asked = [each for each in outputs if each.failure is None and not each.is_cached]
    known = [each.cost_usd for each in asked if each.cost_usd is not None]
    if not known or len(known) < len(asked) or not samples:
        return None
    answers_per_verdict = max(1.0, len(outputs) / samples)
    return math.fsum(known) / len(known) * answers_per_verdict * 1000.0


def _latency(outputs: Sequence[Output]) -> Latency | None:
    times = [each.latency_ms for each in outputs if each.latency_ms is not None]
    if not times:
        return None
    found = Percentiles()
    for each in times:
        found.add(each)
    half, slow = found.at(50), found.at(95)
    assert half is not None
    assert slow is not None
    return Latency(math.fsum(times) / len(times), half, slow, len(times))
