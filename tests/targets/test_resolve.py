"""Resolving: variables filled in and converted, the usual ones found, every missing one named at once."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from turnwise.errors import MissingVariablesError, UsageError
from turnwise.targets.format import Target
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target, resolve_targets

KEYS = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "GOOGLE_API_KEY": "sk-google",
    "GEMINI_API_KEY": "sk-gemini",
    "OPENROUTER_API_KEY": "sk-openrouter",
}


def spec(provider: str, /, **settings: Any) -> Target:
    """A target as it is loaded from a file."""
    model = {} if provider in ("http", "python", "mock", "cli", "replay", "local") else {"model": "m"}
    return PROVIDERS[provider].model_validate({"name": "t", "provider": provider, **model, **settings})


def resolved(provider: str, environment: dict[str, str] | None = None, /, **settings: Any) -> ResolvedTarget:
    """The same, resolved."""
    return resolve_target(spec(provider, **settings), environment or {})


def setting(provider: str, name: str, environment: dict[str, str] | None = None, /, **settings: Any) -> Any:
    """One setting of a resolved target."""
    return getattr(resolved(provider, environment, **settings).target, name)


def missing(provider: str, environment: dict[str, str] | None = None, /, **settings: Any) -> list[str]:
    """The variables that a target lacks."""
    with pytest.raises(MissingVariablesError) as caught:
        resolved(provider, environment, **settings)
    return list(caught.value.missing["t"])


def test_texts_are_filled_in() -> None:
    """Variables are filled in wherever a text may stand, and what they hold is not searched again."""
    environment = {"HOST": "example.org", "X": "${{ HOST }}", "STOP": "END", "TEAM": "blue"}
    target: Any = resolved(
        "openai", environment, base_url="https://${{ HOST }}/v1", system_prompt="${{ X }}", stop=["${{ STOP }}"],
        headers={"X-Team": "${{ TEAM }}"}, extra_body={"a": [{"b": "${{ TEAM }}!"}]},
    ).target  # fmt: skip
    assert (target.base_url, target.system_prompt, target.stop) == ("https://example.org/v1", "${{ HOST }}", ["END"])
    assert (target.headers, target.extra_body) == ({"X-Team": "blue"}, {"a": [{"b": "blue!"}]})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_retries", "5", 5),
        ("temperature", "0.5", 0.5),
        ("temperature", "0", 0.0),
        ("stream", "true", True),
        ("images", "false", False),
        ("system_role", "developer", "developer"),
        ("max_tokens_field", "max_tokens", "max_tokens"),
        ("timeout", " 30 ", 30.0),
    ],
)
def test_settings_that_are_not_text_are_converted(name: str, text: str, value: Any) -> None:
    """A number, a switch or a choice that came from a variable has its real type afterwards."""
    found = setting("openai", name, {**KEYS, "V": text}, **{name: "${{ V }}"})
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("max_retries", "abc", "a whole number"),
        ("max_retries", "-1", "greater than or equal to 0"),
        ("timeout", "soon", "a number"),
        ("timeout", "${{ OTHER }}", "a number"),
        ("stream", "maybe", "true or false"),
        ("system_role", "boss", "'system' or 'developer'"),
    ],
)
def test_a_value_that_does_not_fit(name: str, text: str, expected: str) -> None:
    """The error names target, setting and variable, what was expected and what was found."""
    with pytest.raises(UsageError) as caught:
        resolved("openai", {**KEYS, "V": text, "OTHER": "1"}, **{name: "${{ V }}"})
    for part in ("target 't'", f"`{name}`", "variable V", expected):
        assert part in str(caught.value)
    assert caught.value.hint


def test_a_secret_that_does_not_fit_is_not_shown() -> None:
    """What a variable of a secret name holds is in no message."""
    with pytest.raises(UsageError) as caught:
        resolved("openai", {**KEYS, "MY_TOKEN": "hush-hush"}, max_retries="${{ MY_TOKEN }}")
    assert "MY_TOKEN" in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ключ"])
def test_a_key_that_cannot_be_one(key: str) -> None:
    """A key that no header can carry is refused before anything is sent, and not shown."""
    with pytest.raises(UsageError, match="`api_key` holds characters that no key has") as caught:
        resolved("openai", {"OPENAI_API_KEY": key})
    assert key not in str(caught.value)
    assert setting("openai", "api_key", {"OPENAI_API_KEY": "sk-1\n"}) == "sk-1"


def test_a_header_must_be_one_line() -> None:
    """A header with a line break would be two headers."""
    with pytest.raises(UsageError, match=r"`headers` holds a line break.*variable H"):
        resolved("openai", {**KEYS, "H": "a\r\nX-Evil: b"}, headers={"X": "${{ H }}"})


def test_rules_hold_after_filling_in() -> None:
    """What a file may leave open because of a variable is checked when the variable is known."""
    with pytest.raises(UsageError, match="give `response` or `echo: true`, not both"):
        resolved("mock", {"E": "true"}, response="a", echo="${{ E }}")
    with pytest.raises(UsageError, match="module:function"):
        resolved("python", {"F": "nonsense"}, function="${{ F }}")


def test_every_missing_variable_of_every_target_at_once() -> None:
    """One error names all variables that are missing, by target; an empty value is not a value."""
    specs = [
        spec("openai", model="${{ MODEL }}", base_url="https://${{ HOST }}"),
        spec("mock", name="m", response="fine"),
        spec("anthropic", name="claude", headers={"X": "${{ EMPTY }}"}),
    ]
    with pytest.raises(MissingVariablesError) as caught:
        resolve_targets(specs, {"EMPTY": "  ", "HOST": "h"})
    assert caught.value.missing == {"t": ("MODEL",), "claude": ("EMPTY", "ANTHROPIC_API_KEY")}
    assert ".turnwise/.env" in str(caught.value)
    assert caught.value.hint == "set them in the environment, in .turnwise/.env or in .env"


def test_all_targets_of_a_list() -> None:
    """Where nothing is missing, all come back in order; a wrong value is an error of its own."""
    specs = [spec("mock"), spec("mock", name="b", delay="${{ D }}")]
    assert [each.target.name for each in resolve_targets(specs, {"D": "1"})] == ["t", "b"]
    with pytest.raises(UsageError, match="`delay` must be a number"):
        resolve_targets(specs, {"D": "x"})


@pytest.mark.parametrize(
    ("provider", "address", "key"),
    [
        ("openai", "https://api.openai.com/v1", "sk-openai"),
        ("openai-responses", "https://api.openai.com/v1", "sk-openai"),
        ("anthropic", "https://api.anthropic.com", "sk-anthropic"),
        ("gemini", "https://generativelanguage.googleapis.com", "sk-google"),
        ("openrouter", "https://openrouter.ai/api/v1", "sk-openrouter"),
        ("ollama", "http://127.0.0.1:11434/v1", None),
    ],
)
def test_the_vendors_own_address_and_usual_key(provider: str, address: str, key: str | None) -> None:
    """A target that says only its model is asked at the vendor's address, with the usual variable's key."""
    target: Any = resolved(provider, KEYS).target
    assert (target.base_url, target.api_key) == (address, key)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("openai-responses", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
    ],
)
def test_a_key_is_needed_at_the_vendors_address_only(provider: str, variable: str) -> None:
    """Without a key the vendor's address is not asked; another one is, without a key."""
    assert missing(provider) == [variable]
    assert setting(provider, "api_key", base_url="https://models.example.org") is None


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL"), ("gemini", "GOOGLE_GEMINI_BASE_URL")],
)
def test_the_usual_address_variable(provider: str, variable: str) -> None:
    """The usual variable moves a target that says nothing, its key goes along, and the file's word goes before it."""
    environment = {**KEYS, variable: "https://proxy.example.org/x/"}
    moved = resolved(provider, environment)
    target: Any = moved.target
    assert target.base_url == "https://proxy.example.org/x"
    assert target.api_key is not None
    assert moved.variables["base_url"] == variable
    assert setting(provider, "base_url", environment, base_url="https://here.org") == "https://here.org"


