"""Where each LLM API is, and what it is told besides the body: address and headers. Pure functions of a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ..errors import UsageError

__all__ = ["ANTHROPIC_VERSION", "SIGNED_LATER", "Endpoint", "endpoint_of"]

ANTHROPIC_VERSION = "2026-10-21"
SIGNED_LATER = "[signed with your AWS credentials when it is sent]"
"""Stands for a signature in what is shown: one is made for each request, as it is sent."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address to post to, and the headers for it."""

    url: str
    headers: dict[str, str]


def endpoint_of(target: Any) -> Endpoint:
    """The endpoint of a resolved target; headers that the target names itself replace ours."""
    endpoint = _ENDPOINTS[target.provider](target)
    for name, value in (getattr(target, "headers", None) or {}).items():
        for known in [each for each in endpoint.headers if each.lower() == name.lower()]:
            del endpoint.headers[known]
        endpoint.headers[name] = value
    if "@" in _authority(endpoint.url) and any(name.lower() == "authorization" for name in endpoint.headers):
        raise UsageError(
            f"target {target.name!r}: the address holds a login, and there is a key: a request can carry only one",
            "take the login out of the address, or the key out of the target",
        )
    return endpoint


def _authority(url: str) -> str:
    """What stands between `://` and the path; plainly, for what is shown in place of a login is no part of a URL."""
    return url.partition("://")[2].partition("/")[0]


def _bearer(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def _chat(target: Any) -> Endpoint:
    return Endpoint(f"{target.base_url.rstrip('/')}/chat/completions", _bearer(target.api_key))


def _responses(target: Any) -> Endpoint:
    return Endpoint(f"{target.base_url.rstrip('/')}/responses", _bearer(target.api_key))


def _azure(target: Any) -> Endpoint:
    # The key goes in a header of Azure's own; a token is a bearer.
    key = {"api-key": target.api_key} if target.api_key is not None else {}
    headers = key if target.entra_token is None else _bearer(target.entra_token)
    address = target.endpoint.rstrip("/")
    base = address.removesuffix("/openai/v1").removesuffix("/openai")
    if target.api_version != "v1" and address.endswith("/openai/v1"):
        raise UsageError(
            f"target {target.name!r}: `endpoint` ends in /openai/v1, and `api_version` is {target.api_version}",
            "leave out `api_version`, or the end of `endpoint`",
        )
    if target.api_version == "v1":
        return Endpoint(f"{base}/openai/v1/chat/completions", headers)
    deployment = quote(target.deployment or target.model, safe="")
    version = quote(target.api_version, safe="")
    return Endpoint(f"{base}/openai/deployments/{deployment}/chat/completions?api-version={version}", headers)


def _anthropic(target: Any) -> Endpoint:
    base = target.base_url.rstrip("/").removesuffix("/v1")
    return Endpoint(f"{base}/v1/messages", {**_bearer(target.api_key), "anthropic-version": ANTHROPIC_VERSION})


def _gemini(target: Any) -> Endpoint:
    base = target.base_url.rstrip("/")
    if not base.endswith(("/v1", "/v1beta", "/v1alpha")):
        base = f"{base}/{target.api_version}"
    model = quote(target.model if "/" in target.model else f"models/{target.model}", safe="/")
    verb = "streamGenerateContent?alt=sse" if target.stream else "generateContent"
    return Endpoint(f"{base}/{model}:{verb}", {} if target.api_key is None else {"x-goog-api-key": target.api_key})


def _bedrock(target: Any) -> Endpoint:
    verb = "converse-stream" if target.stream else "converse"
    url = f"{target.base_url.rstrip('/')}/model/{quote(target.model, safe='')}/{verb}"
    return Endpoint(url, _bearer(target.api_key))


_ENDPOINTS: dict[str, Callable[[Any], Endpoint]] = {
    "openai": _chat,
    "ollama": _chat,
    "openrouter": _chat,
    "openai-responses": _responses,
    "azure": _azure,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}
