"""A result and a finished run, as the Python API gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .journal import read_journal
from .result_keys import key_of
from .run_folder import RESULTS

if TYPE_CHECKING:
    from pathlib import Path

    from .grade_changes import GradeChanges
    from .record import Status
    from .summary_format import Summary
    from .verdict import Verdict

__all__ = ["Result", "RunOutcome"]


@dataclass(frozen=True, slots=True)
class Result:
    """One case, asked of one target, once. `record` is the whole line of the journal."""

    record: Mapping[str, Any]

    @property
    def suite(self) -> str:
        """The suite's file, from the project root."""
        return str(self.record["suite"])

    @property
    def case_id(self) -> str:
        """The case."""
        return str(self.record["case_id"])

    @property
    def target(self) -> str:
        """The target's name."""
        return str(self.record["target"])

    @property
    def variant(self) -> str | None:
        """The variant's name; None for the case as it is written."""
        variant: str | None = self.record["variant"]
        return variant

    @property
    def trial(self) -> int:
        """Which repeat of the case it is, from 1."""
        return int(self.record["trial"])

    @property
    def status(self) -> Status:
        """`passed`, `failed`, `ungraded` or `error`."""
        status: Status = self.record["status"]
        return status

    @property
    def score(self) -> float | None:
        """From 0 to 1; None unless every grader that counts has graded."""
        score: float | None = self.record["score"]
        return score

    @property
    def reason(self) -> str | None:
        """Why it has this status, and which graders could not grade or do not count; None if there is no answer."""
        reason: str | None = self.record.get("reason")
        return reason

    @property
    def answer(self) -> str | None:
        """The text of the answer; None if there is none."""
        answer: str | None = self.record["answer"]
        return answer

    @property
    def grades(self) -> Sequence[Mapping[str, Any]]:
        """What each grader said."""
        grades: Sequence[Mapping[str, Any]] = self.record["grades"]
        return grades

    @property
    def error(self) -> Mapping[str, Any] | None:
        """`kind`, `message`, `status`, `retryable` and `hint` of why there is no answer."""
        error: Mapping[str, Any] | None = self.record["error"]
        return error


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What came of a run. `left` results are missing if it was stopped early; `resume=run_id` goes on with it.
    `changes` is what is different from the run that was graded again, if one was."""

    run_id: str
    folder: Path
    summary: Summary
    verdict: Verdict
    left: int
    changes: GradeChanges | None = None

    @property
    def passed(self) -> bool:
        """Whether the run did well enough: everything was run and graded, and reached its bar."""
        return self.verdict.exit_code == 0

    def results(self) -> Iterator[Result]:
        """The results, read from the journal in the order in which they came; those done again only once."""
        last = {key_of(record): number for number, record in enumerate(read_journal(self.folder / RESULTS))}
        for number, record in enumerate(read_journal(self.folder / RESULTS)):
            if last.get(key_of(record)) == number:
                yield Result(record)
