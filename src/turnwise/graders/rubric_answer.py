"""What a judge says about the lines of a rubric: every line once, each with a verdict, or no score at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..programs.words import clean_text
from .verdict import Status, parse_verdict, read_object
from .verdict_scale import Scale

__all__ = ["LineScale", "LineVerdict", "RubricAnswer", "line_unit", "parse_rubric", "rubric_schema"]

_MET = Scale("binary", labels=("true", "false"))
LineScale = Scale | None
"""The range of a line; None for one that is met or not."""


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """What a judge says about a line: the value as it gave it, its share of the range, and what decided."""

    id: str
    value: bool | float
    score: float
    evidence: str | None


@dataclass(frozen=True, slots=True)
class RubricAnswer:
    """The verdicts in the order of the lines. `repairs` are what had to be mended, and what was too much."""

    lines: tuple[LineVerdict, ...]
    repairs: tuple[str, ...]


def parse_rubric(
    text: str, scales: Mapping[str, LineScale], *, finish_reason: str | None = None
) -> RubricAnswer | Status:
    """Read the answer of a judge; `scales` are the lines by their ids. Never raises.

    >>> parse_rubric('{"lines": [{"id": "1", "met": true}]}', {"1": None}).lines[0].score
    1.0
    >>> parse_rubric('{"lines": [{"id": "1", "met": true}]}', {"1": None, "2": None}).detail
    'no verdict on line 2'
    """
    found = read_object(text, "lines", finish_reason=finish_reason)
    if isinstance(found, Status):
        return found
    value, repairs = found
    entries = value["lines"]
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        return Status("wrong_type", text, '"lines" is not a list of objects')
    ids = [_id(each) for each in entries]
    if (wrong := _wrong_ids(ids, list(scales))) is not None:
        return Status(*wrong[:1], text, wrong[1])
    by_id = dict(zip(ids, entries, strict=True))
    verdicts: list[LineVerdict] = []
    for line, scale in scales.items():
        verdict = _line(line, by_id[line], scale)
        if isinstance(verdict, Status):
            return Status(verdict.kind, text, f"line {line}: {verdict.detail}")
        verdicts.append(verdict)
    extra = ("extra_lines",) if len(ids) > len(scales) else ()
    return RubricAnswer(tuple(verdicts), (*repairs, *extra))


def rubric_schema(scales: Mapping[str, LineScale]) -> dict[str, Any]:
    """The form of the answer: an entry for a line has `met`, or `score` where there is a range."""
    kinds = {"met" if scale is None else "score": scale is None for scale in scales.values()}
    forms = [
        _entry([line for line, scale in scales.items() if (scale is None) is met], key) for key, met in kinds.items()
    ]
    items = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return {
        "type": "object",
        "properties": {"lines": {"type": "array", "items": items}},
        "required": ["lines"],
        "additionalProperties": False,
    }


def line_unit(value: bool | float, scale: LineScale) -> float:
    """A verdict as a share: 1 for a line that is met.

    >>> line_unit(2, Scale("continuous", min=0, max=4)), line_unit(False, None)
    (0.5, 0.0)
    """
    if scale is None or scale.min is None or scale.max is None:
        return float(value)
    return (value - scale.min) / (scale.max - scale.min)


def _entry(ids: Sequence[str], key: str) -> dict[str, Any]:
    value = {"type": "boolean" if key == "met" else "number"}
    return {
        "type": "object",
        "properties": {"id": {"type": "string", "enum": list(ids)}, "evidence": {"type": "string"}, key: value},
        "required": ["id", "evidence", key],
        "additionalProperties": False,
    }


def _id(entry: Mapping[str, Any]) -> str:
    """The id as text: judges like to write 1 for "1"."""
    value = entry.get("id")
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _wrong_ids(ids: Sequence[str], wanted: Sequence[str]) -> tuple[Any, str] | None:
    missing = [line for line in wanted if line not in set(ids)]
    if missing:
        return "no_score", f"no verdict on line {', '.join(missing)}"
    twice = [line for line, times in Counter(ids).items() if times > 1 and line in set(wanted)]
    return ("wrong_type", f"more than one verdict on line {', '.join(twice)}") if twice else None


def _line(line: str, entry: Mapping[str, Any], scale: LineScale) -> LineVerdict | Status:
    """The one reader of verdicts reads each entry, too."""
    key, name, on = ("met", "label", _MET) if scale is None else ("score", "score", scale)
    value = entry.get(key)
    if value is None:
        return Status("no_score", "", f'there is no "{key}"')
    if not isinstance(value, str | int | float):
        return Status("wrong_type", "", f'"{key}" is neither a number nor true or false')
    said = parse_verdict(json.dumps({name: value}), on)
    if isinstance(said, Status):
        return said
    given = said.label == "true" if scale is None else said.score or 0.0
    evidence = entry.get("evidence")
    shown = clean_text(evidence) if isinstance(evidence, str) else None
    return LineVerdict(line, given, line_unit(given, scale), shown)
