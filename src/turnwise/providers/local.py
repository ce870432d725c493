"""A model file on this machine: llama.cpp's server in a child process, asked like any other server of OpenAI's API."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..targets.chat_completions import OpenAITarget
from ..targets.local_model import LocalTarget
from .base import Preview, ProviderRequest, ProviderResponse
from .gguf_file import check_gguf, model_path
from .llama_process import LlamaOptions, LlamaServers
from .llm import LLMProvider

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .http import Transport

__all__ = ["LocalProvider"]

# Stands for the port, which is not known before the server runs.
_NOWHERE = "http://127.0.0.1:PORT/v1"
_SHARED = (
    "name", "timeout", "temperature", "top_p", "max_output_tokens", "seed", "stop", "stream",
)  # fmt: skip


class LocalProvider:
    """Starts the model when it is first asked, and again if it has died since."""

    def __init__(
        self,
        resolved: ResolvedTarget,
        transport: Transport,
        servers: LlamaServers,
        root: Path,
        default_system_prompt: str | None,
    ) -> None:
        target = resolved.target
        assert isinstance(target, LocalTarget)
        self._target: Any = target
        self._resolved = resolved
        self._transport = transport
        self._servers = servers
        self._root = root
        self._default_system_prompt = default_system_prompt
        self._address = ""
        self._llm: LLMProvider | None = None

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask the model. Raises `ProviderError`, and `UsageError` for a file that is no model."""
        path = model_path(self._target.model, self._root)
        check_gguf(path)
        options = LlamaOptions(
            model=path, context_length=self._target.context_length, threads=self._target.threads
        )  # fmt: skip
        address = await self._servers.address(options)
        if self._llm is None or address != self._address:
            self._llm, self._address = self._asking(address), address
        response = await self._llm.ask(request)
        self._servers.answered(options)
        return response

    def preview(self, request: ProviderRequest) -> Preview:
        """What the model's server would be sent; its port is open until it runs."""
        return self._asking(_NOWHERE).preview(request)

    async def close(self) -> None:
        """The server is shared, and stopped by whoever started it."""

    def _asking(self, address: str) -> LLMProvider:
        settings = {name: getattr(self._target, name) for name in _SHARED}
        name = Path(self._target.model or "default").stem
        # Not validated: the port of what is shown is not known yet.
        target = OpenAITarget.model_construct(
            **settings, provider="openai", model=name, base_url=address, images=False, max_tokens_field="max_tokens"
        )
        resolved = replace(self._resolved, target=target, shown=target)
        return LLMProvider(resolved, self._transport, self._default_system_prompt)
