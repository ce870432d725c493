"""Small projects that the tests of runs share, and short ways to run them in this process."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from turnwise import RunOutcome
from turnwise.engine import api
from turnwise.engine.events import Ended, Event
from turnwise.engine.options import Execution, PlanOptions
from turnwise.engine.plan import Plan, make_plan
from turnwise.engine.resuming import go_on
from turnwise.engine.runner import Runner
from turnwise.engine.session import begin
from turnwise.providers import MockProvider, ProviderRequest, ProviderResponse
from virtual_time import run_at_once

__all__ = [
    "ECHO",
    "Carried",
    "Server",
    "case",
    "hello",
    "journal",
    "keys",
    "mock",
    "openai",
    "plan",
    "project",
    "run",
    "suite",
    "targets",
]


def mock(name: str = "echo", **settings: Any) -> dict[str, Any]:
    """A mock target, which echoes unless it is told otherwise; its pauses are none."""
    answers = {} if settings.keys() & {"response", "echo"} else {"echo": True}
    return {"name": name, "provider": "mock", "retry_initial_delay": 0, "retry_max_delay": 0, **answers, **settings}


def openai(url: str, **settings: Any) -> dict[str, Any]:
    """A target of the Chat Completions API at an address of this machine."""
    return {"name": "gpt", "provider": "openai", "model": "m", "base_url": f"{url}/v1", **settings}


ECHO = mock()


def case(case_id: str, text: str = "hello", **fields: Any) -> dict[str, Any]:
    """A case of one user message."""
    return {"id": case_id, "input_messages": [{"role": "user", "content": text}], **fields}


def suite(cases: Sequence[Any] | str | int = 1, **fields: Any) -> dict[str, Any]:
    """A suite whose cases pass where they are echoed; a number stands for as many cases, `c0` and so on."""
    listed: Any = [case(f"c{number}") for number in range(cases)] if isinstance(cases, int) else cases
    return {"graders": [{"contains": "hello"}], "cases": listed, **fields}


def targets(*specs: dict[str, Any]) -> str:
    """A targets file."""
    return json.dumps({"targets": list(specs)})


def project(root: Path, *specs: dict[str, Any], **suites: Any) -> Path:
    """Write a project: its targets, `echo` if there are none, and suites by their file's stem, one of one case if there
    are none. JSON is YAML."""
    (root / ".turnwise").mkdir(parents=True, exist_ok=True)
    (root / ".turnwise" / "targets.yaml").write_text(targets(*(specs or (ECHO,))))
    for stem, content in (suites or {"s": suite()}).items():
        (root / f"{stem}.yaml").write_text(json.dumps({"target": "echo", **content}))
    return root


def plan(*suites: Path | str, **options: Any) -> Plan:
    """The plan for suites."""
    return make_plan(PlanOptions(suites=tuple(map(str, suites)), **options))


def run(suites: Any = (), target: Any = (), events: list[Event] | None = None, **settings: Any) -> RunOutcome:
    """Carry a run out; what it tells goes into `events`."""
    watch = None if events is None else events.append
    return asyncio.run(api.run(suites, target, on_event=watch, **settings))


def journal(outcome: RunOutcome | Path) -> list[dict[str, Any]]:
    """The lines of a run's journal."""
    folder = outcome if isinstance(outcome, Path) else outcome.folder
    return [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]


def keys(records: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What each line is of: suite, case, target, variant and trial."""
    return [tuple(each[name] for name in ("suite", "case_id", "target", "variant", "trial")) for each in records]


class Server:
    """Stands in for the server behind every mock target: `reply` says what a request brings, `asked` what came."""

    def __init__(self, reply: Reply) -> None:
        self.asked: list[str | None] = []
        self.at_once: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._reply = reply

    async def ask(self, target: str, request: ProviderRequest) -> ProviderResponse:
        """Count, and answer."""
        self.asked.append(request.case_id)
        for name in (target, "all"):
            self.at_once[name] += 1
            self.most[name] = max(self.most[name], self.at_once[name])
        try:
            return await self._reply(self, request)
        finally:
            for name in (target, "all"):
                self.at_once[name] -= 1

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Server:
        """Answer for all mock targets from now on."""
        answering = self

        async def ask(provider: Any, request: ProviderRequest) -> ProviderResponse:
            return await answering.ask(provider._target.name, request)

        monkeypatch.setattr(MockProvider, "ask", ask)
        return self


Reply = Callable[[Server, ProviderRequest], Awaitable[ProviderResponse]]


def hello(**fields: Any) -> ProviderResponse:
    """An answer that passes."""
    return ProviderResponse(text="hello", messages=[{"role": "assistant", "content": "hello"}], **fields)


class Carried:
    """A run in simulated time: how it ended, what it told, and how long it took. `resume` is the run to go on with."""

    def __init__(
        self, where: Path | str, *, resume: bool = False, control: Control | None = None, **execution: Any
    ) -> None:
        self.events: list[Event] = []
        begun = begin(PlanOptions(suites=(str(where),)), Execution(**execution)) if not resume else None
        with begun or go_on(str(where), execution) as self.session:
            self.runner = self.session.runner(self.events.append)
            self.folder = self.session.folder.path
            self.ended, self.seconds = run_at_once(self._run(control))
        summary = self.session.summary(self.ended)
        self.verdict = self.session.verdict(summary, self.ended)
        self.records = journal(self.folder)

    async def _run(self, control: Control | None) -> tuple[Ended, float]:
        loop = asyncio.get_running_loop()
        if control is not None:
            control(self.runner, loop)
        before = loop.time()
        return await self.runner.run(), loop.time() - before

    def told(self, kind: type[Told]) -> list[Told]:
        """The events of a kind."""
        return [each for each in self.events if isinstance(each, kind)]


Control = Callable[[Runner, asyncio.AbstractEventLoop], object]
Told = TypeVar("Told", bound=Event)
