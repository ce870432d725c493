"""Outputs that are no verdicts, by kind, each with what the judge wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figures import counted
from .markup import Html, clipped, joined, tag
from .words import STATUS_WORDS

if TYPE_CHECKING:
    from ....calibration.report import InvalidOutput, ModelReport

__all__ = ["LONGEST_RAW", "invalid_outputs"]

LONGEST_RAW = 2000
_MOST_OF_A_KIND = 50


def invalid_outputs(models: Sequence[ModelReport]) -> Html:
    """A part for each model that has any, and in it a part for each kind."""
    parts = [_model(model) for model in models if model.invalid_outputs or any(model.invalid.values())]
    if not parts:
        return Html("")
    note = "None of these is in any figure."
    return joined([tag("h3", "Outputs that are no verdict"), tag("p", note, class_="note"), *parts])


def _model(model: ModelReport) -> Html:
    kinds: dict[str, list[InvalidOutput]] = {kind: [] for kind in model.invalid}
    for output in model.invalid_outputs:
        kinds.setdefault(output.status, []).append(output)
    parts = [_kind(kind, outputs, model.invalid.get(kind, 0)) for kind, outputs in kinds.items()]
    head = tag("h4", model.model, tag("small", counted(model.total - model.valid, "sample") + " without a verdict"))
    return tag("div", head, *parts, class_="no-verdicts")


def _kind(kind: str, outputs: Sequence[InvalidOutput], samples: int) -> Html:
    """The number of samples can be smaller than that of outputs, where samples are judged several times."""
    count = counted(samples, "sample") if samples else counted(len(outputs), "output")
    summary = tag("summary", tag("code", kind), f" {STATUS_WORDS.get(kind, '')} ", tag("b", count))
    left_out = len(outputs) - _MOST_OF_A_KIND
    more = tag("p", f"{left_out:,} more are in the JSON report.", class_="note") if left_out > 0 else None
    return tag("details", summary, *(_output(each) for each in outputs[:_MOST_OF_A_KIND]), more)


def _output(output: InvalidOutput) -> Html:
    text, left_out = clipped(output.raw, LONGEST_RAW)
    repeat = f", repeat {output.repeat}" if output.repeat > 1 else ""
    raw = tag("pre", text, dir="auto", tabindex="0") if text else tag("p", "no text", class_="note")
    more = tag("p", f"… {left_out:,} more characters", class_="note") if left_out else None
    return tag("div", tag("p", tag("b", output.id), f"{repeat}: {output.detail}"), raw, more, class_="output")
