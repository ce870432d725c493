"""Which of several judges is really better: paired differences on the samples that both have judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..stats.bootstrap import concordance_of_moments, moment_rows
from ..stats.margin_sums import kappa_of_margins, margin_rows
from ..stats.paired import Difference, agreement_difference, difference, judge_all
from .figures import MOST_CLASSES, TOO_MANY_CLASSES
from .people import pooled_pairs
from .report import PairedDifference

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from ..stats.bootstrap import Floats
    from .measure import Measure, Pairs

__all__ = ["paired_differences"]

_MOST_CELLS = 2_000_000
_TOO_LARGE = "κ of so many labels on so many samples would need too much memory"

_STATISTICS = {
    "binary": ("agreement", "kappa"),
    "ordinal": ("agreement", "kappa_quadratic"),
    "categorical": ("agreement", "kappa"),
    "continuous": ("mae", "lin_ccc"),
}


def paired_differences(
    samples: Sequence[LabelledSample], verdicts: Mapping[str, Sequence[Code | None]], measure: Measure
) -> dict[str, tuple[PairedDifference, ...]]:
    """For each model its differences to all others; p values are adjusted over all pairs of models, by figure."""
    found: dict[str, list[PairedDifference]] = {model: [] for model in verdicts}
    couples = [
        (one, other, *_common(samples, verdicts[one], verdicts[other])) for one, other in combinations(verdicts, 2)
    ]
    for name in _STATISTICS[measure.scale.kind]:
        differences = [_difference(name, first, second, measure) for _, _, first, second in couples]
        for (one, other, _, _), judged in zip(couples, judge_all(differences), strict=True):
            for model, against, each in (
                (one, other, judged.difference),
                (other, one, judged.difference.mirrored()),
            ):
                found[model].append(
                    PairedDifference(
                        against, name, each.value, each.lo, each.hi, each.p, judged.p_holm, judged.reliable, each.n,
                        each.method, each.p_method, each.reason,
                    )
                )  # fmt: skip
    return {model: tuple(each) for model, each in found.items()}


def _common(
    samples: Sequence[LabelledSample], one: Sequence[Code | None], other: Sequence[Code | None]
) -> tuple[Pairs, Pairs]:
    both = [a is not None and b is not None for a, b in zip(one, other, strict=True)]
    first = [value if keep else None for value, keep in zip(one, both, strict=True)]
    second = [value if keep else None for value, keep in zip(other, both, strict=True)]
    return pooled_pairs(samples, first), pooled_pairs(samples, second)


def _difference(name: str, first: Pairs, second: Pairs, measure: Measure) -> Difference:
    drawn = {"seed": measure.seed, "draws": measure.draws}
    if name == "agreement":
        right = [[a == b for a, b in zip(pairs.human, pairs.judge, strict=True)] for pairs in (first, second)]
        return agreement_difference(right[0], right[1], first.clusters, **drawn)
    if name == "kappa":
        return _kappa_difference(first, second, measure)
    if name == "mae":
        sizes = [np.abs(judge - human) for human, judge in map(_scores, (first, second))]
        rows = [np.column_stack([np.ones_like(each), each]) for each in sizes]
        return difference(rows[0], rows[1], _mean, first.clusters, **drawn)
    # Quadratic κ is Lin's concordance, and seven sums tell it, however many labels there are.
    return difference(*_moments(first, second), concordance_of_moments, first.clusters, **drawn)


def _kappa_difference(first: Pairs, second: Pairs, measure: Measure) -> Difference:
    size = max(1, len(measure.classes))
    reason = TOO_MANY_CLASSES if size > MOST_CLASSES else _TOO_LARGE if len(first) * size > _MOST_CELLS else None
    if reason is not None:
        return Difference(None, len(first), None, None, None, "none", reason=reason)
    one, other = (margin_rows(measure.codes(each.human), measure.codes(each.judge), size) for each in (first, second))
    return difference(one, other, kappa_of_margins, first.clusters, seed=measure.seed, draws=measure.draws)


def _moments(first: Pairs, second: Pairs) -> tuple[Floats, Floats]:
    """Moments of all scores moved and scaled alike: large ones would drown differences, and squares could vanish."""
    columns = [*_scores(first), *_scores(second)]
    every = np.concatenate(columns)
    low, high = float(every.min(initial=np.inf)), float(every.max(initial=-np.inf))
    human, judge, human_too, judge_too = ((each - (low + high) / 2.0) / ((high - low) or 1.0) for each in columns)
    return moment_rows(human, judge), moment_rows(human_too, judge_too)


def _scores(pairs: Pairs) -> tuple[Floats, Floats]:
    return np.array(pairs.human, dtype=np.float64), np.array(pairs.judge, dtype=np.float64)


def _mean(sums: Floats) -> Floats:
    means: Floats = sums[:, 1] / sums[:, 0]
    return means