def test_a_key_goes_to_no_other_host() -> None:
    """A usual key is not sent to another host that a file names, but to a server on this machine it is."""
    assert setting("openai", "api_key", KEYS, base_url="https://elsewhere.example.org/v1") is None
    assert setting("openai", "api_key", KEYS, base_url="http://127.0.0.1:8000/v1") == "sk-openai"
    assert setting("openai", "api_key", KEYS, base_url="https://api.openai.com.evil.org/v1") is None


def test_openrouter_by_its_address() -> None:
    """An openai target at OpenRouter's address needs OpenRouter's key, not OpenAI's."""
    assert setting("openai", "api_key", KEYS, base_url="https://openrouter.ai/api/v1") == "sk-openrouter"
    assert missing("openai", {"OPENAI_API_KEY": "k"}, base_url="https://openrouter.ai/api/v1") == ["OPENROUTER_API_KEY"]


def test_the_second_variable_of_gemini() -> None:
    """GEMINI_API_KEY is used where GOOGLE_API_KEY is not set."""
    assert setting("gemini", "api_key", {"GEMINI_API_KEY": "sk-gemini", "GOOGLE_API_KEY": ""}) == "sk-gemini"


def test_azure() -> None:
    """Azure has variables for the endpoint, the key, the token and the version; a bare name is a resource."""
    key = {"AZURE_OPENAI_API_KEY": "k-azure"}
    target: Any = resolved("azure", key, endpoint="my-res").target
    assert (target.endpoint, target.api_key) == ("https://my-res.openai.azure.com", "k-azure")
    assert (target.api_version, target.entra_token) == ("2024-10-21", None)
    environment = {
        "AZURE_OPENAI_ENDPOINT": "https://r.org/",
        "OPENAI_API_VERSION": "v1",
        "AZURE_OPENAI_AD_TOKEN": "tok",
    }
    target = resolved("azure", environment).target
    assert (target.endpoint, target.api_version) == ("https://r.org", "v1")
    assert (target.api_key, target.entra_token) == (None, "tok")
    assert setting("azure", "entra_token", {**environment, **key}) is None
    assert setting("azure", "api_key", {**environment, **key}, entra_token="mine") is None
    assert missing("azure") == ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"]


