"""How `/bin/sh` reads a text, as far as it must be known to say where a value may stand. Pure.

A value is quoted for the shell, which is safe only where the shell reads plain words. Where shells differ, or a text
says too little, everything that follows is in doubt: a value is refused rather than run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .here_documents import OPENING, HereDocuments

__all__ = ["end_of_text", "surroundings"]

_QUOTES = "within quotes"
_COMMENT = "within a comment"
_BACKSLASH = "after a backslash"
_UNSURE_LINE = "after a line with `<<` that does not end where it seems to"

_DOLLAR_QUOTE = re.compile(r"\$'(?:[^'\\]|\\[^'])*'")
_BACKTICKS = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_SIMPLE = r"[^'\"`\\{}$]|\$\w++|\$\{[^'\"`\\{}$]*\}"
_VARIABLE = re.compile(rf"\$\{{(?:{_SIMPLE}|\"[^'\"`\\{{}}$]*\")*+\}}")
_QUOTED_VARIABLE = re.compile(rf"\$\{{(?:{_SIMPLE})*+\}}")
_CASE = re.compile(r"case(?=\s)")
_NOT_IN_ARITHMETIC = "'\"`\\#"
_OPERATORS = " \t\n;&|()<>"


def surroundings(text: str, spans: Iterable[tuple[int, int]]) -> dict[int, str]:
    """What stands around those of the spans where a quoted value is not one argument for sure, by where they begin.

    >>> surroundings("a 'X' X # X", [(3, 4), (6, 7), (10, 11)])
    {3: 'within quotes', 10: 'within a comment'}
    """
    reading = _Reading(text, dict(spans))
    reading.read()
    return reading.around


def end_of_text(text: str) -> str | None:
    """What a shell is in the middle of where the text ends; None if it reads plain words.

    >>> end_of_text("--file 'a"), end_of_text("--file 'a'")
    ('within quotes', None)
    """
    return surroundings(text, [(len(text), len(text))]).get(len(text))


class _Reading:
    """One pass over a text. `stack` holds what is open: `(`, `$(` and `"`."""

    def __init__(self, text: str, spans: dict[int, int]) -> None:
        self.around: dict[int, str] = {}
        self._text = text
        self._spans = spans
        self._at = 0
        self._stack: list[str] = []
        self._new_word = True
        self._documents = HereDocuments(text)

    def read(self) -> None:
        while self._at <= len(self._text):
            if self._at in self._spans:
                self._placeholder(self._spans[self._at])
            elif self._at == len(self._text):
                break
            elif self._text[self._at] == "\\":
                self._backslash()
            elif self._stack[-1:] == ['"']:
                self._quoted()
            else:
                self._plain()

    def _placeholder(self, end: int) -> None:
        start, self._at = self._at, max(end, self._at + 1)
        if self._stack[-1:] == ['"']:
            self.around[start] = _QUOTES
        elif self._documents.are_open:
            self.around[start] = "on a line with `<<`, whose text follows"
        # A list of no files is nothing: what stands on both sides of it comes together.
        before, after = self._text[max(start - 1, 0) : start], self._text[end : end + 1]
        if after == "#" or (after and after == before and after in "<("):
            self._doubt(f"before {after}, which means something else where there are no files", end)
        self._new_word = False

    def _backslash(self) -> None:
        before, after = self._text[max(self._at - 1, 0) : self._at], self._text[self._at + 1 : self._at + 2]
        in_quotes = self._stack[-1:] == ['"']
        if after == "\n" and (before == "$" if in_quotes else before.strip(" \t\n;&|")):
            self._doubt("after a line that goes on in the middle of a word", self._at)
        else:
            self._new_word = self._new_word and after == "\n"
            self._skip(self._at + 2, _BACKSLASH)

    def _quoted(self) -> None:
        each = self._text[self._at]
        if each == '"':
            self._stack.pop()
            self._at += 1
        elif each == "\n" and self._documents.are_open:
            self._doubt(_UNSURE_LINE, self._at)
        elif not self._expansion(_QUOTED_VARIABLE):
            self._at += 1

    def _plain(self) -> None:
        each = self._text[self._at]
        if self._new_word and each == "#":
            end = self._text.find("\n", self._at)
            self._skip(end if end >= 0 else len(self._text) + 1, _COMMENT)
        elif each == "\n" and self._documents.are_open:
            self._documents_end()
        elif self._text.startswith("<<", self._at):
            self._redirection()
        elif self._new_word and "$(" in self._stack and _CASE.match(self._text, self._at):
            self._doubt("after `case` within `$(…)`", self._at)
        elif each in "'\"":
            self._quote(each)
        elif self._text.startswith("$'", self._at):
            self._match(_DOLLAR_QUOTE, _QUOTES, "after $'…' with a quote in it, which shells read in two ways")
        elif not self._expansion(_VARIABLE):
            self._character(each)

    def _character(self, each: str) -> None:
        """A parenthesis, an end of a word, or a part of one."""
        if each == "(":
            self._stack.append("(")
        ended = self._stack.pop() if each == ")" and self._stack else ""
        if ended == "$(" and self._documents.are_open:
            self._doubt("after a here-document that does not end within its `$(…)`", self._at)
            return
        self._new_word = each in _OPERATORS and ended != "$("
        self._at += 1

    def _quote(self, each: str) -> None:
        self._new_word = False
        if each == '"':
            self._stack.append('"')
            self._at += 1
        else:
            end = self._text.find("'", self._at + 1)
            self._skip(end + 1 if end >= 0 else len(self._text) + 1, _QUOTES)

    def _expansion(self, variable: re.Pattern[str]) -> bool:
        """Whether something that is filled in by the shell begins here; then it is read, or its beginning is."""
        if self._text.startswith("$((", self._at):
            self._arithmetic()
        elif self._text.startswith("$(", self._at):
            self._stack.append("$(")
            self._at += 2
            self._new_word = True
            return True
        elif self._text.startswith("${", self._at):
            self._match(variable, "within `${…}`", "after `${`, whose end is not sure")
        elif self._text[self._at] == "`":
            self._match(_BACKTICKS, "within backticks", "within backticks")
        else:
            return False
        self._new_word = False
        return True

    def _arithmetic(self) -> None:
        depth = 0
        for at in range(self._at + 1, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            if depth == 1 and self._text[at] == ")" and self._text[at : at + 2] == "))":
                self._skip(at + 2, "within `$((…))`")
                return
            if self._text[at] in _NOT_IN_ARITHMETIC or (depth == 1 and self._text[at] == ")"):
                break
        self._doubt("after `$((`, whose end is not sure", self._at)

    def _redirection(self) -> None:
        if self._text.startswith("<<<", self._at):
            self._at += 3
        elif (opening := OPENING.match(self._text, self._at)) is None:
            self._doubt("after `<<`, whose end is not sure", self._at)
            return
        else:
            self._skip(opening.end(), "after `<<`")
            self._documents.open(opening, len(self._stack))
        self._new_word = True

    def _documents_end(self) -> None:
        end = self._documents.end(self._at + 1, len(self._stack))
        if end is None:
            self._doubt("after a here-document whose end is not sure", self._at)
            return
        self._skip(end, "within a here-document")
        self._new_word = True

    def _match(self, pattern: re.Pattern[str], inside: str, otherwise: str = "") -> None:
        found = pattern.match(self._text, self._at)
        if found is None:
            self._doubt(otherwise, self._at)
            return
        self._skip(found.end(), inside)

    def _skip(self, end: int, inside: str) -> None:
        """Go on there; what begins on the way is inside of something."""
        if self._documents.are_open and "\n" in self._text[self._at : end]:
            self._doubt(_UNSURE_LINE, self._at)
            return
        self.around |= {start: inside for start in self._spans if self._at < start < end}
        self._at = end

    def _doubt(self, reason: str, since: int) -> None:
        self.around |= {start: reason for start in self._spans if start > since or start == len(self._text)}
        self._at = len(self._text) + 1
