"""What a journal says is done, and what is left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import RunError

__all__ = ["ResultKey", "key_of", "latest_statuses", "left_to_do"]


class ResultKey(NamedTuple):
    """What makes two results the same piece of work."""

    suite: str
    case_id: str
    target: str
    variant: str | None
    trial: int


def key_of(record: Mapping[str, Any]) -> ResultKey:
    """The key of a line of a journal. Raises `RunError` if it has none.

    >>> key_of({"suite": "s.yaml", "case_id": "a", "target": "gpt", "trial": 1})
    ResultKey(suite='s.yaml', case_id='a', target='gpt', variant=None, trial=1)
    """
    values: list[Any] = [record.get(name) for name in ResultKey._fields]
    suite, case_id, target, variant, trial = values
    texts = all(isinstance(each, str) for each in (suite, case_id, target, variant or ""))
    if not texts or not isinstance(trial, int) or isinstance(trial, bool):
        raise RunError(
            "a result of the journal does not say which case, target and trial it is of",
            "remove the line; its case is done again by --resume",
        )
    return ResultKey(*values)


def latest_statuses(records: Iterable[Mapping[str, Any]]) -> dict[ResultKey, str]:
    """The status of each piece of work: a later line replaces an earlier one."""
    return {key_of(record): str(record.get("status")) for record in records}


def left_to_do(plan: Iterable[ResultKey], statuses: Mapping[ResultKey, str]) -> Iterator[ResultKey]:
    """What is missing, and what ended in an error; never what is done.

    >>> key = ResultKey("s.yaml", "a", "gpt", None, 1)
    >>> list(left_to_do([key], {key: "passed"})), list(left_to_do([key], {key: "error"})) == [key]
    ([], True)
    """
    return (key for key in plan if statuses.get(key, "error") == "error")
