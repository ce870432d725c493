"""Rules that small changes of the code could break without any other test noticing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from turnwise.stats.bootstrap import Floats, resample
from turnwise.stats.concordance import bias, limits_of_agreement, lin_ccc
from turnwise.stats.corrected import JudgeCounts, ppi, rogan_gladen
from turnwise.stats.correlation import pearson, spearman
from turnwise.stats.draws import distinct_rows
from turnwise.stats.intervals import Estimate, clustered_mean, clustered_proportion, robust_proportion, wilson
from turnwise.stats.kendall import kendall
from turnwise.stats.normal import two_sided_z
from turnwise.stats.paired import agreement_difference, both_valid, difference, holm
from turnwise.stats.pairs import code_pairs
from turnwise.stats.planning import (
    labels_for_fisher_bound,
    labels_for_fisher_width,
    labels_for_perfect_kappa_bound,
    labels_for_proportion_bound,
    labels_for_proportion_width,
)
from turnwise.stats.resampled import why_no_interval
from turnwise.stats.statistic import NO_VARIATION, ONE_CLUSTER, ONE_PAIR
from turnwise.stats.sums import ClusterSums
from turnwise.stats.weighted_kappa import disagreements, kappa_of_table

FIRST = [True, True, True, False, True, False]
SECOND = [False, True, False, False, True, True]


def rows(right: list[bool]) -> Floats:
    """A line per sample: one, and whether the grader was right."""
    return np.column_stack([np.ones(len(right)), np.array(right, dtype=np.float64)])


def share(sums: Floats) -> Floats:
    """How often a grader was right."""
    return np.asarray(sums[:, 1] / sums[:, 0], dtype=np.float64)


def bootstrap_error() -> float:
    """The standard error of the difference of the two, by its definition, on fifty resamples."""
    sums = resample(np.hstack([rows(FIRST), rows(SECOND)]), seed=3, draws=50).sums
    gaps = share(sums[:, :2]) - share(sums[:, 2:])
    deviations = gaps - gaps.sum() / 50
    return math.sqrt(float(deviations @ deviations) / 49 * 6 / 5)


def test_difference_is_a_t_interval_on_its_resamples() -> None:
    """The resamples' spread times √(G/(G-1)) is the error; interval and p value are those of t with G-1 degrees."""
    found = difference(rows(FIRST), rows(SECOND), share, seed=3, draws=50, level=0.8)
    half = scipy.stats.t.ppf(0.9, 5) * bootstrap_error()
    assert (found.lo, found.hi) == pytest.approx((1 / 6 - half, 1 / 6 + half))
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(1 / 6 / bootstrap_error(), 5))


def test_agreement_difference_hands_its_settings_on() -> None:
    """Level, seed and number of draws are those that the caller asked for."""
    found = agreement_difference(FIRST, SECOND, seed=3, draws=50, level=0.8)
    half = scipy.stats.t.ppf(0.9, 5) * bootstrap_error()
    assert (found.lo, found.hi) == pytest.approx((1 / 6 - half, 1 / 6 + half))


