"""Graders that did not count, counted as results come: a mean over fewer graders must not look like one over all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .counted_grades import counted_grades
from .summary_format import LeftOutRule, LeftOutSummary
from .summary_reasons import is_left_out

__all__ = ["GraderUse", "LeftOutTally", "grader_uses"]

_LONGEST = 400
_OF_TURN = re.compile(r"turn [0-9]+: ")


class GraderUse(NamedTuple):
    """A grader of a result. `rule` says why it did not count, `kind` and `why` what kept it; None if it did."""

    grader: str
    rule: LeftOutRule | None = None
    kind: str = ""
    why: str = ""


def grader_uses(grades: Any) -> tuple[GraderUse, ...]:
    """The graders of a line, those inside of composites too; what is inside of a turn's composite has the turn in front
    of its name. Several of one name are one, but for each reason why one of them did not count.

    >>> error = {"kind": "crash", "message": "exit code 3"}
    >>> grader_uses([{"name": "a", "kind": "code", "evidence": {"left_out": "on_error: skip"}, "error": error}])
    (GraderUse(grader='a', rule='on_error', kind='crash', why='exit code 3'),)
    """
    found: dict[tuple[str, str | None, str], GraderUse] = {}
    for use in _uses(grades):
        found.setdefault((use.grader, use.rule, use.kind), use)
    left_out = {use.grader for use in found.values() if use.rule is not None}
    return tuple(use for use in found.values() if use.rule is not None or use.grader not in left_out)


def _uses(grades: Any) -> Iterator[GraderUse]:
    for outer in grades if isinstance(grades, list) else ():
        for grade in counted_grades([outer]):
            if isinstance(name := grade.get("name"), str):
                yield _use(name if grade is outer else _turn(outer) + name, grade)


def _turn(grade: Mapping[str, Any]) -> str:
    """The turn that the name of a grade begins with, if it does: `turn 2: `."""
    found = _OF_TURN.match(str(grade.get("name")))
    return "" if found is None else found.group()


def _use(name: str, grade: Mapping[str, Any]) -> GraderUse:
    evidence = grade.get("evidence")
    turns = evidence.get("turns") if isinstance(evidence, Mapping) and evidence.get("scope") == "turn" else None
    for each in (grade, *(turns if isinstance(turns, list) else ())):
        error = each.get("error") if isinstance(each, Mapping) else None
        if isinstance(error, Mapping) and is_left_out(each):
            rule: LeftOutRule = "when" if each["evidence"]["left_out"] == "when" else "on_error"
            return GraderUse(name, rule, str(error.get("kind")), str(error.get("message"))[:_LONGEST])
    return GraderUse(name)


class LeftOutTally:
    """Takes the graders of results one by one."""

    def __init__(self) -> None:
        self._results: Counter[str] = Counter()
        self._left_out: Counter[tuple[str, LeftOutRule, str]] = Counter()
        self._why: dict[tuple[str, LeftOutRule, str], str] = {}

    def add(self, uses: Sequence[GraderUse]) -> None:
        """Count in the graders of a result."""
        self._results.update({use.grader for use in uses})
        for grader, rule, kind, why in uses:
            if rule is None:
                continue
            key = grader, rule, kind
            self._left_out[key] += 1
            self._why[key] = min(why, self._why.get(key, why))  # whichever came first

    def summaries(self) -> tuple[LeftOutSummary, ...]:
        """Errors first, then what `when` excludes; the most common first."""
        ordered = sorted(self._left_out.items(), key=lambda each: (each[0][1], -each[1], each[0]))
        return tuple(
            LeftOutSummary(
                grader=grader, rule=rule, kind=kind, results=count, of=self._results[grader],
                why=self._why[grader, rule, kind],
            )
            for (grader, rule, kind), count in ordered
        )  # fmt: skip
