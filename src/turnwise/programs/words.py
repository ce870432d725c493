"""What a program did, in words for people: how it ended, why it did not start, and the end of what it complained."""

from __future__ import annotations

import errno
import os
import re
import signal
from pathlib import Path
from typing import Literal

__all__ = ["Unstarted", "clean_text", "how_it_ended", "stderr_tail", "why_unstarted"]

LONGEST_TEXT = 4000
_LAST_LINES = 5
_LONGEST_TAIL = 500
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Unstarted = Literal["not-found", "not-executable", "cannot-start"]


def clean_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """A foreign text that can be shown: line breaks stay, other control characters go, and it has a bound.

    >>> clean_text("a \\x1b[31mred\\x1b[0m word\\x07")
    'a red word'
    """
    shown = "".join(each for each in _ESCAPES.sub("", text[: 2 * longest]) if each.isprintable() or each == "\n")
    return shown.strip() if len(shown) <= longest else shown[:longest].strip() + "…"


def how_it_ended(status: int) -> str:
    """An exit status as the end of a sentence.

    >>> how_it_ended(3), how_it_ended(-9)
    ('ended with exit code 3', 'was ended by SIGKILL')
    """
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def stderr_tail(complaint: str) -> str:
    """The last lines of stderr, as the end of a sentence; nothing if there are none."""
    lines = [line.strip() for line in clean_text(complaint, len(complaint)).splitlines() if line.strip()]
    words = "; ".join(lines[-_LAST_LINES:])
    words = words if len(words) <= _LONGEST_TAIL else "…" + words[-_LONGEST_TAIL:]
    return f"; the end of its stderr: {words}" if words else ""


def why_unstarted(number: int, name: str, folder: Path) -> tuple[Unstarted, str]:
    """The kind and the words for a program that did not start, by the system's error number."""
    if number in (errno.ENOENT, errno.ENOTDIR):
        return "not-found", f"there is no program {name!r}{_where(name, folder)}"
    if number in (errno.EACCES, errno.ENOEXEC, errno.EISDIR):
        hint = "make it executable and give it a first line such as `#!/usr/bin/env python3`, or name its interpreter"
        return "not-executable", f"{name!r} cannot be run: {os.strerror(number)}; {hint}"
    return "cannot-start", f"{name!r} cannot be started: {os.strerror(number)}"


def _where(name: str, folder: Path) -> str:
    found = (folder / name).exists()
    if "/" not in name:
        hint = f"; there is a file of that name in {folder}: write './{name}'" if found else ""
        return f" on the PATH{hint}"
    return ": its file is there, but not what its first line (#!) names" if found else f" in {folder}"
