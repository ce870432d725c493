"""How many labels make the figures of a calibration as exact as wanted: from what was measured, or from assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..stats.planning import (
    labels_for_fisher_width,
    labels_for_perfect_kappa_bound,
    labels_for_proportion_width,
    still_needed,
)

__all__ = ["Need", "assumed_needs", "best_model", "largest_need", "observed_needs"]

_Figure = Mapping[str, Any]
_RATES = ("tpr", "tnr")
_ASSUMED_AGREEMENTS = (0.5, 0.8, 0.9)
_ASSUMED_TABLES = ((0.8, 0.5), (0.9, 0.5), (0.9, 0.8))
"""Agreement and share of good labels; the judge passes as many as people do."""
_PARTS = 1000
_USES = ("gating", "trends", "unknown", "none")


@dataclass(frozen=True, slots=True)
class Need:
    """What one figure takes. `total` are the labels that it needs, of good or bad samples only for TPR and TNR; `more`
    are those that are missing, of whatever kind; both None where no number is known, and `reason` says why.

    `n` and `half_width` are as of now. `assumed` says what a figure takes for granted that nobody has measured.
    """

    figure: str
    value: float | None
    n: int
    half_width: float | None
    total: int | None
    more: int | None
    model: str | None = None
    assumed: str | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self)


def assumed_needs(half_width: float, labelled: int) -> list[Need]:
    """What agreement and κ take where nothing was measured, less the samples that are labelled.

    >>> assumed_needs(0.05, 0)[0].total
    381
    """
    found = []
    for rate in _ASSUMED_AGREEMENTS:
        total = labels_for_proportion_width(rate, half_width)
        found.append(_assumed("agreement", rate, total, labelled, f"agreement {rate:g}"))
    for agreement, good in _ASSUMED_TABLES:
        value, se = _assumed_kappa(agreement, good)
        total = labels_for_fisher_width(value, se, _PARTS, half_width)
        said = f"agreement {agreement:g}; people and judge pass {100 * good:.0f} % each"
        found.append(_assumed("kappa", value, total, labelled, said))
    return found


def observed_needs(model: Mapping[str, Any], half_width: float) -> list[Need]:
    """What the figures of a judge take, if they stay as they are; `model` is its part of a report in JSON."""
    figures: Mapping[str, _Figure | None] = model["statistics"]
    names = dict.fromkeys(("agreement", str(model["headline"]), *_RATES))
    whole = figures.get("agreement") or figures.get(str(model["headline"])) or {}
    return [
        _observed(str(model["model"]), name, figure, whole, half_width)
        for name in names
        if (figure := figures.get(name)) is not None
    ]


def best_model(models: Iterable[Mapping[str, Any]]) -> str | None:
    """The judge to label for: the one of the best use, then with the highest lower bound; None without any judge.

    `models` are parts of reports in JSON.
    """

    def rank(model: Mapping[str, Any]) -> tuple[int, float, float]:
        use = (model.get("verdict") or {}).get("use")
        figure = model["statistics"].get(model["headline"]) or {}
        ends = (figure.get(name) for name in ("lo", "value"))
        lo, value = (-math.inf if end is None else float(end) for end in ends)
        return -(_USES.index(use) if use in _USES else len(_USES)), lo, value

    found = max(models, key=rank, default=None)
    return None if found is None else str(found["model"])


def largest_need(needs: Iterable[Need]) -> int | None:
    """The labels that are missing until all figures are there; None where that is known of none."""
    return max((need.more for need in needs if need.more is not None), default=None)


def _assumed(figure: str, value: float, total: int | None, labelled: int, said: str) -> Need:
    return Need(figure, value, labelled, None, total, still_needed(total, labelled), assumed=said)


def _assumed_kappa(agreement: float, good: float) -> tuple[float, float]:
    """κ and its large-sample standard error at `_PARTS` labels."""
    from ..stats.weighted_kappa import cohen_kappa

    apart = round(_PARTS * (1.0 - agreement) / 2.0)
    passes = round(_PARTS * good)
    cells = (passes - apart, apart, apart, _PARTS - passes - apart)
    human, judge = _repeated((1, 1, 0, 0), cells), _repeated((1, 0, 1, 0), cells)
    found = cohen_kappa(human, judge, 2)
    assert found.value is not None
    assert found.se is not None
    return found.value, found.se


def _repeated(codes: Sequence[int], counts: Sequence[int]) -> list[int]:
    return [code for code, count in zip(codes, counts, strict=True) for _ in range(count)]


def _observed(model: str, name: str, figure: _Figure, whole: _Figure, half_width: float) -> Need:
    value, n = figure["value"], figure["n"]
    lo, hi = figure.get("lo"), figure.get("hi")
    now = None if lo is None or hi is None else (hi - lo) / 2.0
    if value is None or now is None:
        return Need(name, value, n, now, None, None, model, reason=figure.get("reason") or "it has no interval")
    total = _total(name, figure, whole, now, half_width)
    share = min(1.0, n / whole["n"]) if name in _RATES and whole.get("n") else 1.0
    more = still_needed(total, n, share)
    reason = "its error cannot be known from what was measured" if total is None else None
    return Need(name, value, n, now, total, more, model, reason=reason)


def _total(name: str, figure: _Figure, whole: _Figure, now: float, half_width: float) -> int | None:
    value, n, se = figure["value"], figure["n"], figure.get("se")
    effect = max(1.0, figure.get("design_effect") or 1.0)
    if name == "agreement" or name in _RATES:
        return labels_for_proportion_width(value, half_width, 0.95, effect)
    if name.startswith("kappa") and value >= 1.0:
        # The interval reaches from its lower bound to 1, and is twice as wide as wanted to either side.
        chance = _chance(figure["lo"], whole.get("lo"))
        bound = 1.0 - 2.0 * half_width
        return None if chance is None else labels_for_perfect_kappa_bound(chance, bound, 0.95, effect)
    if se is not None and abs(value) < 1.0:
        return labels_for_fisher_width(value, se, n, half_width)
    return math.ceil(n * (now / half_width) ** 2) if now > 0.0 else None


def _chance(kappa_lo: float, agreement_lo: float | None) -> float | None:
    """The agreement by chance, from the two lower bounds of full agreement: κ's is (p - chance) / (1 - chance)."""
    if agreement_lo is None or kappa_lo >= 1.0:
        return None
    chance = (agreement_lo - kappa_lo) / (1.0 - kappa_lo)
    return chance if -1.0 < chance < 1.0 else None
