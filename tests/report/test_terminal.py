"""Nothing that a file holds can move the cursor, reorder letters or forge a line of the output."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from helpers import run_turnwise
from turnwise.diagnostics import Diagnostic, Place
from turnwise.report.diagnostics import as_text
from turnwise.report.prompt import prompt_text
from turnwise.report.terminal import one_line, printable
from turnwise.suite.suite import survey_suite

# Escape, carriage return, next line, line and paragraph separators, and every character that sets a direction.
HARMFUL = [
    "\x00", "\x07", "\x08", "\x0b", "\x0c", "\r", "\x1b", "\x7f", "\x80", "\x85", "\x9b", "\x9f",
    "\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
    "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
]  # fmt: skip
HARM = re.compile("[" + "".join(HARMFUL) + "]")
FORGED = "a\u202e\u2066\u2028\u061c\u200e\u200f\x1b[2K\r\nerror: forged"
SHOWN = "a\\u202e\\u2066\\u2028\\u061c\\u200e\\u200f␛[2K␍␊error: forged"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("character", HARMFUL, ids=ascii)
def test_harmful_characters_are_shown_instead_of_obeyed(character: str) -> None:
    """Each becomes a picture or an escape, in text of several lines and in names."""
    for shown in (printable(f"a{character}b"), one_line(f"a{character}b")):
        assert not HARM.search(shown)
        assert shown[0] + shown[-1] == "ab"
        assert len(shown) > 2


@pytest.mark.parametrize("text", ["tab\there", "Grüße, 世界 👋", "שלום", "مرحبا", "a\u200db", "e\u0301"])
def test_other_text_stays_as_it_is(text: str) -> None:
    """Letters of every script, joiners, accents and tabs are not touched."""
    assert printable(text) == one_line(text) == text


def test_line_breaks_are_kept_in_text_and_shown_in_names() -> None:
    """A text has lines; a name has one."""
    assert (printable("a\nb"), one_line("a\nb")) == ("a\nb", "a␊b")
    assert one_line(FORGED) == SHOWN


def test_a_diagnostic_cannot_forge_another() -> None:
    """File name, message, source line and hint each stay on the line that is theirs."""
    diagnostic = Diagnostic("error", "code", FORGED, FORGED, Place(1, 1, FORGED.replace("\n", "")), FORGED)
    assert as_text(diagnostic).split("\n") == [
        f"{SHOWN}:1:1: error: {SHOWN}",
        f" 1 | {SHOWN.replace('␊', '')}",
        "   | ^",
        f"   hint: {SHOWN}",
    ]


def shown_case(folder: Path, file: str = "suite.json", **case: Any) -> list[str]:
    """The lines that `prompt` shows of a suite with one case."""
    (folder / file).write_text(json.dumps({"cases": [case]}), encoding="utf-8")
    suite, diagnostics = survey_suite(folder / file)
    assert suite is not None, diagnostics
    return prompt_text(suite.cases[0]).split("\n")


def test_a_prompt_cannot_forge_lines(tmp_path: Path) -> None:
    """Ids, file names, roles, speakers, tool calls and image names stay on their lines; contents are indented."""
    (tmp_path / f"{FORGED}.png").write_bytes(PNG)
    call = {"id": FORGED, "type": "function", "function": {"name": FORGED, "arguments": FORGED}}
    messages = [
        {"role": "user", "name": FORGED, "content": FORGED},
        {"role": FORGED, "content": [{"type": "image", "value": f"{FORGED}.png"}]},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": FORGED, "content": "Fine."},
        {"role": "user", "content": "So?"},
    ]
    lines = shown_case(tmp_path, f"{FORGED}.json", id=FORGED, input_messages=messages)
    assert [line for line in lines if line.lstrip().startswith("error")] == ["  error: forged"]  # of the content
    assert not any(HARM.search(line) for line in lines)
    assert lines[0].startswith(f"── {SHOWN}  ")
    assert lines[0].count(SHOWN) == 2
    assert f"[user ({SHOWN})]" in lines
    assert any(line.startswith(f"  <Image: {SHOWN}.png> (") for line in lines)
    assert f"[tool → {SHOWN}]" in lines


def test_an_image_in_the_text_cannot_forge_lines(tmp_path: Path) -> None:
    """A data URL that is broken over lines is shown on one."""
    data = base64.b64encode(PNG).decode()
    url = f"data:image/png;base64,{data[:4]}\n{data[4:]}"
    lines = shown_case(
        tmp_path, id="a", input_messages=[{"role": "user", "content": [{"type": "image", "value": url}]}]
    )
    assert not any(line.startswith(data[4:]) for line in lines)


@pytest.mark.parametrize("verb", ["prompt", "validate"])
@pytest.mark.parametrize("name", [f"{FORGED}.yaml", f"{FORGED}*.yaml", f"**/{FORGED}.yaml"])
def test_names_in_usage_errors_are_harmless(verb: str, name: str, tmp_path: Path) -> None:
    """A path or pattern that finds nothing is named on one line, without its escape sequences."""
    done = run_turnwise(verb, name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    first, *rest = done.stderr.rstrip("\n").split("\n")
    assert first.startswith("error: ")
    assert SHOWN in first
    assert [line[:5] for line in rest] == ["hint:"]


def test_ids_and_verbs_in_usage_errors_are_harmless(tmp_path: Path) -> None:
    """What was asked for and does not exist is named on one line: an id of a case, a verb, an argument."""
    suite = {"cases": [{"id": f"{FORGED}!", "input_messages": [{"role": "user", "content": "Hi"}]}]}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    done = run_turnwise("prompt", "suite.json", "--case", FORGED, cwd=tmp_path)
    first, second = done.stderr.rstrip("\n").split("\n")
    assert first == f"error: no case is named {SHOWN}"
    assert second.startswith("hint: ")
    assert f"{SHOWN}!" in second
    assert f"No such command '{SHOWN}'." in run_turnwise(FORGED, cwd=tmp_path).stderr
    (tmp_path / FORGED).write_text("")
    for arguments in ([FORGED], ["folder", FORGED]):
        done = run_turnwise("init", *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert not HARM.search(done.stderr)


def test_init_names_its_files_harmlessly(tmp_path: Path) -> None:
    """The folder's name is shown on one line."""
    done = run_turnwise("init", FORGED, cwd=tmp_path)
    assert done.returncode == 0
    assert not HARM.search(done.stdout)
    assert {line.split(":")[0].split(" ")[0] for line in done.stdout.splitlines()} == {"wrote", "Next"}
