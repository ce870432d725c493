"""From samples and what judges answered to the whole report of a calibration. Pure but for the clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..decks.sample_hash import samples_hash
from ..errors import DeckError
from ..graders.human_labels import LabelledSample, code_labels
from ..graders.human_scale import scale_for
from ..graders.verdict_scale import Code
from ..stats.bootstrap import DRAWS
from ..suite.reading import garbage_collection_paused
from .differences import paired_differences
from .gates import Gate, check_gates
from .judgement import Output, SampleVerdict, judged
from .measure import Measure, measure_for
from .model_report import ModelInputs, model_report
from .people import baseline_of, ceiling_of, majority_value, pooled_pairs
from .recommendation import Thresholds
from .report import Baseline, Calibration, Ceiling, DeckIdentity, Item, ModelReport, SampleCounts, Slice, Warned
from .versions import versions
from .warned import about_model, about_samples

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..decks.scale import ScaleSpec

__all__ = ["Context", "Outputs", "analyse", "samples_hash"]

Outputs = Mapping[str, Mapping[str, Sequence[Output]]]
"""What each model answered, by the sample's id, in the order of repeats."""

MOST_SLICES = 200
_NO_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Context:
    """What is known beside samples and outputs: the deck, the models' settings and hashes, what else to warn of."""

    deck: DeckIdentity | None = None
    thresholds: Thresholds = _NO_THRESHOLDS
    gates: Sequence[Gate] = ()
    skipped: int = 0
    files: tuple[str, ...] = ()
    warnings: Sequence[Warned] = ()
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False


@garbage_collection_paused()
def analyse(
    samples: Sequence[Sample],
    outputs: Outputs,
    spec: ScaleSpec | None,
    context: Context | None = None,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Calibration:
    """Compare every model with the labels. Raises `DeckError` for labels that are not on the scale."""
    known = context or Context()
    scale = scale_for(spec, samples)
    labelled, problems = code_labels(samples, scale)
    if problems:
        raise DeckError(problems)
    verdicts = {
        model: [judged(by_sample.get(each.id, ()), scale) for each in samples] for model, by_sample in outputs.items()
    }
    human = [label.code for each in labelled for label in each.labels]
    said = {verdict.value for each in verdicts.values() for verdict in each if verdict.value is not None}
    measure = measure_for(scale, human, said, seed=seed, draws=draws)
    whole = _compared(labelled, outputs, verdicts, measure, known)
    counts = _counts(labelled, known)
    clustered = counts.clusters < sum(len(each.labels) for each in labelled)
    warnings = [
        *about_samples(labelled, _class_counts(labelled, measure), measure, clustered=clustered),
        *whole.warnings,
    ]
    slices, left_out = _slices(labelled, outputs, verdicts, measure, known)
    if left_out:
        message = f"{left_out} tags are not shown: slices are made of the {MOST_SLICES} most frequent ones"
        warnings.append(Warned("too_many_tags", message, "use fewer tags"))
    return Calibration(
        generated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        deck=known.deck,
        scale=scale,
        samples=counts,
        models=whole.models,
        baseline=whole.baseline,
        ceiling=whole.ceiling,
        slices=slices,
        warnings=(*known.warnings, *warnings),
        seed=seed,
        draws=draws,
        versions=versions(),
        items=_items(labelled, verdicts),
        gates=check_gates(known.gates, whole.models),
        replayed=known.replayed,
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    models: tuple[ModelReport, ...]
    baseline: Baseline | None
    ceiling: Ceiling | None
    warnings: list[Warned]


def _compared(
    labelled: Sequence[LabelledSample],
    outputs: Outputs,
    verdicts: Mapping[str, Sequence[SampleVerdict]],
    measure: Measure,
    known: Context,
    *,
    is_slice: bool = False,
) -> _Compared:
    baseline = baseline_of(labelled, measure)
    classes = _class_counts(labelled, measure)
    values = {model: [verdict.value for verdict in each] for model, each in verdicts.items()}
    differences = {} if is_slice else paired_differences(labelled, values, measure)
    votes = sum(len(each.labels) for each in labelled)
    models: list[ModelReport] = []
    warnings: list[Warned] = []
    for model, each in verdicts.items():
        inputs = ModelInputs(
            model, each, outputs[model], classes, baseline, known.thresholds, known.settings.get(model, {}), is_slice
        )
        report = replace(
            model_report(labelled, inputs, measure),
            differences=differences.get(model, ()),
            hash=known.hashes.get(model),
        )
        models.append(report)
        warnings += about_model(report, pooled_pairs(labelled, values[model]), baseline, measure, votes)
    return _Compared(tuple(models), baseline, ceiling_of(labelled, measure), warnings)


def _slices(
    labelled: Sequence[LabelledSample],
    outputs: Outputs,
    verdicts: Mapping[str, Sequence[SampleVerdict]],
    measure: Measure,
    known: Context,
) -> tuple[dict[str, Slice], int]:
    """The samples of each tag, and how many tags are left out."""
    where: dict[str, list[int]] = {}
    for place, each in enumerate(labelled):
        for tag in dict.fromkeys(each.sample.tags):
            where.setdefault(tag, []).append(place)
    tags = Counter({tag: len(places) for tag, places in where.items()})
    shown = [tag for tag, _ in tags.most_common(MOST_SLICES)]
    found: dict[str, Slice] = {}
    for tag in sorted(shown):
        places = where[tag]
        part = [labelled[place] for place in places]
        chosen = {model: [each[place] for place in places] for model, each in verdicts.items()}
        compared = _compared(part, outputs, chosen, measure, known, is_slice=True)
        found[tag] = Slice(compared.models, compared.baseline, compared.ceiling)
    return found, len(tags) - len(shown)


def _class_counts(labelled: Sequence[LabelledSample], measure: Measure) -> dict[Code, int]:
    """How often people gave each label. Of scores, those that nobody gave are no class; of words, they are."""
    if measure.scale.kind == "continuous":
        return {}
    counts = Counter(label.code for each in labelled for label in each.labels)
    named = () if measure.scale.kind == "ordinal" else (measure.scale.labels or measure.scale.values)
    return {label: counts[label] for label in measure.classes if counts[label] or label in named}


def _counts(labelled: Sequence[LabelledSample], known: Context) -> SampleCounts:
    with_labels = [each for each in labelled if each.labels]
    clusters = {each.sample.cluster or (each.sample.id,) for each in with_labels}
    raters = {label.rater for each in with_labels for label in each.labels}
    return SampleCounts(
        total=len(labelled),
        labelled=len(with_labels),
        skipped=known.skipped,
        clusters=len(clusters),
        raters=len(raters),
        ungradable=sum(not each.labels and each.ungradable > 0 for each in labelled),
        hash=samples_hash(each.sample for each in labelled),
        files=known.files or tuple(dict.fromkeys(each.sample.file for each in labelled)),
        ungradable_labels=sum(each.ungradable for each in labelled),
    )


def _items(labelled: Sequence[LabelledSample], verdicts: Mapping[str, Sequence[SampleVerdict]]) -> list[Item]:
    return [
        Item(
            each.sample,
            each.labels,
            majority_value(each),
            {model: said[place] for model, said in verdicts.items()},
        )
        for place, each in enumerate(labelled)
    ]
