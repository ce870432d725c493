"""From a verdict on a deck's scale to the score of a grade, from 0 to 1. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .verdict_scale import comparable

if TYPE_CHECKING:
    from .verdict_scale import Code, Scale

__all__ = ["passes", "unit_score", "why_no_score"]

_GOOD = frozenset({"yes", "pass", "true", "good"})


def why_no_score(scale: Scale) -> str | None:
    """What a scale lacks for its verdicts to be scores; None if it lacks nothing.

    >>> from .verdict_scale import Scale
    >>> why_no_score(Scale("ordinal", min=1, max=5))
    >>> why_no_score(Scale("categorical", labels=("formal", "casual")))
    'which label is good; give `pass`'
    """
    if scale.has_words and not scale.labels:
        return "its `labels`"
    if scale.labels:
        return None if _good_label(scale) is not None else "which label is good; give `pass`"
    if _ends(scale) is None:
        return "`min` and `max`, or `values`"
    return None


def unit_score(value: Code, scale: Scale) -> float:
    """The share of the way from the lowest score to the highest; of labels, the good one is 1 and others are 0.

    >>> from .verdict_scale import Scale
    >>> unit_score(2, Scale("ordinal", min=-3, max=3)), unit_score("fail", Scale("binary", labels=("fail", "pass")))
    (0.8333333333333334, 0.0)
    """
    if isinstance(value, str):
        return 1.0 if value == _good_label(scale) else 0.0
    ends = _ends(scale)
    assert ends is not None
    low, high = ends
    # Halves, since the distance of two huge numbers may be infinite.
    return min(max((value / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0)


def passes(value: Code, scale: Scale) -> bool | None:
    """Whether the verdict is good enough by the `pass` of the scale; None if it has none."""
    if scale.pass_ is None:
        return None
    if isinstance(value, str) or isinstance(scale.pass_, str):
        return comparable(value) == comparable(scale.pass_)
    return value >= scale.pass_


def _good_label(scale: Scale) -> Code | None:
    if scale.pass_ is not None:
        return scale.code(scale.pass_)
    good = [label for label in scale.labels if label.strip().casefold() in _GOOD]
    return good[0] if len(good) == 1 else None


def _ends(scale: Scale) -> tuple[float, float] | None:
    if scale.values:
        return min(scale.values), max(scale.values)
    return None if scale.min is None or scale.max is None else (scale.min, scale.max)
