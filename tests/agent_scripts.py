"""Programs for tests of `cli` targets: small Python scripts, started as real processes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.conversation.values import File
from turnwise.errors import ProviderError
from turnwise.providers import Provider, ProviderRequest, ProviderResponse
from turnwise.providers.agents.base import Surroundings
from turnwise.providers.agents.cli import open_cli
from turnwise.targets.agents import CliTarget
from turnwise.targets.resolve import resolve_target

__all__ = ["answers", "cli", "failure", "gone", "outcomes", "request", "script"]


def script(code: str) -> list[str]:
    """A command that runs Python code."""
    return [sys.executable, "-c", code]


def cli(
    root: Path, command: Any, *, logs: Path | None = None, environment: Mapping[str, str] | None = None, **settings: Any
) -> Provider:
    """The provider of a `cli` target; `settings` are the target's."""
    known = dict(os.environ if environment is None else environment)
    target = CliTarget(**{"name": "mine", "provider": "cli", "timeout": 20, "command": command, **settings})
    return open_cli(resolve_target(target, known), Surroundings(root, known, logs))


def outcomes(
    provider: Provider, *requests: ProviderRequest | str, together: bool = True
) -> list[ProviderResponse | ProviderError]:
    """What comes of requests; a text stands for a request of a case of that name. Workspaces are gone afterwards."""
    asked = [each if isinstance(each, ProviderRequest) else request(each) for each in requests or ("a",)]

    async def ask() -> list[ProviderResponse | BaseException]:
        try:
            if together:
                return await asyncio.gather(*map(provider.ask, asked), return_exceptions=True)
            found: list[ProviderResponse | BaseException] = []
            for each in asked:
                found += await asyncio.gather(provider.ask(each), return_exceptions=True)
            return found
        finally:
            await provider.close()

    found = []
    for each in asyncio.run(ask()):
        if not isinstance(each, ProviderResponse | ProviderError):
            raise each
        found.append(each)
    return found


def answers(provider: Provider, *requests: ProviderRequest | str, together: bool = True) -> list[str]:
    """The answers to requests; a failure is raised."""
    found = []
    for each in outcomes(provider, *requests, together=together):
        if isinstance(each, ProviderError):
            raise each
        found.append(each.text)
    return found


def failure(provider: Provider, asked: ProviderRequest | str = "a") -> ProviderError:
    """The error of a request."""
    (found,) = outcomes(provider, asked)
    assert isinstance(found, ProviderError), found
    return found


def request(case_id: str, question: str = "Do it.", files: Sequence[File] = ()) -> ProviderRequest:
    """A request of a case."""
    return ProviderRequest(question=question, case_id=case_id, files=files)


def gone(number: int, seconds: float = 5.0) -> bool:
    """Whether a process ends, or is a zombie, within seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False
