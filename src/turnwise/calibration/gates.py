"""Bars that figures must meet, such as `kappa_lo>=0.6`: what decides whether a pipeline goes on."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..suite.explain import did_you_mean
from .report import STATISTICS, GateResult

if TYPE_CHECKING:
    from .report import ModelReport

__all__ = ["Gate", "check_gates", "gates_exit_code", "parse_gate"]

_GATE = re.compile(
    r"\s*(majority\.)?([a-z_0-9]+?)(_lo|_hi)?\s*(>=|<=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A bar: a figure or one of its bounds, and what it is compared with."""

    text: str
    statistic: str
    bound: str | None
    comparison: str
    threshold: float
    majority: bool = False

    def result(self, report: ModelReport) -> GateResult:
        """Whether a model meets it."""
        figures = report.statistics_majority if self.majority else report.statistics
        name = report.headline if self.statistic == "headline" else self.statistic
        figure = (figures or {}).get(name)
        value = None if figure is None else {None: figure.value, "lo": figure.lo, "hi": figure.hi}[self.bound]
        met = None if value is None else _COMPARE[self.comparison](value, self.threshold)
        return GateResult(self.text, report.model, value, met)


def parse_gate(text: str) -> Gate:
    """A bar as it is written. Raises `UsageError`.

    >>> gate = parse_gate("kappa_lo>=0.6")
    >>> gate.statistic, gate.bound, gate.threshold
    ('kappa', 'lo', 0.6)
    """
    match = _GATE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a gate", "write a figure, a comparison and a number: kappa_lo>=0.6")
    majority, name, bound, comparison, threshold = match.groups()
    known = ("headline", *STATISTICS)
    if name not in known:
        raise UsageError(
            f"the gate {text!r}: no figure is named {name!r}", did_you_mean(name, list(known), "there are")
        )
    return Gate(text.strip(), name, bound[1:] if bound else None, comparison, float(threshold), bool(majority))


def check_gates(gates: Iterable[Gate], models: Sequence[ModelReport]) -> tuple[GateResult, ...]:
    """Every bar for every model."""
    return tuple(gate.result(model) for gate in gates for model in models)


def gates_exit_code(results: Iterable[GateResult]) -> int:
    """0 if all are met, 1 if one is not, 3 if one cannot be told and none is missed.

    >>> gates_exit_code([GateResult("kappa>=0", "m", None, None)])
    3
    """
    met = [result.met for result in results]
    if any(each is False for each in met):
        return 1
    return 3 if any(each is None for each in met) else 0
