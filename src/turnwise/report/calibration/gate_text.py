"""Bars and verdicts in a line each: whether a bar is met and, where that cannot be told, why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .wording import code_text, name_of, of_judge

if TYPE_CHECKING:
    from ...calibration.report import Calibration, GateResult

__all__ = ["gate_lines", "gate_reason", "quiet_lines"]

_OF_REPEATS = ("self_agreement", "flip_rate")
_WORDS = {True: "met", False: "NOT met", None: "cannot be told"}


def gate_lines(calibration: Calibration) -> list[tuple[str, bool | None]]:
    """Each bar with each judge, and whether it is met."""
    return [
        (f"{gate.gate}: {gate.model} {_WORDS[gate.met]} ({_found(gate, calibration)})", gate.met)
        for gate in calibration.gates
    ]


def gate_reason(gate: GateResult, calibration: Calibration) -> str:
    """Why a bar has no value to be compared with."""
    from ...calibration.gates import parse_gate

    wanted = parse_gate(gate.gate)
    model = next((each for each in calibration.models if each.model == gate.model), None)
    figures = None if model is None else model.statistics_majority if wanted.majority else model.statistics
    if model is None or figures is None:
        return "no sample has the labels of several people, so that there is no majority"
    name = model.headline if wanted.statistic == "headline" else wanted.statistic
    figure = figures.get(name)
    if figure is None:
        if name in _OF_REPEATS:
            return f"no {name_of(name)}: only --repeats shows it"
        return f"this {calibration.scale.kind} scale has no {name_of(name)}"
    reason = of_judge(figure.reason) if figure.reason else "the labels do not define it"
    return f"not defined: {reason}" if figure.value is None else f"no interval: {reason}"


def quiet_lines(calibration: Calibration) -> Iterator[str]:
    """A line for each judge and each bar, with the deck before it where there is one. Not yet harmless."""
    deck = "" if calibration.deck is None else f"{calibration.deck.path}: "
    for model in calibration.models:
        yield f"{deck}{model.model}: {model.verdict.use}: {of_judge(model.verdict.reason)}"
    for text, _ in gate_lines(calibration):
        yield f"{deck}{text}"


def _found(gate: GateResult, calibration: Calibration) -> str:
    return gate_reason(gate, calibration) if gate.value is None else code_text(gate.value)
