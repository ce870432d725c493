"""Makes mutants: copies of a module with one small change each, for tools/mutate.py to try."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants_of"]

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "type_params"}
"""What means nothing to a run, or everything to the import."""


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and where it hangs: an attribute of its parent, or an item of one that is a list."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Hang another node here."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclass(frozen=True, slots=True)
class Mutant:
    """One module with one change."""

    module: Path
    line: int
    column: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column}: {self.before}  →  {self.after}"


def mutants_of(module: Path) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    plain = ast.unparse(tree)
    found = []
    for place in list(_places(tree)):
        for changed in _changes(place.node):
            place.put(changed)
            source = ast.unparse(ast.fix_missing_locations(tree))
            if source != plain:
                line, column = getattr(place.node, "lineno", 0), getattr(place.node, "col_offset", 0)
                found.append(Mutant(module, line, column + 1, _shown(place.node), _shown(changed), source))
        place.put(place.node)
    return sorted(found, key=lambda mutant: (mutant.line, mutant.column))


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:88]} …"


def _places(parent: ast.AST) -> Iterator[Place]:
    for field, value in ast.iter_fields(parent):
        if field in UNTOUCHED:
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST) and not _is_idle(node):
                yield Place(node, parent, field, index if isinstance(value, list) else None)
                yield from _places(node)


def _is_idle(node: ast.AST) -> bool:
    """Whether a node is only for readers: texts of errors, docstrings, imports, names for types."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        names = {each.id for each in node.targets if isinstance(each, ast.Name)}
        return "__all__" in names or _shown(node.value).startswith("Literal[")
    if isinstance(node, ast.If):
        return _shown(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=value):
            yield from (ast.Constant(each) for each in _other_values(value))
        case ast.Compare(left=left, ops=ops, comparators=others):
            for at, operator in enumerate(ops):
                for other in COMPARED[type(operator)]:
                    yield ast.Compare(left, [*ops[:at], other(), *ops[at + 1 :]], others)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in CALCULATED:
            yield ast.BinOp(left, CALCULATED[type(operator)](), right)
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Call(func=function, args=arguments, keywords=keywords):
            for at in range(len(keywords)):
                yield ast.Call(function, arguments, [*keywords[:at], *keywords[at + 1 :]])
        case ast.IfExp(test=test, body=body, orelse=other):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.If(test=test, body=statements, orelse=others):
            yield ast.If(ast.UnaryOp(ast.Not(), test), statements, others)
        case ast.Return(value=value) if value is not None and _shown(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()


def _other_values(value: object) -> tuple[bool | float | str, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return value + 1, value - 1
    return ("" if value else "mutant",) if isinstance(value, str) else ()
