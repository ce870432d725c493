"""What the engine can carry out: pieces of work, each a request to a target, and what is made of the answers.

A run's plan is such a workload, and so is a calibration, whose pieces are samples for a judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..graders.base import Grade
    from ..graders.scoring import CaseScore
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.project import Project
    from ..targets.settings import Prices
    from .planned_targets import PlannedTarget
    from .result_keys import ResultKey

__all__ = ["Piece", "Workload"]


class Piece(Protocol):
    """One piece of work. `attempts` and `returns` count what was tried in vain before it was put back, `tried` the
    attempts of this time that have failed, and `trouble` says why the last of them did."""

    attempts: int
    returns: int
    tried: int
    is_answered: bool
    trouble: str | None

    @property
    def key(self) -> ResultKey:
        """What makes it this piece of work."""

    @property
    def target(self) -> PlannedTarget:
        """Whom it is asked of."""

    @property
    def settings_key(self) -> tuple[str, str] | None:
        """Which of the target's settings it wants; None for the target's own."""

    @property
    def prefix(self) -> str:
        """What leads from the run's root to the folder that its files are named from."""

    @property
    def conversation_id(self) -> str | None:
        """What joins the conversations that belong together."""

    @property
    def threshold(self) -> float:
        """The score from which it passes."""

    def request(self, system_prompt: str | None) -> ProviderRequest:
        """What is asked; `system_prompt` is the target's. Raises `ResolutionError` if it cannot be made."""

    async def grade(
        self, request: ProviderRequest, response: ProviderResponse, prices: Prices | None
    ) -> tuple[Sequence[Grade], CaseScore]:
        """What is made of the answer. Raises `ResolutionError` if what is expected of it cannot be read."""


class Workload(Protocol):
    """All pieces of work. `results` counts them, `files` are the hashes of what they refer to, by path."""

    @property
    def project(self) -> Project:
        """Where it belongs."""

    @property
    def names(self) -> Sequence[str]:
        """The suites, or decks, that the pieces are of."""

    @property
    def targets(self) -> Sequence[PlannedTarget]:
        """Whom the pieces are asked of; resolved before anything is asked."""

    @property
    def results(self) -> int:
        """How many pieces there are."""

    @property
    def files(self) -> Mapping[str, str]:
        """The hashes of the files that pieces refer to, by path."""

    def work(self, target: PlannedTarget) -> Iterator[Piece]:
        """The pieces for one target, in their order; anew each time."""
