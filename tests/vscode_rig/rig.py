"""A real VS Code as a context manager: code-server, a headless browser, and a `code` command that reaches them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from vscode_rig.settings import write_profile
from vscode_rig.stand_in import RIG
from vscode_rig.supervisor import READY
from vscode_rig.windows import CHROMIUM

__all__ = ["INSTALLED", "Rig", "missing_part", "vscode"]

_TESTS = Path(__file__).resolve().parent.parent
INSTALLED = _TESTS.parent / "build" / "vscode"
"""Where tools/install_vscode.py puts it."""

_START_SECONDS = 180.0
_END_SECONDS = 20.0
_TAIL = 3000


@dataclass(frozen=True, slots=True)
class Rig:
    """A running VS Code: the `code` command, the variables that it needs, and the folder of everything it keeps."""

    code: Path
    environment: Mapping[str, str]
    folder: Path

    def logs(self) -> str:
        """The end of every log, for the message of a test that failed."""
        return "\n".join(f"--- {log.name}\n{_tail(log)}" for log in sorted((self.folder / "log").glob("*.log")))


def missing_part() -> str | None:
    """What must be installed before the rig can start, or nothing.

    >>> missing_part() is None or "install" in missing_part()
    True
    """
    if not (INSTALLED / ".installed").is_file():
        return "VS Code is not installed: run python tools/install_vscode.py"
    if not CHROMIUM.is_file():
        return f"there is no {CHROMIUM}: install chromium"
    return None if find_spec("playwright") else "playwright is missing: pip install playwright"


@contextmanager
def vscode(model_url: str, folder: Path) -> Iterator[Rig]:
    """A VS Code whose only model is at `model_url` (an address that ends in `/v1`); it keeps its files in `folder`.

    The folder must be new or empty. Raises `RuntimeError` if a part is missing or VS Code does not start.
    """
    if reason := missing_part():
        raise RuntimeError(reason)
    folder = folder.resolve()
    rig = Rig(write_profile(folder, model_url), {RIG: str(folder)}, folder)
    with (folder / "log" / "supervisor.log").open("wb") as log, _started(folder, log.fileno()) as supervisor:
        try:
            _wait_until_ready(supervisor, rig)
            yield rig
        finally:
            _stop(supervisor)


def _started(folder: Path, log: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "vscode_rig.supervisor", str(folder), str(INSTALLED)],
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )


def _wait_until_ready(supervisor: subprocess.Popen[bytes], rig: Rig) -> None:
    assert supervisor.stdout is not None
    readable, _, _ = select.select([supervisor.stdout], [], [], _START_SECONDS)
    line = supervisor.stdout.readline() if readable else b""
    if line.decode().strip() != READY:
        raise RuntimeError(f"VS Code did not start\n{rig.logs()}")


def _stop(supervisor: subprocess.Popen[bytes]) -> None:
    """Close its input, which ends it in an orderly way; then end what may be left of its process group."""
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        supervisor.wait(_END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(supervisor.pid, signal.SIGKILL)


def _tail(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
