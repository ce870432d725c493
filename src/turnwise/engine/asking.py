"""The providers of a run: one for each target and each of its variants, all closed together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..providers.agents.opening import AGENTS
from ..providers.opening import OnRetry, Providers
from ..providers.prices import is_paid, prices_of

if TYPE_CHECKING:
    from asyncio import Task

    from ..providers.base import Provider
    from ..providers.embeddings import Embedder
    from ..targets.resolve import ResolvedTarget
    from ..targets.settings import Prices
    from .cache import AnswerCache
    from .planned_targets import PlannedTarget
    from .workload import Piece, Workload

__all__ = ["Asked", "Asking"]

# What answers without a model is quicker than the cache, and may answer differently each time on purpose. What an agent
# does to its workspace cannot be kept.
_NOT_CACHED = frozenset({"mock", "replay", "python", *AGENTS})


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a piece of work is asked of: the provider, and what is known of its target."""

    provider: Provider
    system_prompt: str | None
    prices: Prices | None
    paid: bool


class Asking:
    """Opens what a plan needs, and the targets that judge its answers. An async context manager, which closes
    connections and child processes. `logs` is the folder for what agents write."""

    def __init__(
        self,
        plan: Workload,
        *,
        cache: bool,
        on_retry: OnRetry | None = None,
        notice: Callable[[str], object] | None = None,
        judges: Sequence[PlannedTarget] = (),
        logs: Path | None = None,
    ) -> None:
        self._plan = plan
        self._targets = (*plan.targets, *judges)
        self._wants_cache = cache
        self._on_retry = on_retry
        self._notice = notice
        self._logs = logs
        self._cache: AnswerCache | None = None
        self._providers: dict[Path, Providers] = {}
        self._asked: dict[tuple[int, tuple[str, str] | None], Asked] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self._wants_cache:
            from .cache import AnswerCache

            path = self._plan.project.root / ".turnwise" / "cache.sqlite3"
            self._cache = await self._stack.enter_async_context(AnswerCache(path, on_warning=self._notice))
        try:
            for target in self._targets:
                providers = await self._of_project(target)
                for key, resolved in target.resolved.items():
                    self._asked[id(target), key] = self._open(providers, resolved)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    @property
    def unpriced(self) -> list[str]:
        """The targets that are paid by the token, but whose prices are not known. Agents are none of them: whether
        one counts tokens, or tells a cost itself, is known when it has answered."""
        by_id = {id(target): target.name for target in self._targets if target.spec.provider not in AGENTS}
        unknown = [key for (key, _), asked in self._asked.items() if asked.paid and asked.prices is None]
        return list(dict.fromkeys(by_id[key] for key in unknown if key in by_id))

    @property
    def waiting(self) -> set[Task[Any]]:
        """The tasks that wait for their turn at a rate limit, and have sent nothing."""
        return {task for providers in self._providers.values() for task in providers.waiting}

    def of(self, work: Piece) -> Asked:
        """Whom a piece of work is asked of."""
        asked = self.of_target(work.target, work.settings_key)
        own: Provider | None = getattr(work, "provider", None)  # an answer that is there already
        return asked if own is None else replace(asked, provider=own)

    def of_target(self, target: PlannedTarget, settings_key: tuple[str, str] | None) -> Asked:
        """How a target is asked, with the settings of that key."""
        return self._asked[id(target), settings_key]

    def embedder_of(self, target: PlannedTarget) -> Embedder:
        """What turns texts into vectors by the target. Raises `SetupError` if it cannot."""
        return self._providers[target.project.root].embedder(target.resolved[None])

    async def _of_project(self, target: PlannedTarget) -> Providers:
        project = target.project
        known = self._providers.get(project.root)
        if known is not None:
            return known
        opened: Providers = await self._stack.enter_async_context(
            Providers(
                root=project.root,
                environment=target.environment,
                default_system_prompt=project.config.default_system_prompt,
                on_retry=self._on_retry,
                logs=self._logs,
            )
        )
        self._providers[project.root] = opened
        return opened

    def _open(self, providers: Providers, resolved: ResolvedTarget) -> Asked:
        target = resolved.target
        provider = providers.open(resolved)
        if self._cache is not None and target.provider not in _NOT_CACHED:
            from .cache import CachingProvider

            provider = CachingProvider(provider, self._cache, target, secrets=resolved.secrets)
        return Asked(provider, target.system_prompt, prices_of(target)[0], is_paid(target))
