"""Decks that come with Turnwise, for other decks to include: `![base](turnwise:grader-base)`."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_shipped", "shipped_deck", "shipped_names"]

_PREFIX = "turnwise:"
_ENDING = ".deck.md"
_FOLDER = Path(os.path.realpath(__file__)).parent / "base"


def is_shipped(target: str) -> bool:
    """Whether an include names a deck of Turnwise, rather than a file.

    >>> is_shipped("turnwise:grader-base"), is_shipped("grader-base.deck.md")
    (True, False)
    """
    return target.startswith(_PREFIX)


def shipped_names() -> list[str]:
    """Every name that can be included.

    >>> shipped_names()
    ['turnwise:grader-base']
    """
    return sorted(_PREFIX + path.name.removesuffix(_ENDING) for path in _FOLDER.glob(f"*{_ENDING}"))


def shipped_deck(target: str) -> Path | None:
    """The file behind such a name; None if there is no deck of that name."""
    return _FOLDER / (target.removeprefix(_PREFIX) + _ENDING) if target in shipped_names() else None
