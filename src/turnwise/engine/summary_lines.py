"""What a summary takes from one line of results, whoever wrote it: checked, and no more than is needed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..errors import RunError
from ..graders.scoring import DEFAULT_THRESHOLD
from ..graders.thresholds import reaches
from .summary_judges import JudgedGrade, judged_grades
from .summary_left_out import GraderUse, grader_uses
from .summary_reasons import counted_first, is_failure, why_not_passed
from .summary_traces import NO_TRACES, FailureTraces, failure_traces

if TYPE_CHECKING:
    from .record import Status

__all__ = ["ResultLine", "read_line"]

_STATUSES = ("passed", "failed", "ungraded", "error")
_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")
_LARGEST = 1e250
_SHOWN = 60
_HINT = "correct the line, or remove it"


class ResultLine(NamedTuple):
    """One result. `tokens` are in the order of the fields of `Usage`; None where nothing was counted. `failure` says
    why it did not pass; None if it did. `judged` are the grades that models gave, `graders` all that graded or did
    not count. `traces` say where to look for more. Other programs need not keep answers: then one is
    `maybe_answered`."""

    suite: str | None
    case_id: str
    target: str
    variant: str | None
    trial: int
    status: Status
    score: float | None
    conversation_id: str | None
    run_id: str | None
    answered: bool
    maybe_answered: bool
    asked: bool
    paid: bool
    latency_ms: float | None
    cost_usd: float | None
    tokens: tuple[int | None, ...] | None
    error_kind: str | None
    why_ungraded: str | None
    failure: str | None
    judged: tuple[JudgedGrade, ...] = ()
    graders: tuple[GraderUse, ...] = ()
    traces: FailureTraces = NO_TRACES

    @property
    def key(self) -> tuple[str | None, str, str, str | None, int]:
        """What makes two lines the same piece of work."""
        return self[:5]

    @property
    def from_cache(self) -> bool:
        """Whether the answer was there before anybody asked."""
        return self.status != "error" and not self.asked


def read_line(record: Mapping[str, Any]) -> ResultLine:
    """Check a line and take what counts. Raises `RunError`, which says what was found and expected.

    >>> read_line({"case_id": "a", "target": "gpt", "trial": 1, "score": 0.5}).status
    'passed'
    """
    get = record.get
    score = _score(record)
    status = _status(record, score)
    is_listed = is_failure(status, get("grades"))
    score = None if status == "error" else score
    attempts = get("attempts")
    if attempts is not None and (type(attempts) is not int or attempts < 0):
        raise _wrong("attempts", "a whole number from 0", attempts)
    has_answer = status != "error"
    return ResultLine(
        _optional_name(record, "suite"),
        _name(record, "case_id"),
        _name(record, "target"),
        _optional_name(record, "variant"),
        _trial(record),
        status,
        score,
        _optional_name(record, "conversation_id"),
        _optional_name(record, "run_id"),
        has_answer and get("answer") is not None,
        has_answer and "answer" not in record,
        has_answer and attempts != 0,
        get("paid") is not False,
        _amount(record, "latency_ms"),
        _amount(record, "cost_usd"),
        _tokens(get("usage")),
        None if has_answer else _error_kind(get("error")),
        _why_ungraded(get("grades")) if status == "ungraded" else None,
        why_not_passed(record) if is_listed else None,
        judged_grades(get("grades")),
        grader_uses(get("grades")),
        failure_traces(record) if is_listed else NO_TRACES,
    )


def _name(record: Mapping[str, Any], field: str) -> str:
    value = _required(record, field)
    if type(value) is not str or not value:
        raise _wrong(field, "a text", value)
    return value


def _optional_name(record: Mapping[str, Any], field: str) -> str | None:
    value = record.get(field)
    if value is not None and type(value) is not str:
        raise _wrong(field, "a text or null", value)
    return value


def _trial(record: Mapping[str, Any]) -> int:
    value = _required(record, "trial")
    if type(value) is not int or value < 1:
        raise _wrong("trial", "a whole number from 1", value)
    return value


def _score(record: Mapping[str, Any]) -> float | None:
    value = _required(record, "score")
    if value is None:
        return None
    if not _is_number(value) or not 0 <= value <= 1:
        raise _wrong("score", "a number from 0 to 1, or null where nothing was graded", value)
    return float(value)


def _status(record: Mapping[str, Any], score: float | None) -> Status:
    status = record.get("status")
    if status is None:
        if record.get("error") is not None:
            return "error"  # whatever score another program wrote beside it
        if score is None:
            return "ungraded"
        return "passed" if reaches(score, _threshold(record)) else "failed"
    if status not in _STATUSES:
        raise _wrong("status", f"one of {', '.join(_STATUSES)}", status)
    # A result may fail without a score: what it requires did not pass, and another grader could not grade.
    if status != "failed" and (status == "passed") != (score is not None):
        found = "null" if score is None else f"{score:g}"
        expected = "a score" if score is None else "the score null"
        raise RunError(f"a result that is `{status}` must have {expected}; found {found}", _HINT)
    return cast("Status", status)


def _threshold(record: Mapping[str, Any]) -> float:
    value = record.get("threshold")
    if value is None:
        return DEFAULT_THRESHOLD
    if not _is_number(value) or not 0 <= value <= 1:
        raise _wrong("threshold", "a number from 0 to 1", value)
    return float(value)


def _amount(record: Mapping[str, Any], field: str) -> float | None:
    value = record.get(field)
    if value is None:
        return None
    if not _is_number(value) or not 0 <= value <= _LARGEST:
        raise _wrong(field, "a number from 0, or null where it is not known", value)
    return float(value)


def _tokens(usage: Any) -> tuple[int | None, ...] | None:
    if usage is None:
        return None
    if not isinstance(usage, Mapping):
        raise _wrong("usage", "an object or null", usage)
    counts = tuple([usage.get(field) for field in _TOKENS])
    for field, count in zip(_TOKENS, counts, strict=True):
        if count is not None and (type(count) is not int or count < 0):
            raise _wrong(f"usage.{field}", "a whole number from 0, or null", count)
    return None if counts[0] is None and counts[1] is None else counts


def _why_ungraded(grades: Any) -> str | None:
    """What kept a result from being graded, in words that others share."""
    if grades == []:
        return "no graders"
    for grade in counted_first(grades) if isinstance(grades, list) else ():
        error = grade.get("error") if isinstance(grade, dict) else None
        if isinstance(error, dict):
            return f"{grade.get('name')}: {error.get('message')}"
    return None


def _error_kind(error: Any) -> str:
    kind = error.get("kind") if isinstance(error, Mapping) else None
    return kind if isinstance(kind, str) and kind else "unknown"


def _is_number(value: Any) -> bool:
    return type(value) is float or type(value) is int


def _required(record: Mapping[str, Any], field: str) -> Any:
    try:
        return record[field]
    except KeyError:
        message = f"the key `{field}` is missing; a result has case_id, target, trial and score"
        raise RunError(message, "add the key to the line, or remove the line") from None


def _wrong(field: str, expected: str, value: Any) -> RunError:
    found = "null" if value is None else repr(value)
    shown = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…"
    return RunError(f"`{field}` must be {expected}; found {shown}", _HINT)
