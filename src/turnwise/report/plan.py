"""What a run would do, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.dry_run import cases_by_suite
from .terminal import Style, one_line, plain
from .words import counted

if TYPE_CHECKING:
    from ..engine.plan import Plan

__all__ = ["plan_text"]


def plan_text(plan: Plan, style: Style = plain) -> str:
    """A line for the whole, one for each suite, and one for each judge."""
    targets = ", ".join(target.name for target in plan.targets)
    head = f"{counted(plan.results, 'result')} of {counted(plan.cases, 'case')}, asked of {one_line(targets)}"
    lines = [style(head, None, bold=True)]
    cases = cases_by_suite(plan)
    for planned in plan.suites:
        names = [each.name if each is not None else "as written" for each in planned.variants]
        variants = f", variants: {', '.join(names)}" if names != ["as written"] else ""
        lines.append(one_line(f"  {planned.name}: {counted(cases[planned.name], 'case')}{variants}"))
    lines += [
        one_line(f"  judged by {judge.target.name} ({judge.name}) · {judge.calibration}")
        for judge in plan.judges.judges
    ]
    if plan.judges:
        lines.append("  what judges take is not in the estimate")
    return "\n".join(lines)
