"""Which variables a program sees: those that programs need to work at all, and those that its author names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["environment", "hidden_values", "without_hidden"]

_USUAL = frozenset(
    {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "PATH",
        "PYTHONIOENCODING",
        "PYTHONUTF8",
        "TEMP",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
    }
)
_LOCALE = "LC_"
# A shorter value, such as `1` or `true`, is no secret, and would garble what it is taken out of.
_SHORTEST_HIDDEN = 8


def environment(
    own: Mapping[str, str], inherited: Iterable[str], of: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of a program, from `of` or from ours. Keys for models are not among them unless named."""
    names = {*inherited, *_USUAL}
    known = os.environ if of is None else of
    passed = {name: value for name, value in known.items() if name in names or name.startswith(_LOCALE)}
    return {**passed, **own}


def hidden_values(inherited: Iterable[str], of: Mapping[str, str] | None = None) -> dict[str, str]:
    """The values, by name, of variables that an author passes on: they may be keys."""
    known = os.environ if of is None else of
    found = {name: known.get(name, "") for name in inherited if name not in _USUAL}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST_HIDDEN}


def without_hidden(value: Any, hidden: Mapping[str, str]) -> Any:
    """Plain data with names in place of hidden values, in all its texts; a value that holds another goes first.

    >>> without_hidden({"said": ["no access with sk-123456"]}, {"PART": "sk-12", "MY_KEY": "sk-123456"})
    {'said': ['no access with [MY_KEY]']}
    """
    if isinstance(value, str):
        for name, each in sorted(hidden.items(), key=lambda item: -len(item[1])):
            value = value.replace(each, f"[{name}]")
        return value
    if isinstance(value, dict):
        return {without_hidden(key, hidden): without_hidden(each, hidden) for key, each in value.items()}
    return [without_hidden(each, hidden) for each in value] if isinstance(value, list) else value
