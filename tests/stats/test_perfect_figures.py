"""Figures at the ends of their scale, and at 0: exact values, believable bounds, and true reasons."""

from __future__ import annotations

import numpy as np
import pytest

from turnwise.stats.agreement import agreement, agreement_without, proportion
from turnwise.stats.classes import balanced_accuracy, mcc, true_negative_rate, true_positive_rate
from turnwise.stats.concordance import bias, errors, lin_ccc
from turnwise.stats.intervals import wilson
from turnwise.stats.statistic import Statistic
from turnwise.stats.weighted_kappa import cohen_kappa, weighted_kappa


def corrected(least: float | None, chance: float) -> float:
    """The lower bound of the agreement, corrected for chance."""
    assert least is not None
    return (least - chance) / (1 - chance)


def test_full_agreement_has_one_interval() -> None:
    """Equal scores have the same interval as concordance and as any κ: both are the same figure there."""
    codes = [place % 5 for place in range(50)]
    lin = lin_ccc(codes, codes)
    assert lin == cohen_kappa(codes, codes, 5)
    assert lin == weighted_kappa(codes, codes, [0.0, 1.0, 2.0, 3.0, 4.0])
    assert (lin.value, lin.hi, lin.method) == (1.0, 1.0, "wilson-agreement")
    assert lin.lo == pytest.approx(corrected(wilson(50, 50).lo, 0.2))


def test_full_agreement_of_many_scores() -> None:
    """Forty different scores agree by chance in one of 40 cases; rounding does not make them disagree."""
    scores = np.arange(40) / 7
    for judge in (scores, scores * 3.0 / 3.0 + 1e-15):
        lin = lin_ccc(scores, judge)
        assert lin.value == 1.0
        assert lin.lo == pytest.approx(corrected(wilson(40, 40).lo, 1 / 40), abs=0.03)


def test_full_agreement_in_clusters() -> None:
    """Fifty equal scores in ten clusters tell no more than ten."""
    codes, clusters = [place % 5 for place in range(50)], [place // 5 for place in range(50)]
    for figure in (lin_ccc(codes, codes, clusters), cohen_kappa(codes, codes, 5, clusters)):
        assert figure.method == "wilson-agreement-clustered"
        assert figure.lo == pytest.approx(corrected(wilson(10, 10).lo, 0.2))


def test_one_cluster_of_nearly_full_agreement() -> None:
    """A κ that is 1 but for rounding, in one cluster, has no bound to take from the agreement."""
    figure = weighted_kappa([0, 1, 2], [1, 1, 2], [0.0, 1e-9, 1e9], clusters=["a", "a", "a"])
    assert (figure.value, figure.lo, figure.reason) == (1.0, None, "all pairs belong to one cluster")


@pytest.mark.parametrize("n", [3, 7, 41, 120])
def test_a_constant_rater_has_exactly_nothing(n: int) -> None:
    """A judge with one answer has κ and concordance of exactly 0, without rounding, and a reason for no interval."""
    codes = [place % 3 for place in range(n)]
    kappas = [cohen_kappa(codes, [2] * n, 3), weighted_kappa(codes, [2] * n, [0.1, 0.2, 0.7], "linear")]
    lin = lin_ccc([0.1 * code for code in codes], [0.7] * n)
    assert [figure.value for figure in (*kappas, lin)] == [0.0] * 3
    assert {figure.reason for figure in kappas} == {"one of the raters gave one and the same label throughout"}
    assert lin.reason == "one of the raters gave one and the same score throughout"


def test_two_constant_raters() -> None:
    """Two raters with one answer each: the same one leaves κ undefined, another one makes it 0."""
    same, other = cohen_kappa([1] * 5, [1] * 5, 2), cohen_kappa([1] * 5, [0] * 5, 2)
    assert (same.value, same.reason) == (None, "both raters gave one and the same label throughout")
    assert (other.value, other.reason) == (0.0, "each rater gave one label throughout, and not the same one")
    assert mcc([1] * 5, [0] * 5, seed=1).reason == "both raters gave only one of the two classes"
    assert mcc([1, 0], [0, 0], seed=1).reason == "one of the raters gave only one of the two classes"


@pytest.mark.parametrize("size", [0.1, 0.3, 1.0, 1e-20])
def test_errors_of_one_size(size: float) -> None:
    """Where all differences have the same size, mean and root of the mean square are exactly that size."""
    mean, root = errors([0.0] * 7, [size, -size, size, size, -size, size, size], seed=1)
    assert (mean.value, root.value) == (size, size)


def test_errors_of_one_size_but_for_rounding() -> None:
    """Differences that are the same but for rounding have a root mean square that is their mean."""
    human = np.arange(100) / 7
    mean, root = errors(human, human + 1.0, seed=1)
    assert root.value == mean.value == pytest.approx(1.0, abs=1e-12)
    assert root.lo is None


@pytest.mark.parametrize(
    "figure",
    [
        true_positive_rate([], []),
        true_negative_rate([], []),
        balanced_accuracy([], [], seed=1),
        mcc([], [], seed=1),
        cohen_kappa([], [], 2),
        lin_ccc([], []),
        agreement([], []),
        agreement_without([], [], 0),
        bias([], []),
    ],
)
def test_nothing_has_no_other_reason(figure: Statistic) -> None:
    """Without pairs no figure blames the labels."""
    assert (figure.value, figure.reason) == (None, "there are no pairs")


def test_reasons_for_no_interval() -> None:
    """One pair, one cluster and no spread are told apart."""
    assert bias([1.0], [2.0]).reason == "the interval needs at least two pairs"
    assert bias([1.0, 2.0], [2.0, 4.0], ["a", "a"]).reason == "all pairs belong to one cluster"
    assert bias([1.0, 2.0], [2.0, 3.0]).reason == "the differences do not vary"
    assert proportion([True, False], ["a", "a"]).reason == "all pairs belong to one cluster"


def test_clusters_that_do_not_vary() -> None:
    """Clusters with one hit of two each have a standard error of 0: each of them then counts as one."""
    share, ten = proportion([True, False] * 10, np.repeat(np.arange(10), 2)), wilson(5, 10)
    assert (share.value, share.lo, share.hi) == pytest.approx((0.5, ten.lo, ten.hi))
