"""Which of several judges is really better: paired differences on the samples that both have judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..stats.bootstrap import cell_rows, concordance_of_moments, kappa_statistic, moment_rows
from ..stats.paired import Difference, agreement_difference, difference, judge_all
from .people import pooled_pairs
from .report import PairedDifference

if TYPE_CHECKING:
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from ..stats.bootstrap import Floats
    from .measure import Measure, Pairs

__all__ = ["paired_differences"]

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
                        each.method,
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
        size = max(1, len(measure.classes))
        rows = [cell_rows(measure.codes(each.human), measure.codes(each.judge), size) for each in (first, second)]
        return difference(rows[0], rows[1], kappa_statistic(range(size)), first.clusters, **drawn)
    # Quadratic κ is Lin's concordance, and seven sums tell it, however many labels there are.
    statistic = _mean_error if name == "mae" else concordance_of_moments
    rows = [_moments(each, first) for each in (first, second)]
    return difference(rows[0], rows[1], statistic, first.clusters, **drawn)


def _moments(pairs: Pairs, reference: Pairs) -> Floats:
    """Moments around one value, since the squares of large scores would drown their differences."""
    human, judge = np.array(pairs.human, dtype=np.float64), np.array(pairs.judge, dtype=np.float64)
    centre = float(np.mean(np.array(reference.human, dtype=np.float64))) if len(reference) else 0.0
    return moment_rows(human - centre, judge - centre)


def _mean_error(sums: Floats) -> Floats:
    errors: Floats = sums[:, 6] / sums[:, 0]
    return errors
