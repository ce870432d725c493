"""Judges write anything: reading it never fails, and takes time in proportion to its length."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.verdict import Status, Verdict, parse_verdict
from turnwise.graders.verdict_scale import Scale

SCALES = [
    Scale("ordinal", min=-3, max=3, ungradable=0),
    Scale("continuous", declared=False),
    Scale("binary"),
    Scale("categorical"),
    Scale("categorical", labels=("A", "B", "tie"), tie="tie", ungradable="none"),
]
PIECES = ['{"score"', '"label"', ":", "+2", "{", "}", "[", "]", '"', "\\", ",", "```json\n", "```", "A", "NaN", "1e999"]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
LENGTH = 250_000
HOSTILE = {
    "open braces": "{",
    "open objects": '{"a":',
    "objects in lists": '{"a":[',
    "empty objects": "{}",
    "scores": '{"score":9}',
    "strings that swallow": '{",":"',
    "open strings": '{"',
    "escapes": '{"\\',
    "fences": "```json\n",
    "blanks": " ",
    "braces and blanks": "{ ",
    "signs": '"score": +',
    "digits": "9",
    "apologies": "I'm sorry ",
}


def check(found: Verdict | Status, text: str, scale: Scale) -> None:
    """What holds for every answer: a value that is on the scale, or a status with the raw text."""
    if isinstance(found, Status):
        assert found.raw == text
    else:
        assert (found.score is None) != (found.label is None)
        assert found.score is None or math.isfinite(found.score)
        assert scale.code(found.value) == found.value
        assert not scale.is_ungradable(found.value)


@given(text=TEXTS, scale=st.sampled_from(SCALES), end=st.sampled_from([None, "stop", "length", "refusal", "other"]))
def test_any_text_gives_a_verdict_or_a_status(text: str, scale: Scale, end: str | None) -> None:
    """Nothing is raised, and no score is off its scale."""
    check(parse_verdict(text, scale, finish_reason=end), text, scale)


@given(value=VALUES, scale=st.sampled_from(SCALES), key=st.sampled_from(["score", "label", "Score"]))
def test_any_value_gives_a_verdict_or_a_status(value: object, scale: Scale, key: str) -> None:
    """Whatever stands in the place of the score, the same holds."""
    text = json.dumps({key: value, "reason": value})
    check(parse_verdict(text, scale), text, scale)


@given(score=st.integers(-3, 3).filter(bool), before=st.text(st.characters(exclude_characters='{}"`')))
def test_words_before_an_object_do_not_change_its_score(score: int, before: str) -> None:
    """The same object gives the same score, alone and behind any words without braces."""
    text = json.dumps({"score": score, "reason": "r"})
    found = parse_verdict(before + " " + text, SCALES[0])
    assert isinstance(found, Verdict)
    assert found.score == score


@pytest.mark.parametrize("name", list(HOSTILE))
def test_much_rubbish_is_read_in_no_time(name: str) -> None:
    """A quarter of a megabyte of anything repeated does not hold up a run: were it quadratic, it would take minutes."""
    text = HOSTILE[name] * (LENGTH // len(HOSTILE[name]))
    start = time.process_time()
    for scale in (SCALES[0], SCALES[-1]):
        assert isinstance(parse_verdict(text, scale), Status)
    assert time.process_time() - start < 10


def test_deep_nesting_is_a_status() -> None:
    """JSON that is nested too deeply to be read is no score, and no error either."""
    text = '{"score": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert isinstance(parse_verdict(text, SCALES[0]), Status)
