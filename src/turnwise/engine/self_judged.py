"""Models that judge their own answers: whether one does, and the warning."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..diagnostics import Diagnostic
from ..errors import MissingVariablesError
from ..suite.paths import DataPath, shown_path
from ..targets.resolve import resolve_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..suite.sources import Source
    from ..targets.format import Target
    from .planned_targets import PlannedTarget

__all__ = ["GraderPlace", "judges_itself", "self_judged"]

GraderPlace = tuple["Source", DataPath, str | None]


@lru_cache(maxsize=256)  # the same for every case
def judges_itself(target: PlannedTarget, judge: PlannedTarget, settings_key: tuple[str, str] | None = None) -> bool:
    """Whether the judge, with these of its settings, is one and the same model as the target, under whatever name."""
    spec = judge.spec if settings_key is None else judge.overrides[settings_key]
    if target.name == judge.name and spec is judge.spec:
        return True
    asked = _model_at(target.answered_by or target.spec, target.environment)
    return asked is not None and asked == _model_at(spec, judge.environment)


def _model_at(spec: Target, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """A model, and the server that has it: the provider where there is no address. None for what is no model."""
    try:
        found = resolve_target(spec, environment, allow_missing_secrets=True).target
    except MissingVariablesError:
        found = spec  # said when the target is needed
    model, address = getattr(found, "model", None), getattr(found, "base_url", None) or getattr(found, "endpoint", None)
    if model is None:
        return None
    server = urlsplit(address).netloc.rpartition("@")[2].lower() if isinstance(address, str) else ""
    return server or spec.provider, model


def self_judged(place: GraderPlace, by: str, target: str) -> Diagnostic:
    """The warning, at the place of the grader."""
    source, path, case_id = place
    message = f"{target} judges its own answers by {by}: models tend to like what they wrote"
    hint = "name another target to judge"
    return Diagnostic(
        "warning", "self-judged", message, source.file, source.place(path), hint, shown_path(path), case_id
    )
