"""From results to the summary of a run: one by one while it runs, or all of a file."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from ..errors import RunError
from .summary_format import FailedResult, RankedResult, Summary
from .summary_groups import GroupTally
from .summary_judges import JudgeTally
from .summary_left_out import LeftOutTally
from .summary_lines import ResultLine, read_line

__all__ = ["Tally", "summarise"]

_RANKED = 5
_FAILURES = 20
_REASONS = 100


class Tally:
    """Counts results as they come. Each piece of work is added once: a result that is redone later is not for here.

    >>> tally = Tally()
    >>> tally.add({"case_id": "a", "target": "gpt", "trial": 1, "score": 1.0})
    >>> tally.summary().targets[0].passed
    1
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str | None, str | None], GroupTally] = {}
        self._run_ids: set[str | None] = set()
        self._slowest, self._most_expensive = _Highest(), _Highest()
        self._failures = _Failures()
        self._errors: Counter[str] = Counter()
        self._ungraded: Counter[str] = Counter()
        self._judges = JudgeTally()
        self._left_out = LeftOutTally()
        self._unjudged = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one result in. Raises `RunError`, and counts nothing, if it is no result."""
        self._count(read_line(record))

    def expect(self, target: str, variant: str | None, suite: str | None, results: int) -> None:
        """So many results are planned, on top of what was said before; the group is there even if none of them comes.

        >>> tally = Tally()
        >>> tally.expect("gpt", None, "refunds.yaml", 10)
        >>> tally.summary().targets[0].not_run
        10
        """
        self._group(target, variant, suite).expect(results)

    def _group(self, target: str, variant: str | None, suite: str | None) -> GroupTally:
        key = target, variant, suite
        tally = self._groups.get(key)
        if tally is None:
            tally = self._groups[key] = GroupTally(target, suite, variant)
        return tally

    def _count(self, line: ResultLine) -> None:
        self._group(line.target, line.variant, line.suite).add(line)
        if line.judged:
            self._judges.add(line.target, line.judged)
        self._left_out.add(line.graders)
        is_unknown = line.status in ("ungraded", "failed") and line.score is None
        self._unjudged += is_unknown and any(each.score is None for each in line.judged)
        if line.failure is not None:
            self._failures.add(line, line.failure)
        if len(self._run_ids) < 2:
            self._run_ids.add(line.run_id)
        if line.asked and line.latency_ms is not None:
            self._slowest.add(line.latency_ms, line)
        if line.cost_usd:
            self._most_expensive.add(line.cost_usd, line)
        if line.error_kind is not None:
            self._errors[line.error_kind] += 1
        if line.why_ungraded is not None and (line.why_ungraded in self._ungraded or len(self._ungraded) < _REASONS):
            self._ungraded[line.why_ungraded] += 1

    def summary(self) -> Summary:
        """What the results so far come to."""
        return Summary(
            run_id=next(iter(self._run_ids)) if len(self._run_ids) == 1 else None,
            targets=tuple(group.summary() for group in self._groups.values()),
            slowest=self._slowest.results(),
            most_expensive=self._most_expensive.results(),
            errors_by_kind=_most_first(self._errors),
            ungraded_by_reason=_most_first(self._ungraded),
            failures=self._failures.results(),
            failures_in_all=self._failures.count,
            judges=self._judges.summaries(),
            left_out=self._left_out.summaries(),
            unjudged=self._unjudged,
        )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


class _Highest:
    """The results of the highest values; among equal ones those whose names come first."""

    def __init__(self) -> None:
        self._rising: list[tuple[tuple[float, str, str, str, str, int], RankedResult]] = []

    def add(self, value: float, line: ResultLine) -> None:
        if len(self._rising) == _RANKED and -value > self._rising[-1][0][0]:
            return
        rank = -value, line.target, line.variant or "", line.suite or "", line.case_id, line.trial
        result = RankedResult(line.case_id, line.suite, line.target, line.variant, line.trial, value)
        insort(self._rising, (rank, result), key=lambda each: each[0])
        del self._rising[_RANKED:]

    def results(self) -> tuple[RankedResult, ...]:
        return tuple(result for _, result in self._rising)


class _Failures:
    """What did not pass: all are counted, and those whose names come first are kept, whichever came first."""

    def __init__(self) -> None:
        self.count = 0
        self._sorted: list[tuple[tuple[str, str, str, str, int], FailedResult]] = []

    def add(self, line: ResultLine, why: str) -> None:
        self.count += 1
        rank = line.suite or "", line.case_id, line.target, line.variant or "", line.trial
        if len(self._sorted) == _FAILURES and rank > self._sorted[-1][0]:
            return
        result = FailedResult(
            line.case_id, line.suite, line.target, line.variant, line.trial, line.status, why, *line.traces
        )
        insort(self._sorted, (rank, result), key=lambda each: each[0])
        del self._sorted[_FAILURES:]

    def results(self) -> tuple[FailedResult, ...]:
        return tuple(result for _, result in self._sorted)


def summarise(
    records: Callable[[], Iterator[Mapping[str, Any]]],
    where: Callable[[int], str] = "result {}".format,
    tally: Tally | None = None,
) -> Summary:
    """The summary of results that can be read twice; a later one of the same piece of work replaces an earlier one.

    `where` says where the result of a number is to be found, counted from 1: an error begins with it. What is added
    to a file between the readings does not count. `tally` may know what is expected. Raises `RunError` for what is no
    result.
    """
    last: dict[bytes, int] = {}
    for number, line in _lines(records(), where):
        last[_digest(line)] = number
    tally = tally or Tally()
    for number, line in _lines(records(), where):
        if last.get(_digest(line)) == number:
            tally._count(line)
    return tally.summary()


def _lines(records: Iterator[Mapping[str, Any]], where: Callable[[int], str]) -> Iterator[tuple[int, ResultLine]]:
    for number, record in enumerate(records, start=1):
        try:
            line = read_line(record)
        except RunError as error:
            raise RunError(f"{where(number)}: {error}", error.hint) from None
        yield number, line


def _digest(line: ResultLine) -> bytes:
    """16 bytes that stand for the key of a result: a file may have millions of long ones."""
    return blake2b(repr(line.key).encode(), digest_size=16).digest()
