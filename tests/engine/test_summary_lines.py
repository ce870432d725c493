"""One line of results: what is taken from it, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.summary_lines import read_line
from turnwise.errors import RunError

MINIMAL: dict[str, Any] = {"case_id": "a", "target": "gpt", "trial": 1, "score": 1.0}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"score": 0.5}, "passed"),
        ({"score": 0.49}, "failed"),
        ({"score": 0.6, "threshold": 0.7}, "failed"),
        ({"score": 0, "threshold": 0}, "passed"),
        ({"score": None}, "ungraded"),
        ({"score": None, "error": None}, "ungraded"),
        ({"score": None, "error": "it broke"}, "error"),
        ({"score": 0.9, "status": "failed"}, "failed"),
        ({"score": None, "status": "error"}, "error"),
    ],
)
def test_status_follows_from_the_score_where_none_is_given(fields: dict[str, Any], status: str) -> None:
    """A status that is written counts; else the score, the threshold and the error decide."""
    assert read_line({**MINIMAL, **fields}).status == status


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"score": 1.5}, "`score` must be a number from 0 to 1, or null where nothing was graded; found 1.5"),
        ({"score": -0.1}, "found -0.1"),
        ({"score": float("nan")}, "found nan"),
        ({"score": True}, "found True"),
        ({"score": "0.5"}, "found '0.5'"),
        ({"trial": 0}, "`trial` must be a whole number from 1; found 0"),
        ({"trial": 1.0}, "found 1.0"),
        ({"trial": True}, "found True"),
        ({"case_id": 7}, "`case_id` must be a text; found 7"),
        ({"target": ""}, "`target` must be a text; found ''"),
        ({"suite": 3}, "`suite` must be a text or null; found 3"),
        ({"status": "ok"}, "`status` must be one of passed, failed, ungraded, error; found 'ok'"),
        ({"status": ["x"]}, "`status` must be one of"),
        ({"status": "error"}, "a result that is `error` must have the score null; found 1"),
        ({"status": "passed", "score": None}, "a result that is `passed` must have a score; found null"),
        ({"threshold": 2}, "`threshold` must be a number from 0 to 1; found 2"),
        ({"latency_ms": -1}, "`latency_ms` must be a number from 0"),
        ({"latency_ms": 10**400}, "`latency_ms` must be a number from 0"),
        ({"cost_usd": float("inf")}, "`cost_usd` must be a number from 0"),
        ({"attempts": -1}, "`attempts` must be a whole number from 0; found -1"),
        ({"usage": 5}, "`usage` must be an object or null; found 5"),
        ({"usage": {"input_tokens": 1.5}}, "`usage.input_tokens` must be a whole number from 0, or null; found 1.5"),
    ],
)
def test_what_is_no_result_is_refused(fields: dict[str, Any], message: str) -> None:
    """The error says what was found, what was expected, and what to do."""
    with pytest.raises(RunError) as caught:
        read_line({**MINIMAL, **fields})
    assert message in str(caught.value)
    assert caught.value.hint == "correct the line, or remove it"


@pytest.mark.parametrize("key", ["case_id", "target", "trial", "score"])
def test_four_keys_are_needed(key: str) -> None:
    """A line without one of them is an error that names the key."""
    with pytest.raises(RunError, match=f"the key `{key}` is missing"):
        read_line({name: value for name, value in MINIMAL.items() if name != key})


def test_long_values_are_shortened_in_errors() -> None:
    """A whole answer in the wrong place does not fill the screen."""
    with pytest.raises(RunError) as caught:
        read_line({**MINIMAL, "score": "x" * 10_000})
    assert len(str(caught.value)) < 200


def test_errors_have_a_kind_whatever_their_form() -> None:
    """A kind is taken where there is one; any other form of an error is of an unknown kind."""
    broken = {**MINIMAL, "score": None}
    assert read_line({**broken, "error": {"kind": "timeout"}}).error_kind == "timeout"
    assert read_line({**broken, "error": "it broke"}).error_kind == "unknown"
    assert read_line(MINIMAL).error_kind is None
