"""A bound on rounds of tools that no case of a suite can reach."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..errors import Problem
from ..suite.intake import problem_diagnostic
from ..suite.suite import Suite

__all__ = ["unused_rounds"]


def unused_rounds(suite: Suite) -> list[Diagnostic]:
    """A warning for `max_tool_rounds` of a suite of which no case has a tool with replies."""
    if suite.spec.max_tool_rounds is None or any(case.has_canned_tools for case in suite.cases):
        return []
    message = "`max_tool_rounds` has no effect: no case has a tool with replies"
    hint = "give a tool `replies` or a `reply`, or remove it"
    problem = Problem(("max_tool_rounds",), "unused-tool-rounds", message, hint)
    return [problem_diagnostic(problem, "warning", suite.source, suite.authored(problem.path), None)]
