"""Hashes of what a run was given, to know later whether it is still the same."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from ..conversation.values import File, Image

__all__ = ["file_hash", "part_hash", "text_hash"]

_BLOCK = 1024 * 1024


def text_hash(text: str) -> str:
    """The SHA-256 of a text, as hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def part_hash(part: File | Image) -> str:
    """The SHA-256 of a file or image of a message, as models get it."""
    return text_hash(part.content if isinstance(part, File) else part.data)


def file_hash(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises `OSError`."""
    found = sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
