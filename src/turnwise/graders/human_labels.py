"""Human labels in the one form that the scale gives them; what is not on the scale is an error with its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..suite.paths import shown_path
from .human_scale import scale_for
from .verdict_scale import LARGEST_SCORE

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from ..decks.sample import HumanLabel, Sample
    from ..suite.paths import DataPath
    from .verdict_scale import Code, Scale

__all__ = ["CodedLabel", "LabelledSample", "code_labels", "off_scale_labels", "third_label"]


@dataclass(frozen=True, slots=True)
class CodedLabel:
    """What one person said of one sample. `rater` is None where the sample has only its expected label."""

    code: Code
    rater: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """A sample with its labels on the scale. `ungradable` counts the labels that say there is nothing to grade."""

    sample: Sample
    labels: tuple[CodedLabel, ...]
    ungradable: int = 0


def code_labels(samples: Iterable[Sample], scale: Scale) -> tuple[list[LabelledSample], list[Diagnostic]]:
    """Every sample with its labels, unlabelled ones too, and an error for each label that is not on the scale."""
    coded: list[LabelledSample] = []
    problems: list[Diagnostic] = []
    for sample in samples:
        labels: list[CodedLabel] = []
        ungradable = 0
        for path, label in _written(sample):
            value = label.value
            if value is None:
                continue
            if scale.is_ungradable(value):
                ungradable += 1
                continue
            code = scale.code(value)
            if code is None or _is_too_large(code):
                problems.append(_not_on_the_scale(value, scale, sample, path))
            else:
                labels.append(CodedLabel(code, label.rater, label.reason))
        coded.append(LabelledSample(sample, tuple(labels), ungradable))
    return coded, problems


def third_label(samples: Sequence[Sample], scale: Scale) -> list[Diagnostic]:
    """The error of a scale that says binary, names no values, and finds more than two among the labels."""
    named = scale.labels or scale.values
    if scale.kind != "binary" or len(named) <= 2:
        return []
    seen: set[Code] = set()
    for sample in samples:
        for path, label in _written(sample):
            value = None if label.value is None else scale.code(label.value)
            if value is not None:
                seen.add(value)
            if len(seen) > 2:
                found = ", ".join(str(each) for each in named)
                message = f"the scale is binary, and people have given {len(named)} different labels: {found}"
                place = sample.source.place((*sample.path, *path))
                hint = "name the two `labels` or `values` in [scale], or take another `kind`"
                return [Diagnostic("error", "off-scale", message, sample.file, place, hint, "", sample.id)]
    return []


def off_scale_labels(deck: Deck) -> list[Diagnostic]:
    """An error for each label of a deck's own samples that is not on its scale."""
    scale = scale_for(deck.scale, deck.samples)
    return [*third_label(deck.samples, scale), *code_labels(deck.samples, scale)[1]]


def _written(sample: Sample) -> list[tuple[DataPath, HumanLabel]]:
    """The labels with their places: several people's, or else the expected one."""
    if sample.labels:
        return [(("labels", index), label) for index, label in enumerate(sample.labels)]
    return [] if sample.expected is None else [(("expected",), sample.expected)]


def _not_on_the_scale(value: Code, scale: Scale, sample: Sample, path: DataPath) -> Diagnostic:
    full = (*sample.path, *path)
    wanted = f"a number up to {LARGEST_SCORE:g}" if _is_too_large(value) else _described(scale)
    message = f"the label {value!r} of sample `{sample.id}` is not on the scale: {wanted}"
    hint = "correct the label, or the deck's [scale]"
    place = sample.source.place(full)
    if place == sample.place:  # no `expected` is written: `score` is short for it
        place = sample.source.place((*sample.path, "score"))
    return Diagnostic("error", "off-scale", message, sample.file, place, hint, shown_path(full), sample.id)


def _is_too_large(value: Code) -> bool:
    return not isinstance(value, str) and abs(value) > LARGEST_SCORE


def _described(scale: Scale) -> str:
    if scale.labels:
        return f"one of {', '.join(scale.labels)}"
    if scale.values:
        return f"one of {', '.join(str(value) for value in scale.values)}"
    if scale.min is not None and scale.max is not None:
        return f"a number from {scale.min} to {scale.max}"
    if scale.min is not None or scale.max is not None:
        return f"a number of at least {scale.min}" if scale.max is None else f"a number of at most {scale.max}"
    return "a number"
