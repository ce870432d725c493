"""What must work before the first request of a target: a command or an address, tried once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ProviderError, SetupError
from ...programs.strays import MARK
from ..base import HttpRequest, Preview, Provider, ProviderRequest, ProviderResponse
from .cli_template import filled
from .disk import writing
from .hiding import Hidden
from .steps import run_step
from .surroundings import agent_environment

if TYPE_CHECKING:
    import asyncio

    from ...targets.resolve import ResolvedTarget
    from .base import Surroundings

__all__ = ["CheckedProvider"]

_SECONDS = 60.0
_MOST_BODY = 1024 * 1024
_KEY = "healthcheck"


class CheckedProvider:
    """A provider that is asked only if the target's health check succeeds. If it fails, every request does."""

    def __init__(self, provider: Provider, resolved: ResolvedTarget, around: Surroundings) -> None:
        self._provider = provider
        self._target: Any = resolved.target
        self._hidden = Hidden(resolved.secrets)
        self._around = around
        self._checking: asyncio.Task[SetupError | None] | None = None

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask, after the check. Raises `ProviderError`, and nothing else."""
        import asyncio

        if self._checking is None:
            self._checking = asyncio.ensure_future(self._checked())
        failed = await asyncio.shield(self._checking)
        if failed is not None:
            raise SetupError(str(failed), hint=failed.hint)  # one for each request: more is written into it
        return await self._provider.ask(request)

    def preview(self, request: ProviderRequest) -> Preview:
        """What would be asked; nothing is checked."""
        return self._provider.preview(request)

    async def close(self) -> None:
        """End a check that nobody waits for, and close the provider."""
        import asyncio

        if self._checking is not None and not self._checking.done():
            self._checking.cancel()
            await asyncio.wait([self._checking])
        await self._provider.close()

    async def _checked(self) -> SetupError | None:
        check = self._target.healthcheck
        seconds = float(check.timeout or self._target.timeout or _SECONDS)
        try:
            await (self._asked(check.url, seconds) if check.type == "http" else self._run(check, seconds))
        except SetupError as error:
            self._hidden.error(error)
            return error
        return None

    async def _run(self, check: Any, seconds: float) -> None:
        from ...programs.places import place as made_place

        with writing("the folder of a healthcheck"), made_place("turnwise-healthcheck-") as place:
            folder = place if (own := check.cwd or self._target.cwd) is None else self._folder(own)
            environment = agent_environment(
                self._target, self._around.environment, home=place, temp=place, variables={MARK: place.name}
            )  # fmt: skip
            command = self._arguments(check, place)
            await run_step(_KEY, command, folder, environment, self._target.name, seconds, self._hidden)

    def _folder(self, written: str) -> Path:
        folder = (self._around.root / Path(written).expanduser()).resolve()
        if not folder.is_dir():
            message = f"target {self._target.name!r}: there is no folder for `{_KEY}` to run in: {folder}"
            raise SetupError(message, hint="correct `cwd`: paths start at the project")
        return folder

    def _arguments(self, check: Any, place: Path) -> tuple[str, ...]:
        """The command like the target's own, for no request."""
        values: dict[str, str | tuple[str, ...]] = {"PROMPT": "", "FILES": (), "GUIDELINES": ()}
        values |= {"CASE_ID": _KEY, "ATTEMPT": "0", "PROJECT": str(self._around.root)}
        values |= {"PROMPT_FILE": str(place / "prompt.md"), "OUTPUT_FILE": str(place / "answer")}
        in_shell = self._target.shell is True and isinstance(check.command, str)
        program, *rest = filled(check.command, values, shell=in_shell, files_format=None, key=f"{_KEY}.command")
        own = self._around.root / Path(program).expanduser() if "/" in program else None
        return (program if own is None or not own.exists() else str(own), *rest)

    async def _asked(self, url: str, seconds: float) -> None:
        from ..http import Transport

        what = f"target {self._target.name!r}: `{_KEY}` asked {url}"
        hint = "start the service that the target needs, or correct `url`"
        async with Transport(self._around.environment, max_body_bytes=_MOST_BODY) as transport:
            try:
                answer = await transport.send(HttpRequest(method="GET", url=url, headers={}), timeout=seconds)
            except ProviderError as error:
                raise SetupError(f"{what}: {error}", hint=hint) from error
        if not 200 <= answer.status < 300:
            raise SetupError(f"{what}, and the answer's status was {answer.status}, not 2xx", hint=hint)
