"""The printed schema of suites knows every kind of grader, and agrees with what is accepted."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from helpers import ROOT
from turnwise.checks.schemas import json_schema
from turnwise.graders.registry import KINDS
from turnwise.graders.specs import make_graders
from turnwise.suite.agentv import is_agentv_suite
from turnwise.suite.format import SuiteHeader
from turnwise.suite.reading import read_document

SUITES = sorted(path for path in (ROOT / "examples").rglob("*.yaml") if ".turnwise" not in path.parts)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LISTS = [
    (page.name, found)
    for page in PAGES
    for found in re.findall(r"^```yaml\n(graders:\n.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
]


@cache
def validator() -> Draft202012Validator:
    """The schema, checked itself."""
    schema = json_schema("suite")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(*graders: Any) -> list[str]:
    """What the schema has against graders."""
    case = {"id": "a", "input_messages": [{"role": "user", "content": "Hi"}]}
    return [each.message for each in validator().iter_errors({"graders": list(graders), "cases": [case]})]


@pytest.mark.parametrize("path", SUITES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_follows_the_schema(path: Path) -> None:
    """What is shipped as an example has nothing underlined in an editor."""
    raw, _ = read_document(path.read_text(encoding="utf-8"), path.name)
    if isinstance(raw, dict) and "cases" in raw and not is_agentv_suite(raw):
        assert [each.message for each in validator().iter_errors(raw)] == []


@pytest.mark.parametrize(("page", "text"), LISTS)
def test_every_list_of_graders_of_the_docs_follows_the_schema(page: str, text: str) -> None:
    """So have the pages."""
    raw, _ = read_document(text, page)
    if page != "your-own-grader-kind.md":
        assert faults(*raw["graders"]) == []


GOOD = [
    "The answer is polite.",
    {"contains": "x"},
    {"contains": None},
    {"is-json": True},
    {"is-json": {"schema": {"type": "object"}}},
    {"contains-all": ["x", "y"]},
    {"not-contains": {"value": "x", "weight": 2}},
    {"type": "not-regex", "value": "x", "when": {"tags": ["hard"]}, "weight": None},
    {"type": "llm_judge", "targets": ["a", "b"], "combine": "min"},
    {"rubric": ["It is kind.", {"text": "It is short.", "range": [1, 5]}]},
    {"composite": {"mode": "all", "graders": ["It is kind.", {"contains": "x"}]}},
    {"code": ["python3", "check.py"]},
    {"latency": {"max": 2000}},
    {"type": "fields", "rules": {"id": "ignore", "total": {"rule": "numeric", "tolerance": 1}}},
    {"type": "similar", "target": "vectors"},
    {"type": "tool_calls", "expected": [{"name": "look_up"}]},
]
BAD = [
    {"type": "contains", "valeu": "x"},
    {"contains": {"value": "x", "weigth": 2}},
    {"contains": ["x"]},
    {"contains-all": "x"},
    {"contains-all": None},
    {"contains": "x", "weight": 2},
    {"type": "contains", "target": "judge"},
    {"type": "contains", "value": "x", "threshold": 2},
    {"length": {"max": 5, "unit": "letters"}},
    {"similar": "x"},
    {"type": "llm_judge", "targets": ["a"]},
    {"composite": {"graders": [{"contains": {"valeu": "x"}}]}},
    {"regex": {"type": "regex", "value": "x"}},
]


@pytest.mark.parametrize("grader", GOOD, ids=str)
def test_what_is_accepted_follows_the_schema(grader: Any) -> None:
    """Short and long forms of many kinds, as the loader takes them."""
    assert make_graders(SuiteHeader.model_validate({"graders": [grader], "cases": []}).graders or [])[1] == []
    assert faults(grader) == []


@pytest.mark.parametrize("grader", BAD, ids=str)
def test_typical_mistakes_do_not_follow_the_schema(grader: Any) -> None:
    """Options and settings that do not exist, or have a wrong form, are underlined in an editor."""
    assert faults(grader) != []


def test_kinds_of_other_packages_stay_possible() -> None:
    """A name that is not built in takes any options, and the settings of every grader."""
    assert faults({"sentences": 3}, {"type": "sentences", "value": 3, "weight": 2}) == []
    assert faults({"type": "sentences", "weight": "heavy"}) != []


def test_an_editor_can_complete_every_kind() -> None:
    """Each kind is named, in its long and in its short form."""
    text = str(json_schema("suite")["$defs"])
    short = json_schema("case")["$defs"]["Grader"]["anyOf"][1]["properties"]
    assert set(short) == set(KINDS)
    assert all(f"'{kind}'" in text for kind in KINDS)
