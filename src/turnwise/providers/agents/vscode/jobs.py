"""A request, or a batch of them, that VS Code is at work on: who waits for what, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from ....errors import ProviderError
from ...base import ProviderResponse
from ..changes import Changes, changes_between
from ..work import AgentWork
from .batching import Asked
from .preparing import Errand, Prepared, work_in
from .sharing import SharedClaim

__all__ = ["Job"]


@dataclass(frozen=True, slots=True)
class Job:
    """The cases of `group`, numbered from 0, in one agent folder. `began` is when it was handed over, `said` what the
    `code` command said then."""

    group: Sequence[Asked]
    shared: SharedClaim
    prepared: Prepared
    version: str | None
    began: float
    said: str = ""

    def note(self, work: AgentWork) -> None:
        """Add how long it took, and what the folder holds now that it did not before."""
        work.seconds = monotonic() - self.began
        changes = changes_between(self.prepared.before, work_in(self.shared.folder))
        work.changes = changes if len(self.group) == 1 else _of_many(changes, len(self.group))

    def answer(self, number: int, text: str, work: AgentWork) -> None:
        """Give a case its answer. The folder is its until it is graded."""

        def release(_failed: bool) -> bool:
            self.shared.release(number)
            return False

        asked = self.group[number]
        if asked.answer.done():
            self.shared.release(number)
            return
        work.on_release = release
        asked.answer.set_result(
            ProviderResponse(
                text=text,
                messages=[{"role": "assistant", "content": text}],
                sent=[{"role": "user", "content": self.prepared.errands[number].text}],
                latency_ms=None if work.seconds is None else work.seconds * 1000,
                agent=work,
            )
        )

    def fail(self, number: int, error: ProviderError) -> None:
        """Say why a case has no answer."""
        self.shared.release(number)
        asked = self.group[number]
        if not asked.answer.done():
            asked.answer.set_exception(error)

    def fail_all(self, error_of: Callable[[Errand], ProviderError]) -> None:
        """Say why no case has an answer."""
        for number, errand in enumerate(self.prepared.errands):
            self.fail(number, error_of(errand))


def _of_many(changes: Changes, count: int) -> Changes:
    """Nobody can tell which case of a batch changed what."""
    note = f"{count} cases of a batch shared the folder: these are the changes of all of them so far"
    return replace(changes, note=note if changes.note is None else f"{note}; {changes.note}")
