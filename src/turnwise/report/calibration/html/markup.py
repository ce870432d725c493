"""HTML that is safe by construction: whatever is not already `Html` is escaped when it becomes part of an element."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

__all__ = ["Attribute", "Html", "clipped", "escaped", "joined", "tag", "visible", "with_code"]

Attribute = str | int | float | bool | None
"""False and None leave an attribute out; True writes it without a value."""

_VOID = {"br", "input", "link", "meta"}
# Control characters, those that reorder letters where nobody sees it, and halves of characters, which no file can hold.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def visible(text: str) -> str:
    """The text with everything that could hide or reorder letters made visible.

    >>> visible("a\\x1b[31mb")
    'a␛[31mb'
    """
    return _HIDDEN.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else f"\\u{code:04x}"


def escaped(text: str) -> Html:
    """A text that others wrote, as HTML that shows it and does nothing else.

    >>> escaped("<b title='x'>")
    '&lt;b title=&#x27;x&#x27;&gt;'
    """
    return text if isinstance(text, Html) else Html(html.escape(visible(text), quote=True))


def joined(parts: Iterable[str | None], between: str = "") -> Html:
    """Several parts as one; those that are None are left out."""
    return Html(escaped(between).join(escaped(part) for part in parts if part is not None))


def tag(name: str, /, *children: str | None, **attributes: Attribute) -> Html:
    """An element. A name of an attribute may end in `_`, where Python has the word, and `_` stands for `-`.

    >>> tag("p", "a < b", class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b</p>'
    """
    opening = Html(f"<{name}{''.join(_written(key, value) for key, value in attributes.items())}>")
    return opening if name in _VOID else Html(f"{opening}{joined(children)}</{name}>")


def _written(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'


def with_code(text: str) -> Html:
    """A sentence in which names between backticks are set as code.

    >>> with_code("declare `[scale]`")
    'declare <code>[scale]</code>'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    return joined(tag("code", part) if place % 2 else part for place, part in enumerate(parts))


def clipped(text: str, longest: int) -> tuple[str, int]:
    """The beginning of a text, and how many characters are left out.

    >>> clipped("abcdef", 4)
    ('abcd', 2)
    """
    return text[:longest], max(0, len(text) - longest)
