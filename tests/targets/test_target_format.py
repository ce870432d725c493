"""The targets file format: one model per provider, strict, documented, and the schema agrees with the validator."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, ValidationError

from turnwise.targets.agents import CommandHealthcheck, HttpHealthcheck
from turnwise.targets.format import TargetsSpec
from turnwise.targets.models import PROVIDERS
from turnwise.targets.settings import Prices
from turnwise.targets.stand_ins import MockRule

# What each provider needs besides name and provider.
NEEDED: dict[str, dict[str, Any]] = {
    "http": {"url": "http://localhost/chat"},
    "python": {"function": "app.chat:answer"},
    "replay": {"path": "runs/one"},
    "cli": {"command": ["agent", "{PROMPT}"]},
    **{
        name: {"model": "m"}
        for name in (
            "openai", "openai-responses", "openrouter", "ollama", "azure", "anthropic", "gemini", "bedrock"
        )
    },
}  # fmt: skip
BASIC = {"temperature": 0, "top_p": 1, "max_output_tokens": 100}
# What the other settings of sampling are, and who takes them.
FURTHER: dict[str, tuple[Any, set[str]]] = {
    "seed": (7, {"openai", "openrouter", "ollama", "azure", "gemini", "local"}),
    "stop": (["END"], {"openai", "openrouter", "ollama", "azure", "anthropic", "gemini", "bedrock", "local"}),
    "reasoning_effort": (
        "low", {"openai", "openrouter", "ollama", "openai-responses", "azure", "anthropic", "gemini", "bedrock"}
    ),
    "thinking_budget": (-1, {"anthropic", "gemini"}),
    "max_tokens_field": ("max_tokens", {"openai", "openrouter", "ollama", "azure"}),
    "images": (False, {*(set(NEEDED) - {"http", "python", "replay", "cli"})}),
}  # fmt: skip
SCHEMA = TargetsSpec.model_json_schema()


def one(provider: str, **settings: Any) -> dict[str, Any]:
    """A file with one target."""
    return {"targets": [{"name": "t", "provider": provider, **NEEDED.get(provider, {}), **settings}]}


def is_valid(data: dict[str, Any]) -> bool:
    """Whether a file is valid; the model and its schema must agree."""
    try:
        TargetsSpec.model_validate(data)
        by_model = True
    except ValidationError:
        by_model = False
    by_schema = jsonschema.Draft202012Validator(SCHEMA).is_valid(data)
    assert by_model == by_schema, data
    return by_model


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_has_a_smallest_target(provider: str) -> None:
    """A target needs its name, its provider and what the provider cannot guess."""
    assert is_valid(one(provider))
    for key in NEEDED.get(provider, {}):
        smaller = one(provider)
        del smaller["targets"][0][key]
        with pytest.raises(ValidationError):
            TargetsSpec.model_validate(smaller)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_unknown_keys_are_forbidden(provider: str) -> None:
    """No provider takes a key that it does not know."""
    assert not is_valid(one(provider, surprise=1))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_common_settings(provider: str) -> None:
    """Every provider takes the common settings."""
    assert is_valid(
        one(
            provider,
            description="d",
            judge_target="t",
            workers=2,
            system_prompt="s",
            timeout=30,
            max_retries=0,
            retry_initial_delay=0.5,
            retry_factor=1,
            retry_max_delay=10,
            requests_per_minute=60,
            tokens_per_minute=1000,
            prices={"input": 1, "output": 2.5, "cached_input": 0.1},
        )
    )


@pytest.mark.parametrize("provider", sorted(FURTHER["images"][1]))
def test_model_settings(provider: str) -> None:
    """Every model API takes a key, headers and the sampling settings that all of them have."""
    headers = {"X-Team": "${{ TEAM }}"}
    assert is_valid(one(provider, api_key="${{ KEY }}", headers=headers, retry_statuses=[429, "${{ S }}"], **BASIC))


@pytest.mark.parametrize("setting", FURTHER)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_setting_that_an_api_cannot_take_is_refused(provider: str, setting: str) -> None:
    """No setting of sampling is accepted and ignored: a provider's model has it only if its API has."""
    value, takers = FURTHER[setting]
    assert is_valid(one(provider, **{setting: value})) == (provider in takers)


