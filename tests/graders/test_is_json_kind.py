"""The kind `is-json`: JSON and nothing else, and a schema if there is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade
from turnwise.graders.json_values import why_not_json
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

PLAIN = {"type": "is-json"}
PERSON = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"minimum": 0}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_is_written_as_json_is_json(value: Any) -> None:
    """Every value, with every indentation, is accepted."""
    assert why_not_json(json.dumps(value)) is None
    assert why_not_json(json.dumps(value, indent=2, ensure_ascii=False) + "\n") is None


@pytest.mark.parametrize("text", ["{}", " [1] ", "null", '"a"', "-0.5e3", '{"a": 1, "a": 2}', "1" * 10_000])
def test_any_json_is_json(grade: Callable[..., Grade], text: str) -> None:
    """Not only objects, and numbers of any length."""
    assert grade(PLAIN, text).score == 1
    assert grade({"type": "not-is-json"}, text).score == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1', "line 1"),
        ('{"a":\n 1,}', "line 2"),
        ("[1] [2]", "extra data in line 1, column 5"),
        ("[NaN]", "NaN is no number of JSON"),
        ("-Infinity", "-Infinity is no number of JSON"),
        ("Sure! {}", "it starts with 'Sure! {}'"),
        ("01", "line 1"),
        ('"a\nb"', "line 1"),
        ("\ufeff{}", "line 1, column 1"),
        ('```json\n{"a": 1}\n```', "inside a Markdown fence"),
        ("  ```\n[]\n```  ", "inside a Markdown fence"),
        ("Here it is:\n```json\n{}\n```", "words around a Markdown fence"),
    ],
)
def test_what_is_no_json_is_explained(grade: Callable[..., Grade], text: str, why: str) -> None:
    """The reason says where or why, in both forms."""
    plain, opposite = grade(PLAIN, text), grade({"type": "not-is-json"}, text)
    assert (plain.score, opposite.score) == (0, 1)
    assert why in plain.reason
    assert plain.reason == opposite.reason


@given(st.text(max_size=20))
def test_the_not_form_is_the_complement(grade: Callable[..., Grade], text: str) -> None:
    """Whatever the text is, the two scores sum to 1."""
    assert (grade(PLAIN, text).score or 0) + (grade({"not-is-json": True}, text).score or 0) == 1


def test_json_that_cannot_be_read_is_ungraded(grade: Callable[..., Grade]) -> None:
    """Brackets without end are no proof that it is not JSON."""
    deep = grade(PLAIN, "[" * 200_000 + "]" * 200_000)
    assert deep.error is not None
    assert deep.error.kind == "too-deep"


@pytest.mark.parametrize("spec", [{"type": "is-json", "schema": PERSON}, {"is-json": {"schema": PERSON}}])
def test_a_schema_is_followed_or_not(grade: Callable[..., Grade], spec: Any) -> None:
    """Both spellings check the same, and a violation is shown with its path."""
    assert grade(spec, '{"name": "Ada", "age": 36}').score == 1
    wrong = grade(spec, '{"name": 5, "age": -1}')
    assert wrong.score == 0
    assert {error["path"] for error in wrong.evidence["errors"]} == {"$.name", "$.age"}
    assert "does not follow the schema" in wrong.reason
    assert grade(spec, "no").reason.startswith("the answer is not JSON")


def test_a_long_violation_is_cut(grade: Callable[..., Grade]) -> None:
    """A message that repeats the whole answer is not passed on."""
    wrong = grade({"is-json": {"schema": {"type": "object"}}}, json.dumps(["x" * 100_000]))
    assert wrong.score == 0
    assert len(wrong.reason) < 400


def test_a_schema_downloads_nothing() -> None:
    """A reference to elsewhere is refused before anything is graded."""
    spec: Any = {"is-json": {"schema": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    graders, problems = make_graders([spec])
    assert graders == []
    assert [(each.code, "http://127.0.0.1:9/schema.json" in each.message) for each in problems] == [
        ("bad-schema", True)
    ]


def test_a_schema_without_end_is_ungraded(grade: Callable[..., Grade]) -> None:
    """A schema that means itself is stopped."""
    endless = grade({"is-json": {"schema": {"$ref": "#"}}}, "{}")
    assert endless.error is not None
    assert "RecursionError" in endless.reason


def test_a_hostile_pattern_in_a_schema_is_stopped(grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a schema is bounded like that of `regex`."""
    spec = {"is-json": {"schema": {"pattern": "(a+)+$"}}}
    assert grade(spec, '"a"').score == 1
    monkeypatch.setattr("turnwise.graders.is_json.SCHEMA_SECONDS", 0.3)
    stopped = grade(spec, json.dumps("a" * 40 + "b"))
    assert stopped.error is not None
    assert stopped.error.kind == "timeout"


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"properties": []}, {"pattern": "("}, {"enum": [{1, 2}]}])
def test_a_schema_that_is_none_is_a_problem_of_the_suite(schema: dict[str, Any]) -> None:
    """It is said when the suite is read."""
    graders, (problem,) = make_graders([{"is-json": {"schema": schema}}])
    assert graders == []
    assert (problem.code, problem.path) == ("bad-schema", ("graders", 0, "is-json", "schema"))


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jsonschema, a schema is a problem, and plain `is-json` is none."""
    monkeypatch.setattr("turnwise.graders.is_json.find_spec", lambda name: None)
    graders, (problem,) = make_graders([{"is-json": {"schema": PERSON}}, {"is-json": None}])
    assert len(graders) == 1
    assert (problem.code, problem.hint) == ("missing-package", "pip install 'turnwise[json-schema]'")