def test_bedrock() -> None:
    """Bedrock's address follows from the region; a key is not needed, for botocore finds credentials."""
    target: Any = resolved("bedrock", {"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"}).target
    assert (target.region, target.base_url) == ("eu-west-1", "https://bedrock-runtime.eu-west-1.amazonaws.com")
    assert target.api_key is None
    token = {"AWS_DEFAULT_REGION": "cn-north-1", "AWS_BEARER_TOKEN_BEDROCK": "bearer-1"}
    target = resolved("bedrock", token).target
    assert (target.api_key, target.base_url) == ("bearer-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn")
    assert setting("bedrock", "region", token, region="ap-south-1") == "ap-south-1"
    assert missing("bedrock") == ["AWS_REGION"]
    assert setting("bedrock", "region", base_url="http://127.0.0.1:9", api_key="k") is None
    with pytest.raises(MissingVariablesError, match="AWS_REGION"):
        resolved("bedrock", {}, base_url="http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("endpoint", "is_sent"),
    [
        ("my-resource", True),
        ("https://r.openai.azure.us", True),
        ("http://127.0.0.1:9", True),
        ("https://e.org", False),
    ],
)
def test_azures_key_goes_to_azure(endpoint: str, is_sent: bool) -> None:
    """The usual key goes to no other host because somebody wrote it into a file."""
    variables = {"AZURE_OPENAI_API_KEY": "az-key"}
    assert setting("azure", "api_key", variables, endpoint=endpoint) == ("az-key" if is_sent else None)


def test_an_azure_endpoint_says_which_form_it_is() -> None:
    """An address that ends in /openai/v1 is of that form, whatever version the environment names."""
    variables = {"AZURE_OPENAI_API_KEY": "k-12", "OPENAI_API_VERSION": "2024-10-21"}
    address = "https://r.openai.azure.com/openai/v1"
    assert setting("azure", "api_version", variables, endpoint=address) == "v1"
    assert setting("azure", "api_version", variables, endpoint="r") == "2024-10-21"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("box", "http://box:11434/v1"),
        ("box:80", "http://box:80/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("http://0.0.0.0:1", "http://127.0.0.1:1/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
        ("https://box.example.org/ollama/v1/", "https://box.example.org/ollama/v1"),
    ],
)
def test_ollama_host(host: str, address: str) -> None:
    """OLLAMA_HOST is a host, a host and port, or an address; the address to listen on becomes one to ask."""
    assert setting("ollama", "base_url", {"OLLAMA_HOST": host}) == address


