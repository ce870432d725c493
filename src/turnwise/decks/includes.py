"""Includes and embeds: from the text of a deck to one text without references, within the bounds of its project."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from ..conversation.files import shown_file
from ..diagnostics import Diagnostic, Place
from ..errors import InputError
from ..suite.project import PROJECT_MARKERS, find_project_root
from ..suite.reading import read_source_text
from ..suite.sources import Source
from .contexts import Context, contexts_from_data
from .markdown import Body, Reference, references, split_front_matter
from .samples import SampleReader, check_top_level
from .shipped import is_shipped, shipped_deck, shipped_names
from .toml_source import read_toml

__all__ = ["MAX_CHARACTERS", "MAX_DEPTH", "MAX_INCLUDES", "Expansion", "unterminated"]

MAX_DEPTH = 20
# Files that include each other twice grow as powers of two; no deck needs so many.
MAX_INCLUDES = 500
MAX_CHARACTERS = 16 * 1024 * 1024
_MARKDOWN_ENDINGS = (".md", ".markdown")
_DATA_ENDINGS = (".jsonl", ".ndjson", ".yaml", ".yml", ".json", ".csv")


_HINTS = {
    "include-outside": "move the file into the project; the root is the folder with .turnwise, .agentv or .git",
    "include-url": "save it as a file of the project: nothing is downloaded",
    "include-cycle": "remove one of the lines that close the circle",
    "too-many-includes": "include less: no deck needs so much",
}


class _Text:
    """A Markdown file on the way: its name, the lines of its body, and the chain of files that led to it."""

    def __init__(self, path: Path, body: Body, chain: tuple[Path, ...]) -> None:
        self.path = path
        self.file = shown_file(path)
        self.body = body
        self.chain = (*chain, Path(os.path.realpath(path)))

    def place(self, reference: Reference) -> Place:
        return Place.at(self.body.text, reference.start, self.body.first_line)


class Expansion:
    """One expansion of one deck; what it meets on the way, it collects."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = shown_file(path)
        self.diagnostics: list[Diagnostic] = []
        self.samples = SampleReader()
        self._contexts: dict[str, Context] = {}
        self._root = project_bound(path.parent)
        self._included: dict[Path, None] = {}
        self._embedded: set[Path] = set()
        self._count = 0
        self._characters = 0

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The contexts, in order of definition."""
        return tuple(self._contexts.values())

    @property
    def included(self) -> tuple[Path, ...]:
        """Every other file, in the order in which they were met."""
        return tuple(self._included)

    def expand(self, body: Body) -> str:
        """The deck's own text with everything in place."""
        return self._expand(_Text(self.path, body, ()))

    def add_data(self, data: dict[str, Any], source: Source, stem: str) -> None:
        """The contexts and samples of parsed data. A context that is defined again is used as defined last."""
        contexts, problems = contexts_from_data(data.get("contexts"), source)
        self.diagnostics += problems
        for context in contexts:
            earlier = self._contexts.get(context.name)
            if earlier is not None:
                message = f"the context `{context.name}` is defined in {earlier.file} already; this one is used"
                self.diagnostics.append(
                    Diagnostic("warning", "context-twice", message, context.file, context.place, "remove one of them")
                )
            self._contexts[context.name] = context
        said = len(self.samples.diagnostics)
        self.samples.add(data.get("samples"), source, stem)
        self.diagnostics += self.samples.diagnostics[said:]

    def _expand(self, text: _Text) -> str:
        pieces: list[str] = []
        position = 0
        written = text.body.text
        for reference in references(written):
            start, end = reference.start, reference.end
            if reference.ending in _MARKDOWN_ENDINGS or is_shipped(reference.target):
                replacement = self._include(reference, text)
            elif reference.ending == ".toml":
                replacement = ""
                self._embed(reference, text)
                start, end = _whole_line(written, start, end)
            else:
                self._warn_of_data(reference, text)
                continue
            pieces += (written[position:start], replacement)
            position = end
        pieces.append(written[position:])
        return "".join(pieces)

    def _include(self, reference: Reference, text: _Text) -> str:
        found = self._find(reference, text)
        if found is None:
            return ""
        if found in text.chain:
            self._error("include-cycle", "the file includes itself", reference, text, found)
            return ""
        limit = self._limit(len(text.chain))
        if limit is not None:
            self._error("too-many-includes", f"too many includes: at most {limit}", reference, text, found)
            return ""
        self._included[found] = None
        return self._included_text(found, text.chain)

    def _limit(self, depth: int) -> str | None:
        """The bound that one more include would break."""
        self._count += 1
        if depth > MAX_DEPTH:
            return f"{MAX_DEPTH} deep"
        if self._count > MAX_INCLUDES:
            return f"{MAX_INCLUDES} in all"
        return f"{MAX_CHARACTERS:,} characters" if self._characters > MAX_CHARACTERS else None

    def _included_text(self, path: Path, chain: tuple[Path, ...]) -> str:
        file = shown_file(path)
        try:
            body = split_front_matter(read_source_text(path, file).replace("\r\n", "\n"))
        except InputError as error:
            self.diagnostics += error.diagnostics
            return ""
        if body is None:
            self.diagnostics.append(unterminated(file))
            return ""
        self._characters += len(body.text)
        return self._expand(_Text(path, body, chain)).strip("\n")

    def _embed(self, reference: Reference, text: _Text) -> None:
        found = self._find(reference, text)
        if found is None or found in self._embedded:
            return
        self._embedded.add(found)
        self._included[found] = None
        file = shown_file(found)
        try:
            data, source = read_toml(read_source_text(found, file), file)
        except InputError as error:
            self.diagnostics += error.diagnostics
            return
        self.diagnostics += check_top_level(data, source)
        self.add_data(data, source, found.stem)

    def _find(self, reference: Reference, text: _Text) -> Path | None:
        """The real path of a reference, or None and an error that says how we came here."""
        target = reference.target
        if is_shipped(target):
            return self._shipped(reference, text)
        if reference.is_url:
            self._error("include-url", f"only files can be included, not the address {target}", reference, text, None)
            return None
        if "\0" in target:
            self._error("include-missing", f"{target!r} is not a file path", reference, text, None)
            return None
        # As in suites, a leading `/` is the root of the project.
        base = self._root if target.startswith("/") else text.path.parent
        found = Path(os.path.realpath(base / target.lstrip("/")))
        if not found.is_relative_to(self._root):
            message = f"{target} lies outside the project, whose root is {shown_file(self._root)}"
            self._error("include-outside", message, reference, text, found)
            return None
        return self._regular(found, reference, text)

    def _shipped(self, reference: Reference, text: _Text) -> Path | None:
        found = shipped_deck(reference.target)
        if found is None:
            message = f"Turnwise has no deck {reference.target!r}; there are: {', '.join(shipped_names())}"
            self._error("include-missing", message, reference, text, None)
        return found

    def _regular(self, found: Path, reference: Reference, text: _Text) -> Path | None:
        try:
            mode = os.stat(found).st_mode
        except (FileNotFoundError, NotADirectoryError):
            self._error("include-missing", f"file not found: {reference.target}", reference, text, found)
        except OSError as error:
            self._error("include-missing", f"cannot read {reference.target}: {error.strerror}", reference, text, found)
        else:
            if stat.S_ISREG(mode):
                return found
            self._error("include-missing", f"{reference.target} is not a regular file", reference, text, found)
        return None

    def _warn_of_data(self, reference: Reference, text: _Text) -> None:
        if reference.ending in _DATA_ENDINGS and not reference.is_url:
            message = f"{reference.target} is not embedded: only .toml files are; the line is sent to the model"
            hint = "name sample files when you calibrate, or write the samples as TOML"
            place = text.place(reference)
            self.diagnostics.append(Diagnostic("warning", "not-embedded", message, text.file, place, hint))

    def _error(self, code: str, message: str, reference: Reference, text: _Text, found: Path | None) -> None:
        last = shown_file(found) if found is not None else reference.target
        chain = " → ".join([*(shown_file(path) for path in text.chain), last])
        hint = _HINTS.get(code, "paths are relative to the file that holds the line")
        self.diagnostics.append(
            Diagnostic("error", code, f"{message} ({chain})", text.file, text.place(reference), hint)
        )


def unterminated(file: str) -> Diagnostic:
    """The error about front matter without an end."""
    message = "the front matter has no end: a second `+++` line is missing"
    hint = "end it with a line that is `+++` and nothing else"
    return Diagnostic("error", "front-matter", message, file, Place(1, 1, "+++"), hint)


def project_bound(folder: Path) -> Path:
    """The folder that includes may not leave: the project's root; without a project, the folder above the deck's,
    because decks are commonly kept in neighbouring folders that share a base."""
    root = find_project_root(folder)
    is_project = any((root / marker).exists() for marker in PROJECT_MARKERS)
    return root if is_project or root.parent == root.parent.parent else root.parent


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """The line with its end, if nothing else stands on it; else only what was given."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    if text[line_start:start].strip() or text[end:line_end].strip():
        return start, end
    return line_start, line_end
