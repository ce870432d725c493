"""The kinds `latency` and `cost`: what the answer took. A measure that is not known is not taken for a small one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..conversation.authored import FormatModel
from .base import GradeError, Submission
from .check import Verdict

__all__ = ["Cost", "Latency"]

Bound = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Latency(FormatModel):
    """The answer came in time."""

    max: Bound = Field(description="The most milliseconds of the attempt that answered.")

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Compare the time."""
        found = submission.latency_ms
        if found is None:
            return GradeError("unknown-latency", "the target did not say how long the answer took")
        reason = f"the answer took {found:,.0f} ms, at most {self.max:,g} are allowed"
        return Verdict(found <= self.max, reason, {"latency_ms": found, "max": self.max})


class Cost(FormatModel):
    """The answer was cheap enough."""

    max: Bound = Field(description="The most US dollars.")

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Compare the price of the tokens."""
        found = submission.cost_usd
        if found is None:
            message = "the cost is not known: it takes prices, a count of tokens, and a record that has both"
            return GradeError("unknown-cost", message)
        reason = f"the answer cost ${found:.6g}, at most ${self.max:g} is allowed"
        return Verdict(found <= self.max, reason, {"cost_usd": found, "max": self.max})
