"""Traps of `turnwise calibrate`: halves of characters, gates on resume, folders, seeds, options and leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_fixtures import Turnwise
from replay_fixtures import binary_cells, calibration_files, deck_text, sample_row

SCALE = 'kind = "binary"\nlabels = ["pass", "fail"]\npass = "pass"'
HALF = r"""mock/{"label": "pass", "reason": "\ud83d"}"""


def project(folder: Path) -> None:
    """A deck with samples of both classes beside it."""
    samples, said = binary_cells((20, 0, 0, 10))
    calibration_files(folder, samples, said, deck_text(SCALE))
    (folder / ".turnwise").mkdir(exist_ok=True)


def kept(folder: Path, name: str) -> list[Path]:
    """The files of that name in all calibrations."""
    return sorted(folder.glob(f".turnwise/calibrations/*/{name}"))


def test_half_a_character_in_a_reason(turnwise: Turnwise, tmp_path: Path) -> None:
    """A judge that is cut off in the middle of an emoji costs nobody the report."""
    project(tmp_path)
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", HALF, "-o", "report.json")
    assert said.code == 0
    [report] = kept(tmp_path, "report.json")
    for path in (report, tmp_path / "report.json"):
        [model] = json.loads(path.read_bytes())["models"]
        assert model["disagreements"][0]["judge_reason"] == "\ud83d"
    for ending in ("md", "txt", "html", "toml"):
        form = () if ending != "txt" else ("--format", "text")
        replay = ("--replay", str(report.parent), "-o", f"r.{ending}", *form)
        assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", *replay).code == 0


def test_gates_are_heard_on_resume(turnwise: Turnwise, tmp_path: Path) -> None:
    """A bar that is given with --resume decides, too."""
    project(tmp_path)
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/pass").code == 0
    name = kept(tmp_path, "run.json")[0].parent.name
    assert turnwise("calibrate", "--resume", name, "--gate", "agreement>=0.99").code == 1
    assert turnwise("calibrate", "--resume", name, "--gate", "agreement>=0.5").code == 0


def test_nothing_is_a_project_but_what_it_is_told(turnwise: Turnwise, tmp_path: Path) -> None:
    """In a fresh folder a deck in `graders/` is calibrated in the folder where one stands."""
    (tmp_path / "graders").mkdir()
    samples, said = binary_cells((20, 0, 0, 10))
    calibration_files(tmp_path / "graders", samples, said, deck_text(SCALE))
    deck, own = "graders/d.deck.md", "graders/s.jsonl"
    assert turnwise("calibrate", deck, "--samples", own, "-m", "mock/pass").code == 0
    assert not (tmp_path / "graders" / ".turnwise").exists()
    [artefact] = json.loads(kept(tmp_path, "artefact.json")[0].read_text())["artefacts"]
    assert (artefact["deck"], artefact["sample_files"]) == (deck, [own])


def test_paths_do_not_depend_on_where_one_stands(
    turnwise: Turnwise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report names files from the project's root."""
    project(tmp_path)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    said = turnwise("calibrate", "../d.deck.md", "--samples", "../s.jsonl", "-m", "mock/pass", "--format", "json")
    report = json.loads(said.out)
    assert (report["deck"]["path"], report["samples"]["files"]) == ("d.deck.md", ["s.jsonl"])


def test_what_is_not_whole_is_not_kept_as_known(turnwise: Turnwise, tmp_path: Path) -> None:
    """A judge without a single verdict, and one that a budget stopped, leave what was known as it was."""
    project(tmp_path)
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/hm").code == 3
    stopped = turnwise(
        "calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/pass", "--max-tokens-total", "1", "-c", "1"
    )
    assert stopped.code == 3
    assert "--max-tokens-total MORE" in stopped.err
    assert [json.loads(path.read_text())["artefacts"] for path in kept(tmp_path, "artefact.json")] == [[], []]


@pytest.mark.parametrize("arguments", [("--seed", "-1"), ("--resume", "x", "--dry-run")])
def test_arguments_that_cannot_be(turnwise: Turnwise, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """They are refused before anything is asked."""
    project(tmp_path)
    more = () if "--resume" in arguments else ("d.deck.md", "--samples", "s.jsonl", "-m", "mock/pass")
    said = turnwise("calibrate", *more, *arguments)
    assert said.code == 2
    assert not kept(tmp_path, "run.json")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("[options]\nstop = 5", "`stop` must be text or a list"),
        ('[options]\ntemperature = "hot"', "`temperature` must be a number"),
        ("[options]\npenalty = nan", "`penalty` cannot be sent"),
        ("[model]\nmax_tokens = 0", "`max_tokens` must be"),
    ],
)
def test_model_options_are_checked(turnwise: Turnwise, tmp_path: Path, option: str, said: str) -> None:
    """By `validate` and by `calibrate`, with their line."""
    calibration_files(tmp_path, *binary_cells((5, 0, 0, 5)), deck_text(SCALE, more=option))
    for command in (("validate", "d.deck.md"), ("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/x")):
        done = turnwise(*command)
        assert done.code in (1, 2)
        assert said in done.out + done.err
        assert "d.deck.md:" in done.out + done.err


def test_a_leak_has_a_line_and_does_not_hide_other_problems(turnwise: Turnwise, tmp_path: Path) -> None:
    """All decks of a folder are looked at before any is refused."""
    leak = '[contexts.expected]\nassistantQuestion = "What is right?"'
    calibration_files(tmp_path, [sample_row("a", "pass")], [], deck_text(SCALE, more=leak))
    (tmp_path / "e.deck.md").write_text('+++\ngates = ["kapa>=1"]\n[scale]\nkind = "binary"\n+++\nGrade.')
    said = turnwise("calibrate", ".", "--samples", "s.jsonl", "-m", "mock/pass")
    assert said.code == 2
    assert "label" in said.err
    assert "did you mean `kappa`?" in said.err
    assert any(line.startswith("d.deck.md:") and "expected" in line for line in said.err.splitlines())


def test_a_binary_scale_has_two_labels(turnwise: Turnwise, tmp_path: Path) -> None:
    """A third one is an error at its place."""
    samples = [sample_row(f"s{number}", number % 3) for number in range(6)]
    calibration_files(tmp_path, samples, [], deck_text('kind = "binary"'))
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/1")
    assert said.code == 2
    assert "s.jsonl:3" in said.err
    assert "3 different labels: 0, 1, 2" in said.err


def test_a_recorded_calibration_by_its_id(turnwise: Turnwise, tmp_path: Path) -> None:
    """`--replay ID` finds the folder; a name that is none is said to be missing."""
    project(tmp_path)
    turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/pass")
    name = kept(tmp_path, "run.json")[0].parent.name
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", name).code == 0
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", "nothing").code == 2
