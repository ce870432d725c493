"""Pass rates corrected for a grader's errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.corrected import CorrectedRate, JudgeCounts, ppi, rogan_gladen

KNOWN = JudgeCounts(fails=200, failed=140, passes=200, passed=180)
good_judges = st.builds(
    JudgeCounts, fails=st.just(40), failed=st.integers(28, 40), passes=st.just(30), passed=st.integers(21, 30)
)


def figures(rate: CorrectedRate) -> tuple[float, float, float]:
    """Low end, value and high end, all of which must exist."""
    assert rate.lo is not None
    assert rate.value is not None
    assert rate.hi is not None
    return rate.lo, rate.value, rate.hi


def test_known_correction() -> None:
    """40 % reported by a grader with TNR .7 and TPR .9 is about 17 %, with the known interval."""
    found = rogan_gladen(400, 1000, KNOWN)
    assert figures(found) == pytest.approx((0.056351, 0.166667, 0.262733), abs=5e-7)
    assert (found.raw, found.n, found.labels, found.refusal) == (0.4, 1000, 400, None)


def test_perfect_grader_needs_no_correction() -> None:
    """The rate that a grader without known errors reports is the rate."""
    assert rogan_gladen(37, 100, JudgeCounts(50, 50, 50, 50)).value == pytest.approx(0.37)


@given(st.integers(0, 200), good_judges)
def test_interval_holds_the_rate(reported: int, judge: JudgeCounts) -> None:
    """The rate is a rate, and lies in its interval."""
    lo, value, hi = figures(rogan_gladen(reported, 200, judge))
    assert 0.0 <= lo <= value <= hi <= 1.0


@given(st.integers(0, 200), good_judges)
def test_pass_and_fail_are_symmetric(reported: int, judge: JudgeCounts) -> None:
    """Calling passes fails and fails passes turns the rate and its interval around."""
    lo, value, hi = figures(rogan_gladen(reported, 200, judge))
    swapped = JudgeCounts(judge.passes, judge.passed, judge.fails, judge.failed)
    assert figures(rogan_gladen(200 - reported, 200, swapped)) == pytest.approx((1 - hi, 1 - value, 1 - lo))


def test_more_labels_narrow_the_interval() -> None:
    """What is uncertain about the grader makes the rate uncertain, however many answers it graded."""
    few = figures(rogan_gladen(4000, 10_000, JudgeCounts(20, 16, 20, 18)))
    many = figures(rogan_gladen(4000, 10_000, JudgeCounts(2000, 1600, 2000, 1800)))
    assert few[2] - few[0] > 5 * (many[2] - many[0])


def test_weak_grader_is_refused() -> None:
    """TPR + TNR - 1 below .2 is refused; .2 itself, which no float holds, is not."""
    refused = rogan_gladen(50, 100, JudgeCounts(100, 60, 100, 59))
    assert refused.value is None
    assert refused.raw == 0.5
    assert "TPR 0.590 + TNR 0.600" in (refused.refusal or "")
    assert rogan_gladen(50, 100, JudgeCounts(100, 60, 100, 60)).value == pytest.approx(0.5)


@pytest.mark.parametrize("judge", [JudgeCounts(9, 9, 500, 500), JudgeCounts(500, 500, 9, 9)])
def test_few_labels_are_refused(judge: JudgeCounts) -> None:
    """Fewer than ten labels of either kind are refused, and the message counts them."""
    refused = rogan_gladen(50, 100, judge)
    assert (refused.value, refused.lo, refused.hi) == (None, None, None)
    assert f"{judge.passes} passes and {judge.fails} fails" in (refused.refusal or "")


def test_no_answers_are_refused() -> None:
    """Without an answer there is no rate, not one of 0."""
    refused = rogan_gladen(0, 0, KNOWN)
    assert (refused.value, refused.raw) == (None, None)
    assert refused.refusal


def test_impossible_counts() -> None:
    """Counts that cannot be are mistakes of the caller."""
    with pytest.raises(ValueError, match="found 11"):
        rogan_gladen(11, 10, KNOWN)
    with pytest.raises(ValueError, match="failed=11"):
        JudgeCounts(10, 11, 10, 10)


def rogan_gladen_coverage(rate: float, labels: int, simulations: int) -> float:
    """How often the interval holds the true rate, for a grader with TNR .8 and TPR .9 on 500 answers."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(simulations):
        judge = JudgeCounts(labels, int(rng.binomial(labels, 0.8)), labels, int(rng.binomial(labels, 0.9)))
        lo, _, hi = figures(rogan_gladen(int(rng.binomial(500, 0.9 * rate + 0.2 * (1 - rate))), 500, judge))
        hits += lo <= rate <= hi
    return hits / simulations


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_coverage_of_corrected_rates(rate: float) -> None:
    """At least about 95 of 100 intervals hold the true rate, rare or frequent."""
    assert rogan_gladen_coverage(rate, 50, 400) >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("labels", [30, 100, 300])
