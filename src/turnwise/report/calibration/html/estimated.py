"""Corrected pass rates of unlabelled answers, where a calibration was asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimate_text import estimate_notes, estimate_sentence
from .markup import Html, tag

if TYPE_CHECKING:
    from ....calibration.estimating import Estimate
    from ....calibration.report import Calibration

__all__ = ["estimated"]


def estimated(calibration: Calibration) -> Html | None:
    """A line for each judge, and below it what the rate rests on; nothing where none was asked for."""
    from ....calibration.estimating import estimates_of

    found = estimates_of([calibration])
    if not found:
        return None
    return tag("div", tag("h3", "Pass rate of unlabelled answers"), *map(_estimate, found), class_="estimates")


def _estimate(estimate: Estimate) -> Html:
    notes = [tag("li", note) for note in estimate_notes(estimate)]
    said = tag("p", tag("b", estimate.model), " ", estimate_sentence(estimate))
    return tag("div", said, tag("ul", *notes, class_="notes"))
