"""The journal of a run: one JSON line for each result, added as it finishes and never changed.

A line is written by one call of the operating system and ends with a line break. So whatever stops the process, every
line but the last is whole, and a last one without its line break is known to be torn.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic_core import to_json

from ..conversation.files import shown_file
from ..errors import RunError
from .redaction import redacted

__all__ = ["JournalWriter", "read_journal"]

_LONGEST_LINE = 256 * 1024 * 1024
_BLOCK = 64 * 1024
# A local server's key may be any word, such as `token`: it must not garble what tells results apart, nor the format.
_OURS = frozenset(
    {"run_id", "suite", "case_id", "conversation_id", "target", "variant", "status", "started_at", "finished_at"}
)


_SAID = ("answer", "output_messages")


class JournalWriter:
    """Adds results to a journal. `durable` waits for the disk after each: nothing is lost if the machine stops.

    `notice` is told of a torn line at the end, which is removed: that result was never reported. `secrets` are texts
    that must not reach the disk. The caller holds the run's lock.
    """

    def __init__(
        self,
        path: Path,
        *,
        durable: bool = False,
        notice: Callable[[str], object] | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._path = path
        self._durable = durable
        self._secrets = tuple(sorted(secrets, key=len, reverse=True))
        self._escaped = tuple(_json(secret)[1:-1] for secret in self._secrets)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._file = os.open(path, flags, 0o644)
            self._be_alone()
            if durable:
                _sync_folder(path.parent)  # or the file itself could be gone after a power cut
            torn = _cut_torn_line(self._file)
            self._end = os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            raise self._failure(error) from error
        if torn and notice is not None:
            notice(f"{shown_file(path)}: the last line was torn, of {torn:,} bytes, and is removed; it is done again")

    def add(self, record: dict[str, Any]) -> dict[str, Any]:
        """Write one result, and give it back as it was written, without secrets. When this returns, the result
        survives the end of the process.

        Raises `RunError` if it cannot be written; unless only waiting for the disk failed, nothing of it is there then.
        """
        data = _json(record)
        if any(secret in data for secret in self._escaped):
            record = _without_secrets(record, self._secrets)
            data = _json(record)
        data += b"\n"
        try:
            if os.fstat(self._file).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "the journal has been deleted")
            self._write(data)
            if self._durable:
                os.fsync(self._file)
        except OSError as error:
            raise self._failure(error) from error
        return record

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _be_alone(self) -> None:
        """The run's own lock has its file, which may be deleted; the journal has another one of its own."""
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                self.close()
                hint = "wait until it has ended, or stop it"
                raise RunError(f"another process is writing {shown_file(self._path)}", hint) from error

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            # A full disk takes a part: without the rest it would be a torn line in the middle.
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(data)

    def _failure(self, error: OSError) -> RunError:
        gone = error.errno == errno.ENOENT
        mend = "make room or give permission, then go on with the run by --resume"
        return RunError(
            f"the journal {shown_file(self._path)} cannot be written: {error.strerror or error}",
            "its results are lost with it; start a new run" if gone else mend,
        )


def _sync_folder(folder: Path) -> None:
    for path in (folder, folder.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_journal(path: Path, notice: Callable[[str], object] | None = None) -> Iterator[dict[str, Any]]:
    """The results of a journal, in the order in which they were written; a torn last line is passed over.

    Raises `RunError`, with the line, for a line that is no result. Memory does not grow with the journal.
    """
    name = shown_file(path)
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
                if len(line) >= _LONGEST_LINE:
                    raise RunError(f"{name}:{number}: the line is longer than {_LONGEST_LINE:,} bytes", "remove it")
                if not line.endswith(b"\n"):
                    if notice is not None:
                        notice(f"{name}:{number}: the last line is torn, of {len(line):,} bytes, and passed over")
                    return
                if line.strip():
                    yield _record(line, f"{name}:{number}")
    except OSError as error:
        raise RunError(f"{name} cannot be read: {error.strerror or error}", "is it the journal of a run?") from error


def _without_secrets(record: dict[str, Any], secrets: Collection[str]) -> dict[str, Any]:
    """The record as a reader would get it, without the secrets; its own names and words stay what they are."""
    plain = json.loads(_json(record))
    clean = {key: value if key in _OURS else redacted(value, secrets) for key, value in plain.items()}
    # Who grades it again must know that it is not what was said.
    return {**clean, "masked": True} if any(clean.get(key) != plain.get(key) for key in _SAID) else clean


def _json(value: Any) -> bytes:
    """JSON text. Raises `TypeError` or `ValueError` for what JSON cannot hold.

    pydantic's writer takes a quarter of the time, but it would let NaN pass, and knows no half of a surrogate pair.
    """
    try:
        data = to_json(value)
    except ValueError:  # also pydantic's own error for a type that it does not know
        data = b"NaN"
    if b"NaN" in data or b"Infinity" in data:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = text.encode("utf-8", "backslashreplace")
    return data


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"
        raise RunError(f"{where}: {reason}", "remove the line; its case is done again by --resume") from error
    if not isinstance(record, dict):
        raise RunError(f"{where}: a result is a JSON object", "remove the line; its case is done again by --resume")
    return record


def _cut_torn_line(file: int) -> int:
    """Remove what follows the last line break; how many bytes that were."""
    end = os.lseek(file, 0, os.SEEK_END)
    keep = end
    while keep > 0:
        start = max(0, keep - _BLOCK)
        block = os.pread(file, keep - start, start)
        found = block.rfind(b"\n")
        if found >= 0:
            keep = start + found + 1
            break
        keep = start
    if keep < end:
        os.ftruncate(file, keep)
    return end - keep
