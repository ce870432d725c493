"""Deck graders on the command line: what a judge is worth stands beside its scores, wherever these are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command_fixtures import Turnwise, runs
from deck_run_fixtures import DECK, deck_project, verdict
from fault_server import serving
from run_fixtures import case, mock, project, suite

LINE = "tone (deck, judged by judge): mean 0.75 · uncalibrated: run `turnwise calibrate tone.deck.md -m judge`"


def judged(**changes: Any) -> dict[str, Any]:
    """A suite of two cases that are judged."""
    grader = {"type": "deck", "name": "tone", "path": "tone.deck.md", "target": "judge", **changes}
    return suite([case("a"), case("b")], graders=[grader])


def test_the_calibration_stands_beside_the_score(turnwise: Turnwise) -> None:
    """At the end of the run, in the summary of it later, and in the summary as JSON."""
    with serving(lambda _: verdict(4)) as server:
        deck_project(Path.cwd(), server.url, s=judged())
        done = turnwise("run", "s.yaml")
    (folder,) = runs()
    assert done.code == 0
    assert f"{LINE} · judging took $0.0022" in done.out.splitlines()
    later = turnwise("summary", folder.name)
    assert f"{LINE} · judging took $0.0022" in later.out.splitlines()
    (judge,) = json.loads(turnwise("summary", folder.name, "--format", "json").out)["judges"]
    assert (judge["grader"], judge["judge"], judge["means"]) == ("tone", "judge", {"echo": 0.75})
    assert judge["calibration"].startswith("uncalibrated: run ")


def test_a_run_whose_judge_fails_is_ungraded(turnwise: Turnwise) -> None:
    """No verdict, no score: exit code 3, and the status is named."""
    project(Path.cwd(), mock(), mock("judge", response="no idea"), s=judged())
    Path("tone.deck.md").write_text(DECK)
    done = turnwise("run", "s.yaml")
    assert done.code == 3
    assert "not_json" in done.out
    assert "mean — · uncalibrated" in done.out


def test_validate_checks_decks(turnwise: Turnwise) -> None:
    """A deck that is missing, says too little or has no judge is an error of the suite, with its place."""
    project(Path.cwd(), s=judged())
    assert "file not found: tone.deck.md" in turnwise("validate", "s.yaml").out
    Path("tone.deck.md").write_text("Judge.")
    done = turnwise("validate", "s.yaml", "--format", "json")
    found = {each["code"]: each for each in json.loads(done.out) if each["severity"] == "error"}
    assert (done.code, sorted(found)) == (2, ["deck-scale", "unknown-target"])
    assert (found["deck-scale"]["file"], found["deck-scale"]["path"]) == ("s.yaml", "graders[0]")
    Path("tone.deck.md").write_text(DECK)
    assert "no target is named 'judge'" in turnwise("validate", "s.yaml").out


def test_a_dry_run_names_judges(turnwise: Turnwise) -> None:
    """Who would judge, by which deck, and how far that can be trusted; nothing is asked."""
    deck_project(Path.cwd(), "http://127.0.0.1:9", s=judged())
    done = turnwise("run", "s.yaml", "--dry-run")
    said = "judged by judge (tone.deck.md) · uncalibrated: run `turnwise calibrate tone.deck.md -m judge`"
    assert (done.code, f"  {said}" in done.out.splitlines()) == (0, True)
    (judge,) = json.loads(turnwise("run", "s.yaml", "--dry-run", "--json").out)["judges"]
    assert (judge["deck"], judge["target"]) == ("tone.deck.md", "judge")


def test_a_judge_below_its_kind_is_checked(turnwise: Turnwise) -> None:
    """A target that the project does not have is told in the short form of a grader, too."""
    project(Path.cwd(), s=suite([case("a")], graders=[{"deck": {"path": "tone.deck.md", "target": "jugde"}}]))
    Path("tone.deck.md").write_text(DECK)
    assert "no target is named 'jugde'" in turnwise("validate", "s.yaml").out
