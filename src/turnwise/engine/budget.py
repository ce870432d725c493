"""How much a run may spend, in dollars or tokens, and whether one more request still fits.

What a request costs is known only when its answer is there. So a run asks before each request: what is spent, and for
each request under way, this one among them, as much as requests have cost on average so far. That keeps a run from
overshooting as far as costs resemble each other: it may end some requests short of its budget, and beyond it only if
the last answers are far dearer than those before.

Before anything has cost something there is no average, and at most four requests are under way: they are what a
budget can be overrun by that is too small for anything. Answers that are free by nature, such as those of a local
model, let more go on at once; answers from the cache say nothing about what others cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..targets.settings import TargetBase

__all__ = ["AT_FIRST", "Budget", "require_prices", "shown_usd"]

AT_FIRST = 4
"""How many requests may be under way before there is anything to tell costs from."""

# Ten times ten cents are a dollar, whatever floats say.
_ROUNDING = 1e-9


@dataclass(slots=True)
class _Purse:
    """One limit, what is spent of it, and by how many requests."""

    limit: float
    spent: float = 0.0
    paid: int = 0
    free: int = 0

    def take(self, amount: float | None) -> None:
        if amount is None:
            self.free += 1
        elif amount > 0:
            self.spent += amount
            self.paid += 1

    @property
    def mean(self) -> float | None:
        return self.spent / self.paid if self.paid else None

    def admits(self, in_flight: int) -> bool:
        mean = self.mean
        if mean is None:
            return in_flight < AT_FIRST + self.free
        return self.spent + (in_flight + 1) * mean <= self.limit * (1 + _ROUNDING)


@dataclass(slots=True)
class Budget:
    """What a run may spend; None is no limit. `estimated` are those of the `spent_tokens` that nobody counted.

    >>> budget = Budget(usd=0.10)
    >>> budget.count(0.04, 900, 1000)
    >>> budget.admits(0), budget.admits(1)
    (True, False)
    >>> budget.count(0.04, None, 1000)
    >>> budget.reached
    'the budget of $0.10 is reached: $0.08 is spent, and one more request takes about $0.04'
    """

    usd: float | None = None
    tokens: int | None = None
    estimated: int = field(default=0, init=False)
    _dollars: _Purse = field(init=False, repr=False)
    _tokens: _Purse = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for limit, what in ((self.usd, "dollars"), (self.tokens, "tokens")):
            # Not `limit <= 0`: what is not a number is no budget either.
            if limit is not None and not limit > 0:
                raise UsageError(
                    f"a budget of {limit} {what} allows nothing", "give more than 0; --dry-run sends nothing"
                )
        self._dollars = _Purse(float("inf") if self.usd is None else self.usd)
        self._tokens = _Purse(float("inf") if self.tokens is None else self.tokens)

    def count(self, cost_usd: float | None, tokens: int | None, estimate_tokens: int) -> None:
        """Book one request that is done: what it cost, None where nobody is paid, and its tokens.

        An answer from the cache costs 0.0 and 0 tokens. `estimate_tokens` stands in for tokens that the provider did
        not count; for such an answer of a paid target, give the cost of the estimate, too.
        """
        used = estimate_tokens if tokens is None else tokens
        if tokens is None:
            self.estimated += estimate_tokens
        # Tokens at a price of 0 are free; no tokens at all are an answer that was not asked for again.
        self._dollars.take(None if used and not cost_usd else cost_usd)
        self._tokens.take(used)

    @property
    def spent_usd(self) -> float:
        """US dollars so far."""
        return self._dollars.spent

    @property
    def spent_tokens(self) -> int:
        """Tokens so far, sent and received."""
        return int(self._tokens.spent)

    def admits(self, in_flight: int) -> bool:
        """Whether one more request fits while `in_flight` others are under way. If not, wait for one of them."""
        return (self.usd is None or self._dollars.admits(in_flight)) and (
            self.tokens is None or self._tokens.admits(in_flight)
        )

    @property
    def usd_reached(self) -> bool:
        """Whether the dollars leave no room for another request."""
        return self.usd is not None and not self._dollars.admits(0)

    @property
    def reached(self) -> str | None:
        """Which budget leaves no room for another request even if nothing is under way; None if there is room."""
        if self.usd is not None and self.usd_reached:
            limit, spent, mean = (shown_usd(each) for each in (self.usd, self.spent_usd, self._dollars.mean or 0))
            return f"the budget of {limit} is reached: {spent} is spent, and one more request takes about {mean}"
        if self.tokens is not None and not self._tokens.admits(0):
            more = f"one more request takes about {self._tokens.mean or 0:,.0f}"
            guessed = f" ({self.estimated:,} of them estimated)" if self.estimated else ""
            return (
                f"the budget of {self.tokens:,} tokens is reached: {self.spent_tokens:,} are spent{guessed}, and {more}"
            )
        return None


def require_prices(targets: Iterable[TargetBase]) -> None:
    """Raise `UsageError` if the cost of a target cannot be known: a budget in dollars would not hold."""
    from ..providers.prices import is_paid, prices_of

    unknown = [target for target in targets if is_paid(target) and prices_of(target)[0] is None]
    if not unknown:
        return
    names = ", ".join(dict.fromkeys(f"{each.name} ({_what(each)})" for each in unknown))
    raise UsageError(
        f"--budget-usd needs prices, and none are known for: {names}",
        "give `prices: {input: …, output: …}` in targets.yaml, in dollars per million tokens (0 where nobody is paid), "
        "or limit tokens instead with --max-tokens-total",
    )


def shown_usd(amount: float) -> str:
    """Dollars with cents, and with two digits that say something where cents would not.

    >>> shown_usd(1234.5), shown_usd(0.05), shown_usd(0.0004321), shown_usd(0)
    ('$1,234.50', '$0.05', '$0.00043', '$0.00')
    """
    if amount == 0 or amount >= 1:
        return f"${amount:,.2f}"
    digits = max(2, 1 - math.floor(math.log10(amount)))
    cents, rest = f"{amount:.{digits}f}".split(".")
    return f"${cents}.{rest.rstrip('0').ljust(2, '0')}"


def _what(target: TargetBase) -> str:
    model = getattr(target, "model", None)
    return f"{target.provider}, model {model}" if model else target.provider
