"""Intervals for values that come in clusters."""

from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.intervals import Estimate, clustered_mean, clustered_proportion, mean_interval, wilson
from turnwise.stats.normal import two_sided_z
from turnwise.stats.student import two_sided_t
from turnwise.stats.sums import ClusterSums

Rows = list[tuple[str | None, float]]

names = st.sampled_from(["a", "b", "c", "d", None])
scored: st.SearchStrategy[Rows] = st.lists(st.tuples(names, st.floats(-100.0, 100.0)), max_size=40)
judged: st.SearchStrategy[Rows] = st.lists(st.tuples(names, st.sampled_from([0.0, 1.0])), max_size=40)


def sums_of(rows: Rows) -> ClusterSums:
    """All rows, added one by one."""
    sums = ClusterSums()
    for cluster, value in rows:
        sums.add(cluster, value)
    return sums


def variance_by_definition(rows: Rows) -> Fraction:
    """G/(G-1) times the squared sums of the clusters' residuals, over n², with fractions."""
    mean = sum((Fraction(value) for _, value in rows), Fraction(0)) / len(rows)
    residuals: dict[object, Fraction] = {}
    for index, (cluster, value) in enumerate(rows):
        key = index if cluster is None else cluster
        residuals[key] = residuals.get(key, Fraction(0)) + Fraction(value) - mean
    clusters = len(residuals)
    return Fraction(clusters, clusters - 1) * sum(r * r for r in residuals.values()) / len(rows) ** 2


def test_worked_example() -> None:
    """Clusters (1, 1, 0) and (0, 0) and 1: mean 1/2, residuals 1/2, -1, 1/2, so variance 3/2 · 3/2 / 36 = 1/16."""
    rows: Rows = [("a", 1), ("a", 1), ("a", 0), ("b", 0), ("b", 0), (None, 1)]
    estimate = clustered_mean(sums_of(rows))
    assert sums_of(rows).standard_error == 0.25
    assert estimate.value == 0.5
    assert estimate.hi == pytest.approx(0.5 + 4.303 * 0.25, abs=0.0005)


@given(scored)
def test_standard_error_by_definition(rows: Rows) -> None:
    """The running sums give the variance that the definition gives; fewer than two clusters give none."""
    sums = sums_of(rows)
    if sums.clusters < 2:
        assert sums.standard_error is None
    else:
        expected = math.sqrt(variance_by_definition(rows))
        assert sums.standard_error == pytest.approx(expected, rel=1e-12, abs=1e-150)


@given(scored, st.randoms(use_true_random=False))
def test_mean_keeps_under_order_and_names(rows: Rows, chance: random.Random) -> None:
    """Neither the order of values nor the names of clusters change a digit."""
    renamed: Rows = [(cluster and f"other {cluster}", value) for cluster, value in rows]
    chance.shuffle(renamed)
    assert clustered_mean(sums_of(renamed)) == clustered_mean(sums_of(rows))


@given(judged, st.randoms(use_true_random=False))
def test_proportion_keeps_under_order_and_names(rows: Rows, chance: random.Random) -> None:
    """Neither the order of verdicts nor the names of clusters change a digit."""
    renamed: Rows = [(cluster and f"other {cluster}", value) for cluster, value in rows]
    chance.shuffle(renamed)
    assert clustered_proportion(sums_of(renamed)) == clustered_proportion(sums_of(rows))


@given(st.lists(st.floats(-100.0, 100.0)), st.booleans())
def test_one_value_per_cluster_is_plain_mean(values: list[float], named: bool) -> None:
    """With one value per cluster, named or not, the mean has the ordinary t interval."""
    rows: Rows = [(str(index) if named else None, value) for index, value in enumerate(values)]
    assert clustered_mean(sums_of(rows)) == mean_interval(values)


@given(st.lists(st.booleans()), st.booleans())
def test_one_value_per_cluster_is_plain_wilson(values: list[bool], named: bool) -> None:
    """With one verdict per cluster, named or not, the rate has the plain Wilson interval."""
    rows: Rows = [(str(index) if named else None, value) for index, value in enumerate(values)]
    assert clustered_proportion(sums_of(rows)) == wilson(sum(values), len(values))


