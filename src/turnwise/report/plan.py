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
    how = "asked of" if plan.regrades is None else f"of the run {plan.regrades['run_id']}, graded again: answers of"
    head = one_line(f"{counted(plan.results, 'result')} of {counted(plan.cases, 'case')}, {how} {targets}")
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
    lines += [one_line(f"  judged by {asker.target.name} ({asker.name})") for asker in plan.judges.by_prompt.askers]
    lines += [one_line(f"  compared by {target.name}") for target in plan.judges.embedders.values()]
    if plan.judges and plan.regrades is None:
        lines.append("  what judges take is not in the estimate")
    return "\n".join(lines)
