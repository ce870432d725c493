"""Three APIs of a real llama.cpp server with a tiny model, asked through the providers as a user's targets say."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest

from turnwise.errors import AuthenticationError, BadRequestError, ContextLengthError, OverloadedError, ProviderError
from turnwise.providers import ProviderRequest, ProviderResponse, Providers, Settings, Tool, open_provider
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target

if TYPE_CHECKING:
    from llama_fixtures import LlamaAddresses
    from turnwise.conversation.chat import ChatPrompt

pytest_plugins = ["llama_fixtures"]

SYSTEM = "You are kind."
HELLO: ChatPrompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hello"}]
APIS = ["openai", "openai-responses", "anthropic"]
SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 9},
        "reason": {"type": "string", "maxLength": 12},
    },
    "required": ["score", "reason"],
    "additionalProperties": False,
}
WEATHER = Tool(
    "get_weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": 8}}, "required": ["city"]},
)
every_api = pytest.mark.parametrize("api", APIS)


def target(api: str, address: str, environment: dict[str, str] | None = None, **settings: Any) -> ResolvedTarget:
    """A target of the server that picks the likeliest words, and few of them."""
    settings = {"temperature": 0, "max_output_tokens": 24, "retry_initial_delay": 0.01, **settings}
    spec = {"name": "tiny", "provider": api, "model": "tiny", "base_url": f"{address}/v1", **settings}
    return resolve_target(PROVIDERS[api].model_validate(spec), environment or {})


def chat(prompt: ChatPrompt = HELLO, **settings: Any) -> ProviderRequest:
    return ProviderRequest(question="", chat_prompt=prompt, **settings)


def ask(resolved: ResolvedTarget, *requests: ProviderRequest) -> list[ProviderResponse]:
    """Ask all of it at once."""

    async def asked() -> list[ProviderResponse]:
        async with asyncio.timeout(30), Providers(environment={}) as providers:
            provider = providers.open(resolved)
            return list(await asyncio.gather(*(provider.ask(each) for each in requests)))

    return asyncio.run(asked())


@pytest.mark.parametrize("api", APIS)
def test_a_conversation_of_many_turns_is_answered(llama_server: LlamaAddresses, api: str) -> None:
    """Every turn reaches the model: the tokens that it reads grow by more than the characters that are added."""
    more: ChatPrompt = [*HELLO, {"role": "assistant", "content": "Hi there!"}, {"role": "user", "content": "How so?"}]
    resolved = target(api, llama_server.open)
    short, long, bare = ask(resolved, chat(), chat(more), chat([*HELLO[1:]]))
    assert short.text
    assert short.messages == [{"role": "assistant", "content": short.text}]
    assert list(long.sent) == more
    # The model's tokens are bytes, and each message has marks around it.
    assert long.usage.input_tokens is not None
    assert short.usage.input_tokens is not None
    assert long.usage.input_tokens - short.usage.input_tokens >= len("Hi there!How so?")
    # Without a system message the default one is sent.
    assert bare.sent[0]["role"] == "system"
    assert (short.model, short.attempts) == ("tiny", 1)
    assert short.latency_ms is not None
    assert short.latency_ms > 0


@every_api
def test_the_likeliest_words_are_the_same_each_time(llama_server: LlamaAddresses, api: str) -> None:
    """At temperature 0 the same question has one answer."""
    answers = ask(target(api, llama_server.open), chat(), chat(), chat())
    assert len({each.text for each in answers}) == 1


def test_a_seed_repeats_what_chance_picked(llama_server: LlamaAddresses) -> None:
    """With a seed, words picked by chance are the same again; with other seeds they differ."""
    resolved = target("openai", llama_server.open, temperature=1.5, seed=7)
    others = [chat(settings=Settings(seed=seed)) for seed in range(20, 26)]
    first, second, *rest = ask(resolved, chat(), chat(), *others)
    assert first.text == second.text
    assert len({each.text for each in rest}) > 1


@every_api
def test_a_streamed_answer_is_the_same_answer(llama_server: LlamaAddresses, api: str) -> None:
    """Text, end and output tokens are those of the whole answer, and the first token's time is known."""
    (whole,) = ask(target(api, llama_server.open), chat())
    (streamed,) = ask(target(api, llama_server.open, stream=True), chat())
    assert streamed.text == whole.text
    assert streamed.finish_reason == whole.finish_reason
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (
        whole.usage.input_tokens,
        whole.usage.output_tokens,
    )
    assert whole.first_token_ms is None
    assert streamed.first_token_ms is not None
    assert streamed.latency_ms is not None
    assert 0 < streamed.first_token_ms <= streamed.latency_ms


@pytest.mark.parametrize("stream", [False, True])
def test_an_output_schema_binds_the_answer(llama_server: LlamaAddresses, stream: bool) -> None:
    """A random model, held to a schema, answers with JSON that is valid by it."""
    resolved = target("openai", llama_server.open, max_output_tokens=200, stream=stream)
    for response in ask(resolved, *(chat(output_schema=SCHEMA, settings=Settings(seed=n)) for n in range(4))):
        jsonschema.validate(json.loads(response.text), SCHEMA)
        assert response.finish_reason == "stop"


