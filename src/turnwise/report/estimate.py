"""An estimate of a run as a table for people, with what the figures rest on."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.budget import shown_usd
from ..engine.estimate import PlanEstimate, TargetEstimate
from ..providers.tokens import USUAL_ANSWER
from .terminal import Style, one_line, plain
from .words import counted

__all__ = ["estimate_text"]

_HEADS = ("target", "requests", "tokens sent", "tokens back", "cost")


def estimate_text(plan: PlanEstimate, style: Style = plain) -> str:
    """A line a target, a line for the whole where there are several, and how the figures were reckoned."""
    targets = plan.targets
    if not targets:
        return "nothing would be sent"
    rows = [_row(each) for each in (*targets, plan.total)[: len(targets) + (len(targets) > 1)]]
    head, *lines = _aligned([_HEADS, *rows])
    return "\n".join([style(head, None, bold=True), *lines, *(style(note, "grey") for note in _notes(plan))])


def _row(estimate: TargetEstimate) -> tuple[str, ...]:
    cost = "unknown" if estimate.cost_usd is None else f"≈ {shown_usd(estimate.cost_usd)}" if estimate.cost_usd else "—"
    counts = (estimate.input_tokens, estimate.output_tokens)
    tokens = ("unknown" if estimate.is_agent else f"≈ {count:,}" for count in counts)
    return one_line(estimate.target), f"{estimate.requests:,}", *tokens, cost


def _notes(plan: PlanEstimate) -> list[str]:
    whole = plan.total
    models = [each for each in plan.targets if not each.is_agent]
    notes = ["≈ four characters a token; neither retries nor judges are counted"] if models else []
    if whole.unlimited < sum(each.requests for each in models):
        notes.append("answers count with the most that `max_output_tokens` allows")
    if whole.unlimited:
        have, each_of = ("has", "") if whole.unlimited == 1 else ("have", " each")
        answers = counted(whole.unlimited, "answer")
        notes.append(f"{answers} {have} no limit: {USUAL_ANSWER} tokens{each_of} are assumed")
    for date in sorted({each.prices_as_of for each in plan.targets if each.prices_as_of}):
        names = ", ".join(one_line(each.target) for each in plan.targets if each.prices_as_of == date)
        notes.append(f"{names}: list prices of {date}; yours may differ")
    notes += [f"{one_line(each.target)}: {each.cost_unknown}" for each in plan.targets if each.cost_unknown]
    return notes


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names to the left, figures to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    padded = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return ["  ".join([row[0].ljust(widths[0]), *cells[1:]]) for row, cells in zip(rows, padded, strict=True)]
