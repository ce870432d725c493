"""Where a value stands in the data of a file."""

from __future__ import annotations

__all__ = ["DataPath", "shown_path"]

DataPath = tuple[str | int, ...]
"""Keys and indexes, from the top of a file."""


def shown_path(path: DataPath) -> str:
    """A path as people write it.

    >>> shown_path(("cases", 3, "role"))
    'cases[3].role'
    """
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else step
    return shown
