"""What is shipped: the code, its types, the template of `turnwise init`, and nothing else."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import PurePosixPath

import pytest

from helpers import ROOT
from turnwise.cli.init import _FILES

PACKAGE = PurePosixPath("src/turnwise")
TEMPLATE = {
    "config.yaml",
    "env.example",
    "evals/refund-policy.md",
    "evals/support.yaml",
    "evals/tone.instructions.md",
    "targets.yaml",
}


def tracked() -> list[PurePosixPath]:
    """The files below src that are in version control."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    try:
        done = subprocess.run(["git", "ls-files", "-z", "src"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"git does not answer: {error}")
    return [PurePosixPath(name) for name in done.stdout.split("\0") if name]


def test_only_code_types_and_the_template_are_tracked() -> None:
    """The wheel holds what is tracked below src/turnwise: modules, types, prices, decks, the page and the template."""
    others = {path for path in tracked() if path.suffix != ".py"}
    data = {PACKAGE / "py.typed", PACKAGE / "providers" / "prices.json"}
    data.add(PACKAGE / "decks" / "base" / "grader-base.deck.md")
    demo = PACKAGE / "calibration" / "demo_data"
    page = PACKAGE / "report" / "calibration" / "html"
    data |= {page / "report.css", page / "report.js"}
    data |= {demo / name for name in ("recorded.jsonl", "refunds.deck.md", "samples.toml")}
    assert others == {*data, *(PACKAGE / "cli" / "template" / name for name in TEMPLATE)}
    assert all(path.is_relative_to(PACKAGE) for path in tracked())


def test_the_installed_package_has_its_types_and_template() -> None:
    """`py.typed` and every file that `init` writes are found where the package is installed."""
    assert (files("turnwise") / "py.typed").is_file()
    assert set(_FILES) == TEMPLATE
    for name in TEMPLATE:
        assert (files("turnwise.cli") / "template" / name).read_text(encoding="utf-8").strip(), name
