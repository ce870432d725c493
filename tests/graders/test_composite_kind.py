"""The kind `composite`: several graders that count as one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.checks.together import suite_target_names
from turnwise.graders.base import Grade, GradeError, GraderSettings, Submission
from turnwise.graders.composite import Composite, CompositeGrader, Mode, combined
from turnwise.graders.diagnose import grader_diagnostics
from turnwise.graders.scoring import mean_score
from turnwise.graders.specs import make_graders
from turnwise.suite.suite import load_suite

pytest_plugins = ["grader_fixtures"]

YES, NO, BROKEN = {"contains": "a"}, {"contains": "z"}, {"latency": {"max": 1}}
SKIPPED = {"latency": {"max": 1, "on_error": "skip"}}
MODES: list[Mode] = ["all", "any", "weighted", "threshold"]


def score(grade: Callable[..., Grade], mode: str, *graders: Any, **options: Any) -> float | None:
    """The score of the text `a`."""
    threshold = {"threshold": 0.5} if mode == "threshold" else {}
    return grade({"composite": {"mode": mode, "graders": list(graders), **threshold, **options}}, "a").score


@pytest.mark.parametrize(
    ("mode", "both", "one", "none"),
    [("all", 1, 0, 0), ("any", 1, 1, 0), ("weighted", 1, 0.5, 0), ("threshold", 1, 1, 0)],
)
def test_modes(grade: Callable[..., Grade], mode: str, both: float, one: float, none: float) -> None:
    """`all` and `any` ask who passed, `weighted` is the mean, `threshold` asks whether the mean is enough."""
    assert [score(grade, mode, YES, YES), score(grade, mode, YES, NO), score(grade, mode, NO, NO)] == [both, one, none]


def test_weights_and_thresholds(grade: Callable[..., Grade]) -> None:
    """Inner weights are shares of the mean; the composite passes from its own threshold."""
    heavy = {"contains": {"value": "a", "weight": 3}}
    found = grade({"composite": {"mode": "weighted", "threshold": 0.7, "graders": [heavy, NO]}}, "a")
    assert (found.score, found.passed) == (0.75, True)
    assert score(grade, "threshold", heavy, NO, threshold=0.8) == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_required_inner_grader_decides(grade: Callable[..., Grade], mode: str) -> None:
    """If it does not pass, the score is 0; if it cannot grade, nothing good can be said."""
    required = {"contains": {"value": "z", "required": True}}
    assert score(grade, mode, YES, YES, YES, required, BROKEN) == 0
    assert score(grade, mode, YES, YES, {"latency": {"max": 1, "required": True}}) is None


@pytest.mark.parametrize(
    ("mode", "graders", "expected"),
    [
        ("all", [YES, BROKEN], None),
        ("all", [NO, BROKEN], 0),
        ("any", [YES, BROKEN], 1),
        ("any", [NO, BROKEN], None),
        ("weighted", [YES, BROKEN], None),
        ("threshold", [YES, BROKEN], 1),
        ("threshold", [YES, NO, BROKEN], None),
        ("threshold", [NO, NO, BROKEN], 0),
        ("all", [YES, SKIPPED], 1),
        ("any", [NO, SKIPPED], 0),
        ("weighted", [YES, NO, SKIPPED], 0.5),
        ("all", [SKIPPED], None),
    ],
)
def test_an_inner_error_counts_where_it_could_change_something(
    grade: Callable[..., Grade], mode: str, graders: list[Any], expected: float | None
) -> None:
    """The outcome stands if it is decided without it; `on_error: skip` leaves it out; else there is no score."""
    assert score(grade, mode, *graders) == expected


GRADES = st.builds(
    lambda score: GraderSettings(name="g", kind="k", threshold=0.5).graded(score, ""), st.sampled_from([0.0, 0.4, 1.0])
)
ERROR = GraderSettings(name="g", kind="k", threshold=0.5).ungraded(GradeError("timeout", "too slow"))


@given(st.lists(GRADES, max_size=4), st.sampled_from(MODES), st.sampled_from([0.3, 0.5, 1.0]))
def test_what_is_decided_does_not_depend_on_what_is_unknown(
    grades: Sequence[Grade], mode: Mode, threshold: float
) -> None:
    """A score that is given beside an error is the score with any grade in its place."""
    found = combined([*grades, ERROR], mode, threshold)
    if not isinstance(found, GradeError):
        settings = GraderSettings(name="g", kind="k", threshold=0.5)
        instead = [combined([*grades, settings.graded(each, "")], mode, threshold) for each in (0.0, 0.5, 1.0)]
        assert instead == [found] * 3


def test_inner_grades_are_evidence(grade: Callable[..., Grade]) -> None:
    """Each with its name, score, reason and error; the reason says who did not pass, and who could not grade."""
    found = grade({"composite": {"mode": "any", "graders": [YES, NO, BROKEN]}}, "a")
    assert found.reason.startswith("any: 1 of 3 inner graders passed; contains: the answer does not contain 'z'; ")
    assert "; latency could not grade (unknown-latency: " in found.reason
    assert [each["score"] for each in found.evidence["grades"]] == [1, 0, None]
    assert found.evidence["grades"][2]["error"]["kind"] == "unknown-latency"


def test_a_crash_inside_is_an_error_of_that_grader() -> None:
    """Another package's grader may raise anything; the others still count."""

    class Crash:
        async def grade(self, submission: Submission) -> Grade:
            raise ZeroDivisionError("oops")

    (good,), _ = make_graders([{"contains": "a"}])
    options = Composite.model_validate({"graders": [YES], "mode": "any"})
    grader = CompositeGrader(options, GraderSettings(name="c", kind="composite"), (Crash(), good))
    found = asyncio.run(grader.grade(Submission(question="", text="a")))
    assert found.score == 1
    assert found.evidence["grades"][0]["error"]["kind"] == "crash"


