"""The judges of a run for a terminal: what they said, and beside it how far they can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine.budget import shown_usd
from .summary_table import NONE
from .terminal import one_line

if TYPE_CHECKING:
    from ..engine.summary_format import JudgeSummary

__all__ = ["judge_lines"]


def judge_lines(judges: Sequence[JudgeSummary]) -> list[str]:
    """A line for each judge: the mean of its scores is never without its calibration."""
    return [one_line(_line(each)) for each in judges]


def _line(judge: JudgeSummary) -> str:
    named = judge.grader if judge.grader != "deck" else judge.deck
    parts = [f"{named} ({judge.kind}, judged by {judge.judge}): mean {_means(judge)}", judge.calibration]
    if judge.ungraded:
        parts.append(f"{judge.ungraded:,} without a verdict")
    parts += [f"{name}: {count:,} without a verdict" for name, count in judge.without_verdict.items()]
    if judge.agreement is not None:
        parts.append(f"the judges agree by {judge.agreement:.2f} (n = {judge.agreement_n:,})")
    if judge.cost_usd:
        parts.append(f"judging took {shown_usd(judge.cost_usd)}")
    return " · ".join(parts)


def _means(judge: JudgeSummary) -> str:
    """The mean, or that of each target where there are several."""
    shown = {target: NONE if mean is None else f"{mean:.2f}" for target, mean in judge.means.items()}
    if len(shown) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{mean} ({target})" for target, mean in shown.items())
