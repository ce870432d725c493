"""`turnwise.grade`: what the command `turnwise grade` does, from Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .api import ended_outcome
from .options import Execution
from .regrading import RegradeOptions, begin_grading
from .resuming import go_on
from .selection import Selection

if TYPE_CHECKING:
    from .events import Event, Observer
    from .result import RunOutcome
    from .session import Session

__all__ = ["grade"]

_EXECUTION = frozenset(each.name for each in fields(Execution))


async def grade(
    run: str | Path | None = None,
    *,
    graders: str | Path | None = None,
    suites: Sequence[str | Path] = (),
    targets: Sequence[str] = (),
    cases: Sequence[str] = (),
    exclude: Sequence[str] = (),
    tags: Sequence[str] = (),
    threshold: float | None = None,
    runs_dir: str | Path | None = None,
    resume: str | Path | None = None,
    on_event: Observer | None = None,
    **execution: Any,
) -> RunOutcome:
    """Grade the answers of a recorded run again, without asking for them, as a new run.

    `run` is the id or the folder of a run, or a file of results; each setting is the option of `turnwise grade` of that
    name, and `execution` are `workers`, `timeout`, `budget_usd`, `max_tokens_total`, `cache` and `durable`. The outcome
    has `changes`. Raises as `turnwise.run` does.
    """
    if unknown := sorted(set(execution) - _EXECUTION):
        raise UsageError(f"unknown setting {unknown[0]!r}", f"there are: {', '.join(sorted(_EXECUTION))}")
    folder = None if runs_dir is None else Path(runs_dir)
    given = {name: value for name, value in execution.items() if value is not None}
    plans = (run, graders, *suites, *targets, *cases, *exclude, *tags, threshold)

    def prepared() -> Session:
        if resume is not None:
            if any(each is not None for each in plans):
                raise UsageError("`resume` goes with no other choice: the run keeps its plan", "leave the others out")
            return go_on(str(resume), given, runs_dir=folder)
        if run is None:
            raise UsageError("there is no run to grade", "name one, or one to go on with by `resume`")
        options = RegradeOptions(
            run=str(run),
            graders=None if graders is None else str(graders),
            suites=tuple(map(str, suites)),
            targets=tuple(targets),
            selection=Selection(cases=tuple(cases), exclude=tuple(exclude), tags=tuple(tags)),
            threshold=threshold,
        )
        return begin_grading(options, Execution(**given), runs_dir=folder)

    with await asyncio.to_thread(prepared) as session:
        ended = await session.runner(on_event or _ignore).run()
        return ended_outcome(session, ended)


def _ignore(event: Event) -> None:
    """Nobody watches."""
