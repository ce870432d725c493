"""A stand-in for the `code` command: code-server's own knows neither `chat` nor `--status`.

It takes `--status`, `WORKSPACE.code-workspace` and `[-r] chat -m MODE [-a FILE …] PROMPT`, and leaves what is to be
done as files in the rig's folder. Like the real one, it does not wait until it is done.
"""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

__all__ = ["RIG", "leave", "main"]

RIG = "VSCODE_RIG"
"""The environment variable that names the rig's folder."""


def leave(path: Path, text: str) -> None:
    """Write a file that nobody can see half-written."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _status(rig: Path) -> str:
    """What the real command says of its windows, and little else."""
    windows = [Path(line).stem for line in _text(rig / "windows").splitlines()]
    return "\n".join(
        ["Workspace Stats:", *(f"|  Window ({name} (Workspace) - Visual Studio Code)" for name in windows)]
    )


def _open(rig: Path, workspace: Path) -> str | None:
    if not workspace.is_file():
        return f"there is no workspace file {workspace}"
    leave(rig / "active", str(workspace))
    leave(rig / "opening" / f"{time.time_ns()}.json", json.dumps(str(workspace)))
    return None


def _chat(rig: Path, arguments: Sequence[str]) -> str | None:
    """Ask the window that was opened or focused last, as the real command does with `-r`."""
    parser = ArgumentParser(prog="code chat", allow_abbrev=False)
    parser.add_argument("-m", dest="mode", default="agent")
    parser.add_argument("-a", dest="files", action="append", default=[])
    parser.add_argument("prompt", nargs="+")
    wanted = parser.parse_args(arguments)
    missing = [file for file in wanted.files if not Path(file).is_file()]
    workspace = _text(rig / "active")
    if missing or not workspace:
        return f"there is no file {missing[0]}" if missing else "no window is open"
    files = [os.path.abspath(file) for file in wanted.files]
    request = {"workspace": workspace, "mode": wanted.mode, "files": files, "prompt": " ".join(wanted.prompt)}
    leave(rig / "chats" / f"{time.time_ns()}.json", json.dumps(request))
    return None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main(arguments: Sequence[str], rig: Path) -> int:
    """Do what the arguments say; the exit code."""
    match [argument for argument in arguments if argument != "-r"]:
        case ["--status"]:
            sys.stdout.write(_status(rig) + "\n")
            return 0
        case ["chat", *rest]:
            problem = _chat(rig, rest)
        case [workspace] if workspace.endswith(".code-workspace"):
            problem = _open(rig, Path(workspace).absolute())
        case unknown:
            problem = f"the stand-in does not know the arguments {unknown}"
    if problem:
        sys.stderr.write(f"code: {problem}\n")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(os.environ[RIG])))
