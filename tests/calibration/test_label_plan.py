"""How many labels figures take, and which samples are drawn to be labelled."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from calibration_fixtures import sample
from turnwise.calibration.label_draw import draw_to_label
from turnwise.calibration.label_plan import Need, assumed_needs, best_model, largest_need, observed_needs
from turnwise.errors import UsageError
from turnwise.report.calibration.label_plan_text import need_line
from turnwise.stats.planning import (
    labels_for_fisher_width,
    labels_for_perfect_kappa_bound,
    labels_for_proportion_width,
)

Z2 = 1.959963984540054**2


def _figure(value: float | None, n: int, half: float = 0.1, **more: Any) -> dict[str, Any]:
    lo, hi = (None, None) if value is None else (value - half, value + half)
    return {"value": value, "n": n, "lo": lo, "hi": hi, "method": "wilson", **more}


def _model(headline: str = "kappa", **statistics: Any) -> dict[str, Any]:
    return {"model": "m", "headline": headline, "statistics": statistics}


def test_assumed_agreement() -> None:
    """Without figures, agreement takes what Wilson's interval takes at rates of .5, .8 and .9."""
    rows = [need for need in assumed_needs(0.05, 0) if need.figure == "agreement"]
    assert [need.total for need in rows] == [labels_for_proportion_width(rate, 0.05) for rate in (0.5, 0.8, 0.9)]
    assert rows[0].total == 381


def test_assumed_kappa() -> None:
    """κ takes what its large-sample error takes, with the tables that are stated; the oracle is statsmodels."""
    tables = ([[400, 100], [100, 400]], [[450, 50], [50, 450]], [[750, 50], [50, 150]])
    found = [cohens_kappa(table) for table in tables]
    wanted = [labels_for_fisher_width(each.kappa, each.std_kappa, 1000, 0.05) for each in found]
    rows = [need for need in assumed_needs(0.05, 0) if need.figure == "kappa"]
    assert [need.value for need in rows] == pytest.approx([0.6, 0.8, 0.6875])
    assert [need.total for need in rows] == wanted
    assert all(need.assumed and "agreement" in need.assumed for need in rows)


def test_labels_that_exist_count() -> None:
    """Labelled samples are taken off what is needed, and never below 0."""
    assert assumed_needs(0.05, 81)[0].more == 300
    assert assumed_needs(0.05, 10_000)[0].more == 0


def test_observed_agreement_and_kappa() -> None:
    """Measured figures take what their own value, error and design effect say."""
    figures = _model(agreement=_figure(0.85, 120, design_effect=2.0), kappa=_figure(0.7, 120, se=0.06))
    agreement, kappa = observed_needs(figures, 0.05)
    total = labels_for_proportion_width(0.85, 0.05, 0.95, 2.0)
    assert total is not None
    assert (agreement.total, agreement.more, agreement.n) == (total, total - 120, 120)
    assert agreement.half_width == pytest.approx(0.1)
    assert kappa.total == labels_for_fisher_width(0.7, 0.06, 120, 0.05)


def test_observed_rates_need_their_own_kind() -> None:
    """TPR counts good samples only: if a quarter of the labels are good, four labels bring one."""
    figures = _model(agreement=_figure(0.85, 120), tpr=_figure(0.9, 30))
    rate = observed_needs(figures, 0.05)[1]
    total = labels_for_proportion_width(0.9, 0.05)
    assert total is not None
    assert (rate.total, rate.more) == (total, 4 * (total - 30))
    assert f"{total} labels of good samples: {4 * (total - 30)} more of all kinds" in need_line(rate, 0.05)


def test_perfect_kappa() -> None:
    """κ of 1 has an interval to one side: its lower bound must come to 1 less twice the half width."""
    least = 50 / (50 + Z2)
    agreement = {**_figure(1.0, 50), "lo": least, "hi": 1.0}
    kappa = {**_figure(1.0, 50, se=0.0), "lo": (least - 0.4) / 0.6, "hi": 1.0}
    need = observed_needs(_model(agreement=agreement, kappa=kappa), 0.05)[1]
    assert need.total == labels_for_perfect_kappa_bound(0.4, 0.9)


def test_undefined_figures_say_why() -> None:
    """A figure without value takes no known number, and has the reason."""
    (need,) = observed_needs(_model(kappa={**_figure(None, 3), "reason": "all labels are the same"}), 0.05)
    assert (need.total, need.more, need.reason) == (None, None, "all labels are the same")
    assert "all labels are the same" in need_line(need, 0.05)
    assert largest_need([need]) is None


def test_largest_need() -> None:
    """The samples to label are those of the figure that takes the most; unknown ones do not count."""
    needs = [Need("kappa", 0.5, 1, 0.1, total, total) for total in (3, None, 7)]
    assert largest_need(needs) == 7


def test_draw_is_stratified_and_repeatable() -> None:
    """Each tag is drawn in proportion, at least once; a seed draws the same samples, another one others."""
    pool = [sample(f"s{place}", None, ["rare" if place < 4 else "usual"]) for place in range(100)]
    first = draw_to_label(pool, 25, 0)
    assert first.strata == {"rare": (1, 4), "usual": (24, 96)}
    assert Counter(each.tags[0] for each in first.samples) == {"rare": 1, "usual": 24}
    assert draw_to_label(pool, 25, 0) == first
    assert draw_to_label(pool, 25, 1).samples != first.samples


def test_draw_takes_unlabelled_samples_only() -> None:
    """Labelled samples are never drawn; without others there is nothing to draw."""
    labelled = [sample(f"l{place}", "pass") for place in range(5)]
    pool = [*labelled, sample("u0", None), sample("u1", None)]
    assert [each.id for each in draw_to_label(pool, 10, 0).samples] == ["u0", "u1"]
    with pytest.raises(UsageError, match="nothing is left to label"):
        draw_to_label(labelled, 1, 0)


def test_draw_smaller_than_the_strata() -> None:
    """A draw that cannot hold one of each tag takes all samples alike."""
    pool = [sample(f"s{place}", None, [f"t{place}"]) for place in range(10)]
    drawn = draw_to_label(pool, 3, 0)
    assert (len(drawn.samples), drawn.strata) == (3, {})


def _judge(name: str, use: str, value: float | None) -> dict[str, Any]:
    return {**_model(kappa=_figure(value, 50)), "model": name, "verdict": {"use": use}}


def test_the_best_judge_is_that_of_the_best_use() -> None:
    """A use goes before a figure; of one use, the higher lower bound wins, and a figure before none."""
    assert best_model([_judge("a", "none", 0.9), _judge("b", "trends", 0.5)]) == "b"
    assert best_model([_judge("a", "trends", 0.5), _judge("b", "trends", 0.6)]) == "b"
    assert best_model([_judge("a", "unknown", None), _judge("b", "unknown", -0.5)]) == "b"
    assert best_model([]) is None
