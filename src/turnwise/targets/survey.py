"""Targets as people want to see them listed: what each one is, where it is, and what it still needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import MissingVariablesError, UsageError
from .addresses import whole_address
from .format import Target
from .on_disk import check_disk
from .resolve import ResolvedTarget, full_settings, known_variables, resolve_target
from .sensitive import redactions
from .variables import substitute

__all__ = ["SurveyedTarget", "survey_target"]

_ADDRESSES = ("base_url", "endpoint", "url", "function", "path", "command", "recipe", "executable")


@dataclass(frozen=True)
class SurveyedTarget:
    """A target for a list; no text in it is secret. `resolved` is None where it cannot be asked: `missing` names the
    variables that it needs, or `problem` says what is wrong with one."""

    name: str
    provider: str
    model: str | None
    address: str | None
    missing: tuple[str, ...] = ()
    problem: str | None = None
    hint: str | None = None
    resolved: ResolvedTarget | None = None


def survey_target(spec: Target, environment: Mapping[str, str], root: Path | None = None) -> SurveyedTarget:
    """What can be said of a target where this is the environment, and the project is at `root`. Never raises for what
    a variable holds."""
    known = known_variables(environment)
    settings = full_settings(spec, known)
    absent: tuple[str, ...] = ()
    problem: UsageError | None = None
    resolved: ResolvedTarget | None = None
    try:
        whole = resolve_target(spec, environment)
        if root is not None:
            check_disk(whole.target, root, environment)
        resolved = whole
    except MissingVariablesError as error:
        absent = error.missing[spec.name]
    except UsageError as error:
        problem = error
    return SurveyedTarget(
        name=spec.name,
        provider=spec.provider,
        model=_shown(settings, known, "model"),
        address=next((text for key in _ADDRESSES if (text := _shown(settings, known, key))), None),
        missing=absent,
        problem=str(problem) if problem else None,
        hint=problem.hint if problem else None,
        resolved=resolved,
    )


def _shown(settings: Mapping[str, Any], known: Mapping[str, str], key: str) -> str | None:
    """A setting without its secrets; a variable that is not set stands there as it is written."""
    value = settings.get(key)
    if isinstance(value, list):
        parts = [_shown({**settings, key: each}, known, key) or "" for each in value]
        return " ".join(parts)
    if not isinstance(value, str):
        return None
    hidden = redactions(settings, known)
    text = hidden.get((key,), substitute(value, known)[0])
    return whole_address(str(settings["provider"]), text) if key in ("base_url", "endpoint") else text
