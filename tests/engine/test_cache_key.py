"""The key of an answer: the same for the same request in any process, another one for anything that is sent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from turnwise.engine.cache_key import cache_key
from turnwise.providers import HttpRequest, Preview, ProviderRequest, Settings, Tool
from turnwise.targets.chat_completions import OpenAITarget
from turnwise.targets.stand_ins import MockTarget

TARGET = OpenAITarget(name="gpt", provider="openai", model="gpt-5")
HTTP = HttpRequest(
    method="POST",
    url="http://127.0.0.1/v1",
    headers={"anthropic-version": "1", "Authorization": "[redacted: KEY]"},
    body={"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
)
STABLE = """
from turnwise.engine.cache_key import cache_key
from turnwise.providers import HttpRequest, Preview
from turnwise.targets.chat_completions import OpenAITarget
http = HttpRequest(method="POST", url="http://127.0.0.1/v1", headers={"b": "2", "a": "1"}, body={"x": 0.1, "é": None})
target = OpenAITarget(name="gpt", provider="openai", model="gpt-5", temperature=0.5, stop=["a", "b"])
print(cache_key(Preview(messages=[], rewrites=(), request=http), target, 1))
"""


def preview_of(http: HttpRequest | None, text: str = "Hi") -> Preview:
    return Preview(messages=[{"role": "user", "content": text}], rewrites=(), request=http)


def key_of(http: HttpRequest | None = HTTP, trial: int = 1, **settings: Any) -> str:
    return cache_key(preview_of(http), TARGET.model_copy(update=settings), trial)


def test_a_key_is_64_hexadecimal_digits() -> None:
    """A key is a SHA-256 in hexadecimal."""
    assert len(key_of()) == 64
    assert set(key_of()) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "change",
    [
        {"method": "PUT"},
        {"url": "http://127.0.0.1/v2"},
        {"body": {"model": "m", "messages": [{"role": "user", "content": "Hi!"}]}},
        {"body": {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}},
        {"body": None},
        {"headers": {"anthropic-version": "2", "Authorization": "[redacted: KEY]"}},
        {"headers": {"anthropic-version": "1"}},
    ],
)
def test_whatever_is_sent_changes_the_key(change: Mapping[str, Any]) -> None:
    """Method, address, body, the order of its keys, and headers that are no secrets are part of the key."""
    assert key_of(replace(HTTP, **change)) != key_of()


def test_another_secret_is_the_same_request() -> None:
    """The value of a header that holds a secret is not part of the key, nor is the order and case of headers."""
    other = replace(HTTP, headers={"authorization": "[redacted: OTHER]", "Anthropic-Version": "1"})
    assert key_of(other) == key_of()
    assert key_of(api_key="[redacted: OTHER]") == key_of()


def test_a_variable_that_is_not_shown_counts_all_the_same() -> None:
    """Another tenant in a header or a body is another request, although both are shown as `[redacted: TENANT]`."""
    assert key_of(headers={"X-Tenant": "red"}) != key_of(headers={"X-Tenant": "blue"})
    assert key_of(extra_body={"tenant": "red"}) != key_of(extra_body={"tenant": "blue"})
    assert key_of(headers={"X-Api-Key": "k-1"}) == key_of(headers={"X-Api-Key": "k-2"})


def test_a_trial_has_its_own_key() -> None:
    """Equal requests of different trials have different keys."""
    assert len({key_of(trial=trial) for trial in (1, 2, 3)}) == 3


@pytest.mark.parametrize("settings", [{"name": "other"}, {"temperature": 0.5}, {"seed": 1}, {"model": "gpt-6"}])
def test_settings_that_matter_change_the_key(settings: Mapping[str, Any]) -> None:
    """The target's name, and the settings that change answers, are part of the key."""
    assert key_of(**settings) != key_of()


@pytest.mark.parametrize(
    "settings", [{"workers": 3}, {"max_retries": 9}, {"timeout": 5.0}, {"description": "x"}, {"judge_target": "y"}]
)
def test_settings_that_change_no_answer_leave_the_key(settings: Mapping[str, Any]) -> None:
    """How patiently, how often and what for a target is asked is not part of the key."""
    assert key_of(**settings) == key_of()


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Hello"},
        {"vars": {"a": 2, 1: "mixed keys"}},
        {"case_id": "two"},
        {"settings": Settings(temperature=0.5)},
        {"tools": [Tool("search")]},
        {"output_schema": {"type": "string"}},
        {"metadata": {"system_prompt": "Be brief."}},
        {"guidelines": ["Be kind."]},
    ],
)
def test_without_http_the_whole_request_counts(change: Mapping[str, Any]) -> None:
    """A function or script may look at everything in its request, so all of it is part of the key."""
    mock = MockTarget(name="mock", provider="mock", echo=True)
    request = ProviderRequest(question="Hi", case_id="one", vars={"a": 1})
    plain = cache_key(preview_of(None), mock, 1, request=request)
    assert cache_key(preview_of(None), mock, 1, request=replace(request, **change)) != plain
    assert cache_key(preview_of(None, "Hi!"), mock, 1, request=request) != plain


def test_a_key_is_the_same_in_every_process() -> None:
    """The key does not depend on the seed of the process's hashes."""
    keys = {
        subprocess.run(
            [sys.executable, "-c", STABLE], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60
        ).stdout
        for seed in ("1", "2")
    }
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 64


def test_a_key_is_the_hash_of_canonical_json() -> None:
    """The hashed text is JSON with sorted keys and nothing between them, so that any version gets the same key."""
    sent = '{"messages":[{"role":"user","content":"Hi"}]}'
    told = {"provider": "mock", "name": "m", "echo": True}
    text = json.dumps({"version": 1, "trial": 2, "target": told, "sent": sent}, sort_keys=True, separators=(",", ":"))
    mock = MockTarget(name="m", provider="mock", echo=True, delay=0.0, workers=2)
    assert cache_key(preview_of(None), mock, 2) == sha256(text.encode()).hexdigest()


def test_half_a_surrogate_pair_has_a_key() -> None:
    """Text that has no UTF-8 form is still text to ask with."""
    assert key_of(replace(HTTP, body={"text": "\ud800"})) != key_of(replace(HTTP, body={"text": "\ud801"}))
    mock = MockTarget(name="mock", provider="mock", echo=True)
    assert len(cache_key(preview_of(None, "\ud800"), mock, 1)) == 64
