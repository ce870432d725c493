"""Where the tables and keys of a TOML text stand: one pass over headers and keys that never fails.

It is asked only about texts that were parsed already, or about broken ones where a rough answer will do; so it checks
nothing and takes the shortest way to the next key.
"""

from __future__ import annotations

import re

__all__ = ["scan_toml"]

Places = dict[tuple[str | int, ...], tuple[int, int]]
_Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[^\s.=\[\]{},#\"']+")
_STRING = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']++|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\n,\]}#]+")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(["\\bfnrt]))')
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Deeper than any text that is accepted: it only keeps broken ones from exhausting the stack.
_MAX_DEPTH = 150


def scan_toml(text: str) -> Places:
    """The offsets of the key and of the value at each path; a table's value is its header.

    >>> scan_toml("a.b = 1")
    {('a',): (0, 0), ('a', 'b'): (2, 6)}
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.places: Places = {}
        self.items: dict[_Path, int] = {}

    def scan(self) -> Places:
        table: _Path = ()
        while (position := self._skip(_BLANK)) < len(self.text):
            if self.text[position] == "[":
                table = self._header()
            else:
                self._pair(table, 0)
                if self.position == position:
                    self.position += 1
        return self.places

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return self.position

    def _header(self) -> _Path:
        """`[table]` or `[[item]]`; a step through a list of tables means its last item."""
        start = self.position
        is_item = self.text.startswith("[[", start)
        self.position += 2 if is_item else 1
        keys = self._keys()
        path: _Path = ()
        for index, (name, offset) in enumerate(keys):
            path += (name,)
            last = index == len(keys) - 1
            if last and is_item:
                self.items[path] = self.items.get(path, -1) + 1
            self.places.setdefault(path, (offset, start))
            if path in self.items:
                path += (self.items[path],)
                if last:
                    self.places[path] = (start, start)
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end
        return path

    def _pair(self, table: _Path, depth: int) -> None:
        """`key = value`; in `a.b = 1` the step `a` stands where it is written."""
        path = table
        keys = self._keys()
        for name, offset in keys:
            path += (name,)
            self.places.setdefault(path, (offset, offset))
        self._skip(_SPACE)
        if not keys or self.text[self.position : self.position + 1] != "=":
            return
        self.position += 1
        self._skip(_SPACE)
        self.places[path] = (keys[-1][1], self.position)
        self._value(path, depth)

    def _keys(self) -> list[tuple[str, int]]:
        """The parts of a dotted key, each with its offset."""
        keys: list[tuple[str, int]] = []
        while len(keys) <= _MAX_DEPTH:
            start = self._skip(_SPACE)
            match = _STRING.match(self.text, start) or _BARE_KEY.match(self.text, start)
            if match is None:
                break
            keys.append((_unquoted(match[0]), start))
            self.position = match.end()
            if self.text[self._skip(_SPACE) : self.position + 1] != ".":
                break
            self.position += 1
        return keys

    def _value(self, path: _Path, depth: int) -> None:
        opening = self.text[self.position : self.position + 1]
        if opening in ("[", "{"):
            self.position += 1
            if depth < _MAX_DEPTH:
                self._container(path, opening == "{", depth + 1)
        elif (match := _STRING.match(self.text, self.position)) is not None:
            self.position = match.end()
        else:
            self._skip(_SCALAR)

    def _container(self, path: _Path, is_table: bool, depth: int) -> None:
        index = 0
        while (position := self._skip(_BLANK)) < len(self.text):
            character = self.text[position]
            if character in "]}":
                self.position += 1
                return
            if character == ",":
                index += 1
                self.position += 1
                continue
            if is_table:
                self._pair(path, depth)
            else:
                self.places[(*path, index)] = (position, position)
                self._value((*path, index), depth)
            if self.position == position:
                self.position += 1


def _unquoted(written: str) -> str:
    if written[0] == '"':
        return _ESCAPE.sub(_unescaped, written[1:-1])
    return written[1:-1] if written[0] == "'" else written


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return _SHORT_ESCAPES.get(match[3], match[3])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else "?"
