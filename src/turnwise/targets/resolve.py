"""Targets with their variables filled in, for asking and for showing. Pure over an environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from ..errors import MissingVariablesError, UsageError
from ..programs.environment import hidden_values
from ..suite.paths import DataPath, shown_path
from .addresses import whole_address
from .convert import checked_target
from .format import Target
from .sensitive import looks_secret, redacted, redactions, secret_literals, secret_values, secret_variables
from .settings import TargetBase
from .usual import with_usual_settings
from .variables import missing, references, substitute

__all__ = ["PLACES", "ResolvedTarget", "full_settings", "known_variables", "resolve_target", "resolve_targets"]

PLACES = ("the environment", ".turnwise/.env", ".env")
"""Where variables are looked for, in the words of messages."""

_WARNED = ("api_key", "entra_token", "headers", "env")
# Servers that want no key are given one such as `none` or `EMPTY`: nothing to warn of.
_SHORTEST_KEY = 8
# Variables that are passed to programs and hold no secret; any other may.
_PLAIN = frozenset({"CI", "COLORTERM", "DISPLAY", "EDITOR", "NODE_ENV", "PAGER", "PWD", "SHELL", "TERM", "VISUAL"})


@dataclass(frozen=True)
class ResolvedTarget:
    """A target that can be asked.

    `target` holds the secrets, `shown` has `[redacted: NAME]` in their places. `variables` says which variable each
    setting came from, `secrets` are the texts to mask wherever they turn up.
    """

    target: Target = field(repr=False)
    shown: Target
    variables: Mapping[str, str]
    secrets: frozenset[str] = field(repr=False)
    warnings: tuple[str, ...] = ()


def resolve_target(
    spec: Target, environment: Mapping[str, str], *, allow_missing_secrets: bool = False
) -> ResolvedTarget:
    """Fill in a target's variables and what it leaves to the usual ones; an empty variable is not set.

    With `allow_missing_secrets`, a secret that is not set is `[redacted: NAME]` in `target`, too. Raises
    `MissingVariablesError`, and `UsageError` for a value that does not fit its setting.
    """
    known = known_variables(environment)
    settings = full_settings(spec, known)
    absent = missing(settings, known)
    stand_ins: dict[str, str] = {}
    if allow_missing_secrets:
        secret = secret_variables(settings)
        stand_ins = {name: redacted(name) for name in absent if name in secret}
    if unknown := [name for name in absent if name not in stand_ins]:
        raise MissingVariablesError({spec.name: unknown}, PLACES)
    filled, _ = substitute(settings, {**known, **stand_ins})
    target = checked_target(type(spec), settings, filled, unchecked=frozenset(stand_ins.values()))
    return ResolvedTarget(
        target=target,
        shown=_with_texts(target, _shown_texts(settings, redactions(settings, known))),
        variables=_origins(settings),
        secrets=secret_values(settings, known) | _passed_secrets(settings, known),
        warnings=tuple(_warnings(spec.name, settings)),
    )


def resolve_targets(specs: Iterable[Target], environment: Mapping[str, str]) -> list[ResolvedTarget]:
    """All of them, or one `MissingVariablesError` that names every missing variable of every target."""
    resolved: list[ResolvedTarget] = []
    absent: dict[str, tuple[str, ...]] = {}
    wrong: list[UsageError] = []
    for spec in specs:
        try:
            resolved.append(resolve_target(spec, environment))
        except MissingVariablesError as error:
            absent |= error.missing
        except UsageError as error:
            wrong.append(error)
    if absent:
        raise MissingVariablesError(absent, PLACES)
    if wrong:
        raise wrong[0]
    return resolved


def known_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are set to something."""
    return {name: value for name, value in environment.items() if value.strip()}


def full_settings(spec: TargetBase, known: Mapping[str, str]) -> dict[str, Any]:
    """What the file says, and what it leaves to the usual variables; nothing is filled in yet."""
    written = spec.model_dump(exclude_unset=True)
    return with_usual_settings({key: value for key, value in written.items() if value is not None}, known)


def _shown_texts(settings: Mapping[str, Any], texts: Mapping[DataPath, str]) -> dict[DataPath, str]:
    provider = str(settings["provider"])
    addresses = (("base_url",), ("endpoint",))
    return {path: whole_address(provider, text) if path in addresses else text for path, text in texts.items()}


def _with_texts(value: Any, texts: Mapping[DataPath, str], path: DataPath = ()) -> Any:
    """The same value with other texts in some places. Numbers and switches are never secret: they stay."""
    if not texts:
        return value
    match value:
        case str():
            return texts.get(path, value)
        case BaseModel():
            items = {name: getattr(value, name) for name in type(value).model_fields}
            return value.model_copy(
                update={name: _with_texts(item, texts, (*path, name)) for name, item in items.items()}
            )
        case dict():
            return {key: _with_texts(item, texts, (*path, key)) for key, item in value.items()}
        case list():
            return [_with_texts(item, texts, (*path, index)) for index, item in enumerate(value)]
    return value


def _passed_secrets(settings: Mapping[str, Any], known: Mapping[str, str]) -> set[str]:
    """What an agent is given of the environment, and may print."""
    names = [name for name in settings.get("pass_env") or () if name not in _PLAIN or looks_secret(name)]
    found = hidden_values(names, known)
    # A plain word such as `production` is part of what answers say.
    return {value for name, value in found.items() if looks_secret(name) or not value.isalpha()}


def _origins(settings: Mapping[str, Any]) -> dict[str, str]:
    origins: dict[str, list[str]] = {}
    for use in references(dict(settings)):
        origins.setdefault(shown_path(use.path), []).append(use.name)
    return {setting: ", ".join(dict.fromkeys(names)) for setting, names in origins.items()}


def _warnings(name: str, settings: Mapping[str, Any]) -> list[str]:
    found = []
    for path in secret_literals(settings):
        value: Any = settings
        for step in path:
            value = value[step]
        if path[0] in _WARNED and len(value) >= _SHORTEST_KEY:
            found.append(
                f"target {name!r}: `{shown_path(path)}` is written out in the file, for everybody to see; "
                f"write ${{{{ NAME }}}} and set that variable in .env"
            )
    return found
