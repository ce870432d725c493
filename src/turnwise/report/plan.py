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
    """A line for the whole, and one for each suite."""
    targets = ", ".join(target.name for target in plan.targets)
    head = f"{counted(plan.results, 'result')} of {counted(plan.cases, 'case')}, asked of {one_line(targets)}"
    lines = [style(head, None, bold=True)]
    cases = cases_by_suite(plan)
    for planned in plan.suites:
        names = [each.name if each is not None else "as written" for each in planned.variants]
        variants = f", variants: {', '.join(names)}" if names != ["as written"] else ""
        lines.append(one_line(f"  {planned.name}: {counted(cases[planned.name], 'case')}{variants}"))
    return "\n".join(lines)
