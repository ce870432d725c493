"""A small agent for tests: a Python program that is told what to do, asked through the one base of all agents."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from turnwise.conversation.values import File, Image
from turnwise.programs.program import Ran
from turnwise.providers import ProviderRequest, ProviderResponse
from turnwise.providers.agents.base import AgentProvider, Surroundings
from turnwise.providers.agents.kind import Start, Task
from turnwise.providers.agents.session import Session
from turnwise.targets.agents import CodexTarget
from turnwise.targets.resolve import resolve_target

__all__ = ["ScriptAgent", "asked", "guideline", "provider", "request_of"]

Result = TypeVar("Result")


class ScriptAgent:
    """Runs a Python script in the workspace; what it prints is the answer. `{prompt}` is its input."""

    title = "Scripted"
    program = sys.executable
    install = "install-scripted"
    config_variables = ("SCRIPTED_HOME",)
    signs_in = "sign in"

    def __init__(self, script: str, variables: Mapping[str, str] | None = None) -> None:
        self._script = script
        self._variables = variables or {}

    def start(self, task: Task) -> Start:
        """The interpreter with the script."""
        return Start(
            command=(task.target.executable or self.program, "-c", self._script),
            given=task.prompt.encode(),
            variables=self._variables,
        )

    def read(self, ran: Ran, task: Task) -> Session:
        """All of its output."""
        text = ran.output.decode("utf-8", "replace").strip()
        return Session(text=text, messages=[{"role": "assistant", "content": text}])


def provider(
    root: Path, script: str, *, logs: Path | None = None, environment: Any = None, **settings: Any
) -> AgentProvider:
    """The base around a scripted agent; `settings` are the target's."""
    known = dict(os.environ if environment is None else environment)
    target = CodexTarget(**{"name": "scripted", "provider": "codex", "timeout": 20, **settings})
    return AgentProvider(ScriptAgent(script), resolve_target(target, known), Surroundings(root, known, logs))


def request_of(question: str = "Do it.", files: Sequence[File | Image] = (), case_id: str = "a") -> ProviderRequest:
    """A request with files."""
    return ProviderRequest(question=question, files=files, case_id=case_id)


def guideline(written: str, content: str) -> File:
    """A guideline file."""
    return File(written, written, content, guideline=True)


def asked(agent: AgentProvider, *requests: ProviderRequest) -> list[ProviderResponse]:
    """The answers to requests, asked one after the other. Workspaces are there until they are released."""

    async def ask() -> list[ProviderResponse]:
        return [await agent.ask(each) for each in requests or (request_of(),)]

    return asyncio.run(_closing(agent, ask))


async def _closing(agent: AgentProvider, call: Callable[[], Awaitable[Result]]) -> Result:
    try:
        return await call()
    finally:
        await agent.close()
