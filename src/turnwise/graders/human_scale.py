"""The scale of a calibration: the one that the deck declares, or else the one that the human labels are on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .verdict_scale import Code, Scale, ScaleKind, comparable, declared_scale

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..decks.scale import ScaleSpec

__all__ = ["Code", "Scale", "ScaleKind", "comparable", "declared_scale", "human_values", "inferred_scale", "scale_for"]

_MOST_STEPS = 11


def scale_for(spec: ScaleSpec | None, samples: Iterable[Sample]) -> Scale:
    """The scale that a deck declares; without a declaration, the one that the labels of the samples are on."""
    values = human_values(samples)
    return inferred_scale(values) if spec is None else declared_scale(spec, values)


def human_values(samples: Iterable[Sample]) -> list[Code]:
    """Every label that a person gave, as it is written: those of several raters, or else the expected one."""
    values: list[Code] = []
    for sample in samples:
        given = sample.labels or ((sample.expected,) if sample.expected is not None else ())
        values += [label.value for label in given if label.value is not None]
    return values


def inferred_scale(values: Sequence[Code]) -> Scale:
    """Two labels are binary; other words categorical; at most 11 whole numbers ordinal; all else is continuous.

    >>> inferred_scale(["pass", "Fail", "PASS"])
    Scale(kind='binary', declared=False, values=(), labels=('Fail', 'pass'), ...)
    >>> inferred_scale([1, "2", 5]).kind, inferred_scale([0.1, 0.2, 0.3]).kind
    ('ordinal', 'continuous')
    """
    # Of several spellings the first is kept.
    first = {comparable(value): value for value in reversed(values)}
    numbers = sorted(value for value in first if not isinstance(value, str))
    if len(numbers) < len(first):
        return _of_words([str(value).strip() for value in first.values()])
    return Scale(_numeric_kind(numbers), declared=False, values=tuple(numbers))


def _of_words(words: list[str]) -> Scale:
    labels = tuple(sorted(words, key=lambda word: (word.casefold(), word)))
    tie = next((label for label in labels if label.casefold() == "tie"), None)
    return Scale("binary" if len(labels) == 2 else "categorical", declared=False, labels=labels, tie=tie)


def _numeric_kind(distinct: list[float]) -> ScaleKind:
    if len(distinct) == 2:
        return "binary"
    are_steps = distinct and len(distinct) <= _MOST_STEPS and all(float(each).is_integer() for each in distinct)
    return "ordinal" if are_steps else "continuous"
