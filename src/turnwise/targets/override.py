"""A target with some of its settings changed, as a variant of a suite asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import UsageError
from .variables import malformed

if TYPE_CHECKING:
    from .format import Target

__all__ = ["with_settings"]

_FIXED = ("name", "provider")


def with_settings(spec: Target, settings: Mapping[str, Any], *, where: str) -> Target:
    """The target with these settings instead of its own, checked like those of the targets file.

    `where` names in messages who wants them, such as "the variant 'cold' of suite.yaml". Raises `UsageError`.

    >>> from turnwise.targets.choose import find_target
    >>> qwen = find_target("ollama/qwen3:4b", None, file="targets.yaml")
    >>> with_settings(qwen, {"temperature": 0.5}, where="the variant 'warm'").temperature
    0.5
    """
    if not settings:
        return spec
    _refuse_keys(spec, settings, where)
    if faults := malformed(dict(settings)):
        raise _error(spec, where, f"{faults[0].message} (in `{faults[0].path[0]}`)", faults[0].hint)
    data = {**spec.model_dump(exclude_unset=True, by_alias=True), **settings}
    try:
        return type(spec).model_validate(data)
    except ValidationError as error:
        from ..suite.explain import explain
        from ..suite.sources import WholeFile

        found = explain(error, data=data, model=type(spec), source=WholeFile(where))
        raise _error(spec, where, "; ".join(each.message for each in found), found[0].hint) from None


def _refuse_keys(spec: Target, settings: Mapping[str, Any], where: str) -> None:
    """Keys that no setting of the target has, and those that make it the target that it is."""
    from ..suite.explain import did_you_mean

    known = [field.alias or name for name, field in type(spec).model_fields.items() if name not in _FIXED]
    for key in settings:
        if key in _FIXED:
            raise _error(spec, where, f"`{key}` cannot be changed", "define another target in the targets file")
        if key not in known:
            hint = did_you_mean(key, known, f"settings of {spec.provider} are")
            raise _error(spec, where, f"unknown setting `{key}`", hint)


def _error(spec: Target, where: str, fault: str, hint: str | None) -> UsageError:
    return UsageError(f"{where} cannot be used with the target {spec.name!r}: {fault}", hint)
