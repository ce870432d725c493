"""RESULTS.md: a section for each command, which replaces its own and keeps the others."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import version

from measure import HERE, Row

__all__ = ["machine", "markdown_table", "rows_table", "write_section"]

_RESULTS = HERE / "RESULTS.md"
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)


def rows_table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    return markdown_table([("what", "measured", "bar", "", "figures"), *(row.cells() for row in rows)])


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is also readable as text; the first line is its head."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def machine() -> str:
    """What the figures were measured on, without saying whose it is."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**3
    packages = ", ".join(f"{name} {version(name)}" for name in ("PyYAML", "pydantic", "click", "aiohttp"))
    return (
        f"{os.cpu_count()} cores, {pages:.0f} GB memory, {platform.system()} {platform.release()} "
        f"({platform.machine()}), {platform.python_implementation()} {platform.python_version()}; {packages}"
    )


def write_section(title: str, command: str, body: str) -> None:
    """Write what a command measured, in the place of what it measured before."""
    sections = _sections(_RESULTS.read_text(encoding="utf-8")) if _RESULTS.exists() else {}
    sections[title] = f"Machine: {machine()}\n\nCommand: `{command}`\n\n{body}"
    text = "\n\n".join(f"## {name}\n\n{section}" for name, section in sorted(sections.items()))
    _RESULTS.write_text(f"# Results\n\n{text}\n", encoding="utf-8")


def _sections(text: str) -> dict[str, str]:
    _, *parts = _SECTION.split(text)
    return {title: body.strip() for title, body in zip(parts[::2], parts[1::2], strict=True)}
