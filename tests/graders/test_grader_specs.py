"""From the `graders` of a suite to graders, or to problems that an author can mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from turnwise.errors import Problem
from turnwise.graders.base import Grade, Grader
from turnwise.graders.registry import KINDS
from turnwise.graders.specs import make_graders
from turnwise.suite.format import GraderSpec

pytest_plugins = ["grader_fixtures"]


def problems_of(*specs: Any) -> list[Problem]:
    """The problems of specs that can be written in a suite."""
    adapter: TypeAdapter[list[GraderSpec]] = TypeAdapter(list[GraderSpec])
    return make_graders(adapter.validate_python(list(specs)))[1]


def test_short_and_long_forms_are_the_same() -> None:
    """`contains: x`, settings below the kind, and `type: contains` make equal graders."""
    long: Any = TypeAdapter(GraderSpec).validate_python({"type": "contains", "value": "x"})
    (one, two, three), problems = make_graders([{"contains": "x"}, {"contains": {"value": "x"}}, long])
    assert problems == []
    assert one == two == three


def test_common_settings_reach_the_grade(grade: Callable[..., Grade]) -> None:
    """Name, weight, threshold and `required` are in the grade, from either form."""
    common = {"name": "cites", "weight": 2.5, "threshold": 0.0, "required": True}
    for spec in ({"type": "contains", "value": "x", **common}, {"contains": {"value": "x", **common}}):
        result = grade(spec, "y")
        assert (result.name, result.kind, result.weight, result.required) == ("cites", "contains", 2.5, True)
        assert (result.score, result.threshold, result.passed) == (0, 0, True)
    assert grade({"contains": "x"}, "y").name == "contains"


def test_every_grader_is_one() -> None:
    """What is made of each kind follows the protocol."""
    values: dict[str, Any] = {
        "composite": {"graders": [{"contains": "x"}]},
        "contains-all": ["x"],
        "contains-any": ["x"],
        "contains-json": True,
        "icontains-all": ["x"],
        "icontains-any": ["x"],
        "cost": {"max": 1},
        "fields": {"value": {"a": 1}},
        "similar": {"target": "embedder"},
        "is-json": True,
        "latency": {"max": 1},
        "rubric": ["It is polite."],
        "length": {"max": 1},
        "python": "a:b",
        "tool_calls": {"expected": ["x"]},
    }
    graders, problems = make_graders([{kind: values.get(kind.removeprefix("not-"), "x")} for kind in KINDS])
    assert problems == []
    assert len(graders) == len(KINDS)
    assert all(isinstance(grader, Grader) for grader in graders)


def test_an_unknown_kind_is_told_with_the_nearest() -> None:
    """A misspelling gets its correction, anything else the list."""
    near, dash, far = problems_of({"contians": "x"}, {"type": "contains_all", "value": ["x"]}, {"zzz": 1})
    assert (near.code, near.path, near.hint) == (
        "unknown-grader",
        ("graders", 0, "contians"),
        "did you mean `contains`?",
    )
    assert (dash.path, dash.hint) == (("graders", 1, "type"), "did you mean `contains-all`?")
    assert far.hint is not None
    assert all(kind in far.hint for kind in KINDS)


def test_a_kind_alone_is_not_taken_for_a_rubric_line() -> None:
    """`- is-json` is a text in YAML, and surely not meant as a rubric."""
    for problem in problems_of("is-json", "not-contains"):
        assert problem.code == "grader-form"
        assert problem.hint is not None
        assert problem.hint.startswith("write `type: ")


@pytest.mark.parametrize(
    ("spec", "code", "message", "path"),
    [
        ({"contains": 5}, "wrong-type", "`contains` must be text, found the number 5", ("contains",)),
        ({"contains": ""}, "empty", "`contains` must not be empty", ("contains",)),
        ({"type": "contains", "value": 5}, "wrong-type", "`value` must be text, found the number 5", ("value",)),
        ({"contains": {"value": 5}}, "wrong-type", "`value` must be text", ("contains", "value")),
        ({"regex": None}, "missing-key", "`regex` is missing", ("regex",)),
        ({"type": "starts-with"}, "missing-key", "`value` is missing", ()),
        ({"type": "contains", "valeu": "x"}, "unknown-key", "unknown key `valeu`", ("valeu",)),
        ({"contains": {"value": "x", "wieght": 2}}, "unknown-key", "unknown key `wieght`", ("contains", "wieght")),
        ({"contains": {"value": "x", "weight": 0}}, "out-of-range", "`weight` must be", ("contains", "weight")),
        ({"icontains": {"case_sensitive": True}}, "unknown-key", "`case_sensitive`", ("icontains", "case_sensitive")),
        ({"contains-all": "x"}, "wrong-type", "`contains-all` must be a list", ("contains-all",)),
        ({"contains-any": ["x", 5]}, "wrong-type", "this item must be text", ("contains-any", 1)),
        ({"contains-any": []}, "empty", "`contains-any` must not be empty", ("contains-any",)),
        ({"equals": {"trim": "no"}}, "wrong-type", "`trim` must be true or false", ("equals", "trim")),
        ({"is-json": False}, "wrong-type", "`is-json` takes no value of its own, found false", ("is-json",)),
        ({"is-json": {"type": "object"}}, "unknown-key", "unknown key `type`", ("is-json", "type")),
        ({"type": "contains", "value": "x", "target": "gpt"}, "unknown-key", "`target`", ("target",)),
        ({"contains": {"value": "x", "when": "y"}}, "wrong-type", "`when` must be a mapping", ("contains", "when")),
        ({"contains": {"value": "x", "when": {}}}, "empty", "`when` must not be empty", ("contains", "when")),
        ({"contains": {"value": "x", "when": {"tag": "y"}}}, "unknown-key", "`tag`", ("contains", "when", "tag")),
        ({"contains": {"value": "x", "on_error": "no"}}, "wrong-value", "`on_error`", ("contains", "on_error")),
        ({"length": {}}, "grader-options", "`length` needs `min` or `max`", ("length",)),
        ({"length": {"min": 2, "max": 1}}, "grader-options", "`min` is more than `max`", ("length",)),
        ({"rouge-n": {"n": 0}}, "out-of-range", "`n` must be", ("rouge-n", "n")),
        ({"cost": {"max": -1}}, "out-of-range", "`max` must be", ("cost", "max")),
    ],
)
def test_options_are_checked_by_name(spec: Any, code: str, message: str, path: tuple[str | int, ...]) -> None:
    """Each problem names the key as it was written, where it was written, and what to do."""
    (problem,) = problems_of(spec)
    assert (problem.code, problem.path) == (code, ("graders", 0, *path))
    assert message in problem.message
    assert problem.hint


def test_one_problem_hides_no_other() -> None:
    """All specs are looked at, and the good ones become graders."""
    graders, problems = make_graders([{"contains": 1}, {"contains": "x"}, {"zzz": 1}])
    assert len(graders) == 1
    assert [problem.path[1] for problem in problems] == [0, 2]


def test_no_specs_are_no_graders() -> None:
    """An empty list is no problem here: the case's score says that it has no graders."""
    assert make_graders([]) == ([], [])