@pytest.mark.parametrize(
    "address",
    ["example.org", "ftp://example.org", "http://", "http://h:port", "https://h/v1?x=1", "http://a b", "http://[x"],
)
def test_a_bad_address(address: str) -> None:
    """An address must have http or https and a host; the error names the setting and its variable."""
    with pytest.raises(UsageError, match=r"target 't': `base_url` .*\(from the variable OPENAI_BASE_URL\)"):
        resolved("openai", {**KEYS, "OPENAI_BASE_URL": address})
    with pytest.raises(ValidationError, match="the address"):
        resolved("openai", KEYS, base_url=address)


def test_the_address_of_an_endpoint_may_hold_placeholders() -> None:
    """An http target's url has a query and `{{ … }}`, which are filled in for each request."""
    url = "https://${{ HOST }}/chat?q={{ question }}"
    assert setting("http", "url", {"HOST": "h.org"}, url=url) == "https://h.org/chat?q={{ question }}"
    with pytest.raises(UsageError, match="`url` must start with http"):
        resolved("http", {"URL": "{{ question }}"}, url="${{ URL }}")


def test_where_settings_came_from() -> None:
    """`variables` names the variable of every setting that has one, the usual ones included."""
    found = resolved(
        "openai", {**KEYS, "T": "x", "H": "h"}, headers={"X-T": "${{ T }}"}, description="${{ H }}"
    ).variables
    assert found == {"api_key": "OPENAI_API_KEY", "headers.X-T": "T", "description": "H"}


def test_null_is_absent() -> None:
    """A setting that is written as null is left to the usual variable like one that is not written."""
    assert setting("openai", "api_key", KEYS, api_key=None) == "sk-openai"


def test_a_secret_that_is_not_needed_yet() -> None:
    """With `allow_missing_secrets`, only what is not secret must be set."""
    target: Any = resolve_target(spec("openai"), {}, allow_missing_secrets=True).target
    assert target.api_key == "[redacted: OPENAI_API_KEY]"
    with pytest.raises(MissingVariablesError) as caught:
        resolve_target(spec("openai", model="${{ MODEL }}"), {}, allow_missing_secrets=True)
    assert caught.value.missing == {"t": ("MODEL",)}


def test_a_usual_key_does_not_go_in_the_clear() -> None:
    """Over plain HTTP anybody on the way could read it; on this machine nobody is on the way."""
    assert setting("openai", "api_key", KEYS, base_url="http://api.openai.com/v1") is None
    assert setting("openai", "api_key", {"OPENAI_API_KEY": "k-123"}, base_url="http://127.0.0.1:1/v1") == "k-123"


@pytest.mark.parametrize("region", ["x.evil.example/", "eu-west-1#", "EU"])
def test_a_region_cannot_lead_elsewhere(region: str) -> None:
    """It is part of the address that credentials go to, written out or in a variable."""
    with pytest.raises(ValidationError, match="a region has"):
        resolved("bedrock", {}, region=region)
    with pytest.raises(UsageError, match="region"):
        resolved("bedrock", {"AWS_REGION": region, "AWS_BEARER_TOKEN_BEDROCK": "tok"})


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"provider": "codex"}, "sk-openai"),
        ({"provider": "claude-code"}, "sk-anthropic"),
        ({"provider": "codex", "base_url": "http://127.0.0.1:8000/v1"}, "sk-openai"),
        ({"provider": "codex", "base_url": "https://elsewhere.example/v1"}, None),
        ({"provider": "codex", "inherit_config": True}, None),
        ({"provider": "codex", "api_key": "sk-own-key"}, "sk-own-key"),
        ({"provider": "pi"}, None),
    ],
)
def test_the_usual_key_of_an_agent(settings: dict[str, Any], key: str | None) -> None:
    """An agent that is not signed in gets the usual key, for the vendor's own API or one on this machine alone."""
    known = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic"}
    target = PROVIDERS[settings["provider"]](name="agent", **settings)
    resolved: Any = resolve_target(target, known).target
    assert resolved.api_key == key
