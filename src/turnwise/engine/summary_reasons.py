"""Why a result did not pass, in words: of a result that this run made, or of a line that another program wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["counted_first", "is_failure", "why_not_passed"]

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
    return sorted(grades, key=_is_left_out)


def _is_left_out(grade: Any) -> bool:
    evidence = grade.get("evidence") if isinstance(grade, Mapping) else None
    return isinstance(evidence, Mapping) and "left_out" in evidence


def _error(error: Any) -> str:
    if isinstance(error, Mapping):
        return ": ".join(_text(error[name]) for name in ("kind", "message") if error.get(name)) or "an unknown error"
    return _text(error)


def _grades(record: Mapping[str, Any]) -> str:
    grades = record.get("grades")
    said = [grade for grade in grades if isinstance(grade, Mapping)] if isinstance(grades, list) else []
    if record.get("score") is None:
        broken = [(grade, grade["error"]) for grade in counted_first(said) if isinstance(grade.get("error"), Mapping)]
        if broken:
            return "; ".join(f"{_text(grade.get('name'))}: {_text(error.get('message'))}" for grade, error in broken)
    failed = [grade for grade in said if grade.get("passed") is False]
    return "; ".join(f"{_text(grade.get('name'))}: {_text(grade.get('reason'))}" for grade in failed)


def _score(record: Mapping[str, Any]) -> str:
    score, threshold = record.get("score"), record.get("threshold")
    if not isinstance(score, int | float):
        return ""
    below = isinstance(threshold, int | float) and score < threshold
    return f"the score {score:.2f} is below {threshold:.2f}" if below else f"the score is {score:.2f}"


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else repr(value))[:_LONGEST]
