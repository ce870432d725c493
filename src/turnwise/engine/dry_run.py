"""A plan without its execution: what it holds, and about what it would cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..errors import PromptError, ResolutionError
from ..providers.agents.opening import AGENTS
from ..providers.prices import is_paid, price_date, prices_of
from ..providers.prompt import messages_to_send
from .estimate import PlanEstimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..providers.base import ProviderRequest
    from .plan import Plan
    from .workload import Workload

__all__ = ["cases_by_suite", "estimate_plan", "plan_record"]


def estimate_plan(plan: Workload) -> PlanEstimate:
    """Tokens and cost of everything that the plan would send. A case that cannot be made sends nothing."""
    estimate = PlanEstimate()
    for target in plan.targets:
        for work in plan.work(target):
            resolved: Any = target.resolved[work.settings_key].target
            try:
                request = work.request(resolved.system_prompt)
                sent = [
                    (each, messages_to_send(each, target.project.config.default_system_prompt))
                    for each in _requests(work, request, resolved.system_prompt)
                ]
            except (ResolutionError, PromptError):
                continue
            for each, messages in sent:
                if resolved.provider in AGENTS:
                    estimate.add_agent(target.name)
                    continue
                estimate.add(
                    target.name,
                    each,
                    messages,
                    max_output_tokens=getattr(resolved, "max_output_tokens", None),
                    prices=prices_of(resolved)[0],
                    paid=is_paid(resolved),
                    as_of=price_date(resolved),
                )
    return estimate


def _requests(work: Any, first: ProviderRequest, system_prompt: str | None) -> Iterator[ProviderRequest]:
    """At least these: one for each scripted turn, without the replies in between, which nobody knows yet."""
    yield first
    if getattr(work, "is_live", False):
        from .talk import Talk

        talk = Talk(work.case, first, system_prompt)
        while (message := talk.scripted()) is not None:
            talk.say(message)
            yield talk.request()


def cases_by_suite(plan: Plan) -> Counter[str]:
    """How many cases of each suite the plan takes."""
    return Counter(planned.name for planned, _ in plan.selected())


def plan_record(plan: Plan) -> dict[str, Any]:
    """The plan as plain data."""
    cases = cases_by_suite(plan)
    return {
        "cases": plan.cases,
        "results": plan.results,
        "targets": [target.name for target in plan.targets],
        "judges": [
            {"deck": each.name, "target": each.target.name, "calibration": each.calibration}
            for each in plan.judges.judges
        ]
        + [
            {"kind": each.kind, "prompt": each.prompt, "target": each.target.name, "model": each.model}
            for each in plan.judges.by_prompt.askers
        ],
        "suites": [
            {
                "file": planned.name,
                "cases": cases[planned.name],
                "variants": [None if each is None else each.name for each in planned.variants],
            }
            for planned in plan.suites
        ],
    }
