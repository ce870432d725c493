"""The one class for all LLM APIs: what differs between them is a wire module and an endpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ..conversation.chat import ChatPrompt
from .base import DEFAULT_TIMEOUT, HttpRequest, Preview, ProviderRequest, ProviderResponse, Settings
from .endpoints import SIGNED_LATER, endpoint_of
from .prompt import messages_to_send
from .wire.base import Answer, Encoded, Wire, WireRequest

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .http import HttpAnswer, Transport
    from .limits import RateLimit

__all__ = ["WIRES", "LLMProvider", "settings_of", "wire_of"]

WIRES = {
    "openai": "openai",
    "ollama": "openai",
    "openrouter": "openai",
    "azure": "openai",
    "local": "openai",
    "openai-responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
}
"""The wire module of each LLM provider."""


def wire_of(provider: str) -> Wire:
    """The wire module of a provider."""
    return cast(Wire, import_module(f"{__package__}.wire.{WIRES[provider]}"))


def settings_of(target: Any) -> Settings:
    """The sampling settings of a target."""
    values = {name: getattr(target, name, None) for name in Settings.__dataclass_fields__}
    stop = values["stop"]
    values["stop"] = None if stop is None else (stop,) if isinstance(stop, str) else tuple(stop)
    return Settings(**values)


class LLMProvider:
    """Takes requests to one LLM API. One attempt each: retries are the business of whoever asks."""

    def __init__(
        self,
        resolved: ResolvedTarget,
        transport: Transport | None,
        default_system_prompt: str | None,
        limit: RateLimit | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._resolved = resolved
        self._target = cast(Any, resolved.target)
        self._transport = transport
        self._default_system_prompt = default_system_prompt
        self._limit = limit
        self._environment = environment or {}
        self._wire = wire_of(self._target.provider)
        self._settings = settings_of(self._target)
        self._stream = bool(getattr(self._target, "stream", False))
        self._timeout = float(self._target.timeout or DEFAULT_TIMEOUT)
        self._endpoint = endpoint_of(self._target)
        names = resolved.variables
        self._context: dict[str, Any] = {
            "api": urlsplit(self._endpoint.url).netloc.rpartition("@")[2],
            "retry_statuses": frozenset(self._target.retry_statuses),
            "credential": names.get("api_key") or names.get("entra_token"),
            "secrets": resolved.secrets,
        }
        # The same for every request; a thousand of them should not look it up a thousand times.
        target = self._target
        self._constant: dict[str, Any] = {
            "model": getattr(target, "deployment", None) or target.model,
            "stream": self._stream,
            "images": getattr(target, "images", True),
            "system_role": getattr(target, "system_role", "system"),
            "max_tokens_field": getattr(target, "max_tokens_field", None) or _max_tokens_field(self._endpoint.url),
            "extra_body": getattr(target, "extra_body", None) or {},
        }

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Send the request once. Raises `ProviderError`."""
        messages = messages_to_send(request, self._default_system_prompt)
        encoded = self._encode(request, messages)
        headers = self._endpoint.headers
        http = HttpRequest(method="POST", url=self._endpoint.url, headers=headers, body=encoded.body)
        if self._must_sign:
            http = await self._signed(http)
        started = perf_counter()
        body, first_at = await (self._streamed(http) if self._stream else self._whole(http))
        ended = perf_counter()
        answer = self._wire.decode(body)
        return self._response(
            answer, messages, encoded, body, (ended - started) * 1000, first_at and (first_at - started) * 1000
        )

    def preview(self, request: ProviderRequest) -> Preview:
        """What `ask` would send, with the names of variables in the place of secrets."""
        messages = messages_to_send(request, self._default_system_prompt)
        shown = cast(Any, self._resolved.shown)
        encoded = self._encode(request, messages, extra_body=getattr(shown, "extra_body", None) or {})
        endpoint = endpoint_of(shown)
        headers = {"Content-Type": "application/json", **endpoint.headers}
        if self._must_sign:
            headers["Authorization"] = SIGNED_LATER
        http = HttpRequest(method="POST", url=endpoint.url, headers=headers, body=encoded.body)
        return Preview(messages=messages, rewrites=encoded.rewrites, request=http)

    async def close(self) -> None:
        """Nothing of its own: the connections belong to the transport."""

    @property
    def _must_sign(self) -> bool:
        return self._target.provider == "bedrock" and self._target.api_key is None

    def _encode(self, request: ProviderRequest, messages: ChatPrompt, **instead: Any) -> Encoded:
        return self._wire.encode(
            WireRequest(
                messages=messages,
                settings=self._settings if request.settings == _NO_SETTINGS else request.settings.over(self._settings),
                tools=request.tools,
                output_schema=request.output_schema,
                **(self._constant | instead if instead else self._constant),
            )
        )

    async def _signed(self, http: HttpRequest) -> HttpRequest:
        import asyncio

        from .aws_signature import signed

        target = self._target
        return await asyncio.to_thread(
            signed, http, region=target.region, profile=target.profile, environment=self._environment
        )

    async def _whole(self, http: HttpRequest) -> tuple[Any, None]:
        from .status import json_body

        assert self._transport is not None
        answer = await self._transport.send(http, timeout=self._timeout)
        self._check(answer)
        return json_body(answer, **self._context), None

    async def _streamed(self, http: HttpRequest) -> tuple[Any, float | None]:
        from .streaming import AnswerStream

        assert self._transport is not None
        stream = AnswerStream(self._wire.Assembly(), self._context, aws=self._target.provider == "bedrock")

        def take(chunk: bytes) -> bool:
            stream.feed(chunk)
            return stream.finished

        answer = await self._transport.stream(http, timeout=self._timeout, on_chunk=take)
        self._check(answer)
        return stream.result(), stream.first_at

    def _check(self, answer: HttpAnswer) -> None:
        if self._limit is not None:
            self._limit.observe(answer.headers, time.time())
        if not 200 <= answer.status < 300:
            from .status import status_error

            raise status_error(answer, **self._context)

    def _response(
        self,
        answer: Answer,
        messages: ChatPrompt,
        encoded: Encoded,
        body: Any,
        latency_ms: float,
        first_token_ms: float | None,
    ) -> ProviderResponse:
        return ProviderResponse(
            text=answer.text,
            messages=[answer.message],
            finish_reason=answer.finish_reason,
            raw_finish_reason=answer.raw_finish_reason,
            usage=answer.usage,
            reasoning=answer.reasoning,
            refusal=answer.refusal,
            model=answer.model,
            response_id=answer.response_id,
            sent=messages,
            rewrites=encoded.rewrites,
            latency_ms=latency_ms,
            first_token_ms=first_token_ms,
            raw=body,
        )


_NO_SETTINGS = Settings()


def _max_tokens_field(url: str) -> str:
    """OpenAI and Azure have renamed the setting; servers that speak their API mostly know the old name."""
    host = urlsplit(url).hostname or ""
    new = host == "api.openai.com" or host.endswith(".azure.com")
    return "max_completion_tokens" if new else "max_tokens"
