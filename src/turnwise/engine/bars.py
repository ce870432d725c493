"""What a run has to reach, as its `run.json` says it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import RunError
from .description import DESCRIPTION_VERSION
from .summary import Tally

__all__ = ["Bars", "unrecorded_text"]


@dataclass(frozen=True, slots=True)
class Bars:
    """The bounds of a run's pass rates, how many results were planned, in all and of each group, and whether they were
    to be graded. `unrecorded` says what the run that it grades again lacks."""

    threshold: float | None = None
    min_pass_rates: Mapping[str, float] = field(default_factory=dict)
    planned: int | None = None
    graded: bool = True
    groups: tuple[tuple[str, str | None, str, int], ...] = ()
    unrecorded: str = ""

    def tally(self) -> Tally:
        """A tally that knows what was planned of each target, variant and suite."""
        tally = Tally()
        for target, variant, suite, results in self.groups:
            tally.expect(target, variant, suite, results)
        return tally

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Bars:
        """The bars in the description of a run; what it does not say is not bounded. Raises `RunError` for what is
        wrong, or of another version.

        >>> Bars.of({"results": 4, "suites": [{"file": "a.yaml", "min_pass_rate": 0.9}]}).min_pass_rates
        {'a.yaml': 0.9}
        """
        version = description.get("schema_version", DESCRIPTION_VERSION)
        if version != DESCRIPTION_VERSION:
            raise _unreadable(f"it has version {version!r}, and this version of Turnwise knows {DESCRIPTION_VERSION}")
        options = description.get("options") or {}
        suites = description.get("suites") or []
        planned = description.get("results")
        if not isinstance(options, dict) or not isinstance(suites, list):
            raise _unreadable("`options` must be an object and `suites` a list")
        if planned is not None and (type(planned) is not int or planned < 0):
            raise _unreadable(f"`results` must be a whole number from 0; found {planned!r}")
        rates = {str(file): _rate(rate, "min_pass_rate") for file, rate in map(_suite, suites)}
        return cls(
            threshold=_rate(options.get("threshold"), "options.threshold"),
            min_pass_rates={file: rate for file, rate in rates.items() if rate is not None},
            planned=planned,
            graded=options.get("graded") is not False,
            groups=tuple(map(_group, description.get("groups") or ())),
            unrecorded=unrecorded_text(description.get("regrades")),
        )


def unrecorded_text(regrades: Any) -> str:
    """What a run that is graded again lacks, by the `regrades` of a description; empty if it is nothing, or not known.

    >>> unrecorded_text({"unrecorded": {"results": 1, "planned": 2, "resume": "turnwise run --resume r1"}})
    '1 of 2 planned results has no record: go on with turnwise run --resume r1'
    """
    match regrades:
        case {"unrecorded": {"results": int() as results, "planned": int() as planned, "resume": str() as resume}}:
            has = "has" if results == 1 else "have"
            return f"{results:,} of {planned:,} planned results {has} no record: go on with {resume}"
    return ""


def _group(group: Any) -> tuple[str, str | None, str, int]:
    match group:
        case [str() as target, str() | None as variant, str() as suite, int() as results]:
            return target, variant, suite, results
    raise _unreadable(f"each of `groups` must be a target, a variant, a suite and a number; found {group!r}")


def _suite(suite: Any) -> tuple[Any, Any]:
    if not isinstance(suite, dict):
        raise _unreadable(f"each of `suites` must be an object; found {suite!r}")
    return suite.get("file"), suite.get("min_pass_rate")


def _rate(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _unreadable(f"`{name}` must be a number from 0 to 1, or null; found {value!r}")
    return float(value)


def _unreadable(what: str) -> RunError:
    return RunError(f"the description of the run is wrong: {what}", "correct run.json in the folder of the run")
