"""What is different between the results of a run and those of the run that it grades again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .journal import read_journal
from .regrade_plan import RegradePlan
from .result_keys import ResultKey, key_of
from .run_folder import RESULTS

if TYPE_CHECKING:
    from .session import Session

__all__ = ["GradeChanges", "compare_statuses", "regrade_changes"]


@dataclass(frozen=True, slots=True)
class GradeChanges:
    """How many of `results` have another status than before; `kinds` counts them by the status before and after."""

    results: int
    kinds: Mapping[tuple[str, str], int]

    @property
    def changed(self) -> int:
        """How many have another status."""
        return sum(self.kinds.values())

    @property
    def text(self) -> str:
        """One line.

        >>> GradeChanges(200, {("passed", "failed"): 9, ("failed", "passed"): 3}).text
        '12 of 200 changed: 9 passed → failed, 3 failed → passed'
        """
        if not self.kinds:
            return f"0 of {self.results:,} changed"
        ordered = sorted(self.kinds.items(), key=lambda each: (-each[1], each[0]))
        kinds = ", ".join(f"{count:,} {before} → {after}" for (before, after), count in ordered)
        return f"{self.changed:,} of {self.results:,} changed: {kinds}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        kinds = [{"before": before, "after": after, "results": count} for (before, after), count in self.kinds.items()]
        return {"results": self.results, "changed": self.changed, "changes": kinds}


def compare_statuses(before: Mapping[ResultKey, str], after: Iterable[Mapping[str, Any]]) -> GradeChanges:
    """Hold the lines of a run against earlier statuses; a later line of the same piece of work replaces an earlier."""
    now = {key: str(record.get("status")) for record in after if (key := key_of(record)) in before}
    kinds = Counter((before[key], status) for key, status in now.items() if before[key] != status)
    return GradeChanges(len(now), dict(kinds))


def regrade_changes(session: Session) -> GradeChanges | None:
    """What a run has changed that grades another one again; None for any other run."""
    plan, journal = session.plan, session.folder.path / RESULTS
    if not isinstance(plan, RegradePlan):
        return None
    before = {key: result.status for key, result in plan.recorded.results.items()}
    return compare_statuses(before, read_journal(journal) if journal.is_file() else ())
