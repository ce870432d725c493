"""`turnwise.run` and `turnwise.stream`: what the command `turnwise run` does, from Python."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from typing_extensions import Unpack

from ..errors import UsageError
from .events import Ended, Event, Observer
from .options import Execution, PlanOptions
from .result import Result, RunOutcome
from .selection import Selection
from .session import Session, begin, go_on

if TYPE_CHECKING:
    from ..suite.suite import Suite
    from ..targets.format import Target

__all__ = ["RunSettings", "run", "stream"]


class RunSettings(TypedDict, total=False):
    """What `run` and `stream` take besides suites and target; each is the option of `turnwise run` of that name."""

    cases: Sequence[str]
    exclude: Sequence[str]
    tags: Sequence[str]
    sample: int
    seed: int
    limit: int
    variants: Sequence[str]
    system_prompts: Sequence[str | Path]
    as_written: bool
    trials: int
    threshold: float
    graded: bool
    workers: int
    timeout: float
    budget_usd: float
    max_tokens_total: int
    cache: bool
    durable: bool
    runs_dir: str | Path
    resume: str | Path


_SELECTION = ("cases", "exclude", "tags", "sample", "seed", "limit")
_PLAN = ("variants", "system_prompts", "as_written", "trials", "threshold", "graded")
_EXECUTION = ("workers", "timeout", "budget_usd", "max_tokens_total", "cache", "durable")


async def run(
    suites: str | Path | Suite | Sequence[str | Path | Suite] = (),
    target: str | Target | Sequence[str | Target] = (),
    *,
    on_event: Observer | None = None,
    **settings: Unpack[RunSettings],
) -> RunOutcome:
    """Ask the cases of suites, grade the answers, and say what came of it.

    Results are kept in the project's `.turnwise/runs`, as by `turnwise run`. `on_event` is told what happens.
    Cancelled, it stops at once, and the run can be resumed with `resume=`. Raises `InputError`, `UsageError` or
    `MissingVariablesError` if the run cannot start, and `RunError` if its results cannot be written.

    >>> outcome = asyncio.run(run("examples/triage/suite.yaml", "mock/billing", runs_dir=getfixture("tmp_path")))
    >>> outcome.summary.results
    3
    """
    session = await asyncio.to_thread(_session, suites, target, settings)
    with session:
        ended = await session.runner(on_event or _ignore).run()
        return _outcome(session, ended)


async def stream(
    suites: str | Path | Suite | Sequence[str | Path | Suite] = (),
    target: str | Target | Sequence[str | Target] = (),
    **settings: Unpack[RunSettings],
) -> AsyncIterator[Result]:
    """The same, result by result as they come. Taken slowly, they are asked slowly; closed early, the run stops."""
    results: asyncio.Queue[Result | None] = asyncio.Queue(maxsize=1)

    async def take(record: Mapping[str, Any]) -> None:
        await results.put(Result(record))

    async def carry_out() -> None:
        try:
            await session.runner(_ignore, take).run()
        finally:
            await results.put(None)

    session = await asyncio.to_thread(_session, suites, target, settings)
    with session:
        running = asyncio.create_task(carry_out())
        try:
            while (result := await results.get()) is not None:
                yield result
            await running
        finally:
            running.cancel()
            while not running.done():
                with suppress(asyncio.QueueEmpty):
                    results.get_nowait()
                await asyncio.wait([running], timeout=0.01)


def _session(suites: Any, target: Any, settings: RunSettings) -> Session:
    given: dict[str, Any] = dict(settings)
    if unknown := given.keys() - RunSettings.__annotations__.keys():
        from ..suite.explain import did_you_mean

        name = min(unknown)
        hint = did_you_mean(name, sorted(RunSettings.__annotations__), "there are")
        raise UsageError(f"unknown setting {name!r}", hint)
    runs_dir = None if given.get("runs_dir") is None else Path(given["runs_dir"])
    files = tuple(_file(each) for each in _listed(suites))
    targets = tuple(_listed(target))
    execution = _chosen(given, _EXECUTION)
    if given.get("resume") is not None:
        if fixed := [name for name in (*_SELECTION, *_PLAN) if given.get(name) is not None]:
            raise UsageError(f"`{fixed[0]}` does not go with `resume`: the run keeps its plan", "leave it out")
        names = tuple(each if isinstance(each, str) else each.name for each in targets)
        return go_on(str(given["resume"]), execution, suites=files, targets=names, runs_dir=runs_dir)
    if not files:
        raise UsageError("there is no suite to run", "name one, or a run with `resume`")
    selection = Selection(**_chosen(given, _SELECTION))
    options = PlanOptions(suites=files, targets=targets, selection=selection, **_chosen(given, _PLAN))
    return begin(options, Execution(**execution), runs_dir=runs_dir)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _file(suite: str | Path | Suite) -> str:
    return str(suite) if isinstance(suite, str | Path) else suite.file


def _chosen(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings of those names that are given; lists of texts as tuples."""
    found = {name: given[name] for name in names if given.get(name) is not None}
    return {name: tuple(map(str, _listed(value))) if _is_list(value) else value for name, value in found.items()}


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _ignore(event: Event) -> None:
    """Nobody watches."""


def _outcome(session: Session, ended: Ended) -> RunOutcome:
    summary = session.tally.summary()
    return RunOutcome(ended.run_id, ended.folder, summary, session.verdict(summary, ended), ended.left)