@pytest.mark.parametrize("p", [-0.5, 1.5, math.nan])
def test_holm_refuses_whatever_is_no_probability(p: float) -> None:
    """A p value below 0, above 1, or no number at all is a mistake of the caller."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, p])


@pytest.mark.parametrize(
    ("passed", "words"), [(39, "worse than chance"), (40, "no better than chance"), (41, "hardly better than chance")]
)
def test_a_weak_grader_is_called_what_it_is(passed: int, words: str) -> None:
    """With TNR .6, a TPR below, at and above .4 is worse, no better and hardly better than chance."""
    refused = rogan_gladen(50, 100, JudgeCounts(fails=100, failed=60, passes=100, passed=passed))
    assert f"the grader is {words}:" in (refused.refusal or "")


@pytest.mark.parametrize("counts", [(10, -1, 10, 5), (10, 5, 10, -1), (10, 11, 10, 5), (10, 5, 10, 11)])
def test_counts_of_a_grader_must_be_possible(counts: tuple[int, int, int, int]) -> None:
    """A grader is right at least never and at most always."""
    with pytest.raises(ValueError, match="right more often"):
        JudgeCounts(*counts)


def test_a_grader_may_always_be_wrong() -> None:
    """A grader that is never right about passes or fails is a poor one, and no mistake."""
    assert "worse than chance" in (rogan_gladen(5, 10, JudgeCounts(10, 0, 10, 0)).refusal or "")


def test_graders_of_different_samples_share_none() -> None:
    """Answers that do not pair up are refused, not cut to the shorter column."""
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        both_valid([1, 0, 1], [1, 0])


def test_ten_labels_of_each_kind_are_enough() -> None:
    """Ten labels of the rarer kind allow a correction, nine do not."""
    assert rogan_gladen(50, 100, JudgeCounts(10, 9, 10, 9)).value == pytest.approx(0.5)
    assert rogan_gladen(50, 100, JudgeCounts(9, 9, 10, 9)).value is None


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
@pytest.mark.parametrize("interval", [clustered_mean, clustered_proportion, robust_proportion])
def test_every_interval_needs_a_level(interval: Callable[[ClusterSums, float], Estimate], level: float) -> None:
    """What is no confidence level is refused, even where there are no values that it could matter for."""
    with pytest.raises(ValueError, match="confidence level"):
        interval(ClusterSums(), level)
    with pytest.raises(ValueError, match="confidence level"):
        wilson(0, 0, level)


def test_robust_proportion_of_independent_values_is_wilsons() -> None:
    """With one value per cluster, a robust proportion is the plain one."""
    sums = ClusterSums()
    for value in (1, 1, 1, 0, 0):
        sums.add(None, value)
    assert robust_proportion(sums) == wilson(3, 5)


def test_robust_proportion_is_its_formula() -> None:
    """Clusters of (1, 1), (1, 0) and (0, 0) tell as much as p(1-p) / SE² = 3 independent values."""
    sums = ClusterSums()
    for cluster, value in [("a", 1), ("a", 1), ("b", 1), ("b", 0), ("c", 0), ("c", 0)]:
        sums.add(cluster, value)
    # The sums of residuals are 1, 0 and -1: SE² = 3/2 · 2 / 6² = 1/12, and 1/4 by 1/12 is 3.
    assert sums.standard_error == pytest.approx(math.sqrt(1 / 12))
    z = scipy.stats.norm.ppf(0.975)
    half = z / (2 * math.sqrt(3 + z * z))
    found = robust_proportion(sums)
    assert (found.lo, found.hi) == pytest.approx((0.5 - half, 0.5 + half))


def test_disagreements_are_shares_of_the_largest_distance() -> None:
    """Scores less than 1 apart are as far apart, in shares, as those on any other scale."""
    assert disagreements([0.0, 0.125, 0.5], "linear")[0].tolist() == [0.0, 0.25, 1.0]
    assert disagreements([0.0, 0.125, 0.5], "quadratic")[0].tolist() == [0.0, 0.0625, 1.0]


def weighted_tau(x: Floats, y: Floats, weights: Floats) -> float:
    """Kendall's τ-b of samples with weights, by its definition over all pairs of samples."""
    both = np.outer(weights, weights)
    sign_x, sign_y = np.sign(np.subtract.outer(x, x)), np.sign(np.subtract.outer(y, y))
    spread = (both * sign_x**2).sum() * (both * sign_y**2).sum()
    return float((both * sign_x * sign_y).sum() / math.sqrt(spread))


def test_clustered_tau_with_ties_by_definition() -> None:
    """Where ties are uneven, the clustered error of τ-b still is that of the slopes of τ-b in each sample's weight."""
    x, y = np.array([1.0, 1, 1, 2, 3, 3]), np.array([1.0, 2, 2, 1, 3, 2])
    step = 1e-5 * (6 * np.eye(6) - 1.0)
    influence = [(weighted_tau(x, y, 1.0 + each) - weighted_tau(x, y, 1.0 - each)) / 2e-5 for each in step]
    sums = np.array(influence).reshape(3, 2).sum(axis=1)
    found = kendall(x, y, ["a", "a", "b", "b", "c", "c"])
    assert found.value == pytest.approx(weighted_tau(x, y, np.ones(6)))
    assert found.se == pytest.approx(math.sqrt(3 / 2 * float(sums @ sums)) / 6, rel=1e-6)