def test_retry_defaults() -> None:
    """Without a word, a request is sent again three times, after 1, 2 and 4 seconds."""
    (target,) = TargetsSpec.model_validate(one("openai")).targets
    assert (target.max_retries, target.retry_initial_delay, target.retry_factor, target.retry_max_delay) == (
        3,
        1,
        2,
        60,
    )


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("openai", "temperature"),
        ("openai", "workers"),
        ("openai", "max_retries"),
        ("openai", "timeout"),
        ("openai", "stream"),
        ("openai", "system_role"),
        ("mock", "delay"),
        ("vscode", "wait"),
        ("codex", "keep_workspaces"),
    ],
)
def test_settings_that_are_not_text_take_a_whole_variable(provider: str, key: str) -> None:
    """A number, switch or choice may be one whole `${{ NAME }}`, and no other text."""
    assert is_valid(one(provider, **{key: "${{ VALUE }}"}))
    for text in ("1${{ VALUE }}", "${{ A }}${{ B }}", "${{ a b }}", "x", ""):
        assert not is_valid(one(provider, **{key: text}))


@pytest.mark.parametrize(
    ("provider", "settings"),
    [
        ("openai", {"timeout": 0}),
        ("openai", {"timeout": True}),
        ("openai", {"workers": 0}),
        ("openai", {"workers": 1.5}),
        ("openai", {"max_retries": -1}),
        ("openai", {"top_p": 1.1}),
        ("openai", {"retry_statuses": [42]}),
        ("openai", {"stream": "yes"}),
        ("openai", {"model": 4}),
        ("openai", {"model": ""}),
        ("openai", {"stop": []}),
        ("openai", {"headers": {"X": 1}}),
        ("openai", {"prices": {"input": 1}}),
        ("anthropic", {"system_role": "developer"}),
        ("mock", {"api_key": "k"}),
        ("cli", {"healthcheck": {"type": "command"}}),
        ("cli", {"command": []}),
        ("openai-responses", {"system_role": "user"}),
    ],
)
def test_wrong_settings(provider: str, settings: dict[str, Any]) -> None:
    """Values of the wrong type or out of range, and settings of other providers, are refused."""
    assert not is_valid(one(provider, **settings))


@pytest.mark.parametrize(
    ("provider", "settings", "part"),
    [
        ("cli", {"recipe": "aider"}, "only one of them"),
        ("cli", {"command": None}, "only one of them"),
        ("azure", {"api_key": "a", "entra_token": "b"}, "not both"),
        ("mock", {"response": "a", "echo": True}, "not both"),
        ("python", {"function": "app.chat"}, "module:function"),
        ("python", {"function": "app chat:answer"}, "module:function"),
        ("http", {"answer_pointer": "answer"}, "starts with `/`"),
        ("mock", {"name": "${{ NAME }}"}, "cannot hold variables"),
    ],
)
def test_rules_with_a_sentence_of_their_own(provider: str, settings: dict[str, Any], part: str) -> None:
    """What is wrong beyond a type is refused by the schema, and by the model with a sentence that says it."""
    assert not is_valid(one(provider, **settings))
    with pytest.raises(ValidationError) as caught:
        TargetsSpec.model_validate(one(provider, **settings))
    assert part in str(caught.value)


@pytest.mark.parametrize("pattern", ["(", "a{9999999999999}"])
def test_a_pattern_is_compiled_by_the_model_alone(pattern: str) -> None:
    """What a schema cannot say is refused with a sentence that says it."""
    with pytest.raises(ValidationError) as caught:
        TargetsSpec.model_validate(one("mock", script=[{"pattern": pattern}]))
    assert "regular expression" in str(caught.value)


def test_a_file_needs_targets() -> None:
    """The list must be there and must not be empty; `$schema` may be there."""
    assert not is_valid({})
    assert not is_valid({"targets": []})
    assert is_valid({"$schema": "https://example.org/targets.json", **one("mock")})


@pytest.mark.parametrize(
    "model", [TargetsSpec, Prices, MockRule, CommandHealthcheck, HttpHealthcheck, *PROVIDERS.values()]
)
def test_every_field_is_described(model: type[BaseModel]) -> None:
    """The reference is made from the models: each has a docstring, and each field one sentence that ends."""
    assert model.__doc__
    for name, field in model.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
        assert "\n" not in field.description, name