def test_coverage_of_corrected_rates_closely(rate: float, labels: int) -> None:
    """At least 94 % of many intervals hold the true rate."""
    assert rogan_gladen_coverage(rate, labels, 20_000) >= 0.94


def test_ppi_is_its_formula() -> None:
    """The estimate and its interval are those of the published formulas, with sample variances."""
    rng = np.random.default_rng(1)
    y, f, more = rng.normal(size=30), rng.normal(size=30), rng.normal(size=200)
    f = f + y
    weight = np.cov(y, f)[0, 1] / ((1 + 30 / 200) * np.var(f, ddof=1))
    value = y.mean() + weight * (more.mean() - f.mean())
    error = np.sqrt(np.var(y - weight * f, ddof=1) / 30 + weight**2 * np.var(more, ddof=1) / 200)
    half = 1.959963985 * error
    found = figures(ppi(y.tolist(), f.tolist(), more.tolist()))
    assert found == pytest.approx((value - half, value, value + half), abs=1e-8)


def test_useless_grader_leaves_the_plain_mean() -> None:
    """A grader that says the same of every answer adds nothing to the labels."""
    labels = [1.0] * 6 + [0.0] * 6
    lo, value, hi = figures(ppi(labels, [1.0] * 12, [1.0] * 50))
    assert value == pytest.approx(0.5)
    assert (hi - lo) / 2 == pytest.approx(1.959964 * np.std(labels, ddof=1) / 12**0.5, abs=1e-6)


def test_good_grader_narrows_the_interval() -> None:
    """A grader that is always right makes unlabelled answers nearly as good as labelled ones."""
    labels = [1.0, 0.0] * 20
    alone = figures(ppi(labels, [0.0] * 40, [0.0] * 4000))
    helped = figures(ppi(labels, labels, [1.0, 0.0] * 2000))
    assert helped[2] - helped[0] < (alone[2] - alone[0]) / 5


def test_rates_stay_rates() -> None:
    """Where all values are 0 or 1, so are the limits of the interval."""
    lo, value, hi = figures(ppi([1.0] * 11 + [0.0], [1.0] * 12, [1.0] * 20))
    assert 0.0 <= lo <= value <= hi == 1.0


def test_ppi_without_spread_has_no_interval() -> None:
    """Labels that are all the same have a mean, but tell nothing of its error."""
    found = ppi([1.0] * 12, [1.0] * 12, [1.0] * 20)
    assert (found.value, found.lo, found.hi) == (1.0, None, None)


def test_ppi_needs_labels() -> None:
    """Fewer than ten labels, or hardly an unlabelled answer, are refused with their numbers."""
    assert "9 labelled and 20 unlabelled" in (ppi([1.0] * 9, [1.0] * 9, [1.0] * 20).refusal or "")
    assert "12 labelled and 0 unlabelled" in (ppi([1.0] * 12, [1.0] * 12, []).refusal or "")
    with pytest.raises(ValueError, match="2 labels and 1 scores"):
        ppi([1.0, 0.0], [1.0], [1.0])


def ppi_coverage(labels: int, simulations: int) -> float:
    """How often the interval holds the true rate of .4, with a grader that is right in 85 % of cases."""
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(simulations):
        truth = (rng.random(labels * 6) < 0.4).astype(np.float64)
        judged = np.where(rng.random(labels * 6) < 0.85, truth, 1 - truth).tolist()
        lo, _, hi = figures(ppi(truth[:labels].tolist(), judged[:labels], judged[labels:]))
        hits += lo <= 0.4 <= hi
    return hits / simulations


def test_coverage_of_ppi() -> None:
    """About 95 of 100 intervals hold the true rate."""
    assert ppi_coverage(60, 300) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("labels", [50, 200])
def test_coverage_of_ppi_closely(labels: int) -> None:
    """Between 93 % and 97 % of many intervals hold the true rate."""
    assert 0.93 <= ppi_coverage(labels, 3000) <= 0.97
