"""The report of a calibration on a terminal: readable at every width, plain in its words, harmless."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from calibration_fixtures import (
    bare_calibration,
    binary_calibration,
    calibrated,
    difference,
    figure_of,
    hostile_calibration,
    miss,
    model_report,
    sample,
    tied_calibration,
)
from turnwise.calibration.analysis import analyse
from turnwise.calibration.gates import parse_gate
from turnwise.calibration.report import Baseline, Calibration, Recommendation, SampleCounts, Slice, Warned
from turnwise.decks.scale import ScaleSpec
from turnwise.report.calibration.terminal import calibration_text
from turnwise.report.terminal import coloured, plain, printable


def text_of(calibration: Calibration, width: int = 120) -> str:
    return calibration_text(calibration, plain, width, clean=printable)


def flat(calibration: Calibration, width: int = 120) -> str:
    """The report with all spaces alike, so that it does not matter where lines end."""
    return " ".join(text_of(calibration, width).split())


def row(calibration: Calibration, name: str, width: int = 120) -> list[str]:
    """The words of the first line that begins with a name."""
    return next(line for line in text_of(calibration, width).splitlines() if line.startswith(name + " ")).split()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Whatever the width, every line fits, and no figure of the table is lost."""
    for calibration in (binary_calibration(), hostile_calibration()):
        assert max(cell_len(line) for line in text_of(calibration, width).splitlines()) <= width
    shown = flat(binary_calibration(), width)
    for figure in (".90 [.70, .97]", "fail → pass (s19)", "17/20", "do not use", "always answer fail"):
        assert figure in shown


def test_the_first_line_says_what_was_calibrated() -> None:
    """Deck, samples, raters, scale and temperature stand at the top."""
    first = text_of(binary_calibration(), 200).splitlines()[0]
    assert first == (
        "Calibration of graders/tone.deck.md · 20 samples (20 labelled, 1 rater)"
        " · scale binary fail, pass (good: pass) · temperature 0"
    )


def test_a_temperature_is_not_made_up() -> None:
    """It is shown only where it is known, and by model where models differ."""
    unknown = bare_calibration(model_report("a", settings={}))
    mixed = bare_calibration(model_report("a"), model_report("b", settings={"temperature": 0.7}))
    assert "temperature" not in text_of(unknown)
    assert "temperature 0 (a), 0.7 (b)" in text_of(mixed)


def test_a_row_has_the_figures_of_its_judge() -> None:
    """18 of 20 right is .90, κ of balanced labels is (.9 − .5) / .5 = .80."""
    assert row(binary_calibration(), "good")[:4] == ["good", "20/20", "20", ".90"]
    assert ".80" in row(binary_calibration(), "good")


def test_a_judge_that_is_no_better_than_a_constant_is_called_so() -> None:
    """A judge that always passes has κ 0, and the sentence says that it is of no use."""
    shown = flat(binary_calibration())
    assert "bad: Do not use it: it does no better than always answering fail." in shown
    assert row(binary_calibration(), "bad")[-3:] == ["do", "not", "use"]


def test_the_baseline_and_people_have_rows_of_their_own() -> None:
    """The constant answer and the agreement of people stand in the same columns as judges."""
    both = {"ann": "pass", "ben": "pass"}
    samples = [sample(f"s{place}", None, labels=both) for place in range(3)]
    samples += [sample(f"t{place}", None, labels={"ann": "fail", "ben": "pass"}) for place in range(1)]
    calibration = calibrated(samples, {"m": ["pass"] * 4})
    # Seven of eight labels are pass; people agree on three of four samples.
    assert row(calibration, "always")[:5] == ["always", "answer", "pass", "8", ".88"]
    assert row(calibration, "people")[:4] == ["people", "themselves", "4", ".75"]


def test_an_undefined_figure_is_a_dash_with_its_reason_below() -> None:
    """Each reason stands once, however many figures have it."""
    figures = {"agreement": figure_of(None), "kappa": figure_of(None)}
    shown = text_of(bare_calibration(model_report("a", statistics=figures), model_report("b", statistics=figures)))
    assert shown.count("–¹") == 4
    assert shown.count("¹ all labels are the same") == 1


