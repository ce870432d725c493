"""Names of promptfoo's vocabulary: those that fit are kinds here, and others say what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, journal, mock, project, run, suite
from turnwise.graders.base import Grade
from turnwise.graders.registry import KINDS
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]


@pytest.mark.parametrize(
    ("spec", "passes", "fails"),
    [
        ({"icontains-any": ["OSLO", "Bergen"]}, "to oslo", "to Rome"),
        ({"icontains-all": ["OSLO", "Bergen"]}, "bergen, oslo", "oslo"),
        ({"not-icontains-any": ["OSLO"]}, "Rome", "oslo"),
        ({"not-levenshtein": {"value": "kitten", "threshold": 0.5}}, "entirely other", "kittens"),
    ],
)
def test_kinds_of_texts(grade: Callable[..., Grade], spec: Any, passes: str, fails: str) -> None:
    """Capital letters do not matter to the `i` forms, and `not-` turns yes and no round."""
    assert (grade(spec, passes).passed, grade(spec, fails).passed) == (True, False)


def test_the_opposite_of_a_measure(grade: Callable[..., Grade]) -> None:
    """Its score is 1 less the measure, its threshold is the measure's, and without a text both are ungraded."""
    plain, turned = grade({"levenshtein": "abcd"}, "abcx"), grade({"not-levenshtein": "abcd"}, "abcx")
    assert plain.score is not None
    assert (turned.score, turned.passed, plain.passed) == (1 - plain.score, True, False)
    assert turned.kind == "not-levenshtein"
    assert turned.reason.startswith(plain.reason)
    assert grade({"not-levenshtein": None}, "abcx").score is None


def test_not_similar_asks_like_similar(tmp_path: Path) -> None:
    """The embedding model of a `not-similar` is planned and asked; the same text is as similar as can be."""
    graders = [{"type": "not-similar", "value": "hello", "target": "vectors"}]
    project(tmp_path, mock(), mock("vectors"), s=suite([case("a")], graders=graders))
    (line,) = journal(run(tmp_path / "s.yaml"))
    (only,) = line["grades"]
    assert (only["score"], only["passed"], only["error"]) == (pytest.approx(0.0, abs=1e-9), False, None)


@pytest.mark.parametrize("measure", ["similar", "levenshtein", "rouge-n", "bleu"])
def test_every_measure_of_texts_has_an_opposite(measure: str) -> None:
    """The `not-` form takes the same options."""
    assert KINDS[f"not-{measure}"].options_model is KINDS[measure].options_model


@pytest.mark.parametrize(
    ("name", "instead"),
    [("llm-rubric", "rubric"), ("word-count", "unit: words"), ("not-cost", "lower bound"), ("javascript", "code")],
)
def test_names_that_do_not_fit_say_what_to_write(name: str, instead: str) -> None:
    """What is only nearly the same here is not guessed."""
    (problem,) = make_graders([{name: "x"}])[1]
    assert problem.code == "unknown-grader"
    assert instead in (problem.hint or "")
