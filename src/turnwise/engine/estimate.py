"""What a run would send and cost, before anything is sent. Added up request by request: nothing is kept of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..providers.base import ProviderRequest, Usage
from ..providers.cost import cost_usd
from ..providers.prompt import messages_to_send
from ..providers.tokens import USUAL_ANSWER, answer_tokens, characters_of, tokens_of

if TYPE_CHECKING:
    from ..conversation.chat import ChatPrompt
    from ..targets.settings import Prices

__all__ = ["PlanEstimate", "TargetEstimate", "estimated_cost"]

_NO_PRICES = "no prices are known: give `prices` in targets.yaml"
_AN_AGENT = "an agent asks its model as often as it likes: neither tokens nor cost can be told"


@dataclass(slots=True)
class TargetEstimate:
    """What one target would get.

    `output_tokens` are the most that may come back; of the requests, `unlimited` have no limit, and count with 256
    each. `cost_usd` is None where it is not known, and `cost_unknown` says why. `prices_as_of` dates list prices. Of an
    agent, only the requests are known.
    """

    target: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unlimited: int = 0
    cost_usd: float | None = 0.0
    cost_unknown: str | None = None
    prices_as_of: str | None = None
    is_agent: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain data; the tokens of an agent are null."""
        unknown = {"input_tokens": None, "output_tokens": None} if self.is_agent else {}
        return {**asdict(self), **unknown}


class PlanEstimate:
    """The targets' estimates, in the order in which they were met.

    >>> plan = PlanEstimate()
    >>> plan.add("offline", ProviderRequest(question="Hello, you!!"), max_output_tokens=None, prices=None, paid=False)
    >>> plan.as_dict()["input_tokens"], plan.as_dict()["cost_usd"]
    (3, 0.0)
    """

    def __init__(self) -> None:
        self._targets: dict[str, TargetEstimate] = {}
        self._characters: Counter[str] = Counter()

    def add(
        self,
        target_name: str,
        request: ProviderRequest,
        messages: ChatPrompt | None = None,
        *,
        max_output_tokens: int | None,
        prices: Prices | None,
        paid: bool,
        as_of: str | None = None,
    ) -> None:
        """Count one request. `messages` are those that are really sent, the request's own if absent.

        `as_of` is the date of the prices, where they are those of the table.
        """
        estimate = self._targets.setdefault(target_name, TargetEstimate(target_name))
        limit = answer_tokens(request, max_output_tokens)
        self._characters[target_name] += characters_of(messages or messages_to_send(request, None), request.tools)
        # What this request adds to the whole: rounding each of them down would lose up to a token a request.
        sent = tokens_of(self._characters[target_name]) - estimate.input_tokens
        came = limit or USUAL_ANSWER
        estimate.requests += 1
        estimate.input_tokens += sent
        estimate.output_tokens += came
        estimate.unlimited += limit is None
        estimate.prices_as_of = as_of
        if prices is not None and estimate.cost_usd is not None:
            estimate.cost_usd += estimated_cost(prices, sent, came)
        elif paid and prices is None:
            estimate.cost_usd, estimate.cost_unknown = None, _NO_PRICES

    def add_agent(self, target_name: str) -> None:
        """Count one case that an agent works on."""
        estimate = self._targets.setdefault(target_name, TargetEstimate(target_name, is_agent=True))
        estimate.requests += 1
        estimate.cost_usd, estimate.cost_unknown = None, _AN_AGENT

    @property
    def targets(self) -> Sequence[TargetEstimate]:
        """One estimate a target."""
        return tuple(self._targets.values())

    @property
    def total(self) -> TargetEstimate:
        """All targets together; what one of them costs without anybody knowing makes the whole unknown."""
        whole = TargetEstimate("total")
        for each in self.targets:
            whole.requests += each.requests
            whole.input_tokens += each.input_tokens
            whole.output_tokens += each.output_tokens
            whole.unlimited += each.unlimited
        unpriced = [each.target for each in self.targets if each.cost_usd is None and not each.is_agent]
        agents = [each.target for each in self.targets if each.is_agent]
        whole.cost_usd = None if unpriced or agents else sum(each.cost_usd or 0.0 for each in self.targets)
        reasons = [f"no prices are known for: {', '.join(unpriced)}"] if unpriced else []
        reasons += [f"nothing is known before of agents: {', '.join(agents)}"] if agents else []
        whole.cost_unknown = "; ".join(reasons) or None
        return whole

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the whole, and each target under `targets`."""
        whole = asdict(self.total)
        return {
            **{key: value for key, value in whole.items() if key not in ("target", "prices_as_of", "is_agent")},
            "targets": [each.as_dict() for each in self.targets],
        }


def estimated_cost(prices: Prices, input_tokens: int, output_tokens: int) -> float:
    """US dollars for so many tokens, none of them from the API's cache."""
    return cost_usd(Usage(input_tokens=input_tokens, output_tokens=output_tokens), prices) or 0.0
