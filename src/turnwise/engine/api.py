"""`turnwise.run` and `turnwise.stream`: what the command `turnwise run` does, from Python."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from typing_extensions import Unpack

from ..errors import RunError, UsageError
from .events import Ended, Event, Observer
from .grade_changes import regrade_changes
from .options import Execution, PlanOptions
from .result import Result, RunOutcome
from .resuming import go_on
from .selection import Selection
from .session import Session, begin

if TYPE_CHECKING:
    from ..suite.suite import Suite
    from ..targets.format import Target

__all__ = ["RunSettings", "ended_outcome", "run", "stream"]


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


_TEXTS = ("cases", "exclude", "tags", "variants", "system_prompts")
_WHOLE = ("sample", "seed", "limit", "trials", "workers", "max_tokens_total")
_NUMBERS = ("threshold", "timeout", "budget_usd")
_SWITCHES = ("as_written", "graded", "cache", "durable")
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

    A `Suite` is read again from its file. Results are kept in the project's `.turnwise/runs`, as by `turnwise run`.
    `on_event` is told what happens. Cancelled, it stops at once, and the run can be resumed with `resume=`. Raises
    `InputError`, `UsageError` or `MissingVariablesError` if the run cannot start, and `RunError` if its results cannot
    be written.

    >>> outcome = asyncio.run(run("examples/triage/suite.yaml", "mock/billing", runs_dir=getfixture("tmp_path")))
    >>> outcome.summary.results
    3
    """
    with await _prepared(suites, target, settings) as session:
        ended = await session.runner(on_event or _ignore).run()
        return ended_outcome(session, ended)


async def stream(
    suites: str | Path | Suite | Sequence[str | Path | Suite] = (),
    target: str | Target | Sequence[str | Target] = (),
    *,
    on_event: Observer | None = None,
    **settings: Unpack[RunSettings],
) -> AsyncIterator[Result]:
    """The same, result by result as they come. Taken slowly, they are asked slowly; closed early, the run stops.

    Raises `RunError` at the end if results are missing, such as where a budget is used up.
    """
    results: asyncio.Queue[Result | None] = asyncio.Queue(maxsize=1)

    async def take(record: Mapping[str, Any]) -> None:
        await results.put(Result(record))

    async def carry_out() -> Ended:
        try:
            return await session.runner(on_event or _ignore, take).run()
        finally:
            await results.put(None)

    with await _prepared(suites, target, settings) as session:
        running = asyncio.create_task(carry_out())
        try:
            while (result := await results.get()) is not None:
                yield result
            _require_all(await running)
        finally:
            running.cancel()
            while not running.done():
                with suppress(asyncio.QueueEmpty):
                    results.get_nowait()
                await asyncio.wait([running], timeout=0.01)


def _require_all(ended: Ended) -> None:
    if ended.left:
        why = "the budget is used up" if ended.stopped == "budget" else "the run was stopped"
        message = f"{why}: {ended.left:,} results of the run {ended.run_id} are missing"
        raise RunError(message, f"go on with resume={ended.run_id!r}")


async def _prepared(suites: Any, target: Any, settings: RunSettings) -> Session:
    """The session, planned in a thread: whoever gives up meanwhile must not leave its lock behind."""
    # Not a future of the loop: the thread may end after the loop has, and the lock must be freed even then.
    planned: Future[Session] = Future()

    def plan() -> None:
        try:
            planned.set_result(_session(suites, target, settings))
        except BaseException as error:  # noqa: BLE001  (it is raised where the session is awaited)
            planned.set_exception(error)

    try:
        await asyncio.to_thread(plan)
    except asyncio.CancelledError:
        planned.add_done_callback(_abandon)
        raise
    return planned.result()


def _abandon(planned: Future[Session]) -> None:
    if planned.exception() is None:
        planned.result().folder.close()


def _session(suites: Any, target: Any, settings: RunSettings) -> Session:
    given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    _check(given)
    runs_dir = None if "runs_dir" not in given else Path(given["runs_dir"])
    files = tuple(_file(each) for each in _listed(suites, "suites"))
    targets = tuple(_target(each) for each in _listed(target, "target"))
    execution = _chosen(given, _EXECUTION)
    if "resume" in given:
        if fixed := [name for name in (*_SELECTION, *_PLAN) if name in given]:
            raise UsageError(f"`{fixed[0]}` does not go with `resume`: the run keeps its plan", "leave it out")
        return go_on(str(given["resume"]), execution, suites=files, targets=targets, runs_dir=runs_dir)
    if not files:
        raise UsageError("there is no suite to run", "name one, or a run with `resume`")
    selection = Selection(**_chosen(given, _SELECTION))
    options = PlanOptions(suites=files, targets=targets, selection=selection, **_chosen(given, _PLAN))
    return begin(options, Execution(**execution), runs_dir=runs_dir)


def _check(given: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a setting that there is not, or whose value is of no use."""
    from ..suite.explain import did_you_mean

    for name, value in given.items():
        if name not in RunSettings.__annotations__:
            raise UsageError(
                f"unknown setting {name!r}", did_you_mean(name, sorted(RunSettings.__annotations__), "there are")
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits, expected = {
            **dict.fromkeys(_WHOLE, (isinstance(value, int) and number, "a whole number")),
            **dict.fromkeys(_NUMBERS, (number, "a number")),
            **dict.fromkeys(_SWITCHES, (isinstance(value, bool), "True or False")),
            **dict.fromkeys(_TEXTS, (isinstance(value, Iterable | Path), "a text, or a list of texts")),
        }.get(name, (isinstance(value, str | Path), "a text or a path"))
        if not fits:
            raise UsageError(f"`{name}` must be {expected}, found {value!r}", f"see `turnwise run --help`, {name}")


def _listed(value: Any, name: str) -> list[Any]:
    """One thing or several, as a list. Raises `UsageError` for what is neither."""
    if isinstance(value, str | Path) or hasattr(value, "file") or hasattr(value, "name"):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise UsageError(f"`{name}` must be one or several, found {value!r}", "give a text, or a list")
    return list(value)


def _file(suite: Any) -> str:
    """The path of a suite; that of a loaded one does not depend on the current folder."""
    if isinstance(suite, str | Path):
        return str(suite)
    stamps = getattr(suite, "stamps", ())
    if not stamps:
        raise UsageError(f"a suite must be a path or a `Suite`, found {suite!r}", "use `turnwise.load_suite`")
    return str(stamps[0][0])


def _target(target: Any) -> Any:
    from ..targets.settings import TargetBase

    if not isinstance(target, str | TargetBase):
        raise UsageError(f"a target must be a name or a target, found {target!r}", "write provider/model, or a name")
    return target


def _chosen(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings of those names that are given; texts as tuples, in an order of their own where they have none."""
    found = {name: given[name] for name in names if name in given}
    return {name: _texts(value, name) if name in _TEXTS else value for name, value in found.items()}


def _texts(value: Any, name: str) -> tuple[str, ...]:
    texts = _listed(value, name)
    return tuple(map(str, sorted(texts, key=str) if isinstance(value, set | frozenset) else texts))


def _ignore(event: Event) -> None:
    """Nobody watches."""


def ended_outcome(session: Session, ended: Ended) -> RunOutcome:
    """What came of a run that has ended."""
    summary = session.summary(ended)
    verdict = session.verdict(summary, ended)
    return RunOutcome(ended.run_id, ended.folder, summary, verdict, ended.left, regrade_changes(session))
