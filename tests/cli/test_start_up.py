"""Start-up is a feature: what a command does not need, it does not import."""

from __future__ import annotations

import subprocess
import sys

from helpers import ROOT

HEAVY = {"pydantic", "yaml", "wcmatch", "rich", "aiohttp", "numpy", "scipy", "asyncio", "difflib"}


def modules_after(arguments: list[str]) -> set[str]:
    program = (
        f"import sys\nfrom turnwise.cli import main\nsys.argv = ['turnwise', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\nMODULES', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stdout.rsplit("MODULES ", 1)[1].split())


def test_help_imports_nothing_heavy() -> None:
    """`turnwise --help` and `--version` need click and nothing else of weight."""
    assert not HEAVY & modules_after(["--help"])
    assert not HEAVY & modules_after(["--version"])
    assert not HEAVY & modules_after(["prompt", "--help"])


def test_prompt_imports_only_what_reading_and_showing_needs() -> None:
    """`turnwise prompt` reads YAML and validates it; it needs no network, no statistics, no terminal library."""
    loaded = modules_after(["prompt", "examples/support/suite.yaml"])
    assert HEAVY & loaded == {"pydantic", "yaml"}


def test_importing_the_package_costs_nothing() -> None:
    """`import turnwise` alone imports none of its rooms, only the version."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, turnwise; print(*[m for m in sys.modules if m.startswith('turnwise')])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["turnwise.version", "turnwise"]
