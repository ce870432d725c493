"""`turnwise calibrate --plan`: how many labels, and which samples next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Turnwise
from estimate_fixtures import ORACLE, conversation, estimate_files, judged_rows, lines_to
from turnwise.decks.samples import read_samples
from turnwise.stats.planning import labels_for_proportion_width

_PLAN = ("calibrate", "--samples", "s.jsonl", "--plan")
_DECK = '+++\n[scale]\nkind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"\n+++\nGrade the answer.\n'


def _json(turnwise: Turnwise, *arguments: str) -> dict[str, Any]:
    said = turnwise(*arguments, "--format", "json")
    assert said.code == 0, said.err
    record: dict[str, Any] = json.loads(said.out)
    return record


def _pool(count: int = 50) -> None:
    rows = [conversation(f"u{place}", tags=["rare" if place < 5 else "usual"]) for place in range(count)]
    rows[7]["metadata"] = {"judge_score": 1}
    lines_to("s.jsonl", rows)


def test_without_labels(turnwise: Turnwise) -> None:
    """Without labels the plan says what it assumes; the first line of its table is an agreement of one half."""
    _pool()
    record = _json(turnwise, *_PLAN, "0.05")
    assert record["needs"][0]["total"] == record["needs"][0]["more"] == 381
    assert record["samples"] == {"total": 50, "labelled": 0, "unlabelled": 50}
    text = turnwise(*_PLAN, "0.05").out
    assert "agreement .50: 381 labels, 381 more (assumed: agreement 0.5)" in text


def test_from_recorded_outputs(turnwise: Turnwise) -> None:
    """With recorded outputs the figures are measured: agreement 320 of 400, TPR 180 and TNR 140 of 200."""
    estimate_files(Path(), ORACLE, [])
    record = _json(turnwise, *_PLAN, "0.03", "--replay", "r.jsonl")
    needs = {each["figure"]: each for each in record["needs"]}
    wanted = {
        name: labels_for_proportion_width(rate, 0.03) for name, rate in (("agreement", 0.8), ("tpr", 0.9), ("tnr", 0.7))
    }
    assert {name: needs[name]["total"] for name in wanted} == wanted
    assert needs["tnr"]["more"] == 2 * (needs["tnr"]["total"] - 200)
    assert record["more"] == max(each["more"] for each in record["needs"])
    line = f"needs {wanted['agreement']:,} labels: {needs['agreement']['more']:,} more"
    assert line in turnwise(*_PLAN, "0.03", "--replay", "r.jsonl").out


def test_from_the_kept_calibration(turnwise: Turnwise) -> None:
    """A deck that was calibrated is planned for from its latest report; what has changed since is said."""
    rows, _ = judged_rows({("pass", "pass"): 10, ("fail", "pass"): 10})
    lines_to("s.jsonl", rows)
    Path("d.deck.md").write_text(_DECK, encoding="utf-8")
    Path(".turnwise").mkdir()
    targets = 'targets: [{name: judge, provider: mock, response: \'{"label": "pass"}\'}]'
    Path(".turnwise/targets.yaml").write_text(targets, encoding="utf-8")
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "judge").code == 0
    record = _json(turnwise, "calibrate", "d.deck.md", "--samples", "s.jsonl", "--plan", "0.05")
    assert record["basis"].startswith("the calibration ")
    agreement = record["needs"][0]
    assert (agreement["model"], agreement["value"], agreement["total"]) == ("judge", 0.5, 381)
    lines_to("s.jsonl", rows[1:])
    assert "the samples changed" in turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--plan", "0.05").err


def test_only_the_latest_calibration_counts(turnwise: Turnwise) -> None:
    """Without -m, judges that were tried before the latest calibration are left out; -m brings them back."""
    rows, _ = judged_rows({("pass", "pass"): 10, ("fail", "pass"): 10})
    lines_to("s.jsonl", rows)
    Path("d.deck.md").write_text(_DECK, encoding="utf-8")
    Path(".turnwise").mkdir()
    said = {"old": "fail", "one": "pass", "two": "nothing"}
    targets = [f"{{name: {name}, provider: mock, response: '{word}'}}" for name, word in said.items()]
    Path(".turnwise/targets.yaml").write_text(f"targets: [{', '.join(targets)}]", encoding="utf-8")
    asked = ("calibrate", "d.deck.md", "--samples", "s.jsonl")
    assert turnwise(*asked, "-m", "old").code == 0
    assert turnwise(*asked, "-m", "one,two").code == 3
    record = _json(turnwise, *asked, "--plan", "0.05")
    assert {need["model"] for need in record["needs"]} == {"one"}  # `two` gave no verdict at all
    assert record["best"] == "one"
    assert {need["model"] for need in _json(turnwise, *asked, "--plan", "0.05", "-m", "old")["needs"]} == {"old"}


def test_labels_are_drawn_for_the_best_judge(turnwise: Turnwise) -> None:
    """Of two judges the better one says how many labels are missing, and the text names it."""
    estimate_files(Path(), ORACLE, [])
    rows = [json.loads(line) for line in Path("r.jsonl").read_text(encoding="utf-8").splitlines()]
    guess = [{**row, "model": "guess", "output": ("pass", "fail")[place % 2]} for place, row in enumerate(rows)]
    lines_to("r.jsonl", [*guess, *rows])
    record = _json(turnwise, *_PLAN, "0.03", "--replay", "r.jsonl")
    assert record["best"] == "m"
    assert record["more"] == max(need["more"] for need in record["needs"] if need["model"] == "m")
    assert record["more"] < max(need["more"] for need in record["needs"])
    assert "for the best of them, m;" in turnwise(*_PLAN, "0.03", "--replay", "r.jsonl").out


def test_draw(turnwise: Turnwise) -> None:
    """The draw is a file of unlabelled samples, by tags, without metadata; the same seed writes the same file."""
    _pool(2000)
    record = _json(turnwise, *_PLAN, "0.2", "--draw", "one.jsonl")
    assert record["draw"]["n"] == record["more"]
    assert record["draw"]["strata"]["rare"] == {"drawn": 1, "of": 5}
    samples, said = read_samples(Path("one.jsonl"))
    assert (len(samples), said) == (record["more"], [])
    assert "judge_score" not in Path("one.jsonl").read_text(encoding="utf-8")
    turnwise(*_PLAN, "0.2", "--draw", "two.jsonl")
    turnwise(*_PLAN, "0.2", "--draw", "three.jsonl", "--seed", "1")
    one, two, three = (Path(f"{name}.jsonl").read_bytes() for name in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_draw_of_too_few(turnwise: Turnwise) -> None:
    """Where fewer samples are left than labels are missing, all are drawn, with a warning."""
    _pool(50)
    said = turnwise(*_PLAN, "0.05", "--draw", "out.jsonl")
    assert said.code == 0
    assert "50 of 50 unlabelled samples" in said.out
    assert "only 50 samples have none" in said.err


@pytest.mark.parametrize("width", ["0", "-0.1", "0.51", "nan", "5"])
def test_impossible_widths(turnwise: Turnwise, width: str) -> None:
    """A half width is above 0 and at most one half."""
    _pool()
    said = turnwise(*_PLAN, width)
    assert said.code == 2
    assert "at most 0.5" in said.err


def test_no_samples(turnwise: Turnwise) -> None:
    """A plan needs samples."""
    said = turnwise("calibrate", "--plan", "0.05")
    assert said.code == 2
    assert "--samples" in said.err


def test_nothing_left_to_label(turnwise: Turnwise) -> None:
    """Nothing is drawn, nor written, where every sample has a label."""
    lines_to("s.jsonl", judged_rows({("pass", "pass"): 3})[0])
    said = turnwise(*_PLAN, "0.05", "--draw", "out.jsonl")
    assert said.code == 2
    assert "nothing is left to label" in said.err
    assert not Path("out.jsonl").exists()


def test_no_label_missing(turnwise: Turnwise) -> None:
    """Where the figures are exact enough, nothing is drawn, and that is said."""
    estimate_files(Path(), ORACLE, [])
    said = turnwise(*_PLAN, "0.4", "--replay", "r.jsonl", "--draw", "out.jsonl")
    assert said.code == 0
    assert "no label is missing" in said.err
    assert not Path("out.jsonl").exists()


def test_what_does_not_go_with_a_plan(turnwise: Turnwise) -> None:
    """Options that a plan would not heed are refused, and so is a file that exists."""
    _pool()
    assert "--estimate" in turnwise(*_PLAN, "0.05", "--estimate", "a.jsonl").err
    assert "--format" in turnwise(*_PLAN, "0.05", "--format", "html").err
    said = turnwise(*_PLAN, "0.05", "--draw", "s.jsonl")
    assert (said.code, "exists" in said.err) == (2, True)


def test_draw_from_several_decks(turnwise: Turnwise) -> None:
    """Samples of several decks may share ids: a draw takes those of one deck."""
    for name in ("a", "b"):
        lines = [f'[[samples]]\nid = "x"\nmessages = [{{role = "user", content = "Of {name}"}}]\n']
        Path(f"{name}.toml").write_text("".join(lines), encoding="utf-8")
        Path(f"{name}.deck.md").write_text(_DECK + f"\n![samples]({name}.toml)\n", encoding="utf-8")
    said = turnwise("calibrate", "a.deck.md", "b.deck.md", "--plan", "0.05", "--draw", "out.jsonl")
    assert said.code == 2
    assert "one deck" in said.err


def test_a_damaged_report(turnwise: Turnwise) -> None:
    """A kept report that cannot be read is named, with what to do."""
    lines_to("s.jsonl", judged_rows({("pass", "pass"): 3, ("fail", "pass"): 3})[0])
    Path("d.deck.md").write_text(_DECK, encoding="utf-8")
    Path(".turnwise").mkdir()
    targets = 'targets: [{name: judge, provider: mock, response: \'{"label": "pass"}\'}]'
    Path(".turnwise/targets.yaml").write_text(targets, encoding="utf-8")
    turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "judge")
    (report,) = Path(".turnwise/calibrations").glob("*/report.json")
    report.write_text("{", encoding="utf-8")
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--plan", "0.05")
    assert said.code == 2
    assert "report.json" in said.err
    assert "Traceback" not in said.err
