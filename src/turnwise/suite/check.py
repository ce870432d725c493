"""What there is to say about one case: files that cannot be read, and what is legal but probably not meant."""

from __future__ import annotations

from ..conversation.lint import lint
from ..diagnostics import Diagnostic
from ..errors import ResolutionError
from .case import Case
from .intake import problem_diagnostic
from .sources import shown_path

__all__ = ["case_errors", "case_warnings", "check_case"]


def check_case(case: Case) -> list[Diagnostic]:
    """Every error and warning of a case that is well formed."""
    errors = case_errors(case)
    return errors or case_warnings(case)


def case_errors(case: Case) -> list[Diagnostic]:
    """Why the conversation, or the expected one, cannot be made; empty if it can."""
    diagnostics = []
    for view in ("conversation", "expected"):
        try:
            getattr(case, view)
        except ResolutionError as error:
            for problem in error.problems:
                path = (*case.path, *problem.path)
                diagnostics.append(problem_diagnostic(problem, "error", case.source, path, case.id))
    return diagnostics


def case_warnings(case: Case) -> list[Diagnostic]:
    """Warnings about a conversation that can be made."""
    diagnostics = []
    for finding in lint(case.conversation.messages):
        path = (*case.path, "input_messages")
        if finding.message_index is not None:
            path = (*path, finding.message_index)
        place = case.source.place(path)
        diagnostics.append(
            Diagnostic(
                "warning",
                finding.code,
                finding.message,
                case.source.file,
                place,
                finding.hint,
                shown_path(path),
                case.id,
            )
        )
    return diagnostics
