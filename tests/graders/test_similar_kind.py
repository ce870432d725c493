"""The kind `similar`, without a run: the cosine, its edges, and what a suite may write."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from turnwise.graders.base import Grade, GradeError
from turnwise.graders.similar import cosine
from turnwise.graders.specs import make_graders
from turnwise.providers.embeddings import word_vector

pytest_plugins = ["grader_fixtures"]
SPEC = {"type": "similar", "target": "embedder"}


def test_the_cosine_of_known_angles() -> None:
    """45 degrees, opposites, and numbers whose squares would not fit."""
    assert cosine([1.0, 0.0], [1.0, 1.0]) == pytest.approx(math.cos(math.pi / 4))
    assert cosine([1.0, 2.0], [-1.0, -2.0]) == pytest.approx(-1.0)
    assert cosine([1e300, 0.0], [1e300, 0.0]) == 1.0
    assert cosine([1e-300, 0.0], [0.0, 1e-300]) == 0.0


@pytest.mark.parametrize("other", [[1.0], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], []])
def test_some_vectors_have_no_angle(other: list[float]) -> None:
    """Of another length, zero, or not finite: an error, and no number."""
    found = cosine([1.0, 0.0], other)
    assert isinstance(found, GradeError)
    assert found.kind == "bad-vectors"


def test_without_a_target_it_is_a_mistake() -> None:
    """In the short form and in the long one, it is said that somebody has to be asked."""
    for spec in ({"similar": "Oslo"}, {"similar": {"value": "Oslo"}}):
        graders, (problem,) = make_graders([spec])
        assert (graders, problem.code) == ([], "no-judge")


@pytest.mark.parametrize(
    ("text", "submission", "kind"),
    [
        ("hello", {}, "no-reference"),
        (" ", {"reference": "hello"}, "empty-text"),
        ("x" * 100_001, {"reference": "hello"}, "too-long"),
        ("hello", {"reference": "hello"}, "not-available"),
    ],
)
def test_what_cannot_be_compared_is_ungraded(
    grade: Callable[..., Grade], text: str, submission: dict[str, str], kind: str
) -> None:
    """No reference, no words, too many, or nobody to ask: a status, never a 0."""
    found = grade(SPEC, text, **submission)
    assert found.score is None
    assert found.error is not None
    assert found.error.kind == kind


def test_a_mock_counts_words() -> None:
    """The same words in any order are the same vector; a text without words has no direction."""
    assert word_vector("Oslo is big") == word_vector("Big is OSLO!")
    assert sum(word_vector("a b c")) == 3
    assert not any(word_vector("…"))
