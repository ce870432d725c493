"""Targets in a list: as data, and as aligned lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..targets.survey import SurveyedTarget
from .terminal import Style, one_line, plain

if TYPE_CHECKING:
    from ..providers.agents.readiness import AgentNeed
    from ..providers.checking import CheckOutcome

__all__ = ["check_text", "target_record", "targets_text"]

_NONE = "—"


def target_record(
    target: SurveyedTarget, outcome: CheckOutcome | None = None, need: AgentNeed | None = None
) -> dict[str, Any]:
    """One target as plain data; what is not known is null. `check` is what came of asking it, `needs` what an agent
    lacks."""
    resolved = target.resolved
    check: dict[str, Any] | None = None
    if outcome is not None:
        check = {
            "ok": outcome.ok,
            "detail": outcome.detail,
            "hint": outcome.hint,
            "latency_ms": outcome.latency_ms,
        }
        if outcome.agent is not None:
            check["agent"] = outcome.agent.record()
    return {
        "name": target.name,
        "provider": target.provider,
        "model": target.model,
        "address": target.address,
        "ready": resolved is not None and need is None,
        "missing": list(target.missing),
        "needs": None if need is None else need.what,
        "problem": target.problem,
        "hint": target.hint if need is None else need.hint,
        "variables": dict(resolved.variables) if resolved is not None else {},
        "warnings": list(resolved.warnings) if resolved is not None else [],
        "check": check,
    }


def targets_text(
    targets: Sequence[SurveyedTarget], style: Style = plain, needs: Mapping[str, AgentNeed] | None = None
) -> str:
    """A line a target: name, provider, model, address, and whether its variables are set, or what an agent needs."""
    rows = [[target.name, target.provider, target.model or _NONE, target.address or _NONE] for target in targets]
    lines = []
    for target, row in zip(targets, _aligned(rows), strict=True):
        need = (needs or {}).get(target.name)
        state = _state(target, style) if need is None else style(one_line(need.what), "yellow")
        lines.append(f"{style(row[0], None, bold=True)}  {'  '.join(row[1:])}  {state}")
        hint = need.hint if need is not None else target.hint if target.problem else None
        if hint:
            lines.append(f"  {style('hint:', 'cyan')} {one_line(hint)}")
    return "\n".join(lines)


def check_text(targets: Sequence[SurveyedTarget], outcomes: Sequence[CheckOutcome], style: Style = plain) -> str:
    """A line a target: ✓ and the time that its answer took, or ✗ and why there was none; of an agent, what was found
    of it, too."""
    rows = _aligned([[target.name, target.provider, target.model or _NONE] for target in targets])
    lines = []
    for row, outcome in zip(rows, outcomes, strict=True):
        mark = style("✓", "green", bold=True) if outcome.ok else style("✗", "red", bold=True)
        lines.append(f"{mark} {'  '.join(row)}  {_came_of_it(outcome)}".rstrip())
        if outcome.hint and not outcome.ok:
            lines.append(f"  {style('hint:', 'cyan')} {one_line(outcome.hint)}")
    return "\n".join(lines)


def _came_of_it(outcome: CheckOutcome) -> str:
    took = outcome.latency_ms if outcome.ok else None
    if outcome.agent is None:
        return one_line(outcome.detail) if took is None else f"{took:,.0f} ms"
    said = one_line(outcome.detail) if took is None else f"answered in {took / 1000:,.1f} s"
    return f"{one_line(outcome.agent.text())}, {said}"


def _state(target: SurveyedTarget, style: Style) -> str:
    if target.problem:
        return style(one_line(target.problem), "red")
    if target.missing:
        return style(f"not set: {', '.join(target.missing)}", "yellow")
    return style("ready", "green")


def _aligned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    shown = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*shown, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in shown]
