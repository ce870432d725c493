"""Files of ours that an agent needs: where they cannot be written, that is told, and by which file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import SetupError

__all__ = ["writing"]


@contextmanager
def writing(what: str, folder: Path | None = None) -> Iterator[None]:
    """Within it, an `OSError` is a `SetupError` that names the file, or at least the folder."""
    try:
        yield
    except OSError as error:
        named = error.filename2 or error.filename or folder
        where = "" if named is None else f": {named}"
        raise SetupError(
            f"{what} cannot be written{where}: {error.strerror or error}",
            hint="is there room on the disk, and may you write there? TMPDIR says where workspaces are made",
        ) from error
