"""What reports say beside their tables: only what is so, once, and with the reason for what is missing."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest

from calibration_fixtures import bare_calibration, calibrated, figure_of, miss, model_report, sample
from turnwise.calibration.gates import parse_gate
from turnwise.calibration.report import Calibration, Ceiling, GateResult, Latency, RaterPairReport, TokenUsage
from turnwise.graders.verdict_scale import Scale
from turnwise.report.calibration.contested import contested_samples
from turnwise.report.calibration.gate_text import gate_lines, quiet_lines
from turnwise.report.calibration.html.page import calibration_html
from turnwise.report.calibration.markdown import calibration_markdown
from turnwise.report.calibration.overview import overview
from turnwise.report.calibration.sentences import (
    disagreement_line,
    more_disagreements,
    more_figures,
    pace_line,
    people_lines,
)
from turnwise.report.calibration.terminal import calibration_text
from turnwise.report.terminal import plain, printable
from turnwise.stats.statistic import Statistic, undefined


def text_of(calibration: Calibration, width: int = 80) -> str:
    """The report on a terminal with all spaces alike."""
    return " ".join(calibration_text(calibration, plain, width, clean=printable).split())


def of_scale(kind: Any, **fields: Any) -> Calibration:
    """A calibration with two people's labels on a scale of that kind."""
    pair = RaterPairReport(("ann", "ben"), figure_of(0.7, 0.5, 0.9, 20), figure_of(0.8, 0.6, 0.9, 20), 20)
    ceiling = Ceiling({}, (pair,), figure_of(0.75, 0.6, 0.9, 20))
    return bare_calibration(model_report("m"), scale=Scale(kind), ceiling=ceiling, **fields)


@pytest.mark.parametrize(
    ("kind", "level", "kappa"),
    [
        ("binary", "nominal", "κ"),
        ("categorical", "nominal", "κ"),
        ("ordinal", "ordinal", "unweighted κ"),
        ("continuous", "interval", "unweighted κ"),
    ],
)
def test_people_are_compared_by_named_figures(kind: str, level: str, kappa: str) -> None:
    """α has its level, and κ says that it is unweighted where the headline is weighted."""
    found = of_scale(kind)
    assert list(people_lines(found)) == [
        f"Krippendorff's α ({level}) .75 [.60, .90]",
        f"ann and ben: {kappa} .70 [.50, .90], n = 20",
    ]
    assert f"Krippendorff’s α ({level})" in calibration_html([found])


def test_harm_is_spoken_of_only_where_there_is_some() -> None:
    """Without a dangerous disagreement nothing is said about danger."""
    mild = contested_samples(bare_calibration(model_report("a", disagreements=(miss("x", 1, 2),))))
    grave = contested_samples(bare_calibration(model_report("a", disagreements=(miss("x", 1, 2, True),))))
    assert disagreement_line(mild) == "1 sample on which people and judge disagree"
    assert disagreement_line(grave).endswith("disagree, 1 of them dangerous: to act on the judge would do harm")


def test_the_page_is_not_said_to_show_more_than_it_does() -> None:
    """A page shows at most 2,000 samples, and the JSON report all."""
    misses = tuple(miss(f"s{place}", 1, 2) for place in range(2001))
    few = contested_samples(bare_calibration(model_report("a", disagreements=misses[:7])))
    many = contested_samples(bare_calibration(model_report("a", disagreements=misses)))
    assert more_disagreements(5, few) == "… and 2 more: `--format html -o report.html` shows them all"
    assert more_disagreements(5, many).endswith("shows the first 2,000; `--format json` has all")
    assert more_disagreements(7, few) == ""


def test_an_undefined_rate_is_a_dash_with_its_reason() -> None:
    """A judge that saw no bad sample has no TNR, and the reason stands beside it."""
    figures = {"tpr": figure_of(0.9, 0.8, 0.95), "tnr": undefined(0, "the human labels hold no negative")}
    shown = more_figures(model_report("m", statistics=figures))
    assert shown == "TPR .90 [.80, .95]; TNR – (the human labels hold no negative)"


@pytest.mark.parametrize("effect", [0.8, 1.0, 2.5])
def test_the_design_effect_is_always_shown(effect: float) -> None:
    """Where samples belong together, the reader sees what that does, also if it is little."""
    assert f"design effect {effect:.2f}".replace("0.", ".") in more_figures(model_report("m", design_effect=effect))


