"""What makes a result the piece of work that it is, and which pieces are done."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from ..errors import RunError

__all__ = ["Done", "ResultKey", "is_done", "key_of"]


class ResultKey(NamedTuple):
    """What makes two results the same piece of work."""

    suite: str
    case_id: str
    target: str
    variant: str | None
    trial: int


class Done:
    """The pieces of work that are done: 16 bytes for each, so that a long run can be resumed in little memory.

    >>> done = Done()
    >>> done.add(ResultKey("s.yaml", "a", "gpt", None, 1))
    >>> ResultKey("s.yaml", "a", "gpt", None, 1) in done, ResultKey("s.yaml", "a", "gpt", None, 2) in done
    (True, False)
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def add(self, key: ResultKey) -> None:
        """It is done."""
        self._digests.add(_digest(key))

    def __contains__(self, key: ResultKey) -> bool:
        return _digest(key) in self._digests

    def __len__(self) -> int:
        return len(self._digests)


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


def is_done(record: Mapping[str, Any]) -> bool:
    """Whether a result is final: all but errors are, which are tried again when a run is resumed."""
    return record.get("status") in ("passed", "failed", "ungraded")


def _digest(key: ResultKey) -> bytes:
    return blake2b(repr(tuple(key)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
