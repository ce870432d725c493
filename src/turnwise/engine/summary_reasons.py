"""Why a result did not pass, in words: of a result that this run made, or of a line that another program wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..graders.said_once import said_once
from ..graders.thresholds import reaches

__all__ = ["counted_first", "is_failure", "is_left_out", "why_not_passed"]

_LONGEST = 400


def is_failure(status: str, grades: Any) -> bool:
    """Whether a result is to be listed among those that did not pass.

    What was never to be graded is no failure: there is nothing that its answer fell short of.

    >>> is_failure("failed", []), is_failure("ungraded", [])
    (True, False)
    """
    return status != "passed" and not (status == "ungraded" and grades == [])


def why_not_passed(record: Mapping[str, Any]) -> str:
    """The error, every grader that failed, or what kept graders from grading; at most four hundred characters.

    >>> why_not_passed({"grades": [{"name": "exact", "passed": False, "reason": "expected 'Paris'"}]})
    "exact: expected 'Paris'"
    """
    error = record.get("error")
    why = _error(error) if error is not None else _grades(record) or _score(record) or "no reason was given"
    return why if len(why) <= _LONGEST else why[: _LONGEST - 1] + "…"


def counted_first(grades: Sequence[Any]) -> list[Any]:
    """The grades, those that were left out of the score at the end: they are not what kept a case from being graded.

    >>> counted_first([{"name": "a", "evidence": {"left_out": "when"}}, {"name": "b", "evidence": {}}])[0]["name"]
    'b'
    """
    return sorted(grades, key=is_left_out)


def is_left_out(grade: Any) -> bool:
    """Whether a grade does not count: its grader is not meant for the answer, or its error is left out by its rule."""
    evidence = grade.get("evidence") if isinstance(grade, Mapping) else None
    return isinstance(evidence, Mapping) and "left_out" in evidence


def _error(error: Any) -> str:
    if isinstance(error, Mapping):
        return ": ".join(_text(error[name]) for name in ("kind", "message") if error.get(name)) or "an unknown error"
    return _text(error)


def _grades(record: Mapping[str, Any]) -> str:
    grades = record.get("grades")
    said = [grade for grade in grades if isinstance(grade, Mapping)] if isinstance(grades, list) else []
    failed = "; ".join(_named(grade, grade.get("reason")) for grade in said if grade.get("passed") is False)
    if record.get("score") is not None:
        return failed
    broken = [each for each in said if isinstance(each.get("error"), Mapping)]
    counted = [each for each in broken if not is_left_out(each)]
    if record.get("status") == "failed":
        return "; ".join(each for each in (failed, f"not graded: {_errors(counted)}" if counted else "") if each)
    # Graders that are left out are a reason only where no other grader is.
    return _errors(counted) or failed or _errors(broken)


def _errors(grades: Sequence[Mapping[str, Any]]) -> str:
    return said_once((_text(grade.get("name")), _text(grade["error"].get("message"))) for grade in grades)


def _named(grade: Mapping[str, Any], said: Any) -> str:
    return f"{_text(grade.get('name'))}: {_text(said)}"


def _score(record: Mapping[str, Any]) -> str:
    score, threshold = record.get("score"), record.get("threshold")
    if not isinstance(score, int | float):
        return ""
    below = isinstance(threshold, int | float) and not reaches(score, threshold)
    return f"the score {score:.2f} is below {threshold:.2f}" if below else f"the score is {score:.2f}"


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else repr(value))[:_LONGEST]
