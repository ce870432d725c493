"""Files of a case, copied into an agent's workspace under the paths that the case writes."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from ...conversation.values import File, Image
from .document import Mirrored

__all__ = ["mirror", "planned_mirror", "safe_path"]

_BESIDE = "attached"
_ENDINGS = {"image/jpeg": ".jpg", "image/svg+xml": ".svg"}


def mirror(files: Iterable[File | Image], folder: Path) -> list[Mirrored]:
    """Write the files into the folder. What is there already stays as it is: a file that would change it, or leave
    the folder, goes beside it, under `attached/`."""
    placed: list[Mirrored] = []
    for file, relative in _places(files):
        data = _data(file)
        path = _free(folder, relative, data)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        placed.append(_mirrored(file, path))
    return placed


def planned_mirror(files: Iterable[File | Image], folder: Path) -> list[Mirrored]:
    """Where the files would be in an empty folder; nothing is written."""
    return [_mirrored(file, folder / relative) for file, relative in _places(files)]


def safe_path(written: str) -> PurePosixPath:
    """A written path as one that cannot leave a folder.

    >>> str(safe_path("../docs/./a b.md")), str(safe_path("/etc/passwd")), str(safe_path(".."))
    ('docs/a b.md', 'etc/passwd', 'file')
    """
    named = [part for part in written.replace("\\", "/").replace("\0", "").split("/") if part not in ("", ".", "..")]
    return PurePosixPath(*named) if named else PurePosixPath("file")


def _places(files: Iterable[File | Image]) -> list[tuple[File | Image, PurePosixPath]]:
    """Each file once, and a path for it that no other has."""
    placed: dict[object, tuple[File | Image, PurePosixPath]] = {}
    taken: set[PurePosixPath] = set()
    for file in files:
        same: object = file.path if isinstance(file, File) or file.path is not None else ("image", file.data)
        if same in placed:
            continue
        wanted = _wanted(file, len(placed) + 1)
        number = 2
        path = wanted
        while path in taken:
            path, number = PurePosixPath(_BESIDE, str(number), wanted), number + 1
        taken.add(path)
        placed[same] = file, path
    return list(placed.values())


def _wanted(file: File | Image, number: int) -> PurePosixPath:
    if isinstance(file, Image) and file.path is None:
        ending = _ENDINGS.get(file.media_type, "." + file.media_type.rpartition("/")[2].partition("+")[0])
        return PurePosixPath("images", f"image-{number}{ending}")
    path = safe_path(file.written)
    # Nothing of a case may become part of a repository's own files.
    return PurePosixPath(_BESIDE, path) if path.parts[0] == ".git" else path


def _free(folder: Path, relative: PurePosixPath, data: bytes) -> Path:
    for path in _candidates(folder, relative):
        if not _stays_within(path, folder):
            continue
        if not path.exists() or (path.is_file() and path.read_bytes() == data):
            return path
    raise AssertionError("candidates never end")


def _candidates(folder: Path, relative: PurePosixPath) -> Iterable[Path]:
    yield folder / relative
    number = 1
    while True:
        yield folder / (_BESIDE if number == 1 else f"{_BESIDE}-{number}") / relative
        number += 1


def _stays_within(path: Path, folder: Path) -> bool:
    """Whether it can be a file there: no link leads out of the folder, and no file stands where a folder must be."""
    parents: Sequence[Path] = [each for each in path.parents if each.is_relative_to(folder)]
    if any(each.exists() and not each.is_dir() for each in parents):
        return False
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)) and not path.is_symlink()


def _data(file: File | Image) -> bytes:
    if isinstance(file, File):
        return file.content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(file.data)
    except binascii.Error:
        return file.data.encode("utf-8", "surrogatepass")


def _mirrored(file: File | Image, path: Path) -> Mirrored:
    written = file.written if isinstance(file, File) else file.label
    return Mirrored(written, path, isinstance(file, File) and file.guideline)
