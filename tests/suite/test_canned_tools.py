"""Canned tools as suites write them: variables in their replies, their names, and a bound that bounds nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from live_fixtures import calling, model_at, only, saying, sent_messages
from run_fixtures import case, project, suite
from turnwise.checks.validate import Validation
from turnwise.diagnostics import Diagnostic


def said_of(root: Path, **fields: Any) -> list[Diagnostic]:
    """What validating a suite with these fields says."""
    cases = fields.pop("cases", [case("a")])
    validation = Validation()
    validation.check_paths([str(project(root, s=suite(cases, target="echo", **fields)) / "s.yaml")])
    return validation.diagnostics


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_variables_fill_canned_replies(tmp_path: Path, is_wrapped: bool) -> None:
    """The arguments that a reply is for, its result and its error are of the case; the suite writes them once."""
    plain = {"name": "weather", "replies": [{"arguments": {"city": "{{ city }}"}, "result": {"in": "{{ city }}"}}]}
    tool = {"type": "function", "function": plain} if is_wrapped else plain

    def model(messages: list[dict[str, Any]]) -> Any:
        return saying("hello") if messages[-1]["role"] == "tool" else calling(("weather", {"city": "Oslo"}))

    with model_at(tmp_path, model, case("a", vars={"city": "Oslo"}), suite={"tools": [tool]}) as server:
        record = only(tmp_path)
    assert json.loads(sent_messages(server)[1][-1]["content"]) == {"in": "Oslo"}
    assert record["live"]["ended"] == "answered"


def test_an_unknown_variable_of_a_reply_is_said_once(tmp_path: Path) -> None:
    """The place is the suite's, where the tool stands, however many cases have it."""
    tool = {"name": "weather", "reply": {"error": "no {{ town }}"}}
    cases = [case(name, vars={"city": "Oslo"}) for name in ("a", "b")]
    (found,) = said_of(tmp_path, cases=cases, tools=[tool])
    assert (found.code, found.path) == ("unknown-variable", "tools[0].reply.error")


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    """A call names its tool, so that the second one could never answer."""
    wrapped = {"type": "function", "function": {"name": "weather", "reply": {"result": "sun"}}}
    (found,) = said_of(tmp_path, tools=[{"name": "weather", "reply": {"result": "rain"}}, wrapped])
    assert (found.severity, found.code, found.path) == ("error", "duplicate-tool", "tools")
    assert "'weather'" in found.message


@pytest.mark.parametrize("tools", [{}, {"tools": [{"name": "book"}]}])
@pytest.mark.parametrize("is_of_case", [False, True])
def test_a_bound_without_anything_to_bound_is_warned_of(tmp_path: Path, tools: Any, is_of_case: bool) -> None:
    """Calls of tools without replies are never answered, so their rounds cannot be bounded."""
    bound: dict[str, Any] = {"max_tool_rounds": 3}
    cases = [{**case("a"), **bound}] if is_of_case else [case("a")]
    (found,) = said_of(tmp_path, cases=cases, **tools, **({} if is_of_case else bound))
    assert (found.severity, found.code) == ("warning", "unused-tool-rounds")
    assert found.path == ("cases[0].max_tool_rounds" if is_of_case else "max_tool_rounds")


def test_one_case_with_replies_makes_use_of_the_suite_s_bound(tmp_path: Path) -> None:
    """A suite may bound the rounds of some of its cases."""
    cases = [case("a"), case("b", tools=[{"name": "weather", "reply": {"result": "rain"}}])]
    assert said_of(tmp_path, cases=cases, max_tool_rounds=3) == []
