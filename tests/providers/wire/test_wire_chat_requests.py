"""The Chat Completions API: our bodies against hand-written ones, and against what OpenAI's SDK sends for these."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from sdk_recorder import Recorder, recorder
from shapes import IMAGE_DATA, MARKERS, STRANGE, call, m, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.endpoints import endpoint_of
from turnwise.providers.wire import openai
from turnwise.providers.wire.base import WireRequest

S, U, V, A, B = (
    m("system", "rule one"),
    m("user", "question"),
    m("user", "more"),
    m("assistant", "reply"),
    m("assistant", "second reply"),
)
FIND, GET = call("c1", "find", '{"q":"x"}'), call("c2", "get")
CALLS = m("assistant", None, tool_calls=[FIND])
FOUND, GOT = m("tool", "found", tool_call_id="c1"), m("tool", "got", tool_call_id="c2")
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE_DATA}"}}
LINE = 'Tool call: find({"q":"x"})'
GUIDELINES = "[[ ## Guidelines ## ]]\n\n"
THREE = "\n\n".join(f"=== {name}.instructions.md ===\nGuideline {name}." for name in "abc")


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


MESSAGES: dict[str, list[Any]] = {
    "01 user only": [U],
    "02 system, user": [S, U],
    "03 two system messages first": [m("system", "rule one\n\nrule two"), U],
    "04 system after a user turn": [S, U, V],
    "04 direct": [U, S, V],
    "05 system after an assistant turn": [S, U, A, V],
    "05 direct": [U, A, S, V],
    "06 system between a call and its result": [S, U, CALLS, FOUND, V],
    "06 direct": [U, CALLS, FOUND, S, V],
    "07 system last": [S, U, A],
    "07 direct": [U, A, S],
    "08 system only": [S],
    "09 assistant first": [A, U],
    "10 two user turns": [U, V],
    "11 two assistant turns": [U, A, B, V],
    "12 assistant last": [U, m("assistant", "It is")],
    "12 assistant last, trailing space": [U, m("assistant", "It is \n")],
    "13 direct, empty turn": [U, m("assistant", ""), V],
    "13 direct, empty alone": [m("user", "")],
    "14 direct, blank turn": [U, m("assistant", " \n"), V],
    "15 direct, list with an empty text": [U, m("assistant", [text("")]), V],
    "16 calls without text": [U, CALLS, FOUND, V],
    "16 direct, call without id": [
        U,
        m("assistant", None, tool_calls=[call("call_1", "find", '{"q":"x"}')]),
        m("tool", "found", tool_call_id="call_1"),
    ],
    "16 direct, call by a user": [m("user", f"question\n{LINE}")],
    "17 calls with text": [U, m("assistant", "reply", tool_calls=[FIND]), FOUND, V],
    "18 two calls, results out of order": [U, m("assistant", None, tool_calls=[FIND, GET]), GOT, FOUND, V],
    "18 direct, result far from its call": [U, CALLS, FOUND, V],
    "19 call without result": [U, m("assistant", f"reply\n{LINE}"), V],
    "20 result without call": [U, m("user", "[Tool]:\nfound"), V],
    "21 two results for one call": [U, CALLS, FOUND, m("user", "[Tool]:\nfound again"), V],
    "22 empty result": [U, CALLS, m("tool", "", tool_call_id="c1"), V],
    "23 image in a user turn": [m("user", [text("question"), PICTURE, text("more")])],
    "24 image in a tool result": [
        U,
        CALLS,
        m("tool", "found\n<Image: p.png>", tool_call_id="c1"),
        m("user", [text("[Tool]:"), PICTURE]),
        V,
    ],
    "24 direct, image without a label": [
        U,
        m("assistant", None, tool_calls=[GET]),
        m("tool", "<Image: data:image/png>", tool_call_id="c2"),
        m("user", [text("[Tool]:"), PICTURE]),
    ],
    "24 direct, image in a result without call": [U, m("user", [text("[Tool]:\n"), PICTURE]), V],
    "25 guidelines in three roles": [
        m("system", f"rule one\n\n{GUIDELINES}{THREE}"),
        m("user", "question\n<Attached: b.instructions.md>"),
        m("assistant", "reply\n<Attached: c.instructions.md>"),
        V,
    ],
    "26 guidelines only": [m("system", f"{GUIDELINES}Guideline a."), m("user", "<Attached: a.instructions.md>")],
    "27 one guideline twice": [
        m("system", f"{GUIDELINES}Guideline a."),
        m("user", "<Attached: a.instructions.md>\nquestion\n<Attached: a.instructions.md>"),
    ],
    "28 line ends and byte-order mark": [m("user", "=== crlf.txt ===\none\ntwo\n=== bom.txt ===\nmarked")],
    "29 unknown role": [U, m("user", "[Critic]:\nweak"), V],
    "29 direct, named": [m("user", "[Critic]:\nweak", name="Ann")],
    "30 developer": [m("developer", "rule one"), U],
    "31 200 turns": [m("assistant" if each % 2 else "user", f"turn {each}") for each in range(200)],
    "32 our own markers": [m("user", MARKERS), A, V],
    "33 text and files mixed": [
        m("user", "question\n=== code.py ===\nx = 1\nmore\n=== crlf.txt ===\none\ntwo")
    ],
    "34 strange text": [m("user", STRANGE)],
}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder that answers with a completion."""
    with recorder() as running:
        message = {"role": "assistant", "content": "ok"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        running.answer_json({"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """OpenAI's own client."""
    from openai import OpenAI

    with OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as running:
        yield running


def encoded(name: str, **fields: Any) -> dict[str, Any]:
    return openai.encode(WireRequest(model="m", messages=shape(name), **fields)).body


@pytest.mark.parametrize("name", MESSAGES)
def test_a_body_is_what_the_sdk_sends_for_the_same_conversation(name: str, client: Any, server: Recorder) -> None:
    """Nothing but model and messages is sent, and the messages are those that a user of the SDK would write."""
    client.chat.completions.create(model="m", messages=MESSAGES[name])
    assert encoded(name) == {"model": "m", "messages": MESSAGES[name]} == server.last.body


@pytest.mark.parametrize("name", ["23 direct, image in an assistant turn", "23 direct, image in a system turn"])
def test_an_image_of_another_role_is_refused(name: str) -> None:
    """Images have a place in user turns only; the error leads to the message and says what to do."""
    with pytest.raises(PromptError, match="image") as caught:
        encoded(name)
    messages = shape(name)
    assert caught.value.message_index == next(i for i, each in enumerate(messages) if isinstance(each["content"], list))
    assert caught.value.hint == "move the image to a user message"


def test_settings_tools_and_schema_are_what_the_sdk_sends(client: Any, server: Recorder) -> None:
    """Every setting of the API stands where the SDK puts the parameter of this name."""
    client.chat.completions.create(
        model="m", messages=MESSAGES["02 system, user"], temperature=0.5, top_p=0.9, seed=7, stop=["END"],
        reasoning_effort="low", max_completion_tokens=99,
        tools=[{"type": "function", "function": {"name": "f", "description": "Finds.", "parameters": PARAMETERS}}],
        response_format={
            "type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}
        },
    )  # fmt: skip
    settings = Settings(temperature=0.5, top_p=0.9, seed=7, stop=("END",), reasoning_effort="low", max_output_tokens=99)
    tools = [Tool("f", "Finds.", PARAMETERS)]
    assert encoded("02 system, user", settings=settings, tools=tools, output_schema=SCHEMA) == server.last.body


def test_a_stream_is_asked_for_as_the_sdk_does(client: Any, server: Recorder) -> None:
    """A streamed request asks for the token counts, too."""
    before, kind = server.answer, server.content_type
    server.answer_events([], end="[DONE]")
    list(client.chat.completions.create(model="m", messages=[U], stream=True, stream_options={"include_usage": True}))
    server.answer, server.content_type = before, kind
    assert encoded("01 user only", stream=True) == server.last.body


def test_the_old_name_of_the_token_limit_can_be_chosen() -> None:
    """Servers that know only `max_tokens` are sent that."""
    body = encoded("01 user only", settings=Settings(max_output_tokens=5), max_tokens_field="max_tokens")
    assert body == {"model": "m", "messages": [U], "max_tokens": 5}


def test_the_request_line_and_the_key_are_the_sdks(client: Any, server: Recorder) -> None:
    """The key is a bearer token, and the path follows the base URL."""
    client.chat.completions.create(model="m", messages=[U])
    target = SimpleNamespace(provider="openai", base_url=f"{server.url}/v1/", api_key="key")
    endpoint = endpoint_of(target)
    assert (server.last.method, server.last.target) == ("POST", urlsplit(endpoint.url).path)
    assert server.last.headers["authorization"] == endpoint.headers["Authorization"]


def test_azure_is_asked_as_its_sdk_does(server: Recorder) -> None:
    """The deployment is part of the path, the version of the query, the key a header of Azure's own."""
    from openai import AzureOpenAI

    with AzureOpenAI(
        azure_endpoint=server.url, api_version="2024-10-21", api_key="key", azure_deployment="my-gpt", max_retries=0
    ) as azure:
        azure.chat.completions.create(model="my-gpt", messages=[U])
    target = SimpleNamespace(
        provider="azure", endpoint=server.url, deployment="my-gpt", model="x", api_version="2024-10-21",
        api_key="key", entra_token=None,
    )  # fmt: skip
    endpoint = endpoint_of(target)
    assert endpoint.url == server.url + server.last.target
    assert server.last.headers["api-key"] == endpoint.headers["api-key"]


def test_azures_new_form_is_asked_as_the_sdk_does(server: Recorder) -> None:
    """With `api_version: v1`, the path is OpenAI's below `/openai`, and a token is a bearer."""
    from openai import OpenAI

    with OpenAI(base_url=f"{server.url}/openai/v1/", api_key="token", max_retries=0) as azure:
        azure.chat.completions.create(model="my-gpt", messages=[U])
    target = SimpleNamespace(
        provider="azure", endpoint=server.url, deployment=None, model="my-gpt", api_version="v1",
        api_key=None, entra_token="token",
    )  # fmt: skip
    endpoint = endpoint_of(target)
    assert endpoint.url == server.url + server.last.target
    assert server.last.headers["authorization"] == endpoint.headers["Authorization"]
