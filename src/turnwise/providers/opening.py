"""From a resolved target to a provider that can be asked. Providers of one command share connections and servers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..conversation.chat import DEFAULT_SYSTEM_PROMPT
from ..errors import SetupError
from .agents.opening import AGENTS
from .base import Provider
from .guarded import GuardedProvider
from .http import Transport
from .limits import RateLimit
from .llm import WIRES, LLMProvider
from .patient import PatientProvider, policy_of
from .retries import Retry

if TYPE_CHECKING:
    from asyncio import Task

    from ..targets.format import Target
    from ..targets.resolve import ResolvedTarget
    from .embeddings import Embedder
    from .llama_process import LlamaServers

__all__ = ["OVER_HTTP", "OnRetry", "Providers", "open_provider"]

OVER_HTTP = frozenset({*WIRES, "http", "local"})
"""The providers of this package that need an HTTP client."""

OnRetry = Callable[[str, Retry], bool | None]
"""Told the target's name and what is tried again, before each pause; if it returns False, it is not tried again."""


class Providers:
    """Opens providers, one for each target, and closes all of them. An async context manager.

    `root` is the project's: paths in targets start there. `environment` decides on proxies and certificates.
    `logs` is the folder for what agents write.
    """

    def __init__(
        self,
        *,
        root: Path | None = None,
        environment: Mapping[str, str] | None = None,
        default_system_prompt: str | None = DEFAULT_SYSTEM_PROMPT,
        on_retry: OnRetry | None = None,
        logs: Path | None = None,
    ) -> None:
        self.root = root or Path.cwd()
        self.default_system_prompt = default_system_prompt
        self.environment = os.environ if environment is None else environment
        self.transport = Transport(environment)
        self._on_retry = on_retry
        self._logs = logs
        self._servers: LlamaServers | None = None
        self._of_target: list[tuple[Target, Provider]] = []
        self._limits: dict[tuple[str, float | None, float | None], RateLimit] = {}

    @property
    def waiting(self) -> set[Task[Any]]:
        """The tasks that wait for their turn at a rate limit, and have sent nothing."""
        return {task for limit in self._limits.values() for task in limit.waiting}

    def open(self, resolved: ResolvedTarget) -> Provider:
        """A provider for the target, with its retries and rate limits. Raises `UsageError` if it cannot be made."""
        target: Any = resolved.target
        for known, provider in self._of_target:
            if known == target:
                return provider  # one target, one set of limits
        limit = self._limit_of(target)
        on_retry = self._on_retry
        provider = PatientProvider(
            self._bare(resolved, limit),
            policy_of(target),
            limit,
            max_output_tokens=getattr(target, "max_output_tokens", None),
            counts_tokens=target.tokens_per_minute is not None,
            on_retry=None if on_retry is None else lambda retry: on_retry(target.name, retry),
        )
        self._of_target.append((target, provider))
        return provider

    def embedder(self, resolved: ResolvedTarget) -> Embedder:
        """What turns texts into vectors by the target, with its retries and limits. Raises `SetupError` if none can."""
        from .embeddings import Embedder

        on_retry, name = self._on_retry, resolved.target.name
        told = None if on_retry is None else lambda retry: on_retry(name, retry)
        return Embedder(resolved, self.transport, self._limit_of(resolved.target), told)

    def _limit_of(self, target: Any) -> RateLimit:
        """Variants of a target share its limits: they are the same server's."""
        shared = target.name, target.requests_per_minute, target.tokens_per_minute
        limit = self._limits.get(shared)
        if limit is None:
            limit = self._limits[shared] = RateLimit(target.requests_per_minute, target.tokens_per_minute)
        return limit

    async def close(self) -> None:
        """Close every provider, connection and server."""
        opened, self._of_target = self._of_target, []
        # One that cannot be closed must not keep the others open. The last that is pushed is closed first.
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.transport.close)
            if self._servers is not None:
                stack.push_async_callback(self._servers.close)
            for _, provider in opened:
                stack.push_async_callback(provider.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def _bare(self, resolved: ResolvedTarget, limit: RateLimit) -> Provider:
        target: Any = resolved.target
        default = self.default_system_prompt
        if target.provider == "local":
            from .local import LocalProvider

            return LocalProvider(resolved, self.transport, self._llama_servers(), self.root, default)
        if target.provider in WIRES:
            return LLMProvider(resolved, self.transport, default, limit, self.environment)
        if target.provider == "mock":
            from .mock import MockProvider

            return MockProvider(target, default)
        if target.provider == "replay" and target.sessions is not None:
            from .agents.sessions import SessionsProvider

            return SessionsProvider(target.sessions, self.root)
        if target.provider == "replay":
            from .replay import ReplayProvider

            return ReplayProvider(target, self.root, default)
        if target.provider == "http":
            from .http_endpoint import HttpEndpointProvider

            shown: Any = resolved.shown
            return HttpEndpointProvider(target, shown, self.transport, default, resolved.secrets)
        if target.provider in AGENTS:
            from .agents.base import Surroundings
            from .agents.opening import open_agent

            return open_agent(resolved, Surroundings(self.root, self.environment, self._logs))
        if target.provider == "python":
            from .python_function import PythonFunctionProvider

            return PythonFunctionProvider(target, self.root, default)
        return self._of_a_plugin(resolved)

    def _of_a_plugin(self, resolved: ResolvedTarget) -> Provider:
        from ..targets.models import PROVIDERS
        from ..targets.plugins import find_plugin

        name = resolved.target.provider
        plugin = None if name in PROVIDERS else find_plugin(name)
        if plugin is None:
            raise SetupError(f"the provider {name!r} is not installed any more", hint="install its package again")
        return GuardedProvider(plugin.open(resolved, self), name)

    def _llama_servers(self) -> LlamaServers:
        if self._servers is None:
            from .llama_process import LlamaServers

            self._servers = LlamaServers()
        return self._servers


@asynccontextmanager
async def open_provider(
    target: str | Target,
    *,
    root: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_retry: OnRetry | None = None,
) -> AsyncIterator[Provider]:
    """Open one provider: a target's name in the project's targets file, `provider/model`, or a target itself.

    Raises `MissingVariablesError`, `UsageError` and `TargetsError` before anything is sent.
    """
    from ..suite.project import find_project_root, load_project
    from ..targets.choose import find_target, load_project_targets
    from ..targets.dotenv import environment as project_environment
    from ..targets.resolve import resolve_target

    project = load_project(find_project_root(Path(root or ".")))
    variables = project_environment(project.root) if environment is None else environment
    if isinstance(target, str):
        target = find_target(target, load_project_targets(project), file=str(project.targets_file))
    async with Providers(
        root=project.root,
        environment=variables,
        default_system_prompt=project.config.default_system_prompt,
        on_retry=on_retry,
    ) as providers:
        yield providers.open(resolve_target(target, variables))
