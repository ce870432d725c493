"""Simulations: about 95 of 100 intervals of each figure hold the truth that the samples were drawn from."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from rater_data import TABLE, VALUES
from turnwise.stats.agreement import agreement
from turnwise.stats.classes import balanced_accuracy, mcc
from turnwise.stats.concordance import bias, lin_ccc, mae, rmse
from turnwise.stats.correlation import pearson, spearman
from turnwise.stats.kendall import kendall
from turnwise.stats.pairs import Codes, Floats
from turnwise.stats.statistic import Statistic
from turnwise.stats.weighted_kappa import cohen_kappa, disagreements, kappa_of_table, weighted_kappa

SIMULATIONS = 5000
DRAWS = 600

RIGHT, POSITIVE = 0.8, 0.4
"""A judge of two classes finds either class so often; so many samples are positive."""
CORRELATION, SHIFT = 0.7, 0.3
"""Scores of two raters are normal with variance 1; the judge's are higher by the shift."""
TOGETHER = 0.5
"""In so many clusters all samples are copies of one; in the others they are independent."""

Rng = np.random.Generator


def two_classes(rng: Rng, n: int) -> tuple[Codes, Codes]:
    """Labels of two classes."""
    human = (rng.random(n) < POSITIVE).astype(np.int64)
    return human, np.where(rng.random(n) < RIGHT, human, 1 - human)


def five_values(rng: Rng, n: int) -> tuple[Codes, Codes]:
    """Labels that occur together as often as in the worked table."""
    cells = rng.choice(25, size=n, p=TABLE.ravel() / TABLE.sum())
    return cells // 5, cells % 5


