"""Whatever stands in a file: diagnostics, never an exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnwise.decks.deck import read_deck
from turnwise.decks.samples import read_samples
from turnwise.decks.toml_source import TomlSource
from turnwise.diagnostics import has_errors

PIECES = [
    "+++\n", "[[samples]]\n", "[samples.x]\n", "[[samples.x.messages]]\n", "[contexts.a]\n", "[scale]\n", "[meta]\n",
    "kind = 'binary'\n", "labels = ['a']\n", "pass = 1\n", "role = 'user'\n", "content = ''\n", "messages = [\n", "{",
    "}", "]", "[", ",", "=", ".", '"', '"""', "'", "'''", "\\", "#", "\n", "\r\n", " ", "a", "é", "𝄞", "1", "nan",
    "2024-05-01", "![a](main.md)", "![a](s.toml)", "![", "](", ")", "```\n", "~~~\n", "`", "---\n", "id: x\n",
    "samples:\n", "- ", "&a ", "*a", "expected", "score", "rendered_samples = ['x']\n", "assistantQuestion = 'x'\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["id", "messages", "role", "content", "expected", "score", "label", "labels", "rater", "tags"]
            )
            | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
FUZZ = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def write(folder: str, name: str, data: bytes) -> Path:
    path = Path(folder, name)
    path.write_bytes(data)
    return path


@FUZZ
@given(TEXTS, TEXTS)
def test_any_text_as_deck(deck_text: str, toml: str) -> None:
    """Any text is a deck or gives an error."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "s.toml", toml.encode("utf-8", "replace"))
        deck, diagnostics = read_deck(write(folder, "main.md", deck_text.encode("utf-8", "replace")))
        assert (deck is None) == has_errors(diagnostics)


@pytest.mark.parametrize("ending", ["toml", "jsonl", "yaml", "json"])
@FUZZ
@given(TEXTS)
def test_any_text_as_samples(ending: str, text: str) -> None:
    """Any text holds samples, or contexts, or gives an error."""
    with tempfile.TemporaryDirectory() as folder:
        samples, diagnostics = read_samples(write(folder, f"s.{ending}", text.encode("utf-8", "replace")))
        assert samples or has_errors(diagnostics) or "contexts" in text
        assert all(sample.place.line for sample in samples)


@pytest.mark.parametrize("ending", ["toml", "jsonl", "md"])
@FUZZ
@given(st.binary(max_size=200))
def test_any_bytes(ending: str, data: bytes) -> None:
    """Bytes that are not text are errors like any other."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, f"s.{ending}", data)
        if ending == "md":
            read_deck(path)
        else:
            read_samples(path)


@FUZZ
@given(VALUES)
def test_any_value_as_samples(value: object) -> None:
    """Any JSON value in the place of samples, or of a sample, gives samples or says why not."""
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps({"samples": value}, ensure_ascii=True)
        samples, diagnostics = read_samples(write(folder, "s.json", text.encode()))
        assert samples or has_errors(diagnostics)
        samples, diagnostics = read_samples(write(folder, "s.jsonl", json.dumps(value).encode()))
        assert samples or has_errors(diagnostics)


@FUZZ
@given(TEXTS, st.lists(st.text(max_size=3) | st.integers(0, 3), max_size=4))
def test_any_place(text: str, path: list[str | int]) -> None:
    """A place is found in any text for any path."""
    place = TomlSource("a.toml", text).place(tuple(path))
    assert place.line is not None
    assert 1 <= place.line <= text.count("\n") + 1
