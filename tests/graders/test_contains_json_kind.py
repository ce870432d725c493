"""The kinds `contains-json` and `ends-with`: something in its place in the answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade, GradeError
from turnwise.graders.json_in_text import json_texts

pytest_plugins = ["grader_fixtures"]

JSON = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.lists(st.none()), max_size=3)
WORDS = st.text("abc .,:!\n`", max_size=20)
TEAM = {"type": "object", "required": ["team"]}


@given(WORDS, JSON, WORDS)
def test_json_is_found_among_words(before: str, value: dict[str, Any], after: str) -> None:
    """Whatever stands around it, the object is found as it is written."""
    assert [json.loads(str(found)) for found in json_texts(before + json.dumps(value) + after)] == [value]


@pytest.mark.parametrize("text", ["5", '"x"', " null ", "[]", 'Sure:\n```json\n{"a": 1}\n```', "see [1]", "{ {} }"])
def test_what_contains_json(grade: Callable[..., Grade], text: str) -> None:
    """A whole answer of any JSON, or an object or a list among words."""
    assert grade({"type": "contains-json"}, text).score == 1
    assert grade({"type": "not-contains-json"}, text).score == 0


@pytest.mark.parametrize("text", ["", "5 apples", "{'a': 1}", "[a]", '{"a": NaN}', '{"a": 1', "]"])
def test_what_contains_no_json(grade: Callable[..., Grade], text: str) -> None:
    """A number in a sentence is none, and neither is what is nearly JSON."""
    assert grade({"type": "contains-json"}, text).score == 0


def test_one_value_has_to_follow_the_schema(grade: Callable[..., Grade]) -> None:
    """Any of several will do; if none does, the reason is that of the first."""
    spec = {"contains-json": {"schema": TEAM}}
    assert grade(spec, 'First {"a": 1}, then {"team": "sales"}.').score == 1
    wrong = grade(spec, 'First {"a": 1}, then [2].')
    assert (wrong.score, wrong.evidence) == (0, {"values": 2})
    assert "'team' is a required property" in wrong.reason


def test_brackets_without_end_are_not_searched_for_ever(grade: Callable[..., Grade]) -> None:
    """The search ends soon, and says that it cannot tell."""
    started = time.perf_counter()
    hostile = grade({"type": "contains-json"}, '[{"":' * 60_000)
    assert time.perf_counter() - started < 20
    assert hostile.error is not None
    assert hostile.error.kind == "too-long"
    assert isinstance(list(json_texts('[{"":' * 60_000))[-1], GradeError)


def test_many_values_that_follow_no_schema_are_not_all_tried(grade: Callable[..., Grade]) -> None:
    """After twenty of them, the answer is ungraded rather than wrong."""
    many = grade({"contains-json": {"schema": TEAM}}, "words " + "[] " * 21)
    assert many.error is not None
    assert many.error.kind == "too-long"


def test_the_end_of_an_answer_is_compared(grade: Callable[..., Grade]) -> None:
    """White space after it makes no difference unless `trim` is false; capital letters do unless told otherwise."""
    assert grade({"ends-with": "bye."}, "Well, good bye. \n").score == 1
    assert grade({"ends-with": {"value": "bye.", "trim": False}}, "good bye. \n").score == 0
    assert grade({"ends-with": "BYE."}, "good bye.").score == 0
    assert grade({"ends-with": {"value": "BYE.", "case_sensitive": False}}, "good bye.").score == 1
    wrong = grade({"ends-with": "bye."}, "Hello")
    assert (wrong.score, wrong.reason) == (0, "the answer ends with 'ello', not 'bye.'")
    assert grade({"not-ends-with": "bye."}, "Hello").score == 1
