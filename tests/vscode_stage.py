"""A stage for tests of the VS Code provider: a stub `code`, a folder for agents, and a provider that uses both."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

import stub_code
from turnwise.conversation.values import File
from turnwise.providers import ProviderRequest, ProviderResponse
from turnwise.providers.agents.base import Surroundings
from turnwise.providers.agents.vscode.provider import VSCodeProvider
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import resolve_target

__all__ = ["Stage", "quick", "request_of"]

Result = TypeVar("Result")


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the pauses out that only a real window needs."""
    from turnwise.providers.agents.vscode import answers, batching, dispatching

    monkeypatch.setattr(dispatching, "FOCUS_SECONDS", 0.0)
    monkeypatch.setattr(dispatching, "NEW_MODE_SECONDS", 0.0)
    monkeypatch.setattr(dispatching, "WAKE_UP_SECONDS", 5.0)
    monkeypatch.setattr(answers, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(answers, "_LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(answers, "_SETTLE_SECONDS", 0.02)
    monkeypatch.setattr(answers, "_EMPTY_SECONDS", 0.05)
    monkeypatch.setattr(batching, "QUIET_SECONDS", 0.02)


def request_of(question: str = "say it", files: Sequence[File] = (), case_id: str = "a") -> ProviderRequest:
    """A request with files."""
    return ProviderRequest(question=question, files=files, case_id=case_id)


class Stage:
    """The folders of a test. `variables` go to the stub, whose first windows are open and awake."""

    logs: Path | None = None

    def __init__(self, folder: Path, *, program: str = "code", open_windows: int = 6, **variables: str) -> None:
        self.project, self.state, self.root = folder / "project", folder / "state", folder / "agents"
        self.logs = folder / "logs"
        for each in (self.project, self.state):
            each.mkdir(parents=True, exist_ok=True)
        names = [f"agent-{number}" for number in range(1, open_windows + 1)]
        (self.state / "open").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        for name in names:
            (self.root / name).mkdir(parents=True)
            (self.root / "locks").mkdir(exist_ok=True)
            (self.root / "locks" / f"{name}.lock").touch()
            (self.root / name / "woken").touch()
        self.program = Path(stub_code.install(folder / "bin", program))
        path = os.pathsep.join((str(self.program.parent), os.environ.get("PATH", os.defpath)))
        self.environment = {
            "PATH": path,
            "HOME": str(folder / "home"),
            "VSCODE_STUB": str(self.state),
            **{f"VSCODE_STUB_{name.upper()}": value for name, value in variables.items()},
        }

    def provider(self, provider: str = "vscode", **settings: Any) -> VSCodeProvider:
        """A provider for a target with these settings."""
        given = {"name": "editor", "provider": provider, "agent_root": str(self.root), "timeout": 10, **settings}
        target = PROVIDERS[provider].model_validate(given)
        return VSCodeProvider(
            resolve_target(target, self.environment), Surroundings(self.project, self.environment, self.logs)
        )  # fmt: skip

    def asked(self, *requests: ProviderRequest, **settings: Any) -> list[ProviderResponse]:
        """Answers to requests that are asked at once; each is released when all are there."""

        async def ask(provider: VSCodeProvider) -> list[ProviderResponse]:
            return list(await asyncio.gather(*(provider.ask(each) for each in requests or (request_of(),))))

        return self.with_provider(ask, **settings)

    def with_provider(self, call: Callable[[VSCodeProvider], Awaitable[Result]], **settings: Any) -> Result:
        """What a call with a provider gives; the provider is closed."""

        async def run() -> Result:
            provider = self.provider(**settings)
            try:
                async with asyncio.timeout(30):
                    return await call(provider)
            finally:
                await provider.close()

        return asyncio.run(run())

    @property
    def chats(self) -> list[list[str]]:
        """The chats that the stub was asked for."""
        return stub_code.chats(self.state)
