"""The labels of people: paired with a judge's verdicts, with each other, and with the best constant answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..stats.raters import Vote, human_pairs, krippendorff_alpha, majority_label, rater_pairs
from ..stats.statistic import Statistic
from .figures import compare
from .measure import Measure, Pairs
from .report import Baseline, Ceiling, RaterPairReport

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from ..stats.bootstrap import BootstrapInterval
    from ..stats.raters import Metric

__all__ = ["baseline_of", "ceiling_of", "has_several", "majority_pairs", "majority_value", "pooled_pairs"]


def has_several(samples: Sequence[LabelledSample]) -> bool:
    """Whether any sample was labelled by more than one person."""
    return any(len(each.labels) > 1 for each in samples)


def majority_value(labelled: LabelledSample) -> Code | None:
    """The label that most people gave; None without one, or without labels."""
    if len(labelled.labels) == 1:  # nearly always, and counting takes its time
        return labelled.labels[0].code
    return majority_label(label.code for label in labelled.labels)


def pooled_pairs(samples: Sequence[LabelledSample], verdicts: Sequence[Code | None]) -> Pairs:
    """Every person's label beside the judge's value for the sample, where there is one."""
    human: list[Code] = []
    judge: list[Code] = []
    clusters: list[str] = []
    for labelled, value in zip(samples, verdicts, strict=True):
        if value is None:
            continue
        name = _cluster(labelled)
        for label in labelled.labels:
            human.append(label.code)
            judge.append(value)
            clusters.append(name)
    return Pairs(human, judge, clusters if len(set(clusters)) < len(clusters) else None)


def majority_pairs(samples: Sequence[LabelledSample], verdicts: Sequence[Code | None]) -> tuple[Pairs, int]:
    """The label of most people beside the judge's value, and how many judged samples have no such label."""
    human: list[Code] = []
    judge: list[Code] = []
    clusters: list[str] = []
    without = 0
    for labelled, value in zip(samples, verdicts, strict=True):
        if value is None or not labelled.labels:
            continue
        label = majority_value(labelled)
        if label is None:
            without += 1
            continue
        human.append(label)
        judge.append(value)
        clusters.append(_cluster(labelled))
    return Pairs(human, judge, clusters if len(set(clusters)) < len(clusters) else None), without


def baseline_of(samples: Sequence[LabelledSample], measure: Measure) -> Baseline | None:
    """The best constant answer: the most frequent label, or the median of continuous scores. None without labels."""
    labels = [label.code for each in samples for label in each.labels]
    if not labels:
        return None
    answer = _median(labels) if measure.scale.kind == "continuous" else _most_frequent(labels, measure)
    pairs = pooled_pairs(samples, [answer] * len(samples))
    return Baseline(answer, compare(pairs, measure))


def ceiling_of(samples: Sequence[LabelledSample], measure: Measure) -> Ceiling | None:
    """How far people agree among themselves; None where no sample has the labels of two named people."""
    votes = [
        Vote(each.sample.id, label.rater, label.code)
        for each in samples
        for label in each.labels
        if label.rater is not None
    ]
    clusters = {each.sample.id: each.sample.cluster for each in samples if each.sample.cluster is not None}
    found = human_pairs(votes, {item: f"cluster {name}" for item, name in clusters.items()})
    if not found:
        return None
    names = [pair.cluster for pair in found]
    pooled = Pairs(
        [pair.first for pair in found],
        [pair.second for pair in found],
        names if len(set(names)) < len(names) else None,
    )
    pairs = tuple(
        _rater_pair(each.raters, Pairs([one for one, _ in each.labels], [other for _, other in each.labels]))
        for each in rater_pairs(votes)
    )
    return Ceiling(compare(pooled, measure), pairs, _alpha(samples, measure))


def _rater_pair(raters: tuple[str, str], pairs: Pairs) -> RaterPairReport:
    from ..stats.agreement import agreement
    from ..stats.weighted_kappa import cohen_kappa

    classes = list(dict.fromkeys((*pairs.human, *pairs.judge)))
    numbers = {value: number for number, value in enumerate(classes)}
    human, judge = ([numbers[value] for value in column] for column in (pairs.human, pairs.judge))
    return RaterPairReport(raters, cohen_kappa(human, judge, len(classes)), agreement(human, judge), len(pairs))


def _alpha(samples: Sequence[LabelledSample], measure: Measure) -> Statistic:
    metrics: dict[str, Metric] = {"ordinal": "ordinal", "continuous": "interval"}
    metric = metrics.get(measure.scale.kind, "nominal")
    units: list[list[Code]] = [[label.code for label in each.labels] for each in samples]
    clusters = [each.sample.cluster for each in samples]
    if metric == "nominal":
        units = [[str(code) for code in unit] for unit in units]
    shared = clusters if any(name is not None for name in clusters) else None
    found = krippendorff_alpha(units, metric, shared, seed=measure.seed, draws=measure.draws)  # type: ignore[arg-type]
    return _statistic(found)


def _statistic(found: BootstrapInterval) -> Statistic:
    reason = None
    if found.value is None:
        reason = "all labels are the same, or no two are of one sample"
    elif found.lo is None:
        reason = "the labels do not vary enough for an interval"
    return Statistic(found.value, found.n, found.lo, found.hi, found.method, found.se, reason=reason)


def _cluster(labelled: LabelledSample) -> str:
    cluster = labelled.sample.cluster
    return f"sample {labelled.sample.id}" if cluster is None else f"cluster {cluster}"


def _most_frequent(labels: Sequence[Code], measure: Measure) -> Code:
    """Of several equally frequent ones, the first of the scale."""
    counts = Counter(labels)
    return max(measure.classes, key=lambda value: counts[value])


def _median(labels: Sequence[Code]) -> float:
    from statistics import median

    return median(float(label) for label in labels)
