"""Recorded outputs in their other forms: the journal of a calibration, and result files in TOML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay_fixtures import write_lines
from turnwise.calibration.json_text import json_text
from turnwise.calibration.outputs import outputs_of
from turnwise.calibration.replay import read_replay
from turnwise.errors import DeckError


def _journalled(answer: str | None, trial: int = 1, kind: str = "", deck: str = "d.deck.md") -> dict[str, Any]:
    """A line of a journal: an answer, or an error of a kind."""
    error = {"kind": kind, "message": f"{kind} happened"} if kind else None
    head = {"suite": deck, "case_id": "a", "target": "gpt", "variant": None, "trial": trial}
    return {**head, "answer": answer, "error": error}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([_journalled("pass")], [("pass", None)]),
        ([_journalled(None, kind="timeout"), _journalled("pass")], [("pass", None)]),
        ([_journalled("pass"), _journalled(None, kind="timeout")], [("pass", None)]),
        ([_journalled(None, kind="overloaded"), _journalled(None, kind="timeout")], [(None, "timeout")]),
        ([_journalled("late", 2), _journalled("early", 1)], [("early", None), ("late", None)]),
        ([_journalled("pass"), _journalled("other", deck="e.deck.md")], [("pass", None)]),
    ],
    ids=["answer", "error-first", "error-last", "latest-error", "repeats", "other-deck"],
)
def test_a_journal_is_replayed_as_it_was_reported(
    tmp_path: Path, lines: list[dict[str, Any]], expected: list[tuple[str | None, str | None]]
) -> None:
    """An answer goes before errors, a later error before an earlier one, and repeats stand in their order."""
    path = write_lines(tmp_path / "results.jsonl", lines)
    replayed = read_replay(str(path), ["a"], deck="d.deck.md")["gpt"]["a"]
    assert [(each.text, each.failure) for each in replayed] == expected
    assert replayed == outputs_of(lines)["d.deck.md"]["gpt"]["a"]


def test_the_folder_of_a_killed_calibration_can_be_replayed(tmp_path: Path) -> None:
    """A torn last line of its journal was never an answer, and is passed over."""
    path = write_lines(tmp_path / "results.jsonl", [_journalled("pass")])
    path.write_text(path.read_text() + json.dumps(_journalled("fail", 2))[:40])
    [output] = read_replay(str(tmp_path), ["a"], deck="d.deck.md")["gpt"]["a"]
    assert output.text == "pass"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"answer": {"score": 1}}, '{"score": 1}'),
        ({"answer": 5}, "5"),
        ({"usage": "much"}, "pass"),
        ({"usage": {"input_tokens": "3"}}, "pass"),
        ({"trial": "two"}, "pass"),
        ({"trial": True}, "pass"),
        ({"cost_usd": "1", "latency_ms": [], "finish_reason": 7}, "pass"),
        ({"error": "it broke"}, None),
    ],
)
def test_a_journal_that_somebody_has_edited(tmp_path: Path, fields: dict[str, Any], text: str | None) -> None:
    """What is not of its type is left out; the rest is read, and nothing breaks."""
    path = write_lines(tmp_path / "results.jsonl", [{**_journalled("pass"), **fields}])
    [output] = read_replay(str(path), ["a"], deck="d.deck.md")["gpt"]["a"]
    assert (output.text, output.repeat, output.failure) == (text, 1, None if text else "api_error")
    assert (output.input_tokens, output.cost_usd, output.latency_ms, output.finish_reason) == (None,) * 4


@pytest.mark.parametrize(
    "text",
    [
        'model = "gpt"\n[[results]]\nid = "a"\nrawOutput = "pass"\n',
        '[[results]]\nid = "a"\nmodel = "gpt"\noutput = "pass"\n',
        'grader_model = "gpt"\n[results.a]\nraw_output = "pass"\n',
    ],
)
def test_result_files_in_toml(tmp_path: Path, text: str) -> None:
    """A list or a table of results, with the model once or at each, gives the same output."""
    (tmp_path / "r.toml").write_text(text)
    [output] = read_replay(str(tmp_path / "r.toml"), ["a"])["gpt"]["a"]
    assert output.text == "pass"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('model = "gpt"\n[[results]]\nid = "b"\nrawOutput = "1"\n', 3),
        ("model = 'gpt'\nresults = [1]\n", 2),
        ("model = 'gpt'\n", 1),
    ],
)
def test_bad_result_files_name_the_line(tmp_path: Path, text: str, line: int) -> None:
    """An unknown sample, a result that is no table, or no results at all."""
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(DeckError) as refused:
        read_replay(str(tmp_path / "r.toml"), ["a"])
    [problem] = refused.value.diagnostics
    assert (problem.severity, problem.place.line) == ("error", line)


@pytest.mark.parametrize(
    "value", [{}, [], None, 1.5, "é\n", {"a": {"b": {"c": {"d": {"e": [1, {"f": None}]}}}}}, [[], {}]]
)
def test_json_text_is_the_same_value(value: Any) -> None:
    """However it is laid out, the text reads back as what it was made of."""
    assert json.loads(json_text(value)) == value


def test_json_text_has_no_nan() -> None:
    """A number that JSON does not have is refused, at any depth."""
    with pytest.raises(ValueError, match="JSON"):
        json_text({"a": {"b": {"c": {"d": [float("nan")]}}}})
