"""Bytes of a file to text and to plain values, within bounds; every failure is a diagnostic with a place."""

from __future__ import annotations

import errno
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..diagnostics import Diagnostic, Place
from ..errors import InputError
from .sources import JsonSource, Source, YamlSource
from .text_problem import TextProblem

__all__ = ["MAX_DOCUMENT_BYTES", "garbage_collection_paused", "read_document", "read_source_text"]

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


def read_source_text(path: Path, file: str) -> str:
    """The text of a file that people wrote: UTF-8, no NUL, not larger than a person could write."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise InputError([_unreadable(file, error)]) from error
    return decode_source(data, file)


def _unreadable(file: str, error: OSError) -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        return Diagnostic("error", "file-missing", "the file does not exist", file, hint="check the path")
    reason = "its symbolic links lead in a circle" if error.errno == errno.ELOOP else error.strerror
    return Diagnostic("error", "file-unreadable", f"the file cannot be read: {reason}", file, hint="check the path")


def decode_source(data: bytes, file: str) -> str:
    """Decode, or say at which line and column the bytes are not text."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise InputError(
            [
                Diagnostic(
                    "error",
                    "too-large",
                    f"the file is larger than {MAX_DOCUMENT_BYTES:,} bytes",
                    file,
                    hint="put the cases into a .jsonl dataset, which is streamed: `cases: data.jsonl`",
                )
            ]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"not UTF-8 text: byte 0x{data[error.start]:02x}"
        raise InputError([Diagnostic("error", "not-utf8", message, file, place, "save the file as UTF-8")]) from error
    nul = text.find("\0")
    if nul >= 0:
        place = Place.at(text, nul)
        place = Place(place.line, place.column, None)
        raise InputError(
            [Diagnostic("error", "nul-byte", "the file holds a NUL byte", file, place, "is it a text file?")]
        )
    return text


def read_document(text: str, file: str) -> tuple[Any, Source]:
    """The value of a YAML or JSON text, and where everything in it is."""
    if text.lstrip()[:1] in ("{", "["):
        from .json_reader import read_json

        json_source = JsonSource(file, text)
        try:
            return read_json(text), json_source
        except TextProblem as problem:
            if problem.code != "bad-json" or file.endswith(".json"):
                raise _unreadable_text(problem, json_source) from None
    from .yaml_reader import read_yaml

    source = YamlSource(file, text)
    try:
        with garbage_collection_paused():
            return read_yaml(text), source
    except TextProblem as problem:
        raise _unreadable_text(problem, source) from None


def _unreadable_text(problem: TextProblem, source: YamlSource | JsonSource) -> InputError:
    place = source.at(problem.offset)
    return InputError([Diagnostic("error", problem.code, problem.message, source.file, place, problem.hint)])


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Millions of fresh containers that all stay alive: walking them again and again would take half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_freeze_count() == 0:
                # Straight to the oldest generation, instead of being walked once for each on the way there.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
