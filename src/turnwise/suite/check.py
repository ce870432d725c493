"""What there is to say about one case: files that cannot be read, and what is legal but probably not meant."""

from __future__ import annotations

from ..conversation.lint import lint
from ..diagnostics import Diagnostic
from ..errors import Problem, ResolutionError
from .case import Case
from .intake import problem_diagnostic

__all__ = ["case_errors", "case_warnings", "check_case"]


def check_case(case: Case) -> list[Diagnostic]:
    """Every error and warning of a case that is well formed."""
    errors = case_errors(case)
    can_be_read = not any("input_messages" in diagnostic.path for diagnostic in errors)
    return [*errors, *case_warnings(case)] if can_be_read else errors


def case_errors(case: Case) -> list[Diagnostic]:
    """Why the conversation, or the expected one, cannot be made; empty if it can."""
    diagnostics = []
    for view in ("conversation", "expected", "turn_messages") if case.turns else ("conversation", "expected"):
        try:
            getattr(case, view)
        except ResolutionError as error:
            for problem in error.problems:
                source, path, case_id = case.where(problem.path)
                diagnostics.append(problem_diagnostic(problem, "error", source, path, case_id))
    return diagnostics


def case_warnings(case: Case) -> list[Diagnostic]:
    """Warnings about a conversation that can be made."""
    diagnostics = []
    for finding in lint(case.conversation.messages):
        within = ("input_messages",) if finding.message_index is None else ("input_messages", finding.message_index)
        source, path, case_id = case.where(within)
        problem = Problem(within, finding.code, finding.message, finding.hint)
        diagnostics.append(problem_diagnostic(problem, "warning", source, path, case_id))
    if case.spec.max_tool_rounds is not None and not case.has_canned_tools:
        message = "`max_tool_rounds` has no effect: no tool of the case has replies"
        hint = "give a tool `replies` or a `reply`, or remove it"
        problem = Problem(("max_tool_rounds",), "unused-tool-rounds", message, hint)
        source, path, case_id = case.where(problem.path)
        diagnostics.append(problem_diagnostic(problem, "warning", source, path, case_id))
    return diagnostics
