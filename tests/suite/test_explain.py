"""What is wrong, in one sentence for people: what was found, what was expected, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.diagnostics import Diagnostic
from turnwise.suite.explain import described, did_you_mean, is_secret_key
from turnwise.suite.suite import read_suite


@pytest.fixture(autouse=True)
def _project(tmp_path: Path) -> None:
    (tmp_path / ".turnwise").mkdir()


def only(folder: Path, text: str) -> Diagnostic:
    """The one problem of a suite."""
    path = folder / "suite.yaml"
    path.write_text(text)
    suite, diagnostics = read_suite(path)
    assert suite is None
    (found,) = diagnostics
    return found


def in_content(folder: Path, content: str) -> Diagnostic:
    return only(folder, f"cases:\n- id: x\n  input_messages:\n  - role: user\n    content: {content}\n")


@pytest.mark.parametrize(
    ("content", "code", "column", "message"),
    [
        ("42", "wrong-type", 14, "`content` must be text or a list, found the number 42"),
        ("true", "wrong-type", 14, "`content` must be text or a list, found true"),
        ("{a: 1}", "wrong-type", 14, "`content` must be text or a list, found a mapping"),
        ("[hello, 3.5]", "wrong-type", 22, "this item must be text or a mapping, found the number 3.5"),
        ("[[a]]", "wrong-type", 15, "this item must be text or a mapping, found a list"),
        ("[~]", "wrong-type", 15, "this item must be text or a mapping, found nothing (null)"),
        ("[{type: vidoe, value: x}]", "unknown-type", 15, "unknown type 'vidoe'"),
        ("[{value: x}]", "missing-key", 15, "`type` is missing"),
        ("[{type: 5, value: x}]", "wrong-type", 15, "`type` must be text, found the number 5"),
        ("[{type: text}]", "text-segment", 15, "a text segment needs `value` (or `text`), and only one of them"),
        ("[{type: text, value: 5}]", "wrong-type", 35, "`value` must be text, found the number 5"),
        ("[{type: text, text: 5}]", "wrong-type", 34, "`text` must be text, found the number 5"),
        ("[{type: file}]", "missing-key", 15, "`value` is missing"),
        ("[{type: file, value: ''}]", "empty", 35, "`value` must not be empty"),
        ("[{type: file, value: [a]}]", "wrong-type", 35, "`value` must be text, found a list"),
    ],
)
def test_a_union_fails_with_one_sentence(tmp_path: Path, content: str, code: str, column: int, message: str) -> None:
    """A value that fits no form of a thing is one problem, in the words of the form that was meant."""
    found = in_content(tmp_path, content)
    assert (found.code, found.message) == (code, message)
    assert (found.place.line, found.place.column) == (5, column)


@pytest.mark.parametrize(
    ("text", "hint", "line", "column"),
    [
        ("nmae: x\ncases: [{id: x, input_messages: [{role: user, content: a}]}]", "name", 1, 1),
        ("cases:\n- id: x\n  outcom: y\n  input_messages: [{role: user, content: a}]", "outcome", 3, 3),
        ("cases:\n- id: x\n  Outcome: y\n  input_messages: [{role: user, content: a}]", "outcome", 3, 3),
        ("cases:\n- id: x\n  input_messages:\n  - role: user\n    contnet: a\n    content: b", "content", 5, 5),
        ("cases:\n- id: x\n  input_messages: [{role: user, content: [{type: file, value: a, vale: b}]}]",
         "value", 3, 66),
        ("cases:\n- id: x\n  input_messages: [{role: user, content: [{type: text, value: a, txt: b}]}]",
         "text", 3, 66),
    ],
)  # fmt: skip
def test_did_you_mean_at_every_level(tmp_path: Path, text: str, hint: str, line: int, column: int) -> None:
    """An unknown key is shown at the key, with the nearest one that is allowed in that very place."""
    found = only(tmp_path, text)
    assert (found.code, found.hint) == ("unknown-key", f"did you mean `{hint}`?")
    assert (found.place.line, found.place.column) == (line, column)


def test_an_unknown_type_gets_a_suggestion(tmp_path: Path) -> None:
    """A segment's type is suggested as a key is."""
    assert in_content(tmp_path, "[{type: fiel, value: x}]").hint == "did you mean `file`?"
    assert in_content(tmp_path, "[{type: banana, value: x}]").hint == "expected one of: file, image, text"


def test_a_key_far_from_all_gets_the_list(tmp_path: Path) -> None:
    """Where nothing is near, the allowed keys are named."""
    found = only(tmp_path, "cases: [{id: x, input_messages: [{role: user, content: a, zzz: 1}]}]")
    assert found.hint == "allowed here: content, name, role, tool_call_id, tool_calls"