@given(st.lists(names, min_size=1), st.sampled_from([0, 1]))
def test_all_the_same_counts_clusters(clusters: list[str | None], value: int) -> None:
    """Where every verdict is the same, nothing tells how clusters vary: each counts as one verdict."""
    estimate = clustered_proportion(sums_of([(each, value) for each in clusters]))
    independent = clusters.count(None) + len(set(clusters) - {None})
    plain = wilson(independent * value, independent)
    assert (estimate.value, estimate.n) == (value, len(clusters))
    assert (estimate.lo, estimate.hi) == (plain.lo, plain.hi)


@given(judged, st.floats(0.01, 0.999))
def test_proportion_bounds(rows: Rows, level: float) -> None:
    """The interval holds the rate, stays among possible rates, and is never narrower than plain Wilson's."""
    estimate = clustered_proportion(sums_of(rows), level)
    plain = wilson(sum(value == 1.0 for _, value in rows), len(rows), level)
    assert (estimate.value, estimate.n) == (plain.value, plain.n)
    if estimate.lo is None or estimate.hi is None:
        assert estimate == Estimate(plain.value, plain.n, None, None, "none")
        return
    assert plain.value is not None
    assert plain.lo is not None
    assert plain.hi is not None
    assert 0.0 <= estimate.lo <= plain.lo <= plain.value <= plain.hi <= estimate.hi <= 1.0


@given(judged)
def test_proportion_symmetry(rows: Rows) -> None:
    """Failures have the mirror image of the interval of passes."""
    passes, failures = (
        clustered_proportion(sums_of(rows)),
        clustered_proportion(sums_of([(c, 1 - v) for c, v in rows])),
    )
    assert (passes.lo is None, passes.n, passes.method) == (failures.lo is None, failures.n, failures.method)
    if passes.lo is not None and passes.hi is not None:
        assert (failures.lo, failures.hi) == pytest.approx((1 - passes.hi, 1 - passes.lo), abs=1e-12)


@given(judged, scored, st.floats(0.01, 0.999))
def test_monotone_in_level(verdicts: Rows, values: Rows, level: float) -> None:
    """More confidence never narrows an interval, and never makes or unmakes one."""
    for narrow, wide in (
        (clustered_proportion(sums_of(verdicts), level), clustered_proportion(sums_of(verdicts), level + 0.0005)),
        (clustered_mean(sums_of(values), level), clustered_mean(sums_of(values), level + 0.0005)),
    ):
        assert (narrow.lo is None, narrow.hi is None) == (wide.lo is None, wide.hi is None)
        if narrow.lo is not None and wide.lo is not None and narrow.hi is not None and wide.hi is not None:
            assert wide.lo <= narrow.lo <= narrow.hi <= wide.hi


@pytest.mark.parametrize(("clusters", "passing", "size"), [(10, 6, 5), (4, 1, 3), (50, 25, 2)])
def test_copies_count_little(clusters: int, passing: int, size: int) -> None:
    """Clusters of copies have the design effect (n-1)/(G-1), derived by hand: an effective size just below G."""
    rows: Rows = [(str(index), index < passing) for index in range(clusters) for _ in range(size)]
    sums, n = sums_of(rows), clusters * size
    assert sums.design_effect == (n - 1) / (clusters - 1)
    estimate = clustered_proportion(sums)
    assert estimate.lo is not None
    few = (two_sided_t(0.95, n - 1) / two_sided_t(0.95, clusters - 1)) ** 2
    effective, rate = n * (clusters - 1) / (n - 1) * few, passing / clusters
    distance = (rate - estimate.lo) ** 2 * effective
    assert estimate.method == "wilson-clustered"
    assert distance == pytest.approx(two_sided_z(0.95) ** 2 * estimate.lo * (1 - estimate.lo), rel=1e-9)


def test_even_clusters_do_not_shrink_the_interval() -> None:
    """Clusters that agree with each other more than chance would have it count as no clusters."""
    rows: Rows = [(str(index), value) for index in range(10) for value in (0, 1)]
    assert sums_of(rows).design_effect == 0.0
    plain = wilson(10, 20)
    assert clustered_proportion(sums_of(rows)) == Estimate(0.5, 20, plain.lo, plain.hi, "wilson-clustered")


def test_few_clusters_that_nearly_agree_are_not_trusted() -> None:
    """Two conversations of 11 and 9 passes among 20 each: a design effect of two clusters is worth next to nothing."""
    rows: Rows = [
        (name, value) for name, passes in (("a", 11), ("b", 9)) for value in [1] * passes + [0] * (20 - passes)
    ]
    estimate = clustered_proportion(sums_of(rows))
    assert estimate.lo is not None
    assert estimate.hi is not None
    assert estimate.hi - estimate.lo > 0.5
    assert estimate.method == "wilson-clustered"


