"""Which variables a program sees: those that programs need to work at all, and those that its author names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

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


def without_hidden(text: str, hidden: Mapping[str, str]) -> str:
    """The text with names in place of values.

    >>> without_hidden("no access with sk-123456", {"MY_KEY": "sk-123456"})
    'no access with [MY_KEY]'
    """
    for name, value in hidden.items():
        text = text.replace(value, f"[{name}]")
    return text
