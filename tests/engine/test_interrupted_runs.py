"""Whatever a plan is and however often it is broken off: in the end every piece of work is done, exactly once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from run_fixtures import keys, mock, project, suite
from turnwise.engine.events import Event, ResultDone
from turnwise.engine.options import Execution, PlanOptions
from turnwise.engine.resuming import go_on
from turnwise.engine.session import Session, begin

PLANS = st.fixed_dictionaries(
    {
        "cases": st.integers(1, 6),
        "trials": st.integers(1, 3),
        "targets": st.integers(1, 3),
        "workers": st.integers(1, 5),
    }
)


def broken_off(session: Session, after: int, how: str) -> None:
    """Carry out a part of a run: so many results, and then it is ended."""

    async def part() -> None:
        seen = 0

        def observe(event: Event) -> None:
            nonlocal seen
            seen += isinstance(event, ResultDone)
            if seen == after and isinstance(event, ResultDone):
                if how == "cancel":
                    running.cancel()
                else:
                    getattr(runner, how)()

        runner = session.runner(observe)
        running = asyncio.create_task(runner.run())
        await asyncio.gather(running, return_exceptions=True)

    with session:
        asyncio.run(part())


@settings(max_examples=25)
@given(PLANS, st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["abort", "stop", "cancel"])), max_size=4))
def test_every_piece_of_work_is_done_once(plan: dict[str, int], kills: list[tuple[int, str]]) -> None:
    """Stopped, aborted or cancelled after any number of results, with a torn line: nothing is lost or done twice."""
    names = [f"t{number}" for number in range(plan["targets"])]
    with TemporaryDirectory() as folder:
        root = project(Path(folder), *map(mock, names), s=suite(plan["cases"]))
        options = PlanOptions(suites=(str(root / "s.yaml"),), targets=tuple(names), trials=plan["trials"])
        session = begin(options, Execution(workers=plan["workers"]))
        path = session.folder.path
        for after, how in kills:
            if after:
                broken_off(session, after, how)
            else:
                session.folder.close()
            with open(path / "results.jsonl", "ab") as file:
                file.write(b'{"torn": ')
            session = go_on(str(path), {})
        broken_off(session, -1, "stop")
        records: list[dict[str, Any]] = [
            json.loads(line) for line in (path / "results.jsonl").read_bytes().splitlines()
        ]
    expected = {
        ("s.yaml", f"c{case}", name, None, trial)
        for case in range(plan["cases"])
        for name in names
        for trial in range(1, plan["trials"] + 1)
    }
    assert Counter(keys(records)) == Counter(expected)
    assert {each["status"] for each in records} == {"passed"}
