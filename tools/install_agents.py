"""Installs pinned agent programs from npm into build/agents, one folder each, for the tests that run the real ones.

Usage: python tools/install_agents.py [NAME…]
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["AGENTS", "DEFAULT", "Agent", "InstallError", "install", "installed", "main", "program"]

FOLDER = Path(__file__).resolve().parent.parent / "build" / "agents"
STAMP = "installed.txt"
MINUTES = 10
TAIL = 15
"""Lines of npm's complaint that are shown."""


class InstallError(Exception):
    """An agent cannot be installed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A program on npm: the package with its version, and the name of the command that it brings."""

    package: str
    version: str
    command: str

    @property
    def pin(self) -> str:
        """What npm is asked for.

        >>> Agent("@openai/codex", "0.166.0", "codex").pin
        '@openai/codex@0.166.0'
        """
        return f"{self.package}@{self.version}"


AGENTS = {
    "claude-code": Agent("@anthropic-ai/claude-code", "2.1.197", "claude"),
    "codex": Agent("@openai/codex", "0.166.0", "codex"),
    "copilot": Agent("@github/copilot", "1.0.102", "copilot"),
    "gemini-cli": Agent("@google/gemini-cli", "0.61.0", "gemini"),
    "opencode": Agent("opencode-ai", "1.18.33", "opencode"),
    "pi": Agent("@mariozechner/pi-coding-agent", "0.73.1", "pi"),
}
DEFAULT = ("codex", "claude-code", "pi")


def program(name: str, folder: Path = FOLDER) -> Path:
    """Where the agent's command is once it is installed; `installed` says whether it is."""
    return folder / name / "node_modules" / ".bin" / _agent(name).command


def installed(name: str, folder: Path = FOLDER) -> bool:
    """Whether the pinned version is there, complete."""
    stamp = folder / name / STAMP
    return stamp.is_file() and stamp.read_text().strip() == _agent(name).pin and program(name, folder).exists()


def install(name: str, folder: Path = FOLDER) -> Path:
    """Install the agent unless its pinned version is there already, and say where its command is."""
    agent = _agent(name)
    if not installed(name, folder):
        fresh = _emptied(folder / f"{name}.{os.getpid()}.partial")
        try:
            _npm(agent.pin, fresh)
            (fresh / STAMP).write_text(agent.pin + "\n")
            if not installed(name, folder):  # by another process in the meantime
                _put_in_place(fresh, folder / name)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    if not installed(name, folder):
        raise InstallError(f"{agent.pin} was installed, but there is no command {agent.command!r} in {folder / name}.")
    return program(name, folder)


def _agent(name: str) -> Agent:
    if name not in AGENTS:
        raise InstallError(f"There is no agent {name!r} here. Known: {', '.join(AGENTS)}.")
    return AGENTS[name]


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _put_in_place(fresh: Path, final: Path) -> None:
    """Only a complete folder gets the final name, so a broken-off installation is never taken for one."""
    shutil.rmtree(final, ignore_errors=True)
    try:
        fresh.rename(final)
    except OSError as error:
        if not final.is_dir():  # otherwise another process was quicker, and the caller checks what it has put there
            raise InstallError(f"{final} cannot be made: {error.strerror}.") from None


def _npm(pin: str, folder: Path) -> None:
    command = [*_npm_command(), "install", "--prefix", str(folder)]
    # No lock file: it would name the registry that this machine happens to use.
    command += ["--no-package-lock", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", pin]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        complaint = process.communicate(timeout=MINUTES * 60)[1]
    except BaseException as ended:
        os.killpg(process.pid, signal.SIGKILL)  # npm starts programs of its own, which would go on without it
        process.communicate()
        if not isinstance(ended, subprocess.TimeoutExpired):
            raise
        raise InstallError(f"npm did not install {pin} within {MINUTES} minutes. Is the registry reachable?") from None
    if process.returncode:
        tail = "\n".join(complaint.strip().splitlines()[-TAIL:])
        raise InstallError(f"npm could not install {pin} (exit code {process.returncode}):\n{tail}")


def _npm_command() -> list[str]:
    for needed in ("node", "npm"):
        if shutil.which(needed) is None:
            raise InstallError(f"There is no {needed!r} on the PATH. Install Node.js 20 or later, which brings npm.")
    return [str(shutil.which("npm"))]


def main(arguments: Sequence[str]) -> int:
    """Install the agents that are named, or the default ones; print a line `name<TAB>path` for each."""
    try:
        for name in arguments or DEFAULT:
            print(f"{name}\t{install(name)}", flush=True)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
