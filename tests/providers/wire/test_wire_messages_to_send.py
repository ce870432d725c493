"""What every LLM provider is handed for a request, whatever its API makes of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from turnwise.providers.base import Preview, ProviderRequest
from turnwise.providers.llm import WIRES
from turnwise.providers.opening import Providers
from turnwise.providers.prompt import messages_to_send
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import resolve_target

DEFAULT = "You are a careful assistant."
ENTRIES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parents[1] / "data/requests.yaml").read_text("utf-8"))
FIELDS: dict[str, dict[str, Any]] = {
    "azure": {"endpoint": "http://127.0.0.1:9", "model": "m", "api_key": "key"},
    "bedrock": {"region": "us-east-1", "model": "m", "api_key": "key"},
    "local": {},
}


def preview(provider: str, request: ProviderRequest) -> Preview:
    fields = FIELDS.get(provider, {"model": "m", "base_url": "http://127.0.0.1:9", "api_key": "key"})
    spec = TypeAdapter(PROVIDERS[provider]).validate_python({"name": "t", "provider": provider, **fields})

    async def opened() -> Preview:
        async with Providers(environment={}, default_system_prompt=DEFAULT) as providers:
            return providers.open(resolve_target(spec, {})).preview(request)

    return asyncio.run(opened())


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize("entry", ENTRIES, ids=[each["name"] for each in ENTRIES])
def test_every_llm_provider_sends_the_same_messages(provider: str, entry: dict[str, Any]) -> None:
    """One request means the same neutral messages to every API."""
    request = ProviderRequest(**entry["request"])
    assert messages_to_send(request, DEFAULT) == entry["sends"]
    shown = preview(provider, request)
    assert shown.messages == entry["sends"]
    assert shown.request is not None
    assert entry["sends"][-1]["content"] in repr(shown.request.body)


def test_no_default_system_prompt_means_none_is_sent() -> None:
    """A default that is null, empty or blank adds nothing."""
    request = ProviderRequest(question="q", chat_prompt=[{"role": "user", "content": "u"}])
    for default in (None, "", " \n"):
        assert messages_to_send(request, default) == [{"role": "user", "content": "u"}]
        assert messages_to_send(ProviderRequest(question="q"), default) == [{"role": "user", "content": "q"}]


def test_a_request_is_not_changed_by_what_is_sent() -> None:
    """The default system prompt is put before a copy, not into the caller's own list."""
    prompt: Any = [{"role": "user", "content": "u"}]
    assert messages_to_send(ProviderRequest(question="q", chat_prompt=prompt), DEFAULT) is not prompt
    assert prompt == [{"role": "user", "content": "u"}]
