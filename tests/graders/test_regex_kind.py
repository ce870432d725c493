"""The kind `regex`: found, not found, and never for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.graders.base import Grade, Submission
from turnwise.graders.regex import LONGEST_TEXT
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

HOSTILE = [
    ("(a+)+$", "a" * 40 + "b"),
    ("(a|aa)+$", "a" * 60 + "b"),
    (r"(\w*\s?)*!", "word " * 20),
    ("(.*)*x", "a" * 40),
]


@pytest.mark.parametrize(
    ("spec", "text", "holds"),
    [
        ({"regex": r"\d{3}"}, "room 101", True),
        ({"regex": r"\d{3}"}, "room 10", False),
        ({"regex": "^b"}, "ab", False),
        ({"regex": "(?m)^b"}, "a\nb", True),
        ({"regex": "paris"}, "Paris", False),
        ({"type": "regex", "value": "paris", "case_sensitive": False}, "Paris", True),
        ({"regex": "é+"}, "caféé", True),
        ({"regex": "^a.b$"}, "a\ud800b", True),
        ({"regex": "[[a]"}, "[", True),
    ],
)
def test_a_pattern_is_found_anywhere(grade: Callable[..., Grade], spec: Any, text: str, holds: bool) -> None:
    """A match is a 1, none is a 0, and the `not-` form is the other way round."""
    opposite = {"not-regex": spec["regex"]} if "regex" in spec else {**spec, "type": "not-regex"}
    assert grade(spec, text).score == float(holds)
    assert grade(opposite, text).score == float(not holds)


def test_the_match_is_evidence(grade: Callable[..., Grade]) -> None:
    """A report can show what matched and where, but not all of a long match."""
    assert grade({"regex": "b+"}, "abbc").evidence == {"start": 1, "end": 3, "match": "bb"}
    long = grade({"regex": "b+"}, "b" * 50_000).evidence
    assert long["end"] == 50_000
    assert len(long["match"]) <= 200


@settings(max_examples=30, deadline=None)
@given(pattern=st.from_regex(r"\A[ab.]{1,4}[*+?]?\Z"), text=st.text("abc", max_size=20))
def test_the_not_form_is_the_complement(grade: Callable[..., Grade], pattern: str, text: str) -> None:
    """Whatever the pattern is, the two scores sum to 1."""
    pattern = pattern.strip()
    assert (grade({"regex": pattern}, text).score or 0) + (grade({"not-regex": pattern}, text).score or 0) == 1


@pytest.mark.parametrize("kind", ["regex", "not-regex"])
@pytest.mark.parametrize(("pattern", "text"), HOSTILE)
def test_a_pattern_that_would_never_end_is_stopped(
    grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch, kind: str, pattern: str, text: str
) -> None:
    """The answer is ungraded in both forms, the reason names the pattern, and the next search works."""
    monkeypatch.setattr("turnwise.graders.regex.SECONDS", 0.1)
    started = perf_counter()
    stopped = grade({kind: pattern}, text)
    assert perf_counter() - started < 5
    assert stopped.error is not None
    assert stopped.error.kind == "timeout"
    assert repr(pattern) in stopped.reason
    monkeypatch.undo()
    assert grade({"regex": "a"}, "a").score == 1


def test_the_event_loop_goes_on_during_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other work is done while a hostile pattern uses up its time."""
    monkeypatch.setattr("turnwise.graders.regex.SECONDS", 0.3)
    (grader,), _ = make_graders([{"regex": "(a+)+$"}])

    async def both() -> tuple[Grade, int]:
        search = asyncio.create_task(grader.grade(Submission(question="", text="a" * 40 + "b")))
        ticks = 0
        while not search.done() and ticks < 1_000:
            await asyncio.sleep(0.01)
            ticks += 1
        return await search, ticks

    stopped, ticks = asyncio.run(both())
    assert stopped.error is not None
    assert ticks >= 3


def test_a_text_that_is_too_long_is_not_cut(grade: Callable[..., Grade]) -> None:
    """Half an answer could match where the whole does not: beyond the limit there is no grade."""
    assert grade({"regex": "x$"}, "a" * (LONGEST_TEXT - 1) + "x").score == 1
    longer = grade({"not-regex": "x$"}, "a" * LONGEST_TEXT + "x")
    assert longer.error is not None
    assert longer.error.kind == "too-long"
    assert "100,001" in longer.reason


@pytest.mark.parametrize("pattern", ["(", "a**", "[z-a]", "(?P<x", "a{99999999999999}", "(" * 5_000, "a" * 10_001])
def test_a_pattern_that_is_none_is_a_problem_of_the_suite(pattern: str) -> None:
    """It is said when the suite is read, by the key that holds it."""
    for spec, key in (({"regex": pattern}, "regex"), ({"regex": {"value": pattern}}, "value")):
        graders, (problem,) = make_graders([spec])
        assert graders == []
        assert problem.code == "bad-pattern"
        assert problem.message.startswith(f"`{key}` is not a regular expression: ")
        assert len(problem.message) < 300
