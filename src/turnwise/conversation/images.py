"""Images of a message: a file of the project, or a data URL."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from ..errors import FileProblem, FileReferenceError
from .files import MAX_FILE_BYTES, ProjectFiles
from .values import Image

__all__ = ["read_image"]

_DATA_URL = re.compile(r"data:(image/[A-Za-z0-9.+-]+);base64,(.*)", re.DOTALL)
_FORMS = "a PNG, JPEG, GIF or WebP file of the project, or a data:image/…;base64,… URL"


def read_image(written: str, files: ProjectFiles, folder: Path) -> Image:
    """Read an image; nothing is ever fetched from a network."""
    if written.startswith("data:"):
        return _from_data_url(written)
    if re.match(r"[a-z][a-z0-9+.-]*://", written, re.IGNORECASE):
        raise FileReferenceError(
            "bad-path",
            written,
            f"{written} is a URL, and nothing is downloaded",
            f"save it as a file; expected {_FORMS}",
        )
    path, data = files.read_bytes(written, folder)
    media_type = _media_type(data)
    if media_type is None:
        raise FileReferenceError(
            "binary", written, f"{written} is not an image that is understood", f"expected {_FORMS}"
        )
    return Image(written, path, media_type, base64.b64encode(data).decode("ascii"))


def _from_data_url(written: str) -> Image:
    match = _DATA_URL.fullmatch(written)
    shown = written[:40] + ("…" if len(written) > 40 else "")
    if match is None:
        raise FileReferenceError("bad-path", shown, f"{shown} is not an image data URL", f"expected {_FORMS}")
    data = "".join(match[2].split())
    try:
        decoded = base64.b64decode(data, validate=True)
    except ValueError as error:  # binascii.Error, or characters that are not ASCII
        raise FileReferenceError(
            "binary", shown, f"the base64 of {shown} cannot be decoded: {error}", f"expected {_FORMS}"
        ) from error
    if not 0 < len(decoded) <= MAX_FILE_BYTES:
        size = f"{len(decoded):,} bytes, expected 1 to {MAX_FILE_BYTES:,}"
        kind: FileProblem = "too-large" if decoded else "binary"
        raise FileReferenceError(kind, shown, f"{shown} holds {size}", f"expected {_FORMS}")
    return Image(written, None, match[1].lower(), data)


def _media_type(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None
