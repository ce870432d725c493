"""Installs each peer in an environment of its own, by the pip and npm of this machine as they are set up."""

from __future__ import annotations

import subprocess
from pathlib import Path

from measure import PYTHON
from peer_tools import Peer

__all__ = ["NODE", "install", "node_program"]

NODE = "node@22.23.3"
"""promptfoo needs a later Node.js than many machines have, and it comes from npm, too."""

_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install")
_NPM = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")


def node_program(folder: Path) -> Path:
    """The Node.js that runs peers of npm."""
    return folder / "node" / "node_modules" / ".bin" / "node"


def install(peer: Peer, folder: Path) -> None:
    """Install a peer, and what runs it, unless it is there. Raises `OSError` or `CalledProcessError`."""
    if peer.installer == "pip":
        _install_pip(folder / peer.home, peer.packages)
    else:
        _install_npm(folder / "node", (NODE,))
        _install_npm(folder / peer.home, peer.packages)


def _install_pip(home: Path, packages: tuple[str, ...]) -> None:
    if _is_done(home, packages):
        return
    _say_and_run([PYTHON, "-m", "venv", str(home)])
    _say_and_run([str(home / "bin" / "python"), *_PIP, *packages])
    _note_done(home, packages)


def _install_npm(home: Path, packages: tuple[str, ...]) -> None:
    if _is_done(home, packages):
        return
    home.mkdir(parents=True, exist_ok=True)
    _say_and_run([*_NPM, "--prefix", str(home), *packages])
    _note_done(home, packages)


def _say_and_run(command: list[str]) -> None:
    print("$", *command, flush=True)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def _is_done(home: Path, packages: tuple[str, ...]) -> bool:
    note = home / ".installed"
    return note.is_file() and note.read_text(encoding="utf-8").split() == list(packages)


def _note_done(home: Path, packages: tuple[str, ...]) -> None:
    (home / ".installed").write_text("\n".join(packages) + "\n", encoding="utf-8")
