"""What is learned of the cases of datasets while they are validated, so that a large one is not read once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..graders.diagnose import grader_diagnostics
from ..suite.intake import MOST_DIAGNOSTICS

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..suite.case import Case
    from ..suite.format import SuiteHeader

__all__ = ["FirstLook", "Look", "refers_to_files"]


@dataclass
class Look:
    """The cases of one suite: how many are for each target and number of trials, and what is wrong with their graders.

    `whole` is False where a case refers to files, which are looked at later.
    """

    header: SuiteHeader
    counts: Counter[tuple[str | None, int | None]] = field(default_factory=Counter)
    examples: dict[str | None, Case] = field(default_factory=dict)
    found: dict[Diagnostic, None] = field(default_factory=dict)
    whole: bool = True


class FirstLook:
    """Called with every case of a dataset as it is validated. Without `graded`, graders are not looked at."""

    def __init__(self, *, graded: bool) -> None:
        self._graded = graded
        self._of: dict[int, Look] = {}

    def __call__(self, case: Case) -> None:
        """Take a case into account."""
        header = case.context.suite
        look = self._of.get(id(header))
        if look is None:
            look = self._of[id(header)] = Look(header)
        look.counts[case.target, case.trials] += 1
        if case.target not in look.examples:
            look.examples[case.target] = case
        if look.whole and refers_to_files(case):
            look.whole = False
        if self._graded and len(look.found) < MOST_DIAGNOSTICS and (said := grader_diagnostics(case)):
            look.found |= dict.fromkeys(said)

    def of(self, header: SuiteHeader) -> Look | None:
        """What was seen of a suite's cases; None if they are not from a dataset."""
        return self._of.get(id(header))


def refers_to_files(case: Case) -> bool:
    """Whether a message of the case has parts: only those can be files."""
    return (
        any(_has_parts(message) for message in case.input_messages)
        or any(_has_parts(message) for message in case.expected_messages)
        or any(isinstance(turn.content, list) for turn in case.turns)
    )


def _has_parts(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("content"), list)
