"""Every diagnostic code is explained in docs/reference/diagnostics.md.

The codes are found by reading the source: whatever takes a parameter or has a field named `code` is a place where
codes are given; so are the error types of pydantic's custom errors and the sentences of suite/explain.py. A code that
cannot be read there is a failure, not a gap.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from helpers import ROOT, run_turnwise
from turnwise.errors import FileProblem
from turnwise.suite.explain import _TAG_KEYS
from turnwise.targets.variables import _PROBLEMS

SOURCE = ROOT / "src" / "turnwise"
PAGE = ROOT / "docs" / "reference" / "diagnostics.md"
# What the f-strings stand for: the code before the brace, and every ending that it can have.
ENDINGS = {"file-": get_args(FileProblem), "variable-": tuple(_PROBLEMS), "unknown-": _TAG_KEYS}
Positions = dict[str, int]


def source_codes() -> set[str]:
    """All codes."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    everywhere: Positions = {}
    for tree in trees.values():
        everywhere |= _takers(tree)
    codes: set[str] = set()
    for path, tree in trees.items():
        takers = everywhere | _takers(tree)
        for node in ast.walk(tree):
            for value in _given(node, takers):
                codes |= set(_read(value, path))
            codes |= set(_pydantic(node))
    return codes


_OTHER_CODES = {"Warned", "code_text"}
"""What has a `code` of another sort: the warnings of a calibration, and the values of a scale."""


def _takers(tree: ast.AST) -> Positions:
    """Functions and classes that are given a `code`, each with its position among the arguments."""
    found: Positions = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
        elif isinstance(node, ast.ClassDef):
            names = _fields(node)
        else:
            continue
        if "code" in names and node.name not in _OTHER_CODES:
            found[node.name] = names.index("code")
    return found


def _fields(node: ast.ClassDef) -> list[str]:
    """What the class is made from: the arguments of its `__init__`, or else its annotated fields."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return [argument.arg for argument in statement.args.args if argument.arg != "self"]
    return [
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def _given(node: ast.AST, takers: Positions) -> Iterator[ast.expr]:
    """The expressions that stand where a code is expected."""
    if isinstance(node, ast.Call):
        position = takers.get(_name(node.func))
        if position is not None:
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")
            if position < len(node.args) and not any(isinstance(each, ast.Starred) for each in node.args):
                yield node.args[position]
    elif isinstance(node, ast.FunctionDef) and node.name == "_sentence":
        for each in ast.walk(node):
            if isinstance(each, ast.Return) and isinstance(each.value, ast.Tuple):
                yield each.value.elts[0]


def _read(value: ast.expr, path: Path) -> Iterator[str]:
    match value:
        case ast.Constant(value=str() as code):
            yield code
        case ast.IfExp():
            yield from _read(value.body, path)
            yield from _read(value.orelse, path)
        case ast.JoinedStr(values=[ast.Constant(value=str() as start), ast.FormattedValue()]) if start in ENDINGS:
            yield from (start + ending for ending in ENDINGS[start])
        case ast.Name() | ast.Attribute():
            pass  # a code that was given elsewhere and is handed on
        case ast.Call() if ast.unparse(value) == "fault.kind.replace('_', '-')":
            pass  # pydantic's custom errors, found by their own constructor
        case _:
            raise AssertionError(f"{path}:{value.lineno}: a code that cannot be read: {ast.unparse(value)}")


def _pydantic(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.Call):
        return
    if _name(node.func) == "PydanticCustomError":
        kind = node.args[0]
        assert isinstance(kind, ast.Constant)
        yield str(kind.value).replace("_", "-")
    for keyword in node.keywords:
        if keyword.arg == "custom_error_type" and isinstance(keyword.value, ast.Constant):
            yield str(keyword.value.value).replace("_", "-")


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def documented_codes() -> set[str]:
    return set(re.findall(r"^### ([a-z0-9-]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_code_is_explained_and_no_other() -> None:
    """Each code that the source can produce has an entry in diagnostics.md, and each entry has its code."""
    assert documented_codes() == source_codes()


def test_the_codes_that_are_met_are_codes_that_are_known() -> None:
    """What validating tests/bad gives was found by reading the source: the search for codes overlooks nothing here."""
    done = run_turnwise("validate", "--format", "json", "tests/bad")
    assert {item["code"] for item in json.loads(done.stdout)} <= source_codes()


def test_every_entry_has_the_same_shape() -> None:
    """Severity and meaning, why it matters, an example, what to do: two to five lines."""
    _, *entries = re.split(r"^### .+$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for entry in entries:
        text = re.split(r"^## ", entry, flags=re.MULTILINE)[0]
        pattern = r"\n\n\*\*(Error|Warning|Error or warning)\.\*\* .+\n\n- Why: .+\n- Example: .+\n- Do: .+\n+"
        assert re.fullmatch(pattern, text), text
