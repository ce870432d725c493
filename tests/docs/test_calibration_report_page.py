"""The page about the JSON report of a calibration: every key and every warning of the code is on it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from turnwise.cli import cli

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "calibration-report.md").read_text(encoding="utf-8")


def keys_of(value: Any, inside: str = "") -> set[str]:
    """Every key of a record, but for those that data gave: tags, kinds and settings."""
    if isinstance(value, list):
        return set().union(*(keys_of(each, inside) for each in value))
    if not isinstance(value, dict):
        return set()
    own = set() if inside in ("slices", "invalid", "repaired", "settings", "versions") else set(value)
    return own.union(*(keys_of(each, key) for key, each in value.items()))


def test_every_key_of_a_report_is_on_the_page() -> None:
    """Nothing that `--format json` prints is left unexplained."""
    done = CliRunner().invoke(cli, ["calibrate", "demo", "--format", "json", "--gate", "kappa>=0"])
    keys = keys_of(json.loads(done.stdout))
    missing = {key for key in keys if f"`{key}`" not in PAGE and f".{key}`" not in PAGE}
    assert missing == set()


def test_every_warning_is_on_the_page() -> None:
    """Each code that a warning of a calibration can have."""
    codes = set()
    for path in (ROOT / "src" / "turnwise" / "calibration").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Warned":
                assert isinstance(node.args[0], ast.Constant)
                codes.add(str(node.args[0].value))
    assert len(codes) >= 11
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()
