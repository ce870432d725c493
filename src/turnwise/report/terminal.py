"""The one place that knows terminals: colour, and text that cannot do harm there."""

from __future__ import annotations

import re
from typing import Protocol

__all__ = ["Style", "coloured", "one_line", "plain", "printable"]

_CODES = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "grey": 90}
# Control characters, and those that reorder letters or break lines where nobody sees it.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Style(Protocol):
    """Gives a text a colour, or does not."""

    def __call__(self, text: str, colour: str | None = None, *, bold: bool = False) -> str: ...


def plain(text: str, colour: str | None = None, *, bold: bool = False) -> str:  # noqa: ARG001
    """No colour at all."""
    return text


def coloured(text: str, colour: str | None = None, *, bold: bool = False) -> str:
    """ANSI colours."""
    codes = [str(code) for code in (1 if bold else None, _CODES.get(colour or "")) if code is not None]
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes else text


def printable(text: str) -> str:
    """The text without anything that could move the cursor, change colours or reorder letters; tabs and line
    breaks are kept.

    >>> printable("a\\x1b[31mb")
    'a␛[31mb'
    """
    return _CONTROL.sub(_picture, text)


def one_line(text: str) -> str:
    """The same for names and messages, which must not spread over lines of their own.

    >>> one_line("a\\nb")
    'a␊b'
    """
    return printable(text).replace("\n", "␊")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else f"\\u{code:04x}"
