"""The documentation is true: pages are up to date, links lead somewhere, and transcripts are real.

Two kinds of blocks are more than text. A block whose info string has `file=PATH` is that file. In a block that is
`console run`, each line that starts with `$ ` is run by a shell, and the lines below it are what it prints; a line
that is `…` stands for any number of lines. All blocks of a page share one folder, which holds a copy of examples/.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from helpers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")


class Block(NamedTuple):
    """A fenced block: the words after its fence, its text, and the line of the page where it starts."""

    info: list[str]
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that it is, if it is one."""
        return next((word.removeprefix("file=") for word in self.info if word.startswith("file=")), None)

    @property
    def is_run(self) -> bool:
        """Whether its commands are run."""
        return self.info[:2] == ["console", "run"]


class Command(NamedTuple):
    """A command and what the page says that it prints."""

    line: str
    output: list[str]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(match["info"].split(), match["text"], text.count("\n", 0, match.start()) + 1)
        for match in _BLOCK.finditer(text)
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block."""
    command: Command | None = None
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command
            command = Command(line.removeprefix("$ "), [])
        elif command is not None:
            command.output.append(line.rstrip())
    if command is not None:
        yield command


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for match in _HEADING.finditer(_BLOCK.sub("", text)):
        anchor = base = re.sub(r"[^\w\- ]", "", match[1].lower()).replace(" ", "-")
        number = 0
        while anchor in found:
            number += 1
            anchor = f"{base}-{number}"
        found.add(anchor)
    return found


def links(text: str) -> list[str]:
    """The targets of a page's links, those to other sites left out."""
    targets = _LINK.findall(_CODE_SPAN.sub("", _BLOCK.sub("", text)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def run(command: str, folder: Path) -> list[str]:
    """What a command prints, standard error included, line by line; `turnwise` is the one under test."""
    turnwise = f'turnwise() {{ {shlex.quote(sys.executable)} -m turnwise "$@"; }}\n'
    done = subprocess.run(
        ["sh", "-c", turnwise + command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1", "HOME": str(folder)},
        check=False,
    )
    return [line.rstrip() for line in done.stdout.decode("utf-8").splitlines()]


def prints(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is what the page shows, blank lines at its end aside.

    >>> prints(["a", "…", "d"], ["a", "b", "c", "d", ""]), prints(["a"], ["b"])
    (True, False)
    """
    expression = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in _trimmed(shown))
    return re.fullmatch(expression, "".join(f"{line}\n" for line in _trimmed(printed))) is not None


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


RUN_PAGES = [page for page in PAGES if any(block.is_run for block in blocks(page.read_text(encoding="utf-8")))]


def shown(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_generated_pages_are_up_to_date() -> None:
    """The pages of docs/reference that are made from the code are what the code makes now."""
    done = subprocess.run(
        [sys.executable, "tools/generate_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_link_leads_somewhere(page: Path) -> None:
    """A relative link names a file that exists and, where it has one, an anchor of that file."""
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), link
        if anchor:
            assert anchor in anchors(goal.read_text(encoding="utf-8")), link


def test_every_page_is_on_the_map() -> None:
    """docs/index.md links every page of docs/, decisions aside: a page that nobody finds is not read."""
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text(encoding="utf-8"))}
    for page in PAGES[1:]:
        if page != index and page.parent.name != "decisions":
            assert page in linked, shown(page)


@pytest.mark.parametrize("page", RUN_PAGES, ids=shown)
def test_transcripts_are_real(page: Path, tmp_path: Path) -> None:
    """Every command of a `console run` block prints what the page says."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.file is not None:
            goal = tmp_path / block.file
            goal.parent.mkdir(parents=True, exist_ok=True)
            goal.write_text(block.text, encoding="utf-8")
        if block.is_run:
            for command in commands(block):
                printed = run(command.line, tmp_path)
                said = f"{shown(page)}:{block.line}: $ {command.line}\n" + "\n".join(printed)
                assert prints(command.output, printed), said