def test_copies_widen_the_mean() -> None:
    """Copying every value keeps the interval of a mean: G stays, whatever n is."""
    single: Rows = [(name, value) for name, value in zip("abcd", (1.0, 2.0, 4.0, 9.0), strict=True)]
    once, thrice = clustered_mean(sums_of(single)), clustered_mean(sums_of(single * 3))
    assert (thrice.lo, thrice.hi) == pytest.approx((once.lo, once.hi), rel=1e-12)
    assert (once.method, thrice.method) == ("t", "t-clustered")


def test_one_cluster_has_no_interval() -> None:
    """A single cluster does not tell how clusters vary."""
    rows: Rows = [("a", 1), ("a", 0), ("a", 1), ("a", 1)]
    assert clustered_mean(sums_of(rows)) == Estimate(0.75, 4, None, None, "none")
    assert clustered_proportion(sums_of(rows)) == Estimate(0.75, 4, None, None, "none")


def test_degrees_of_freedom_count_clusters() -> None:
    """The critical value is that of t with one degree of freedom less than there are clusters."""
    sums = sums_of([(name, value) for name in "abc" for value in (ord(name), 2.5)])
    estimate = clustered_mean(sums, 0.9)
    assert sums.standard_error is not None
    assert estimate.value is not None
    assert estimate.hi == estimate.value + two_sided_t(0.9, 2) * sums.standard_error


def test_nothing_was_added() -> None:
    """Without values there is no number at all."""
    nothing = Estimate(None, 0, None, None, "none")
    assert (clustered_mean(ClusterSums()), clustered_proportion(ClusterSums())) == (nothing, nothing)


def test_proportion_of_scores() -> None:
    """A proportion of values other than 0 and 1 is refused, with the function to use instead."""
    with pytest.raises(ValueError, match="use clustered_mean"):
        clustered_proportion(sums_of([("a", 0.5), ("b", 1)]))


def test_a_bad_value_leaves_the_sums_alone() -> None:
    """A value that is refused is not counted in part."""
    sums = sums_of([("a", 1), ("b", 0)])
    before = (clustered_mean(sums), sums.clusters)
    with pytest.raises(ValueError, match="finite number"):
        sums.add("c", math.nan)
    assert (clustered_mean(sums), sums.clusters) == before


def test_values_without_cluster_take_no_memory() -> None:
    """Any number of values that are clusters of their own adds no entry."""
    sums = sums_of([(None, index % 7) for index in range(10_000)])
    assert (sums.clusters, sums.n, len(sums._named)) == (10_000, 10_000, 0)


def covered(repeats: int, clusters: int, size: int) -> tuple[float, float, float]:
    """How often the intervals of a clustered rate, a clustered mean and a plain rate hold the truth, 0.7."""
    chance = random.Random(7)
    hits: list[tuple[bool, bool, bool]] = []
    for _ in range(repeats):
        rates = [chance.betavariate(1.4, 0.6) for _ in range(clusters)]
        rows: Rows = [(str(index), chance.random() < rate) for index, rate in enumerate(rates) for _ in range(size)]
        passes = sum(value == 1 for _, value in rows)
        sums = sums_of(rows)
        estimates = (clustered_proportion(sums), clustered_mean(sums), wilson(passes, len(rows)))
        first, second, third = ((e.lo or 0.0) <= 0.7 <= (e.hi or 0.0) for e in estimates)
        hits.append((first, second, third))
    rate, mean, plain = (statistics.fmean(column) for column in zip(*hits, strict=True))
    return rate, mean, plain


def test_coverage() -> None:
    """Of clustered verdicts, intervals that know of clusters hold the true rate far more often than plain ones."""
    rate, mean, plain = covered(300, 30, 5)
    assert min(rate, mean) > 0.90
    assert plain < 0.88


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [20, 50, 100])
def test_coverage_closely(clusters: int) -> None:
    """With 20 clusters and more, clustered intervals come within 2.5 points of their 95 %; plain ones miss by far."""
    rate, mean, plain = covered(5_000, clusters, 5)
    assert abs(rate - 0.95) < 0.025
    assert abs(mean - 0.95) < 0.025
    assert plain < 0.85
