"""How corrected pass rates read: below a report in a terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .markdown_text import code, inline
from .wording import counted, cut, figure

if TYPE_CHECKING:
    from ...calibration.estimating import Estimate

__all__ = ["estimate_lines", "estimate_markdown", "estimate_notes", "estimate_sentence", "estimate_title"]

_METHODS = {"rogan-gladen": "Rogan–Gladen, interval of Lee et al.", "ppi++": "PPI++"}
_LONGEST_NAME = 100


def estimate_title(estimate: Estimate) -> str:
    """What the block is about."""
    return f"pass rate of unlabelled answers{f', {estimate.deck}' if estimate.deck is not None else ''}"


def estimate_sentence(estimate: Estimate) -> str:
    """The rate in one sentence, without the judge's name; a refusal says why and what to do."""
    rate = estimate.rate
    reported = "" if rate.raw is None else f"passes {_percent(rate.raw)} of {counted(rate.n, 'answer')}; "
    if rate.value is None:
        return f"{reported}not corrected: {rate.refusal}"
    return f"{reported}corrected for its errors {_percent(rate.value)}{_ends(estimate)}"


def _ends(estimate: Estimate) -> str:
    lo, hi = estimate.rate.lo, estimate.rate.hi
    if lo is None or hi is None:
        return " (no interval, as nothing varies)"
    if lo == hi:
        return " (no interval: see below)" if estimate.doubts else ""
    return f" [{100 * lo:.1f}, {100 * hi:.1f}]"


def estimate_lines(estimate: Estimate, *, clean: Callable[[str], str]) -> list[str]:
    """The sentence, then how it was made and what it leaves out, indented."""
    name = clean(cut(estimate.model, _LONGEST_NAME))
    return [f"{name} {estimate_sentence(estimate)}", *(f"  {clean(each)}" for each in estimate_notes(estimate))]


def estimate_markdown(estimates: Sequence[Estimate], *, clean: Callable[[str], str]) -> str:
    """A section with a point for each judge."""
    lines = ["### Pass rate of unlabelled answers", ""]
    for each in estimates:
        deck = f"{code(clean(cut(each.deck, _LONGEST_NAME)))}, " if each.deck is not None else ""
        name = code(clean(cut(each.model, _LONGEST_NAME)))
        said = [estimate_sentence(each), *estimate_notes(each)]
        lines.append(f"- {deck}{name} {'<br>'.join(inline(clean(text)) for text in said)}")
    return "\n".join(lines) + "\n"


def estimate_notes(estimate: Estimate) -> list[str]:
    """What the rate rests on, and what it leaves out; first what speaks against it."""
    rate = estimate.rate
    made = f"{_METHODS[rate.method]}; {counted(rate.labels, 'labelled sample')}"
    made += f", TPR {figure(estimate.tpr)}, TNR {figure(estimate.tnr)}"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(estimate.invalid.items()))
    total = sum(estimate.invalid.values())
    left_out = [f"{counted(total, 'answer')} without a verdict left out: {kinds}"] if total else []
    return [*estimate.doubts, made, *left_out, *estimate.notes]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