@every_api
def test_the_limit_of_tokens_holds(llama_server: LlamaAddresses, api: str) -> None:
    """No more tokens come than asked for, and the request's own limit goes before the target's."""
    cut, shorter = ask(target(api, llama_server.open), chat(), chat(settings=Settings(max_output_tokens=5)))
    assert (cut.usage.output_tokens, shorter.usage.output_tokens) == (24, 5)
    if api != "openai-responses":  # llama.cpp calls every answer of this API completed
        assert (cut.finish_reason, shorter.finish_reason) == ("length", "length")


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_an_answer_ends_before_a_stop_text(llama_server: LlamaAddresses, api: str) -> None:
    """The text from the stop text on is left out, and that is an ordinary end."""
    (whole,) = ask(target(api, llama_server.open), chat())
    stop = whole.text[4:6]
    (stopped,) = ask(target(api, llama_server.open, stop=stop), chat())
    assert stopped.text == whole.text.partition(stop)[0]
    assert stopped.finish_reason == "stop"


@every_api
def test_tools_are_taken(llama_server: LlamaAddresses, api: str) -> None:
    """A tool, its call and its result are taken."""
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    prompt: ChatPrompt = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]
    (response,) = ask(target(api, llama_server.open), chat(prompt, tools=[WEATHER]))
    assert response.usage.output_tokens == 24


@pytest.mark.parametrize("api", ["openai", "openai-responses"])
def test_tools_reach_the_server(llama_server: LlamaAddresses, api: str) -> None:
    """The server reads them: it refuses one whose name is a number."""
    with pytest.raises((BadRequestError, OverloadedError), match="must be string, but is number"):
        ask(target(api, llama_server.open, max_retries=0), chat(tools=[Tool(cast(str, 5))]))


@every_api
def test_a_wrong_key_is_refused_once(llama_server: LlamaAddresses, api: str) -> None:
    """It is not tried again; the message names the variable, and nothing shows the key."""
    resolved = target(api, llama_server.locked, {"TINY_KEY": "sk-wrong-key-1"}, api_key="${{ TINY_KEY }}")
    with pytest.raises(AuthenticationError) as caught:
        ask(resolved, chat())
    error = caught.value
    assert (error.kind, error.status, error.attempts, error.retryable) == ("authentication", 401, 1, False)
    assert "TINY_KEY" in str(error)
    assert "TINY_KEY" in (error.hint or "")
    assert "sk-wrong-key-1" not in f"{error} {error.hint} {resolved!r}"


@every_api
def test_the_right_key_is_taken(llama_server: LlamaAddresses, api: str) -> None:
    """The key of a variable goes to the server."""
    resolved = target(api, llama_server.locked, {"TINY_KEY": llama_server.api_key}, api_key="${{ TINY_KEY }}")
    (response,) = ask(resolved, chat())
    assert response.text


@every_api
@pytest.mark.parametrize("stream", [False, True])
def test_too_long_a_conversation_has_its_own_error(llama_server: LlamaAddresses, api: str, stream: bool) -> None:
    """More tokens than the context has: an error that is not tried again and says what to do."""
    with pytest.raises(ContextLengthError) as caught:
        ask(target(api, llama_server.open, stream=stream), chat([{"role": "user", "content": "word " * 1000}]))
    error = caught.value
    assert (error.kind, error.attempts, error.retryable) == ("context_length", 1, False)
    assert "shorten" in (error.hint or "")


def test_many_requests_at_once_are_all_answered(llama_server: LlamaAddresses) -> None:
    """Each of 32 requests gets its own answer, through one pool of connections."""
    requests = [chat([{"role": "user", "content": "n" * n}]) for n in range(1, 33)]
    responses = ask(target("openai", llama_server.open, max_output_tokens=4), *requests)
    counts = [each.usage.input_tokens or 0 for each in responses]
    assert [each - counts[0] for each in counts] == list(range(32))
    assert [each.sent[-1]["content"] for each in responses] == ["n" * n for n in range(1, 33)]
    assert all(each.usage.output_tokens == 4 for each in responses)


def test_extra_fields_reach_the_server(llama_server: LlamaAddresses) -> None:
    """What our settings do not know is sent as the API names it: here, a grammar."""
    (response,) = ask(target("openai", llama_server.open, extra_body={"grammar": 'root ::= "yes" | "no"'}), chat())
    assert response.text in ("yes", "no")


def test_open_provider_takes_a_target(llama_server: LlamaAddresses) -> None:
    """One provider, opened and closed by itself, with the usual variable for its address."""

    async def asked(**environment: str) -> ProviderResponse:
        async with open_provider("openai/tiny", environment=environment) as provider:
            # At temperature 0: sampled, a random model may well end before its third token.
            settings = Settings(max_output_tokens=3, temperature=0.0)
            return await provider.ask(ProviderRequest(question="Hello", settings=settings))

    address, key = f"{llama_server.locked}/v1", llama_server.api_key
    response = asyncio.run(asked(OPENAI_BASE_URL=address, OPENAI_API_KEY=key))
    assert response.usage.output_tokens == 3
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        asyncio.run(asked(OPENAI_BASE_URL=address, OPENAI_API_KEY="sk-another-key"))