def test_a_calibration_of_nothing_can_be_shown() -> None:
    """Without labels, without outputs, without models or without samples there is still a report."""
    unlabelled = [sample(f"s{place}", None) for place in range(3)]
    for calibration in (
        calibrated(unlabelled, {"m": ["pass", "fail", None]}),
        calibrated([sample("a", "pass")], {"m": [None]}),
        analyse([], {}, None, draws=50),
        analyse([], {"m": {}}, None, draws=50),
    ):
        shown = text_of(calibration, 80)
        assert shown.startswith("Calibration of")
        assert "nan" not in shown
        assert "None" not in shown


def test_differences_are_told_once_and_ties_are_no_ranking() -> None:
    """Three judges are three pairs: the reliable one first, with the better judge first; the others are ties."""
    lines = [
        line.strip() for line in text_of(tied_calibration(), 200).splitlines() if "differ" in line or "better" in line
    ]
    assert lines == [
        "Which judge is better",
        "large is better than small by κ (κ +.20 [+.10, +.30], p = .004, n = 100)",
        "large and other: no reliable difference (large − other: κ +.02 [-.08, +.12], p = .50, n = 100)",
        "small and other: no reliable difference (small − other: κ -.05 [-.15, +.05], p = .50, n = 100)",
    ]


def test_a_lower_error_is_better() -> None:
    """Of two mean errors the smaller one wins, and the winner stands first."""
    worse = model_report("worse", differences=(difference("better", 0.5, True, "mae", 0.01),))
    shown = flat(bare_calibration(worse, model_report("better")))
    assert "better is better than worse by mean error (mean error -.50 [-.60, -.40], p = .010, n = 100)" in shown


def test_invalid_outputs_are_counted_by_kind_and_bounded() -> None:
    """Three of twenty have no verdict: 17 of 17 right is .85 at worst, and all at best."""
    shown = flat(binary_calibration())
    assert "3 invalid: 3 not_json; agreement if all were wrong .85, if all right 1.00" in shown
    assert "s0 torn not_json" in shown
    assert "no idea" in shown


def test_labels_that_are_still_needed_are_named() -> None:
    """What is not known comes with what it takes to know."""
    unknown = model_report("m", verdict=Recommendation("unknown", "κ lies somewhere", 104))
    assert "m: Not known yet: κ lies somewhere. About 104 more labels should tell." in flat(bare_calibration(unknown))


def test_a_warning_says_what_to_do() -> None:
    """Below each warning stands its hint."""
    warnings = (Warned("few_samples", "only 4 samples", "label more"),)
    lines = text_of(bare_calibration(model_report("m"), warnings=warnings)).splitlines()
    place = lines.index("warning: only 4 samples")
    assert lines[place + 1] == "  → label more"


def test_gates_say_who_met_them() -> None:
    """A bar is met, not met or cannot be told, with the exact value."""
    gates = [parse_gate("agreement>=0.85"), parse_gate("mcc>0.5")]
    samples = [sample(f"s{place}", "pass" if place % 2 else "fail") for place in range(10)]
    right = ["pass" if place % 2 else "fail" for place in range(10)]
    shown = flat(calibrated(samples, {"m": right, "n": ["pass"] * 10}, gates=gates))
    assert "agreement>=0.85: m met (1)" in shown
    assert "agreement>=0.85: n NOT met (0.5)" in shown
    assert "mcc>0.5: n cannot be told (not defined: judge or people gave only one of the two classes)" in shown


def test_dangerous_disagreements_come_first_and_five_are_shown() -> None:
    """Of seven samples five are shown, the dangerous one first; two judges that miss one sample share its block."""
    misses = tuple(miss(f"mild{place}", 1, 2) for place in range(6))
    judges = (
        model_report("a", disagreements=misses),
        model_report("b", disagreements=(miss("grave", 1, 2, True), misses[0])),
    )
    shown = text_of(bare_calibration(*judges))
    assert "7 samples on which people and judge disagree, 1 of them dangerous" in shown
    assert shown.index("\ngrave  dangerous\n") < shown.index("\nmild0\n")
    assert shown.count("people: 1\n") + shown.count("people: 1 ") == 5
    assert shown.endswith("… and 2 more: `--format html -o report.html` shows them all")


@pytest.mark.parametrize(("width", "beside"), [(80, False), (99, False), (100, True), (120, True)])
def test_the_conversation_stands_beside_the_opinions_where_there_is_room(width: int, beside: bool) -> None:
    """From 100 columns on there are two of them."""
    lines = text_of(binary_calibration(), width).splitlines()
    assert any("user:" in line and "people: fail" in line for line in lines) == beside
    assert any("question of s19" in line for line in lines)
    assert any("people say so of s19" in line for line in lines)