@pytest.mark.parametrize("figure", [bias, kendall, limits_of_agreement, lin_ccc, pearson, spearman])
def test_every_figure_needs_a_level(figure: Callable[..., object]) -> None:
    """What is no confidence level is refused, even where there are no pairs that it could matter for."""
    with pytest.raises(ValueError, match="confidence level"):
        figure([], [], level=95.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_no_quantile_without_a_level(level: float) -> None:
    """The ends of the scale are no confidence levels, and the message says which ones are."""
    with pytest.raises(ValueError, match="both excluded"):
        two_sided_z(level)


def test_distinct_rows_have_an_order_of_their_own() -> None:
    """The order in which samples come changes neither the distinct rows nor their order, and so no resample."""
    table = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
    (found, times), (other, other_times) = distinct_rows(table), distinct_rows(table[::-1])
    assert found.tolist() == other.tolist()
    assert dict(zip(map(tuple, found), times, strict=True)) == {(2.0, 1.0): 2, (0.0, 1.0): 1, (1.0, 0.0): 1}
    assert times.tolist() == other_times.tolist()


@pytest.mark.parametrize(
    ("clusters", "reason"), [(["a"], ONE_PAIR), (["a", "a"], ONE_CLUSTER), (["a", "b"], NO_VARIATION)]
)
def test_why_resampling_gives_no_interval(clusters: list[str], reason: str) -> None:
    """One sample, two samples of one cluster, and two clusters that are alike each have their own reason."""
    drawn = resample([[1.0, 1.0]] * len(clusters), clusters, seed=1, draws=20)
    assert why_no_interval(drawn, share) == reason


def test_small_disagreements_still_have_a_kappa() -> None:
    """Two pairs that agree have a κ of 1, however little a disagreement would have weighed."""
    assert kappa_of_table([[1, 0], [0, 1]], 0.25 * (1.0 - np.eye(2))) == 1.0


def test_an_interval_as_wide_as_the_scale_needs_one_label() -> None:
    """Half of all rates, or all of the values from -1 to 1, to either side is what a single label gives."""
    assert labels_for_proportion_width(0.3, 0.5) == 1
    assert labels_for_fisher_width(0.3, 0.1, 50, 1.0) == 1


@pytest.mark.parametrize(
    ("labels", "words"), [([1, -4, 2], "0 to 2; found -4"), ([1, 3, 2], "0 to 2; found 3"), ([9, -1, 0], "found -1")]
)
def test_the_wrong_code_is_named(labels: list[int], words: str) -> None:
    """A message about label codes shows one that is out of range, and not one that is fine."""
    with pytest.raises(ValueError, match=words):
        code_pairs(labels, [0, 1, 2], classes=3)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: labels_for_proportion_width(1.5, 0.1), "^a rate lies between 0 and 1; found 1.5"),
        (lambda: labels_for_proportion_bound(-0.5, 0.1), "^a rate lies between 0 and 1; found -0.5"),
        (lambda: labels_for_proportion_bound(0.5, 1.0), "^a threshold of a rate lies between 0 and 1, both excluded"),
        (lambda: labels_for_fisher_bound(0.5, 0.1, 50, -1.0), "^a threshold lies between -1 and 1, both excluded"),
        (lambda: labels_for_fisher_bound(1.5, 0.1, 50, 0.5), "^a value lies between -1 and 1; found 1.5"),
        (lambda: labels_for_fisher_bound(-1.5, 0.1, 50, 0.5), "^a value lies between -1 and 1; found -1.5"),
        (lambda: labels_for_fisher_bound(0.5, 0.1, 0, 0.4), "found 0.1 at 0"),
        (lambda: labels_for_perfect_kappa_bound(1.0, 0.5), "^the agreement by chance lies between -1 and 1"),
        (lambda: labels_for_perfect_kappa_bound(-1.5, 0.5), "^the agreement by chance lies between -1 and 1"),
        (lambda: labels_for_perfect_kappa_bound(0.5, 1.0), "^a threshold lies between -1 and 1"),
    ],
)
def test_planning_names_what_is_impossible(ask: Callable[[], int | None], words: str) -> None:
    """What cannot be is refused with its name, its limits and what was found."""
    with pytest.raises(ValueError, match=words):
        ask()


def test_an_error_at_one_label_can_be_planned_with() -> None:
    """A standard error of .1 at 50 labels is one of .1 · √50 at a single label, and asks for as many."""
    asked = labels_for_fisher_bound(0.7, 0.1 * math.sqrt(50), n=1, threshold=0.6)
    assert asked == labels_for_fisher_bound(0.7, 0.1, n=50, threshold=0.6)


@pytest.mark.parametrize("labels", [9, 10])
def test_ppi_is_named_whether_refused_or_not(labels: int) -> None:
    """A corrected rate says by which method it was made, or would have been."""
    found = ppi([0, 1] * 4 + [0] * (labels - 8), [0] * labels, [0, 1])
    assert (found.method, found.labels, found.value is None) == ("ppi++", labels, labels == 9)
