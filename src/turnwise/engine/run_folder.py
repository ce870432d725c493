"""The folder of a run: its name, what it was started with, and the lock that makes its writer the only one."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ..conversation.files import shown_file
from ..errors import RunError, UsageError
from ..providers.base import RESULTS

__all__ = ["RESULTS", "RUN", "RunFolder", "find_run", "new_run_id"]

RUN = "run.json"
_LOCK = "run.lock"


def new_run_id(now: datetime | None = None) -> str:
    """A name for a run: names sort by time, and two runs of one moment differ.

    >>> new_run_id(datetime(2026, 11, 16, 9, 5, 7, tzinfo=UTC))[:15]
    '20261116-090507'
    """
    now = now or datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03}{secrets.token_hex(2)}"


def find_run(written: str, runs_dir: Path) -> Path:
    """The folder of a run that is named by its id, or by its path. Raises `UsageError` if there is none."""
    for path in (runs_dir / written, Path(written)):
        if os.path.isfile(path / RUN):  # of a name that is too long, a `Path` would raise
            return path
    known = sorted(each.parent.name for each in runs_dir.glob(f"*/{RUN}"))
    hint = f"the latest are: {', '.join(known[-3:])}" if known else f"there are no runs in {shown_file(runs_dir)}"
    raise UsageError(f"there is no run {written!r}", hint)


class RunFolder:
    """A run's folder, locked: no other process can write the run. A context manager, which frees the lock.

    The lock is the kernel's (`flock`): it ends with the process, however that ends, and leaves nothing to clean up.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def id(self) -> str:
        """The run's name."""
        return self.path.name

    @classmethod
    def create(cls, runs_dir: Path, describe: Callable[[Path], dict[str, Any]], run_id: str | None = None) -> Self:
        """Make the folder of a new run, and write what it is started with, which `describe` says of the folder.

        Raises `RunError` if it cannot be made.
        """
        folder = cls(runs_dir / (run_id or new_run_id()))
        try:
            folder.path.mkdir(parents=True)
            folder._acquire()
            folder.describe(describe(folder.path))
        except FileExistsError as error:
            raise RunError(f"the run {folder.id} exists already", "leave its name out to have a new one") from error
        except OSError as error:
            folder.discard()
            raise _unwritable(folder.path, error) from error
        except BaseException:
            folder.discard()
            raise
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a run that is there, to go on with it. Raises `RunError` while another process writes it."""
        folder = cls(path)
        try:
            folder._acquire()
        except OSError as error:
            raise _unwritable(path, error) from error
        return folder

    def describe(self, description: dict[str, Any]) -> None:
        """Write `run.json`: whole or not at all, even if the machine stops in the middle of it."""
        target, draft = self.path / RUN, self.path / f".{RUN}.{os.getpid()}"
        text = json.dumps(description, ensure_ascii=False, indent=2, allow_nan=False)
        data = text.encode("utf-8", "backslashreplace") + b"\n"  # a name of a file need not be UTF-8
        with open(draft, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)

    def description(self) -> dict[str, Any]:
        """What the run was started with. Raises `RunError` if it cannot be read."""
        path = self.path / RUN
        try:
            data = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"{shown_file(path)} cannot be read: {error}", "start a new run") from error
        if not isinstance(data, dict):
            raise RunError(f"{shown_file(path)} should hold a JSON object", "start a new run")
        return data

    def discard(self) -> None:
        """Remove a folder that nothing was written to: its run never began."""
        import shutil

        shutil.rmtree(self.path, ignore_errors=True)
        self.close()

    def close(self) -> None:
        """Free the lock. The file stays: removing it could take the lock of another process away."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _acquire(self) -> None:
        if sys.platform == "win32":
            raise RunError("runs cannot be locked on Windows", "use WSL")
        import fcntl

        path = self.path / _LOCK
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"the process {holder}" if holder.isdigit() else "another process"
            raise RunError(f"{who} is writing the run {self.id}", "wait until it has ended, or stop it") from error
        with suppress(OSError):  # only for the message above
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._lock = descriptor


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(
        f"the run's folder {shown_file(path)} cannot be written: {error.strerror or error}",
        "check the permissions and the space there, or set `runs_dir` in .turnwise/config.yaml",
    )
