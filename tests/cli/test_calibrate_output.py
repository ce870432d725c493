"""Where and how `turnwise calibrate` prints: what cannot be written is refused before anything is asked."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_fixtures import Turnwise
from replay_fixtures import binary_cells, calibration_files, deck_text
from turnwise.cli.calibration_output import check_output
from turnwise.errors import UsageError


def asked(output: str | None, form: str | None = None) -> Any:
    """What the command line says of the output."""
    return SimpleNamespace(output=output, form=form)


@pytest.mark.parametrize("name", ["r.pdf", "r", "r.HTMLX", ".html"])
def test_an_ending_that_says_no_form_is_refused(tmp_path: Path, name: str) -> None:
    """The message lists the forms; --format makes any name good."""
    path = str(tmp_path / name)
    with pytest.raises(UsageError) as caught:
        check_output(asked(path))
    assert "says no form" in str(caught.value)
    assert all(form in str(caught.value.hint) for form in (".html", ".json", ".toml", ".md", ".txt", "--format"))
    check_output(asked(path, "html"))


@pytest.mark.parametrize("name", ["r.html", "r.HTM", "r.json", "r.toml", "r.md", "r.txt"])
def test_known_endings_are_fine(tmp_path: Path, name: str) -> None:
    """In either case of letters, whether the file exists or not."""
    check_output(asked(str(tmp_path / name)))
    (tmp_path / name).touch()
    check_output(asked(str(tmp_path / name)))
    check_output(asked(None))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder in the place of the file, and a folder that is not there, are named."""
    (tmp_path / "out.html").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        check_output(asked(str(tmp_path / "out.html")))
    with pytest.raises(UsageError, match="there is no folder"):
        check_output(asked(str(tmp_path / "nowhere" / "out.html")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_without_rights_is_refused(tmp_path: Path) -> None:
    """A folder that may only be read takes no report."""
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written"):
        check_output(asked(str(tmp_path / "out.html")))


def test_quiet_prints_a_line_for_each_judge_and_gate(turnwise: Turnwise, tmp_path: Path) -> None:
    """Deck, model, use and reason; then every bar, met, not met or why it cannot be told."""
    calibration_files(tmp_path, *binary_cells((18, 2, 2, 18), model="good"), deck_text())
    bars = ("--gate", "agreement>=0.9", "--gate", "kappa>=0.9", "--gate", "mae<1")
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl", "--quiet", *bars)
    verdict, *gates = said.out.splitlines()
    assert verdict.startswith("d.deck.md: good: ")
    assert gates == [
        "d.deck.md: agreement>=0.9: good met (0.9)",
        "d.deck.md: kappa>=0.9: good NOT met (0.8)",
        "d.deck.md: mae<1: good cannot be told (this binary scale has no mean error)",
    ]
