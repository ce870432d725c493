"""The graders that did not count everywhere, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .words import counted, shown

if TYPE_CHECKING:
    from ..engine.summary_format import LeftOutSummary

__all__ = ["left_out_lines"]

_MOST = 10
_LONGEST = 240


def left_out_lines(graders: Sequence[LeftOutSummary]) -> list[str]:
    """A line for each grader and reason. What `when` excludes is told apart: it did not fail."""
    more = len(graders) - _MOST
    rest = [f"and {more:,} more; `results.jsonl` has them all"] if more > 0 else []
    return [shown(_line(each), _LONGEST) for each in graders[:_MOST]] + rest


def _line(left_out: LeftOutSummary) -> str:
    where = f"{left_out.grader} in {left_out.results:,} of {counted(left_out.of, 'result')}"
    if left_out.rule == "when":
        return f"not meant for: {where}"
    return f"left out: {where} ({left_out.kind}: {left_out.why})"
