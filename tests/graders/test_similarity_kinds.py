"""The kinds `levenshtein`, `rouge-n` and `bleu`: scores between 0 and 1, held against counts made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade
from turnwise.graders.reference import LONGEST_TEXT
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

KINDS = ["levenshtein", "rouge-n", "bleu"]
LETTERS = st.text("abc", max_size=7)


def changes(one: str, other: str) -> int:
    """The definition of the distance, word for word."""

    @cache
    def least(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        replaced = least(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        return min(replaced, least(i - 1, j) + 1, least(i, j - 1) + 1)

    return least(len(one), len(other))


@given(LETTERS, LETTERS)
def test_the_distance_is_that_of_its_definition(grade: Callable[..., Grade], one: str, other: str) -> None:
    """The least number of changes, and the share of the longer text that needs none."""
    found = grade({"levenshtein": {"value": other}}, one)
    expected = changes(one, other)
    assert found.evidence["distance"] == expected
    assert found.score == pytest.approx(1 - expected / (max(len(one), len(other)) or 1))
    assert grade({"levenshtein": {"value": other, "max": expected}}, one).score == 1


def test_a_distance_beyond_its_bound_is_0(grade: Callable[..., Grade]) -> None:
    """kitten and sitting are three changes apart."""
    assert grade({"levenshtein": {"value": "sitting", "max": 2}}, "kitten").score == 0
    assert grade({"levenshtein": {"value": "sitting", "max": 3}}, "kitten").score == 1
    assert grade({"levenshtein": {"value": "sitting", "threshold": 0.5}}, "kitten").passed is True
    assert grade({"levenshtein": {"value": "sitting", "threshold": 0.6}}, "kitten").passed is False


def test_letters_and_space_count_as_the_options_say(grade: Callable[..., Grade]) -> None:
    """White space around the texts is left out unless `trim` is false, capital letters only if it is asked for."""
    spec: dict[str, Any] = {"value": "oslo"}
    assert grade({"levenshtein": spec}, " Oslo\n").evidence["distance"] == 1
    assert grade({"levenshtein": {**spec, "case_sensitive": False}}, " Oslo\n").evidence["distance"] == 0
    assert grade({"levenshtein": {**spec, "trim": False}}, " Oslo\n").evidence["distance"] == 3


@pytest.mark.parametrize(
    ("n", "precision", "recall"),
    # "the cat sat on the mat" against "the cat lay on the mat today": five words in common of six and seven
    # ("the" twice), and three pairs of five and six.
    [(1, 5 / 6, 5 / 7), (2, 3 / 5, 3 / 6)],
)
def test_rouge_is_counted_by_hand(grade: Callable[..., Grade], n: int, precision: float, recall: float) -> None:
    """F1 of runs of n words, each counted as often as both texts have it."""
    found = grade({"rouge-n": {"value": "The cat lay on the mat today.", "n": n}}, "the cat sat on the mat")
    assert found.score == pytest.approx(2 * precision * recall / (precision + recall))
    assert found.evidence["precision"] == pytest.approx(precision, abs=1e-6)
    assert found.evidence["recall"] == pytest.approx(recall, abs=1e-6)


def test_rouge_reads_every_script(grade: Callable[..., Grade]) -> None:
    """Two of three Russian words are two thirds, not nothing."""
    assert grade({"rouge-n": "кошка сидит дома"}, "Кошка сидит там").score == pytest.approx(2 / 3)


def test_rouge_without_words_is_no_score(grade: Callable[..., Grade]) -> None:
    """A reference that is shorter than n words leaves nothing to count; an answer without words has nothing right."""
    short = grade({"rouge-n": {"value": "yes", "n": 2}}, "yes")
    assert short.error is not None
    assert short.error.kind == "no-words"
    assert grade({"rouge-n": "yes"}, "").score == 0


def test_bleu_is_counted_by_hand(grade: Callable[..., Grade]) -> None:
    """Of five words, one is wrong at the end: runs of 1 to 4 words are right in 4/5, 3/4, 2/3 and 1/2 of all."""
    found = grade({"bleu": "the cat is here now"}, "the cat is here today")
    assert found.score == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4))
    # One word too few, and nothing wrong: only the brevity penalty counts.
    short = grade({"bleu": "the cat is here now"}, "the cat is here")
    assert short.score == pytest.approx(math.exp(1 - 5 / 4))
    assert "effective" in short.evidence["signature"] or "eff:yes" in short.evidence["signature"]


def test_bleu_of_short_texts_is_defined(grade: Callable[..., Grade]) -> None:
    """Two words have no run of four; the same two words are right all the same. Nothing is wrong in full."""
    assert grade({"bleu": "Good morning"}, "Good morning").score == pytest.approx(1)
    assert grade({"bleu": "Good morning"}, "").score == 0
    blank = grade({"bleu": " "}, "x")
    assert blank.error is not None
    assert blank.error.kind == "no-words"


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(max_size=30), other=st.text(min_size=1, max_size=30))
def test_no_text_breaks_a_similarity(grade: Callable[..., Grade], kind: str, text: str, other: str) -> None:
    """Any two texts have a score from 0 to 1, or a reason why not."""
    found = grade({kind: {"value": other}}, text)
    assert found.score is None or 0 <= found.score <= 1
    assert (found.error is None) == (found.score is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_stands_in_for_a_value(grade: Callable[..., Grade], kind: str) -> None:
    """Without a value it is the reference answer, and without both there is no score."""
    assert grade({"type": kind}, "the same words", reference="the same words").score == pytest.approx(1)
    neither = grade({"type": kind}, "the same words")
    assert neither.error is not None
    assert neither.error.kind == "no-reference"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_too_long_is_not_cut(grade: Callable[..., Grade], kind: str) -> None:
    """Beyond the bound, the answer is ungraded: its end may decide."""
    long = grade({kind: "x"}, "x" * (LONGEST_TEXT + 1))
    assert long.error is not None
    assert long.error.kind == "too-long"


@pytest.mark.parametrize("kind", KINDS)
def test_the_package_of_a_kind_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the suite has a problem with the command that mends it."""
    monkeypatch.setattr("turnwise.graders.packages.find_spec", lambda name: None)
    graders, (problem,) = make_graders([{kind: {"value": "y"}}])
    assert graders == []
    assert (problem.code, problem.hint) == ("missing-package", "pip install 'turnwise[text-metrics]'")
    assert f"`{kind}` needs the package" in problem.message
