"""The report of a calibration as TOML. TOML has no null: what is null is left out, and named in `undefined`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...decks.toml_text import toml_key
from .toml_writing import dump_toml

__all__ = ["calibration_toml"]

_UNDEFINED = "undefined"


def calibration_toml(record: Mapping[str, Any]) -> str:
    """The record of a report as TOML. `undefined`, its first key, lists the names of all that is null.

    >>> print(calibration_toml({"seed": 0, "models": [{"model": "m", "cost_usd": None}]}), end="")
    undefined = ["models[0].cost_usd"]
    seed = 0
    <BLANKLINE>
    [[models]]
    model = "m"
    """
    undefined: list[str] = []
    defined = _defined(record, "", undefined)
    return dump_toml({_UNDEFINED: undefined, **defined})


def _defined(value: Any, path: str, undefined: list[str]) -> Any:
    """The value without nulls, whose names go to `undefined`; in a list, the place is that of the whole list."""
    if isinstance(value, Mapping):
        named = {str(name): (item, f"{path}.{toml_key(str(name))}".lstrip(".")) for name, item in value.items()}
        return {
            name: _defined(item, at, undefined)
            for name, (item, at) in named.items()
            if not _is_null(item, at, undefined)
        }
    if isinstance(value, list | tuple):
        places = [(item, f"{path}[{place}]") for place, item in enumerate(value)]
        return [_defined(item, at, undefined) for item, at in places if not _is_null(item, at, undefined)]
    return value


def _is_null(value: Any, path: str, undefined: list[str]) -> bool:
    if value is None:
        undefined.append(path)
    return value is None
