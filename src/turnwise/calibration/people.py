"""The labels of people: paired with a judge's verdicts, with each other, and with the best constant answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..stats.krippendorff import krippendorff_alpha
from ..stats.raters import Vote, human_pairs, majority_label, rater_pairs
from ..stats.statistic import undefined
from .figures import MOST_CLASSES, TOO_MANY_CLASSES, compare
from .measure import Measure, Pairs
from .report import Baseline, Ceiling, RaterPairReport

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from ..stats.krippendorff import Metric
    from ..stats.raters import Pair
    from ..stats.statistic import Statistic

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
    clusters = {each.sample.id: f"cluster {each.sample.cluster}" for each in samples if each.sample.cluster is not None}
    found = human_pairs(votes, clusters)
    if not found:
        return None
    pairs = tuple(_rater_pair(each.raters, _columns(each.labels)) for each in rater_pairs(votes, clusters))
    return Ceiling(compare(_columns(found), measure), pairs, _alpha(samples, measure))


def _columns(found: Sequence[Pair[Code]]) -> Pairs:
    names = [pair.cluster for pair in found]
    return Pairs(
        [pair.first for pair in found],
        [pair.second for pair in found],
        names if len(set(names)) < len(names) else None,
    )


def _rater_pair(raters: tuple[str, str], pairs: Pairs) -> RaterPairReport:
    from ..stats.agreement import agreement
    from ..stats.weighted_kappa import cohen_kappa

    classes = list(dict.fromkeys((*pairs.human, *pairs.judge)))
    numbers = {value: number for number, value in enumerate(classes)}
    human, judge = ([numbers[value] for value in column] for column in (pairs.human, pairs.judge))
    if len(classes) > MOST_CLASSES:
        kappa = undefined(len(pairs), TOO_MANY_CLASSES)
    else:
        kappa = cohen_kappa(human, judge, len(classes), pairs.clusters)
    return RaterPairReport(raters, kappa, agreement(human, judge, pairs.clusters), len(pairs))


def _alpha(samples: Sequence[LabelledSample], measure: Measure) -> Statistic:
    metrics: dict[str, Metric] = {"ordinal": "ordinal", "continuous": "interval"}
    metric = metrics.get(measure.scale.kind, "nominal")
    units: list[list[Code]] = [[label.code for label in each.labels] for each in samples]
    clusters = [each.sample.cluster for each in samples]
    if metric == "nominal":
        units = [[str(code) for code in unit] for unit in units]
    shared = clusters if any(name is not None for name in clusters) else None
    return krippendorff_alpha(units, metric, shared, seed=measure.seed, draws=measure.draws)  # type: ignore[arg-type]


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
