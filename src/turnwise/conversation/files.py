"""Finding and reading the files that messages refer to, inside the bounds of a project."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import FileReferenceError

__all__ = ["MAX_FILE_BYTES", "FoundText", "ProjectFiles", "shown_file"]

MAX_FILE_BYTES = 10 * 1024 * 1024
_CACHE_CHARACTERS = 32 * 1024 * 1024
_CACHE_ENTRY = 512  # what an entry costs besides its text, so that many empty files are bounded too


def shown_file(path: Path) -> str:
    """A path as people want to read it: relative to the current folder if it lies below."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith("..") else relative


class FoundText(NamedTuple):
    """A text file: its path relative to the project root, and its content as models see it."""

    path: str
    content: str


class ProjectFiles:
    """The files of one project: looked up near the eval file first, never outside the root unless allowed.

    Texts are kept for the next case that refers to them, up to a bound; nothing else is remembered.
    """

    def __init__(self, root: Path, allow_paths: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self._bounds = [str(self.root), *(os.path.realpath(path) for path in allow_paths)]
        self._texts: dict[tuple[Path, str], FoundText] = {}
        self._characters = 0

    def read_text(self, written: str, folder: Path) -> FoundText:
        """The text of a file as written in an eval file in `folder`; a byte-order mark and CRLF do not reach it."""
        key = (folder, written)
        found = self._texts.get(key)
        if found is None:
            path = self.find(written, folder)
            found = FoundText(self.relative(path), _decode(_read(path, written), written, path))
            self._remember(key, found)
        return found

    def read_bytes(self, written: str, folder: Path) -> tuple[str, bytes]:
        """The path relative to the project root, and the bytes, of a file that need not be text."""
        path = self.find(written, folder)
        return self.relative(path), _read(path, written)

    def find(self, written: str, folder: Path) -> Path:
        """The real path of the nearest file of that name: in `folder`, a parent of it, or the project root."""
        if not _is_path(written):
            raise FileReferenceError(
                "bad-path",
                written,
                f"{written!r} is not a file path",
                "write the path of a file in the project",
            )
        candidates = self._candidates(written, folder)
        folder_seen = False
        for candidate in candidates:
            try:
                mode = os.stat(candidate).st_mode
            except OSError as error:
                _refuse_strange(error, written)
                continue
            if stat.S_ISDIR(mode):
                folder_seen = True
                continue
            return self._checked(candidate, mode, written)
        tried = [shown_file(Path(candidate)) for candidate in candidates]
        if folder_seen:
            raise FileReferenceError(
                "folder",
                written,
                f"{written} is a folder, not a file",
                "name the files that the message needs",
                tried,
            )
        raise FileReferenceError(
            "missing",
            written,
            f"file not found: {written}",
            "paths are relative to the file that holds the case, then to its parent folders up to the project root",
            tried,
        )

    def relative(self, path: Path) -> str:
        """A path as seen from the project root, with `/`; outside the root it starts with `..`."""
        return Path(os.path.relpath(path, self.root)).as_posix()

    def _candidates(self, written: str, folder: Path) -> list[str]:
        root = str(self.root)
        if written.startswith("/"):
            return [os.path.normpath(root + os.sep + written.lstrip("/"))]
        here = os.path.realpath(folder)
        folders = [here]
        while here != root and here.startswith(root.rstrip(os.sep) + os.sep):
            here = os.path.dirname(here)
            folders.append(here)
        if root not in folders:
            folders.append(root)
        return list(dict.fromkeys(os.path.join(base, written) for base in folders))

    def _checked(self, candidate: str, mode: int, written: str) -> Path:
        real = os.path.realpath(candidate)
        if not any(real == bound or real.startswith(bound.rstrip(os.sep) + os.sep) for bound in self._bounds):
            raise FileReferenceError(
                "outside",
                written,
                f"{written} lies outside the project",
                "move it into the project, or list its folder under `allow_paths` in .turnwise/config.yaml",
            )
        if not stat.S_ISREG(mode):
            raise FileReferenceError(
                "special", written, f"{written} is not a regular file", "refer to a file with text in it"
            )
        return Path(real)

    def _remember(self, key: tuple[Path, str], found: FoundText) -> None:
        size = len(found.content) + _CACHE_ENTRY
        self._characters += size
        if self._characters > _CACHE_CHARACTERS:
            self._texts.clear()
            self._characters = size
        self._texts[key] = found


def _is_path(written: str) -> bool:
    """Whether the file system can be asked for it: not empty, no NUL, and no lone surrogate."""
    try:
        return bool(written) and b"\0" not in os.fsencode(written)
    except UnicodeEncodeError:
        return False


def _refuse_strange(error: OSError, written: str) -> None:
    """A file that is merely absent may be elsewhere; anything else is said at once."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return
    reasons = {
        errno.ELOOP: "its symbolic links lead in a circle",
        errno.ENAMETOOLONG: "the path is too long",
        errno.EACCES: "no permission to reach it",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    shown = written if len(written) <= 200 else written[:200] + "…"
    raise FileReferenceError(
        "unreadable", shown, f"cannot read {shown}: {reason}", "check the path and its permissions"
    )


def _read(path: Path, written: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise FileReferenceError(
            "unreadable", written, f"cannot read {written}: {error.strerror}", "check its permissions"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise FileReferenceError(
            "too-large",
            written,
            f"{written} is too large: {max(size, len(data)):,} bytes, at most {MAX_FILE_BYTES:,} are read",
            "refer to the part of it that the model needs",
        )
    return data


def _decode(data: bytes, written: str, path: Path) -> str:
    position = data.find(b"\0")
    if position >= 0:
        raise _binary(written, f"a NUL byte at offset {position}", path)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _binary(written, f"byte 0x{data[error.start]:02x} at offset {error.start}", path) from error
    return text.replace("\r\n", "\n").rstrip("\r\n")


def _binary(written: str, what: str, path: Path) -> FileReferenceError:
    return FileReferenceError(
        "binary",
        written,
        f"{written} is not UTF-8 text: {what}",
        "use `type: image` for images; convert other files",
        [shown_file(path)],
    )
