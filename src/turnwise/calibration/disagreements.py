"""Where people and judge think differently, the ones that could do harm first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .people import majority_value
from .report import Disagreement

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from .judgement import SampleVerdict
    from .measure import Measure

__all__ = ["disagreements_of"]


def disagreements_of(
    samples: Sequence[LabelledSample], verdicts: Sequence[SampleVerdict], measure: Measure
) -> tuple[Disagreement, ...]:
    """The samples on which a judge and most people differ: dangerous ones first, then by distance. Where people are
    split, it is held against the one of whom it is furthest away.

    Dangerous is a judge that passes what people fail. Where nothing is said to pass, it is a distance of half the scale
    or more, or, where there are ties, the opposite choice.
    """
    half = _half_the_scale(samples, measure)
    found = []
    for labelled, verdict in zip(samples, verdicts, strict=True):
        if verdict.value is None or not labelled.labels:
            continue
        majority = majority_value(labelled)
        if majority is not None:
            against = [] if majority == verdict.value else [majority]
        else:
            against = [label.code for label in labelled.labels if label.code != verdict.value]
        told = [_disagreement(labelled, human, verdict, measure, half, majority is None) for human in against]
        if told:
            found.append(min(told, key=_order))
    return tuple(sorted(found, key=_order))


def _order(each: Disagreement) -> tuple[bool, float]:
    return not each.dangerous, -each.distance


def _disagreement(
    labelled: LabelledSample, human: Code, verdict: SampleVerdict, measure: Measure, half: float, split: bool
) -> Disagreement:
    judge = verdict.value
    assert judge is not None
    distance = _distance(human, judge)
    reason = next((label.reason for label in labelled.labels if label.code == human and label.reason), None)
    dangerous = _is_dangerous(human, judge, distance, measure, half)
    return Disagreement(labelled.sample.id, human, judge, distance, dangerous, reason, verdict.reason, split)


def _distance(human: Code, judge: Code) -> float:
    return 1.0 if isinstance(human, str) or isinstance(judge, str) else abs(judge - human)


def _is_dangerous(human: Code, judge: Code, distance: float, measure: Measure, half: float) -> bool:
    if measure.has_rates:
        return measure.is_good(judge) and not measure.is_good(human)
    if measure.is_numeric:
        return half > 0 and distance >= half
    tie = measure.scale.tie
    return tie is not None and tie not in (human, judge)


def _half_the_scale(samples: Sequence[LabelledSample], measure: Measure) -> float:
    if not measure.is_numeric or measure.has_rates:
        return 0.0
    scale = measure.scale
    if scale.min is not None and scale.max is not None:
        return float(scale.max - scale.min) / 2.0
    values = scale.values or [label.code for each in samples for label in each.labels]
    numbers = [float(value) for value in values if not isinstance(value, str)]
    return (max(numbers) - min(numbers)) / 2.0 if numbers else 0.0