def test_the_pace_is_one_line_in_text_and_markdown() -> None:
    """Median, 95th percentile and tokens: 48,000 sent and 3,200 back over 100 answers are 512 for each."""
    judge = model_report("m", latency_ms=Latency(1500, 1234, 3400, 100), usage=TokenUsage(48_000, 3_200, 100))
    said = "1.2 s median, 3.4 s at 95 %; 512 tokens an answer"
    assert pace_line(judge) == said
    assert said in text_of(bare_calibration(judge))
    assert said in unescape(calibration_markdown([bare_calibration(judge)], clean=printable))
    assert pace_line(model_report("m")) == ""


@pytest.mark.parametrize("width", [60, 80, 120])
def test_all_that_a_row_must_have_is_there_at_every_width(width: int) -> None:
    """Valid outputs, n, both figures, bias with its interval, worst miss and cost stand in the row or below it."""
    figures = {
        "agreement": figure_of(0.85, 0.78, 0.9),
        "kappa_quadratic": figure_of(0.71, 0.62, 0.79),
        "bias": figure_of(0.2, 0.1, 0.3),
    }
    judge = model_report("m", statistics=figures, cost_usd_per_1000=0.5, disagreements=(miss("far", 1, 4),))
    shown = text_of(bare_calibration(judge, scale=Scale("ordinal", min=1, max=5)), width)
    for each in ("100/100", ".85 [.78, .90]", ".71 [.62, .79]", "+.20 [+.10, +.30]", "1 → 4 (far)", "$0.50", "trends"):
        assert each in shown, each


def test_what_is_missing_from_a_row_is_said() -> None:
    """No miss is `none`, and a cost that nobody knows is not known."""
    assert "worst miss none; $ per 1,000 not known" in text_of(bare_calibration(model_report("m")), 70)


def test_a_reason_is_a_footnote_once() -> None:
    """A figure and an interval that are missing for one reason share the note."""
    why = "both raters gave one and the same label throughout"
    figures = {"agreement": Statistic(1.0, 5, None, None, "none", reason=why), "kappa": undefined(5, why)}
    table = overview(bare_calibration(model_report("m", statistics=figures)))
    assert table.notes == ("¹ judge and people gave one and the same label throughout",)
    assert [column.cells[0] for column in table.columns if column.heading in ("agreement", "κ")] == ["1.00 [–]¹", "–¹"]


def test_a_missing_interval_alone_is_called_so() -> None:
    """Where no figure lacks its value for that reason, the note says that only the interval is missing."""
    figures = {"agreement": Statistic(1.0, 5, None, None, "none", reason="too few"), "kappa": figure_of(0.5, 0.4, 0.6)}
    assert overview(bare_calibration(model_report("m", statistics=figures))).notes == ("¹ no interval: too few",)


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ("mae<1", "this binary scale has no mean error"),
        ("flip_rate<1", "no flip rate: only --repeats shows it"),
        ("majority.kappa>0", "no sample has the labels of several people, so that there is no majority"),
        ("kappa>0", "not defined: judge and people gave one and the same label throughout"),
        ("agreement_lo>0", "no interval: too few"),
    ],
)
def test_a_gate_that_cannot_be_told_says_why(gate: str, reason: str) -> None:
    """The figure is none of the scale, is not defined, or has no interval: with the reason."""
    figures = {
        "agreement": Statistic(1.0, 5, None, None, "none", reason="too few"),
        "kappa": undefined(5, "both raters gave one and the same label throughout"),
    }
    gates = (GateResult(gate, "m", None, None),)
    found = bare_calibration(model_report("m", statistics=figures), gates=gates)
    assert gate_lines(found) == [(f"{gate}: m cannot be told ({reason})", None)]
    assert reason in calibration_html([found])


def test_quiet_lines_name_deck_model_use_and_gates() -> None:
    """A pipeline reads which deck and judge may be used for what, and every bar."""
    samples = [sample(f"s{place}", "pass" if place % 2 else "fail") for place in range(10)]
    right = ["pass" if place % 2 else "fail" for place in range(10)]
    found = calibrated(samples, {"m": right}, gates=[parse_gate("agreement>=0.85"), parse_gate("agreement<0.5")])
    verdict, met, missed = quiet_lines(found)
    assert verdict.startswith("graders/tone.deck.md: m: ")
    assert verdict.split(": ")[2] == found.models[0].verdict.use
    assert met == "graders/tone.deck.md: agreement>=0.85: m met (1)"
    assert missed == "graders/tone.deck.md: agreement<0.5: m NOT met (1)"
