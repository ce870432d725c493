"""Judges that cannot be asked: the error, at the place of what names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..errors import UsageError
from ..suite.paths import shown_path

if TYPE_CHECKING:
    from .self_judged import GraderPlace

__all__ = ["RefusedModelError", "refused_judge"]


class RefusedModelError(UsageError):
    """A target that takes no `model`, or not this one."""


def refused_judge(place: GraderPlace, who: str, error: UsageError) -> Diagnostic:
    """What keeps the target from being asked, at the place of the grader or user `who` that names it."""
    source, path, case_id = place
    code = "grader-options" if isinstance(error, RefusedModelError) else "unknown-target"
    where, shown = source.place(path), shown_path(path)
    return Diagnostic("error", code, f"`{who}`: {error}", source.file, where, error.hint, shown, case_id)
