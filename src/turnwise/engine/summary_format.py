"""What a summary holds: plain values, none of them rounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..providers.base import Usage
from ..stats.intervals import Estimate

if TYPE_CHECKING:
    from .record import Status
    from .verdict import Verdict

__all__ = [
    "FailedResult", "GroupSummary", "JudgeSummary", "LatencySummary", "LeftOutRule", "LeftOutSummary", "RankedResult",
    "Summary",
]  # fmt: skip

LeftOutRule = Literal["on_error", "when"]
"""What a grader was left out by: an error of its own, or because it is not meant for the answer."""


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Milliseconds of `n` answers that were really asked for; None where there are none."""

    n: int
    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A result that stands out; `value` is what it stands out by."""

    case_id: str
    suite: str | None
    target: str
    variant: str | None
    trial: int
    value: float


@dataclass(frozen=True, slots=True)
class FailedResult:
    """A result that failed, is an error or could not be graded, and why; `why` is cut where it is very long. `hint`
    says what can be done about an error; `log` and `workspace` are what is kept of an agent's work."""

    case_id: str
    suite: str | None
    target: str
    variant: str | None
    trial: int
    status: Status
    why: str
    hint: str | None = None
    log: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """What one judge said by one deck, and how far that can be trusted, in the words of when the run began. Of graders
    without a deck, `deck` is their `kind`, and `judge` names all that they ask.

    `means` are the mean scores of each target's answers; None where it gave no verdict on any. `ungraded` counts
    answers without a verdict. `cost_usd` is None if the cost of any verdict is not known, or nothing has a price. Of a
    panel, `agreement` is the mean over the `agreement_n` answers on which two judges or more gave a verdict, and
    `without_verdict` counts, for each judge, the answers on which it gave none.
    """

    grader: str
    deck: str
    judge: str
    calibration: str
    graded: int
    ungraded: int
    means: Mapping[str, float | None]
    cost_usd: float | None
    kind: str = "deck"
    agreement: float | None = None
    agreement_n: int = 0
    without_verdict: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutSummary:
    """A grader that did not count in `results` of the `of` results that have it: it is not meant for them (`when`), or
    could not grade and was left out (`on_error`). `kind` is that of its errors, and `why` one of their messages."""

    grader: str
    rule: LeftOutRule
    kind: str
    results: int
    of: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary:
    """The results of one target with one variant on one suite. What is not known is None, never 0."""

    target: str
    suite: str | None
    variant: str | None
    cases: int
    """Distinct cases."""
    trials: int
    """All results: passed, failed, ungraded and errors."""
    passed: int
    failed: int
    ungraded: int
    errors: int
    mean_score: Estimate
    pass_rate: Estimate
    pass_at_k: Mapping[int, float]
    pass_hat_k: Mapping[int, float]
    latency_ms: LatencySummary
    usage: Usage
    """Tokens of the answers that were really asked for: those from the cache were used at another time."""
    usage_unknown: int
    """Answers that were asked for, but whose tokens were not counted."""
    cost_usd: float | None
    """None if the cost of any answer is not known, or nothing has a price."""
    cost_usd_known: float | None
    costs_unknown: int
    """Answers that cost something, but nobody knows what."""
    from_cache: int
    planned: int | None = None
    """Results that there are to be; None without a plan, as of a file alone."""
    not_run: int | None = None
    """Those of them that are missing."""
    scores_unknown: int = 0
    """Failed results without a score: what they require did not pass, and another grader could not grade."""

    @property
    def graded(self) -> int:
        """How many results passed or failed."""
        return self.passed + self.failed

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON data."""
        data = asdict(self)
        for name in ("pass_at_k", "pass_hat_k"):
            data[name] = {str(k): chance for k, chance in data[name].items()}
        return data


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a run. `targets` has an entry for each target, variant and suite: those of the plan in its order,
    then others as they first appeared.

    `run_id` is None where the results do not all belong to one run. `failures` are the first by name of the
    `failures_in_all` that failed, are errors or could not be graded. `judges` are the models that judged.
    `left_out` are the graders that did not count everywhere. `unjudged` counts results that have no score, as
    ungraded ones and some failed ones have none, and lack the verdict of a judge.
    """

    run_id: str | None
    targets: tuple[GroupSummary, ...]
    slowest: tuple[RankedResult, ...]
    most_expensive: tuple[RankedResult, ...]
    errors_by_kind: Mapping[str, int]
    ungraded_by_reason: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[FailedResult, ...] = ()
    failures_in_all: int = 0
    judges: tuple[JudgeSummary, ...] = ()
    left_out: tuple[LeftOutSummary, ...] = ()
    unjudged: int = 0

    @property
    def results(self) -> int:
        """How many results there are."""
        return sum(group.trials for group in self.targets)

    def as_dict(self, verdict: Verdict | None = None) -> dict[str, Any]:
        """The same as JSON data, with the verdict if there is one."""
        return {
            "run_id": self.run_id,
            "targets": [group.as_dict() for group in self.targets],
            "slowest": [asdict(each) for each in self.slowest],
            "most_expensive": [asdict(each) for each in self.most_expensive],
            "errors_by_kind": dict(self.errors_by_kind),
            "ungraded_by_reason": dict(self.ungraded_by_reason),
            "failures": [asdict(each) for each in self.failures],
            "failures_in_all": self.failures_in_all,
            "judges": [asdict(each) for each in self.judges],
            "left_out": [asdict(each) for each in self.left_out],
            "unjudged": self.unjudged,
            "verdict": None if verdict is None else asdict(verdict),
        }