def scores(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Normal scores."""
    human = rng.normal(size=n)
    return human, SHIFT + CORRELATION * human + math.sqrt(1 - CORRELATION**2) * rng.normal(size=n)


def clustered(rng: Rng, clusters: int, size: int) -> tuple[Codes, Codes, Codes]:
    """Labels of two classes in clusters; each sample alone is like one without clusters."""
    human, judge = (column.reshape(clusters, size) for column in two_classes(rng, clusters * size))
    copied = rng.random(clusters) < TOGETHER
    for column in (human, judge):
        column[copied] = column[copied][:, :1]
    return human.ravel(), judge.ravel(), np.repeat(np.arange(clusters), size)


def any_seed(rng: Rng) -> int:
    """Another seed for every simulation."""
    return int(rng.integers(2**31))


def true_kappa() -> float:
    """κ of the judge of two classes."""
    judged = POSITIVE * RIGHT + (1 - POSITIVE) * (1 - RIGHT)
    chance = POSITIVE * judged + (1 - POSITIVE) * (1 - judged)
    return (RIGHT - chance) / (1 - chance)


def true_mcc() -> float:
    """The correlation of the two classes."""
    judged = POSITIVE * RIGHT + (1 - POSITIVE) * (1 - RIGHT)
    spread = POSITIVE * (1 - POSITIVE) * judged * (1 - judged)
    return (POSITIVE * RIGHT - POSITIVE * judged) / math.sqrt(spread)


def true_mae() -> float:
    """The mean size of a normal difference with mean `SHIFT` and variance 2 - 2ρ."""
    sigma = math.sqrt(2 - 2 * CORRELATION)
    gap = SHIFT / sigma
    return sigma * math.sqrt(2 / math.pi) * math.exp(-gap * gap / 2) + SHIFT * (1 - 2 * NormalDist().cdf(-gap))


def true_quadratic() -> float:
    """Quadratic κ of the worked table."""
    value = kappa_of_table(TABLE, disagreements(VALUES, "quadratic"))
    assert value is not None
    return value


Simulated = Callable[[Rng, int], Statistic]

INDEPENDENT: dict[str, tuple[Simulated, float]] = {
    "agreement": (lambda rng, n: agreement(*two_classes(rng, n)), RIGHT),
    "kappa": (lambda rng, n: cohen_kappa(*two_classes(rng, n), 2), true_kappa()),
    "kappa_quadratic": (lambda rng, n: weighted_kappa(*five_values(rng, n), VALUES), true_quadratic()),
    "lin_ccc": (lambda rng, n: lin_ccc(*scores(rng, n)), 2 * CORRELATION / (2 + SHIFT**2)),
    "pearson": (lambda rng, n: pearson(*scores(rng, n)), CORRELATION),
    "spearman": (lambda rng, n: spearman(*scores(rng, n)), 6 / math.pi * math.asin(CORRELATION / 2)),
    "kendall": (lambda rng, n: kendall(*scores(rng, n)), 2 / math.pi * math.asin(CORRELATION)),
    "bias": (lambda rng, n: bias(*scores(rng, n)), SHIFT),
    "mcc": (lambda rng, n: mcc(*two_classes(rng, n), seed=any_seed(rng), draws=DRAWS), true_mcc()),
    "balanced_accuracy": (
        lambda rng, n: balanced_accuracy(*two_classes(rng, n), seed=any_seed(rng), draws=DRAWS),
        RIGHT,
    ),
    "mae": (lambda rng, n: mae(*scores(rng, n), seed=any_seed(rng), draws=DRAWS), true_mae()),
    "rmse": (
        lambda rng, n: rmse(*scores(rng, n), seed=any_seed(rng), draws=DRAWS),
        math.sqrt(SHIFT**2 + 2 - 2 * CORRELATION),
    ),
}


def in_clusters(figure: Callable[[Codes, Codes, Codes, int], Statistic]) -> Simulated:
    """The figure of clusters of three; the last argument is a seed."""
    return lambda rng, clusters: figure(*clustered(rng, clusters, 3), any_seed(rng))


CLUSTERED: dict[str, tuple[Simulated, float]] = {
    "agreement": (in_clusters(lambda human, judge, names, _: agreement(human, judge, names)), RIGHT),
    "kappa": (in_clusters(lambda human, judge, names, _: cohen_kappa(human, judge, 2, names)), true_kappa()),
    "mcc": (
        in_clusters(lambda human, judge, names, seed: mcc(human, judge, names, seed=seed, draws=DRAWS)),
        true_mcc(),
    ),
    "mae": (in_clusters(lambda human, judge, names, seed: mae(human, judge, names, seed=seed, draws=DRAWS)), 1 - RIGHT),
}


def coverage(simulate: Simulated, truth: float, n: int, simulations: int) -> float:
    """How often the interval holds the truth; one that is missing does not."""
    rng = np.random.default_rng(2024)
    figures = (simulate(rng, n) for _ in range(simulations))
    return (
        sum(figure.lo is not None and figure.hi is not None and figure.lo <= truth <= figure.hi for figure in figures)
        / simulations
    )


@pytest.mark.parametrize("name", ["agreement", "kappa", "lin_ccc", "pearson", "mcc"])
def test_coverage(name: str) -> None:
    """Of 150 intervals, no fewer than four standard errors below 95 % hold the truth."""
    assert coverage(*INDEPENDENT[name], 60, 150) >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / 150)


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize("name", INDEPENDENT)
def test_coverage_of_independent_samples(name: str, n: int) -> None:
    """Between 92 % and 97.5 % of many intervals hold the truth, from 60 samples on."""
    assert 0.92 <= coverage(*INDEPENDENT[name], n, SIMULATIONS) <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERED)
def test_coverage_in_clusters(name: str) -> None:
    """The same for 60 clusters of three samples, half of which are copies of one another."""
    assert 0.92 <= coverage(*CLUSTERED[name], 60, SIMULATIONS) <= 0.975


@pytest.mark.slow
def test_clusters_must_be_known() -> None:
    """The simulated clusters matter: intervals that do not know of them hold the truth in less than 92 % of cases."""

    def ignorant(rng: Rng, clusters: int) -> Statistic:
        human, judge, _ = clustered(rng, clusters, 3)
        return agreement(human, judge)

    assert coverage(ignorant, RIGHT, 60, SIMULATIONS) < 0.92
