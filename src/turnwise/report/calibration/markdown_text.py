"""Text that others wrote, made harmless for Markdown on GitHub: no markup, no links, no mentions."""

from __future__ import annotations

import html
import re

__all__ = ["block", "code", "inline"]

# Mentions, issues and addresses are looked for after entities are resolved, so a comment must part them. Whatever else
# could be markup is an entity: a reference to a character is never markup, nor the end of a table's cell.
_SPECIAL = re.compile(r"""(?P<link>[@#](?=\w)|:(?=//)|www(?=\.))|[\\`*_{}\[\]<>|~&$]""", re.IGNORECASE)
_START = re.compile(r"[-+]|#(?!\w)|\d(?=\d{0,8}[.)])")
_BREAKS = re.compile(r"\s*[\r\n]+\s*")


def inline(text: str) -> str:
    """A text as a part of a paragraph or a table's cell, on one line.

    >>> inline("a|b <b> @you")
    'a&#124;b &#60;b&#62; @<!-- -->you'
    """
    flat = _BREAKS.sub(" ", text).strip()
    start = _START.match(flat)
    if start is None:
        return _SPECIAL.sub(_harmless, flat)
    return f"&#{ord(flat[0])};" + _SPECIAL.sub(_harmless, flat[1:])


def code(text: str) -> str:
    """A name or a label, set apart as code.

    >>> code("a`b")
    '<code>a&#96;b</code>'
    """
    return f"<code>{inline(text)}</code>"


def block(text: str) -> str:
    """A text of several lines as it was written. It must stand on lines of its own, after an empty one.

    >>> block("a\\n\\n<b>")
    '<pre>\\na\\n\\n&lt;b&gt;\\n</pre>'
    """
    return f"<pre>\n{html.escape(text, quote=False)}\n</pre>"


def _harmless(match: re.Match[str]) -> str:
    return f"{match[0]}<!-- -->" if match["link"] else f"&#{ord(match[0])};"
