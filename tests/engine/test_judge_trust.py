"""How far a judge can be trusted is known before the run begins, and stays what was known then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import DECK, deck_project, judge_target, verdict
from fault_server import serving
from run_fixtures import ECHO, case, journal, plan, run, suite, targets
from turnwise.calibration.options import CalibrationOptions
from turnwise.calibration.session import plan_calibration
from turnwise.decks.sample_hash import samples_hash
from turnwise.graders.calibrated import Artefact, model_hash

NOWHERE = "http://127.0.0.1:9"
KNOWN = "κ quadratic 0.71 [0.62, 0.79], n = 120, 2026-11-16: fit for gating"
TONE = {"type": "deck", "name": "tone", "path": "tone.deck.md", "target": "judge"}
SAMPLES = """
[[samples]]
id = "rude"
messages = [{ role = "user", content = "Hi" }, { role = "assistant", content = "What?" }]
score = 1
"""
EMBEDDING = DECK + "\n![samples](labels.toml)\n"


def made(root: Path, url: str = NOWHERE, deck: str = EMBEDDING) -> Path:
    """A project with a suite, a deck and its samples."""
    (root / "labels.toml").write_text(SAMPLES)
    return deck_project(root, url, deck=deck, s=suite([case("a")], graders=[TONE]))


def calibrated(root: Path, **changes: Any) -> None:
    """Keep a calibration of the deck, with the hashes that `turnwise calibrate` gives it as it is now."""
    asked = plan_calibration(CalibrationOptions(decks=(str(root / "tone.deck.md"),), models=("judge",)))
    (deck,), (target,) = asked.decks, asked.targets
    artefact = Artefact(
        calibration="20261116-1",
        created_at="2026-11-16T09:00:00+00:00",
        deck=deck.name,
        deck_hash=deck.identity.hash,
        samples_hash=samples_hash(deck.samples),
        sample_files=("labels.toml",),
        model="judge",
        model_hash=model_hash(asked.settings_of(deck, target)),
        statistic="kappa_quadratic",
        value=0.71,
        lo=0.62,
        hi=0.79,
        n=120,
        use="gating",
        reason="it agrees",
    )
    folder = root / ".turnwise" / "calibrations" / "20261116-1"
    folder.mkdir(parents=True)
    kept = {"schema_version": 1, "artefacts": [replace(artefact, **changes).as_dict()]}
    (folder / "artefact.json").write_text(json.dumps(kept))


def trust(root: Path) -> str:
    """What a run that is planned now would say of its judge."""
    (judge,) = plan(root / "s.yaml").judges.judges
    return judge.calibration


def test_what_was_calibrated_is_what_grades(tmp_path: Path) -> None:
    """A deck, target and samples that nobody has changed have the hashes of their calibration."""
    calibrated(made(tmp_path))
    assert trust(tmp_path) == KNOWN


def test_nothing_is_known_of_another_judge(tmp_path: Path) -> None:
    """A calibration with another model says nothing of this one: the words say what to run."""
    calibrated(made(tmp_path), model="other")
    assert trust(tmp_path) == "uncalibrated: run `turnwise calibrate tone.deck.md -m judge`"


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("tone.deck.md", "How polite", "How kind", "the deck"),
        ("tone.deck.md", "pass = 4", "pass = 3", "the deck"),
        ("labels.toml", "score = 1", "score = 2", "the samples"),
        (".turnwise/targets.yaml", '"model": "m"', '"model": "m2"', "the model's settings"),
        (".turnwise/targets.yaml", '"model": "m"', '"model": "m", "extra_body": {"x": 1}', "the model's settings"),
        (".turnwise/targets.yaml", '"base_url": "http://', '"base_url": "https://', "the model's settings"),
    ],
)
def test_a_change_makes_it_stale(tmp_path: Path, file: str, old: str, new: str, what: str) -> None:
    """Deck, scale, labels or model: whatever has changed since is named, and the old figures stay beside it."""
    calibrated(made(tmp_path))
    path = tmp_path / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert trust(tmp_path) == f"stale ({what} changed): {KNOWN}"


def test_settings_that_change_no_answer_are_no_change(tmp_path: Path) -> None:
    """More retries, or a bound of requests, is the same judge."""
    calibrated(made(tmp_path))
    more = judge_target(NOWHERE, max_retries=9, workers=2)
    (tmp_path / ".turnwise" / "targets.yaml").write_text(targets(ECHO, more))
    assert trust(tmp_path) == KNOWN


def test_samples_of_a_file_of_their_own(tmp_path: Path) -> None:
    """A deck that was calibrated on samples of another file is stale when these change or are gone, not before."""
    calibrated(made(tmp_path))
    (tmp_path / "tone.deck.md").write_text(DECK)
    assert trust(tmp_path) == KNOWN
    (tmp_path / "labels.toml").write_text(SAMPLES.replace("score = 1", "score = 5"))
    assert trust(tmp_path) == f"stale (the samples changed): {KNOWN}"
    (tmp_path / "labels.toml").unlink()
    assert trust(tmp_path) == f"stale (the samples changed): {KNOWN}"


def test_what_was_known_then_stays(tmp_path: Path) -> None:
    """The description and every line hold what was known at the start, also if the run goes on after a calibration."""
    failing = {**ECHO, "script": [{"case": "a", "status": 400}]}
    with serving(lambda _: verdict(5)) as server:
        made(tmp_path, server.url)
        good, bad = (targets(each, judge_target(server.url)) for each in (ECHO, failing))
        (tmp_path / ".turnwise" / "targets.yaml").write_text(bad)
        begun = run(tmp_path / "s.yaml")
        described = json.loads((begun.folder / "run.json").read_text())["judges"][0]
        calibrated(tmp_path)
        assert trust(tmp_path) == KNOWN
        assert described["state"] == "uncalibrated"
        (tmp_path / ".turnwise" / "targets.yaml").write_text(good)
        saved = json.loads((begun.folder / "run.json").read_text())
        saved["targets"][0]["settings"][""].pop("script")
        (begun.folder / "run.json").write_text(json.dumps(saved))
        outcome = run(resume=str(begun.folder))
    line = journal(outcome)[-1]
    assert line["grades"][0]["evidence"]["calibration"] == described["calibration"]
    assert described["calibration"].startswith("uncalibrated: run ")
