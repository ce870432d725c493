"""The running counts of one target with one variant on one suite. Every sum is exact, so that order never matters."""

from __future__ import annotations

from collections import Counter

from ..providers.base import Usage
from ..stats.exact import ExactSum, dyadic
from ..stats.intervals import clustered_mean, clustered_proportion
from ..stats.percentiles import Percentiles
from ..stats.sums import ClusterSums
from ..stats.trials import pass_at_k, pass_hat_k
from .summary_format import GroupSummary, LatencySummary
from .summary_lines import ResultLine

__all__ = ["GroupTally"]


class GroupTally:
    """Takes results one by one. Memory is a few small entries for each case, however large the results are."""

    def __init__(self, target: str, suite: str | None, variant: str | None) -> None:
        self._target, self._suite, self._variant = target, suite, variant
        self._statuses: Counter[str] = Counter()
        self._cases: dict[str, tuple[int, int]] = {}
        self._scores, self._passes = ClusterSums(), ClusterSums()
        self._latencies, self._latency_sum = Percentiles(), ExactSum()
        self._tokens: list[int | None] = [None] * 5
        self._usage_unknown = 0
        self._cost = ExactSum()
        self._costs_unknown = self._costs_absent = 0
        self._from_cache = self._scores_unknown = 0
        self._planned: int | None = None

    def expect(self, results: int) -> None:
        """So many more results are planned."""
        self._planned = (self._planned or 0) + results

    def add(self, line: ResultLine) -> None:
        """Count one result in."""
        self._statuses[line.status] += 1
        graded, passed = self._cases.get(line.case_id, (0, 0))
        if line.status in ("passed", "failed"):
            success = line.status == "passed"
            graded, passed = graded + 1, passed + success
            self._passes.add(_cluster(line), success)
            self._scores_unknown += line.score is None
        if line.score is not None:
            self._scores.add(_cluster(line), line.score)
        self._cases[line.case_id] = graded, passed
        self._add_latency(line)
        self._add_tokens(line)
        self._add_cost(line)
        self._from_cache += line.from_cache

    def _add_latency(self, line: ResultLine) -> None:
        if line.asked and line.latency_ms is not None:
            self._latencies.add(line.latency_ms)
            self._latency_sum.add(*dyadic(line.latency_ms))

    def _add_tokens(self, line: ResultLine) -> None:
        if line.from_cache:
            return  # used when the answer was made, not now
        if line.tokens is None:
            self._usage_unknown += line.answered
            return
        for index, count in enumerate(line.tokens):
            if count is not None:
                self._tokens[index] = (self._tokens[index] or 0) + count

    def _add_cost(self, line: ResultLine) -> None:
        if line.cost_usd is not None:
            self._cost.add(*dyadic(line.cost_usd))
        elif line.paid:
            self._costs_unknown += line.answered
            self._costs_absent += line.maybe_answered

    def summary(self) -> GroupSummary:
        """What the results so far come to."""
        graded = [(trials, passes) for trials, passes in self._cases.values() if trials]
        known, trials, planned = _total(self._cost), self._statuses.total(), self._planned
        # In a file that knows costs, a line without one has an unknown one; another file has no costs at all.
        unknown = self._costs_unknown + (0 if known is None else self._costs_absent)
        return GroupSummary(
            target=self._target,
            suite=self._suite,
            variant=self._variant,
            cases=len(self._cases),
            trials=trials,
            passed=self._statuses["passed"],
            failed=self._statuses["failed"],
            ungraded=self._statuses["ungraded"],
            errors=self._statuses["error"],
            mean_score=clustered_mean(self._scores),
            pass_rate=clustered_proportion(self._passes),
            pass_at_k=pass_at_k(graded),
            pass_hat_k=pass_hat_k(graded),
            latency_ms=self._latency(),
            usage=Usage(
                input_tokens=self._tokens[0],
                output_tokens=self._tokens[1],
                cached_input_tokens=self._tokens[2],
                cache_write_tokens=self._tokens[3],
                reasoning_tokens=self._tokens[4],
            ),
            usage_unknown=self._usage_unknown,
            cost_usd=None if unknown else known,
            cost_usd_known=known,
            costs_unknown=unknown,
            from_cache=self._from_cache,
            scores_unknown=self._scores_unknown,
            planned=planned,
            not_run=None if planned is None else max(planned - trials, 0),
        )

    def _latency(self) -> LatencySummary:
        n, total = self._latencies.n, _total(self._latency_sum)
        mean = None if total is None else total / n
        p50, p90, p95, p99, highest = (self._latencies.at(percent) for percent in (50, 90, 95, 99, 100))
        return LatencySummary(n, mean, p50, p90, p95, p99, highest)


def _cluster(line: ResultLine) -> str:
    """What may make results resemble each other: the conversation, else the case, whose trials are no new cases."""
    # A letter in front keeps a conversation and a case of the same name apart.
    return f"c{line.conversation_id}" if line.conversation_id is not None else f"k{line.case_id}"


def _total(total: ExactSum) -> float | None:
    return total.numerator / (1 << total.exponent) if total.count else None