def nested(levels: int) -> dict[str, Any]:
    """A grader inside of so many others."""
    return {"type": "composite", "graders": [nested(levels - 1)]} if levels else {"type": "contains", "value": "a"}


def test_graders_may_be_nested_up_to_a_bound(grade: Callable[..., Grade]) -> None:
    """Ten levels of graders in all; one more is a problem."""
    assert grade(nested(9), "a").score == 1
    graders, (problem,) = make_graders([{"composite": {"graders": nested(10)["graders"]}}])
    assert graders == []
    assert problem.code == "too-deep"


def test_problems_inside_have_their_whole_path(tmp_path: Path) -> None:
    """All of them at once, in `make_graders` and with their line in `validate`."""
    text = (
        "graders:\n  - type: composite\n    graders:\n      - contians: x\n      - type: composite\n"
        "        graders:\n          - {type: contains, value: 5}\n"
        "cases: [{id: a, input_messages: [{role: user, content: Hi}]}]\n"
    )
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    (case,) = load_suite(tmp_path / "suite.yaml").cases
    found = [(each.code, each.path, each.place.line) for each in grader_diagnostics(case)]
    assert found == [
        ("unknown-grader", "graders[0].graders[0].contians", 4),
        ("wrong-type", "graders[0].graders[1].graders[0].value", 7),
    ]


def test_a_missing_reference_inside_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """A grader that compares with the expected text is found wherever it stands."""
    text = (
        "graders: [{composite: {graders: [{type: equals}]}}]\n"
        "cases: [{id: a, input_messages: [{role: user, content: Hi}]}]\n"
    )
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    (case,) = load_suite(tmp_path / "suite.yaml").cases
    assert [each.code for each in grader_diagnostics(case)] == ["grader-no-value"]


def test_variables_are_filled_inside_and_prompts_are_not(tmp_path: Path) -> None:
    """Inner graders are filled like outer ones; targets that they name are found."""
    text = (
        "graders: [{type: composite, graders: [{contains: '{{ x }}'}, "
        "{type: llm_judge, target: judge, prompt: '{{ y }}'}]}]\n"
        "cases: [{id: a, vars: {x: Oslo}, input_messages: [{role: user, content: Hi}]}]\n"
    )
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    suite = load_suite(tmp_path / "suite.yaml")
    (case,) = suite.cases
    filled: Any = case.graders[0]
    assert filled.graders == [
        {"contains": "Oslo"},
        {"type": "llm_judge", "target": "judge", "prompt": "{{ y }}"},
    ]
    named = [(each.path, each.name) for each in suite_target_names(suite)]
    assert named == [(("graders", 0, "graders", 1, "target"), "judge")]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"graders": []}, "empty"),
        ({"graders": [YES], "mode": "most"}, "wrong-value"),
        ({"graders": [YES], "mode": "threshold"}, "grader-options"),
        ({}, "missing-key"),
    ],
)
def test_options_of_a_composite_are_checked(options: dict[str, Any], code: str) -> None:
    """Nothing to combine, no such mode, or no threshold for `mode: threshold`."""
    graders, (problem,) = make_graders([{"composite": options}])
    assert graders == []
    assert problem.code == code


def test_the_mean_takes_a_stand_in_for_what_is_unknown() -> None:
    """With a 1 and an unknown one, the mean is from one half to 1."""
    one = GraderSettings(name="g", kind="k").graded(1.0, "")
    assert [mean_score([one, ERROR], unknown) for unknown in (0.0, 1.0)] == [0.5, 1.0]
