"""Structured data held against what was expected, field by field. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from .field_rules import FieldRule, why_wrong
from .json_values import brief

__all__ = ["FieldResult", "accuracy", "compare_fields"]

_ABSENT: Any = object()
_EXACT = FieldRule()


@dataclass(frozen=True, slots=True)
class FieldResult:
    """One field. `why` says what is wrong with it; None if it is right."""

    path: str
    expected: Any
    found: Any
    why: str | None
    weight: float = 1.0

    def as_evidence(self) -> dict[str, Any]:
        """As plain data; a field that is not there has no `expected` or no `found`."""
        values = {"expected": self.expected, "found": self.found}
        present = {name: brief(value) for name, value in values.items() if value is not _ABSENT}
        return {"path": self.path, "right": self.why is None, "why": self.why, "weight": self.weight, **present}


def accuracy(results: list[FieldResult]) -> float:
    """The share of right fields by weight.

    >>> accuracy([FieldResult("a", 1, 1, None, weight=3), FieldResult("b", 1, 2, "another value")])
    0.75
    """
    largest = max(result.weight for result in results)
    right = fsum(result.weight / largest for result in results if result.why is None)
    return right / fsum(result.weight / largest for result in results)


def compare_fields(
    expected: Any, found: Any, rules: Mapping[str, FieldRule], *, extra_is_wrong: bool = True
) -> Iterator[FieldResult]:
    """Every field that counts. Mappings and lists are looked into, unless a rule is for the whole of them.

    >>> [(each.path, each.why) for each in compare_fields({"a": {"b": 1}, "c": [2]}, {"a": {"b": 1}}, {})]
    [('a.b', None), ('c[0]', 'missing')]
    """
    for result in _compared("", "", expected, found, rules):
        if result.expected is not _ABSENT or extra_is_wrong:
            yield result


def _compared(
    path: str, pattern: str, expected: Any, found: Any, rules: Mapping[str, FieldRule]
) -> Iterator[FieldResult]:
    """`pattern` is the path with `[*]` for every index: a rule may be for all items of a list."""
    rule = rules.get(path) or rules.get(pattern)
    inner = _children(expected) if rule is None else {}
    if rule is not None and rule.rule == "ignore":
        return
    if not inner:
        rule = rule or _EXACT
        yield FieldResult(path or "$", expected, found, _why(rule, expected, found), rule.weight)
        return
    others = _children(found) if isinstance(found, list) == isinstance(expected, list) else {}
    for step in dict.fromkeys((*inner, *others)):
        below, any_below = _below(path, step), _below(pattern, "*" if isinstance(step, int) else step, step)
        yield from _compared(below, any_below, inner.get(step, _ABSENT), others.get(step, _ABSENT), rules)


def _children(value: Any) -> dict[str | int, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    return dict(enumerate(value)) if isinstance(value, list) else {}


def _below(path: str, step: str | int, kind: str | int | None = None) -> str:
    if isinstance(step if kind is None else kind, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else str(step)


def _why(rule: FieldRule, expected: Any, found: Any) -> str | None:
    if found is _ABSENT:
        return "missing"
    return "not expected" if expected is _ABSENT else why_wrong(rule, expected, found)