def test_long_texts_are_cut_and_say_so() -> None:
    """A message of 700 letters keeps 600, and of eight messages the last six are shown."""
    messages = [{"role": "user", "content": f"turn {place}"} for place in range(7)]
    messages.append({"role": "assistant", "content": "x" * 700})
    shown = flat(calibrated([sample("s", "fail", messages=messages)], {"m": ["pass"]}), 80)
    assert "… (100 more characters)" in shown
    assert "… (2 earlier messages)" in shown
    assert "turn 1" not in shown
    assert "turn 2" in shown


def test_wide_letters_do_not_break_the_columns() -> None:
    """Letters that take two columns are counted as two."""
    messages = [{"role": "user", "content": "世界" * 200}]
    lines = text_of(calibrated([sample("s", "fail", messages=messages)], {"m": ["pass"]}), 100).splitlines()
    columns = {cell_len(line.split("│")[0]) for line in lines if "│" in line}
    assert len(columns) == 1


def test_slices_are_the_twelve_most_frequent_tags() -> None:
    """Of fourteen tags two are left out, and their number is said."""
    parts = {f"tag{count}": Slice((model_report("m", total=count),), None, None) for count in range(14)}
    lines = text_of(bare_calibration(model_report("m"), slices=parts)).splitlines()
    tags = [line.split()[0] for line in lines if line.startswith("tag") and line.split()[0] != "tag"]
    assert tags == [f"tag{count}" for count in range(13, 1, -1)]
    assert "… and 2 more tags" in lines


def test_nothing_that_others_wrote_reaches_the_terminal_unchecked() -> None:
    """Names, labels, reasons and conversations cannot move the cursor, reorder letters or start lines of their own."""
    shown = text_of(hostile_calibration())
    assert not set("\x1b\r\t\u202e\u2028") & set(shown)
    assert "␛[2J" in shown


def test_colours_change_nothing_but_colours() -> None:
    """Without its escapes the coloured report is the plain one."""
    import re

    painted = calibration_text(binary_calibration(), coloured, 120, clean=printable)
    assert "\x1b[31m" in painted
    without = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", painted).splitlines()]
    assert without == text_of(binary_calibration()).splitlines()


def test_scores_have_a_bias_and_words_have_none() -> None:
    """Judge less human: 2 − 1 and 3 − 3 on two samples each is +.50 on average; the continuous scale shows errors."""
    samples = [sample(f"s{place}", value) for place, value in enumerate([1, 1, 3, 3])]
    ordinal = ScaleSpec.model_validate({"kind": "ordinal", "min": 1, "max": 5})
    continuous = ScaleSpec.model_validate({"kind": "continuous", "min": 0, "max": 5})
    assert "+.50" in row(calibrated(samples, {"m": [2, 2, 3, 3]}, ordinal), "m")
    shown = text_of(calibrated(samples, {"m": [2, 2, 3, 3]}, continuous))
    assert "mean error" in shown
    assert "agreement" not in shown.splitlines()[2]
    assert "bias" not in text_of(binary_calibration())


def test_cost_is_told_by_the_thousand() -> None:
    """What a thousand verdicts cost stands in the row; that it is not known is said."""
    assert "$0.50" in row(bare_calibration(model_report("m", cost_usd_per_1000=0.5)), "m")
    assert "not known" in " ".join(row(bare_calibration(model_report("m")), "m"))


def test_samples_that_were_left_out_are_counted() -> None:
    """Skipped and ungradable samples are named at the top."""
    counts = SampleCounts(total=10, labelled=7, skipped=2, clusters=7, raters=3, ungradable=1)
    shown = text_of(bare_calibration(model_report("m"), samples=counts), 200)
    assert "10 samples (7 labelled, 2 skipped, 1 ungradable, 3 raters)" in shown


def test_a_long_answer_or_name_keeps_the_table_in_shape() -> None:
    """Long names lose their middle, the verdict never goes."""
    baseline = Baseline("y" * 300, {"agreement": figure_of(0.5, 0.4, 0.6), "kappa": figure_of(0.0)})
    calibration = bare_calibration(model_report("x" * 300), baseline=baseline)
    lines = text_of(calibration, 80).splitlines()
    judge = next(line for line in lines if line.startswith("xxx"))
    assert judge.endswith("trends")
    assert "…" in judge
    assert "no model was asked" in flat(replace(calibration, replayed=True))
