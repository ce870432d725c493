"""Settings whose variables are filled in become a target: texts turn into numbers and switches, and are checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..errors import UsageError
from .addresses import AWS_REGION, address_problem, whole_address
from .sensitive import secret_variables
from .settings import TargetBase
from .variables import references

__all__ = ["checked_target"]

AnyTarget = TypeVar("AnyTarget", bound=TargetBase)

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "string_too_short": "a text that is not empty",
}
_ADDRESSES = ("base_url", "endpoint", "url")
_KEYS = ("api_key", "entra_token")
_KEY = re.compile(r"[!-~]+")
_HEADER = re.compile(r"[\t -~\u00a0-\u00ff]*")


def checked_target(
    model: type[AnyTarget], settings: Mapping[str, Any], filled: dict[str, Any], *, unchecked: frozenset[str]
) -> AnyTarget:
    """The target of filled-in settings. `settings` are the same before that; texts in `unchecked` stand for secrets
    that are not known. Raises `UsageError` that names target, setting and variable, and shows no secret."""
    complain = _Complaints(str(settings["name"]), settings)
    ready = dict(filled)
    if _is_known(ready.get("region"), unchecked) and AWS_REGION.fullmatch(ready["region"]) is None:
        # Before the address, which is made of it.
        complain.about("region", "must have small letters, digits and `-`, such as eu-west-1")
    for setting in _ADDRESSES:
        if _is_known(ready.get(setting), unchecked):
            ready[setting] = whole_address(str(settings["provider"]), ready[setting])
            complain.about(setting, address_problem(ready[setting], template=setting == "url"))
    for setting in _KEYS:
        if _is_known(ready.get(setting), unchecked):
            ready[setting] = ready[setting].strip()
            complain.about(setting, _key_problem(ready[setting]))
    for value in (ready.get("headers") or {}).values():
        complain.about("headers", _header_problem(value))
    try:
        # What is left of a variable's value is its own affair: it must not pass for a variable again.
        model.model_validate(_without_references(ready), strict=False)
        return model.model_validate(ready, strict=False)
    except ValidationError as error:
        raise complain.wrong(error.errors(include_url=False)) from None


class _Complaints:
    """Errors about one target: each names the setting and the variables that it was filled from."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self._name = name
        self._settings = settings
        self._secret = secret_variables(settings)

    def about(self, setting: str, problem: str | None) -> None:
        if problem is not None:
            raise self._usage_error(f"`{setting}` {problem}{self._origin(setting)}")

    def wrong(self, faults: list[ErrorDetails]) -> UsageError:
        own = next((fault["ctx"]["hint"] for fault in faults if "hint" in fault.get("ctx", {})), None)
        return self._usage_error("; ".join(dict.fromkeys(self._sentence(fault) for fault in faults)), own)

    def _sentence(self, fault: ErrorDetails) -> str:
        from ..suite.explain import described

        if not fault["loc"]:
            return fault["msg"]
        setting = str(fault["loc"][0])
        expected = _EXPECTED.get(fault["type"]) or fault["msg"].removeprefix("Input should be ")
        if "expected" in fault.get("ctx", {}):
            expected = f"one of {fault['ctx']['expected']}"
        names = self._names(setting)
        found = f", found {described(fault['input'])}" if not self._secret & set(names) else ""
        return f"`{setting}` must be {expected}{found}{self._origin(setting)}"

    def _origin(self, setting: str) -> str:
        names = self._names(setting)
        return f" (from the variable {', '.join(names)})" if names else ""

    def _names(self, setting: str) -> list[str]:
        return list(dict.fromkeys(use.name for use in references(self._settings.get(setting))))

    def _usage_error(self, message: str, hint: str | None = None) -> UsageError:
        usual = "mend the variable, or the setting in the targets file"
        return UsageError(f"target {self._name!r}: {message}", hint or usual)


def _is_known(value: Any, unchecked: frozenset[str]) -> bool:
    return isinstance(value, str) and not any(stand_in in value for stand_in in unchecked)


def _key_problem(key: str) -> str | None:
    return None if _KEY.fullmatch(key) else "holds characters that no key has: spaces, line breaks or accents"


def _header_problem(value: Any) -> str | None:
    if isinstance(value, str) and not _HEADER.fullmatch(value):
        return "holds a line break, or another character that no header may have"
    return None


def _without_references(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("${{", "x")
    if isinstance(value, dict):
        return {key: _without_references(item) for key, item in value.items()}
    return [_without_references(item) for item in value] if isinstance(value, list) else value