@pytest.mark.parametrize(
    "text",
    [
        "cases: [{id: 7, input_messages: [{role: user, content: a}]}]",
        "cases: [{id: x, input_messages: [{role: user, content: 007}]}]",
        "cases: [{id: x, input_messages: [{role: 1, content: a}]}]",
        "cases: [{id: x, outcome: true, input_messages: [{role: user, content: a}]}]",
        "cases: [{id: x, tags: [1.5], input_messages: [{role: user, content: a}]}]",
        "name: 2024\ncases: [{id: x, input_messages: [{role: user, content: a}]}]",
    ],
)
def test_a_scalar_in_the_place_of_text_says_quote_it(tmp_path: Path, text: str) -> None:
    """A number or boolean where text is expected is not converted: the hint says to quote it."""
    found = only(tmp_path, text)
    assert (found.code, found.hint) == ("wrong-type", "quote it")


def test_a_list_in_the_place_of_text_does_not_say_quote_it(tmp_path: Path) -> None:
    """Quoting would not help there."""
    assert only(tmp_path, "cases: [{id: [x], input_messages: [{role: user, content: a}]}]").hint != "quote it"


def test_paths_and_cases_are_named(tmp_path: Path) -> None:
    """A diagnostic says where in the data it is, and which case it belongs to."""
    found = only(
        tmp_path,
        "cases: [{id: ok, input_messages: [{role: user, content: a}]}, "
        "{id: bad, input_messages: [{role: user, content: [{type: text, value: 5}]}]}]",
    )
    assert found.path == "cases[1].input_messages[0].content[0].value"
    assert found.case_id == "bad"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{role: user}", "no-content"),
        ("{role: user, content: ~}", "no-content"),
        ("{role: user, content: ~, tool_calls: []}", "no-content"),
        ("{content: a}", "missing-key"),
        ("{role: '', content: a}", "empty"),
        ("text", "wrong-type"),
        ("{role: a, tool_calls: [{id: c}]}", "tool-call-name"),
        ("{role: a, tool_calls: [c]}", "wrong-type"),
        ("{role: a, content: b, tool_call_id: 5}", "wrong-type"),
    ],
)
def test_messages_that_are_none(tmp_path: Path, message: str, code: str) -> None:
    """A message that lacks a role or content, or whose calls have no name, is one error at the message."""
    found = only(tmp_path, f"cases:\n- id: x\n  input_messages:\n  - {message}\n")
    assert (found.code, found.place.line) == (code, 4)


@pytest.mark.parametrize(
    "text",
    [
        "graders:\n- type: http\n  api_key: sk-very-secret\n  target: 5\n",
        "graders: [{type: http, target: 5, api_key: sk-very-secret}]\n",
        'graders: [{"type": "http", "target": 5, "x-api-key": "sk-very-secret"}]\n',
        "api_key: sk-very-secret\n",
        "password: [sk-very-secret]\n",
        "access_token: {a: sk-very-secret}\n",
    ],
)
def test_secrets_are_never_shown(tmp_path: Path, text: str) -> None:
    """A line that holds a key or password is not quoted, and its value is in no message."""
    found = only(tmp_path, text + "cases: [{id: x, input_messages: [{role: user, content: a}]}]")
    assert found.place.line is not None
    assert "sk-very-secret" not in repr(found)


@pytest.mark.parametrize("key", ["api_key", "apiKey", "OPENAI_API_KEY", "access-token", "Authorization", "password"])
def test_what_counts_as_a_secret(key: str) -> None:
    """Keys are told by their names."""
    assert is_secret_key(key)


@pytest.mark.parametrize("key", ["name", "model", "temperature", 3])
def test_what_is_no_secret(key: str | int) -> None:
    """Ordinary settings and positions are shown."""
    assert not is_secret_key(key)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing (null)"),
        (True, "true"),
        (5, "the number 5"),
        (1.5, "the number 1.5"),
        ("a", "the text 'a'"),
        ([], "an empty list"),
        ([1], "a list"),
        ({}, "an empty mapping"),
        ({"a": 1}, "a mapping"),
    ],
)
def test_values_in_words(value: Any, words: str) -> None:
    """What was found is said in a few words."""
    assert described(value) == words


def test_long_values_are_cut() -> None:
    """A message does not repeat a page of text."""
    assert len(described("x" * 10_000)) < 80
    assert len(described(10**4000)) < 80


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("treshold", ["threshold", "trials"], "did you mean `threshold`?"),
        ("API_KEY", ["api_key"], "did you mean `api_key`?"),
        ("zzz", ["b", "a"], "allowed here: a, b"),
        ("zzz", [], "remove it"),
        ("x" * 5_000_000, ["xx"], "allowed here: xx"),
    ],
)
def test_suggestions(word: str, known: list[str], hint: str) -> None:
    """The nearest known word, whatever its case; else all of them."""
    assert did_you_mean(word, known) == hint
