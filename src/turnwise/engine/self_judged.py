"""Models that judge their own answers: whether one does, and the warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..suite.paths import DataPath, shown_path

if TYPE_CHECKING:
    from ..suite.sources import Source
    from ..targets.format import Target
    from .planned_targets import PlannedTarget

__all__ = ["GraderPlace", "judges_itself", "self_judged"]

GraderPlace = tuple["Source", DataPath, str | None]


def judges_itself(target: PlannedTarget, judge: PlannedTarget, spec: Target) -> bool:
    """Whether the judge, with the settings `spec`, is one and the same model as the target, under whatever name."""
    models = {(each.provider, getattr(each, "model", None)) for each in (target.spec, spec)}
    has_model = getattr(spec, "model", None) is not None
    same_name = target.name == judge.name and spec is judge.spec
    return same_name or (has_model and len(models) == 1)


def self_judged(place: GraderPlace, by: str, target: str) -> Diagnostic:
    """The warning, at the place of the grader."""
    source, path, case_id = place
    message = f"{target} judges its own answers by {by}: models tend to like what they wrote"
    hint = "name another target to judge"
    return Diagnostic(
        "warning", "self-judged", message, source.file, source.place(path), hint, shown_path(path), case_id
    )
