"""How two raters are compared on a scale: which figures there are, which class is the good one, and what is best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graders.verdict_scale import comparable
from ..stats.bootstrap import DRAWS

if TYPE_CHECKING:
    from ..graders.verdict_scale import Code, Scale

__all__ = ["HEADLINES", "Measure", "Pairs", "measure_for"]

HEADLINES = {"binary": "kappa", "ordinal": "kappa_quadratic", "continuous": "lin_ccc", "categorical": "agreement"}
"""The figure that sums a judge up, by the kind of scale."""

_GOOD_WORDS = ("yes", "pass", "true", "good", "1")


@dataclass(frozen=True, slots=True)
class Pairs:
    """The labels of two raters for the same samples. `clusters`: those that belong together; None, none do."""

    human: Sequence[Code]
    judge: Sequence[Code]
    clusters: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.human)


@dataclass(frozen=True)
class Measure:
    """A scale as figures need it. `classes` are all values that anybody gave, and those that the scale names.

    `good_from` is the score from which a number counts as good, `good` the word that does; both None: no such thing.
    """

    scale: Scale
    classes: tuple[Code, ...]
    good_from: float | None
    good: str | None
    seed: int = 0
    draws: int = DRAWS

    @property
    def headline(self) -> str:
        """The figure that sums a judge up."""
        return HEADLINES[self.scale.kind]

    @property
    def decisive(self) -> str:
        """The figure by which it is decided what a judge may be used for: agreement alone knows no chance."""
        return "kappa" if self.scale.kind == "categorical" else self.headline

    @property
    def is_numeric(self) -> bool:
        """Whether distances between labels mean something."""
        return self.scale.kind in ("ordinal", "continuous")

    @property
    def has_rates(self) -> bool:
        """Whether labels are good or not: TPR and TNR exist."""
        return self.good_from is not None or self.good is not None

    def is_good(self, value: Code) -> bool:
        """Whether a label counts as good."""
        if isinstance(value, str):
            return self.good is not None and comparable(value) == comparable(self.good)
        return self.good_from is not None and value >= self.good_from

    def codes(self, values: Iterable[Code]) -> list[int]:
        """The number of each label's class."""
        numbers = {value: number for number, value in enumerate(self.classes)}
        return [numbers[value] for value in values]


def measure_for(scale: Scale, human: Sequence[Code], judges: Iterable[Code], *, seed: int, draws: int) -> Measure:
    """The measure for labels of people and verdicts of all judges."""
    good_from, good = _good(scale, human)
    return Measure(scale, _classes(scale, human, judges), good_from, good, seed, draws)


def _classes(scale: Scale, human: Sequence[Code], judges: Iterable[Code]) -> tuple[Code, ...]:
    if scale.kind == "continuous":
        return ()
    seen = {*human, *judges, *(value for value in _steps(scale) if not scale.is_ungradable(value))}
    numbers = sorted(value for value in seen if not isinstance(value, str))
    order = {label: place for place, label in enumerate(scale.labels)}
    words = sorted((v for v in seen if isinstance(v, str)), key=lambda word: (order.get(word, len(order)), word))
    return (*numbers, *words)


def _steps(scale: Scale) -> Iterable[Code]:
    """Every value that the scale names; a long range of numbers is not spelt out."""
    if scale.labels or scale.values:
        return scale.labels or scale.values
    if scale.kind == "ordinal" and scale.min is not None and scale.max is not None and scale.max - scale.min <= 100:
        return range(int(scale.min), int(scale.max) + 1)
    return ()


def _good(scale: Scale, human: Sequence[Code]) -> tuple[float | None, str | None]:
    """From which score on, or with which word, a label is good: `pass`, else what a binary scale suggests."""
    if scale.pass_ is not None:
        code = scale.code(scale.pass_)
        if isinstance(code, str):
            return None, code
        return (code if code is not None else float(scale.pass_)), None
    if scale.kind != "binary":
        return None, None
    labels = scale.labels or scale.values or tuple(dict.fromkeys(human))
    numbers = [label for label in labels if not isinstance(label, str)]
    if numbers and len(numbers) == len(labels):
        return max(numbers), None
    words = [str(label) for label in labels]
    named = next((word for good in _GOOD_WORDS for word in words if str(comparable(word)) == good), None)
    if named is not None or not words:
        return None, named
    counts = Counter(human)
    return None, max(words, key=lambda word: counts[word])
