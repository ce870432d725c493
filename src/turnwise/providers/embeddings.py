"""Texts as vectors: one request to an OpenAI-compatible `/embeddings`, with the target's retries and limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

from ..errors import ApplicationError, ProtocolError, SetupError, TurnwiseError
from .base import DEFAULT_TIMEOUT, HttpRequest, Usage
from .endpoints import endpoint_of
from .patient import policy_of
from .python_import import raised_at, shown_error
from .retries import Retry, with_retries

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .http import Transport
    from .limits import RateLimit

__all__ = ["EMBEDDING_PROVIDERS", "Embedder", "Embeddings", "word_vector"]

EMBEDDING_PROVIDERS = frozenset({"azure", "mock", "ollama", "openai", "openrouter"})
"""The providers that can turn texts into vectors; `mock` counts words, for suites that run offline."""

_CHAT = "/chat/completions"
_DIMENSIONS = 256
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Embeddings:
    """A vector for each text, in their order, and what that took."""

    vectors: Sequence[Sequence[float]]
    usage: Usage
    model: str | None
    attempts: int
    latency_ms: float


class Embedder:
    """Turns texts into vectors by one target. Raises `SetupError` if it has a provider that cannot."""

    def __init__(
        self,
        resolved: ResolvedTarget,
        transport: Transport,
        limit: RateLimit,
        on_retry: Callable[[Retry], bool | None] | None = None,
    ) -> None:
        target: Any = resolved.target
        if target.provider not in EMBEDDING_PROVIDERS:
            hint = f"name a target of {', '.join(sorted(EMBEDDING_PROVIDERS))}"
            raise SetupError(f"the provider {target.provider!r} has no embeddings", hint=hint)
        self._resolved = resolved
        self._target = target
        self._transport = transport
        self._limit = limit
        self._on_retry = on_retry

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """A vector for each text, all by one request. Raises `ProviderError`, and nothing else."""
        started = time.perf_counter()
        try:
            found, attempts = await with_retries(
                policy_of(self._target), lambda: self._attempt(texts), on_retry=self._on_retry
            )
        except TurnwiseError:
            raise
        except Exception as error:
            message = f"embedding failed: {shown_error(error)} ({raised_at(error)})"
            raise ApplicationError(message, hint="report it as a fault of Turnwise") from error
        vectors, usage, model = found
        return Embeddings(vectors, usage, model, attempts, (time.perf_counter() - started) * 1000)

    async def _attempt(self, texts: Sequence[str]) -> tuple[list[list[float]], Usage, str | None]:
        if self._target.provider == "mock":
            return [word_vector(text) for text in texts], Usage(), "mock"
        await self._limit.acquire(sum(map(len, texts)) // _CHARACTERS_PER_TOKEN)
        data = await self._sent(texts)
        vectors = _vectors(data, len(texts), self._api)
        model = data.get("model")
        return vectors, _usage(data.get("usage")), model if isinstance(model, str) else None

    async def _sent(self, texts: Sequence[str]) -> Mapping[str, Any]:
        from .status import json_body, status_error

        endpoint, target = endpoint_of(self._target), self._target
        body = {"model": getattr(target, "deployment", None) or target.model, "input": list(texts)}
        url = endpoint.url.replace(_CHAT, "/embeddings", 1)
        request = HttpRequest(method="POST", url=url, headers=endpoint.headers, body=body)
        answer = await self._transport.send(request, timeout=float(target.timeout or DEFAULT_TIMEOUT))
        self._limit.observe(answer.headers, time.time())
        names = self._resolved.variables
        context: dict[str, Any] = {
            "api": self._api,
            "retry_statuses": frozenset(target.retry_statuses),
            "credential": names.get("api_key") or names.get("entra_token"),
            "secrets": self._resolved.secrets,
        }
        if not 200 <= answer.status < 300:
            raise status_error(answer, **context)
        data = json_body(answer, **context)
        if not isinstance(data, Mapping):
            raise _unusable(self._api, "the response should be a JSON object")
        return data

    @property
    def _api(self) -> str:
        return urlsplit(endpoint_of(self._target).url).netloc.rpartition("@")[2]


def word_vector(text: str) -> list[float]:
    """How often each word is there, in 256 slots: what a mock target has for a vector.

    >>> word_vector("Oslo, oslo!") == [2.0 * count for count in word_vector("oslo")]
    True
    """
    import re

    vector = [0.0] * _DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        vector[crc32(word.encode("utf-8", "surrogatepass")) % _DIMENSIONS] += 1.0
    return vector


def _vectors(data: Mapping[str, Any], count: int, api: str) -> list[list[float]]:
    rows = data.get("data")
    if not isinstance(rows, list) or len(rows) != count or not all(isinstance(row, Mapping) for row in rows):
        found = len(rows) if isinstance(rows, list) else "none"
        raise _unusable(api, f"`data` should hold {count} vectors, found {found}")
    indices = [row.get("index", number) for number, row in enumerate(rows)]
    if sorted(map(repr, indices)) != sorted(map(repr, range(count))):
        raise _unusable(api, f"the `index` of the vectors should count from 0, found {str(indices)[:60]}")
    ordered = [row for _, row in sorted(zip(indices, rows, strict=True), key=lambda pair: pair[0])]
    return [_vector(row.get("embedding"), api) for row in ordered]


def _vector(value: Any, api: str) -> list[float]:
    if not isinstance(value, list) or not value or not all(type(each) in (int, float) for each in value):
        raise _unusable(api, "an `embedding` should be a list of numbers")
    try:
        numbers = [float(each) for each in value]
    except OverflowError:
        numbers = [math.inf]
    if not all(map(math.isfinite, numbers)):
        raise _unusable(api, "an `embedding` holds a number that is not finite")
    return numbers


def _usage(value: Any) -> Usage:
    tokens = value.get("prompt_tokens", value.get("total_tokens")) if isinstance(value, Mapping) else None
    return Usage(input_tokens=tokens, output_tokens=0) if type(tokens) is int and tokens >= 0 else Usage()


def _unusable(api: str, what: str) -> ProtocolError:
    return ProtocolError(f"{api}: {what}", hint="is `model` of the target an embedding model?")
