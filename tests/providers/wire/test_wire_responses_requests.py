"""The Responses API: our bodies against hand-written ones, and against what OpenAI's SDK sends for these."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from sdk_recorder import Recorder, recorder
from shapes import IMAGE_DATA, STRANGE, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.endpoints import endpoint_of
from turnwise.providers.wire import responses
from turnwise.providers.wire.base import WireRequest


def m(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


S, U, V, A = m("system", "rule one"), m("user", "question"), m("user", "more"), m("assistant", "reply")
FIND = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q":"x"}'}
GET = {"type": "function_call", "call_id": "c2", "name": "get", "arguments": "{}"}
PICTURE = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE_DATA}", "detail": "auto"}
LINE = 'Tool call: find({"q":"x"})'


def text(value: str) -> dict[str, str]:
    return {"type": "input_text", "text": value}


def result(call_id: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


FOUND, GOT = result("c1", "found"), result("c2", "got")
INPUT: dict[str, list[Any]] = {
    "01 user only": [U],
    "02 system, user": [S, U],
    "03 two system messages first": [m("system", "rule one\n\nrule two"), U],
    "04 direct": [U, S, V],
    "05 direct": [U, A, S, V],
    "06 system between a call and its result": [S, U, FIND, FOUND, V],
    "06 direct": [U, FIND, FOUND, S, V],
    "07 direct": [U, A, S],
    "08 system only": [S],
    "09 assistant first": [A, U],
    "10 two user turns": [U, V],
    "11 two assistant turns": [U, A, m("assistant", "second reply"), V],
    "12 assistant last, trailing space": [U, m("assistant", "It is \n")],
    "12 direct, three texts": [U, m("assistant", "It\nis \n ")],
    "13 direct, empty turn": [U, m("assistant", ""), V],
    "14 direct, blank turn": [U, m("assistant", " \n"), V],
    "15 direct, list with an empty text": [U, m("assistant", ""), V],
    "15 direct, list with an empty text and a text": [m("user", [text(""), text("go")])],
    "16 calls without text": [U, FIND, FOUND, V],
    "16 direct, call without id": [U, {**FIND, "call_id": "call_1"}, result("call_1", "found")],
    "16 direct, strange id": [U, {**GET, "call_id": "a b/c"}, result("a b/c", "g")],
    "16 direct, further keys": [U, GET, GOT, V],
    "16 direct, arguments that are no object": [U, {**GET, "arguments": "[1]"}, GOT],
    "17 calls with text": [U, A, FIND, FOUND, V],
    "18 two calls, results out of order": [U, FIND, GET, GOT, FOUND, V],
    "18 direct, result far from its call": [U, FIND, FOUND, V],
    "19 call without result": [U, m("assistant", f"reply\n{LINE}"), V],
    "20 result without call": [U, m("user", "[Tool]:\nfound"), V],
    "20 direct, named": [U, m("user", "[Tool]:\nfound"), V],
    "21 two results for one call": [U, FIND, FOUND, m("user", "[Tool]:\nfound again"), V],
    "22 empty result": [U, FIND, result("c1", ""), V],
    "23 image in a user turn": [m("user", [text("question"), PICTURE, text("more")])],
    "24 image in a tool result": [U, FIND, result("c1", [text("found"), PICTURE]), V],
    "24 direct, image in a result without call": [U, m("user", [text("[Tool]:\n"), PICTURE]), V],
    "29 unknown role": [U, m("user", "[Critic]:\nweak"), V],
    "29 direct, named": [m("user", "[Critic]:\nweak")],
    "30 developer": [m("developer", "rule one"), U],
    "31 200 turns": [m("assistant" if each % 2 else "user", f"turn {each}") for each in range(200)],
    "34 strange text": [m("user", STRANGE)],
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder that answers with an empty response."""
    with recorder() as running:
        running.answer_json({"id": "i", "object": "response", "created_at": 1, "model": "m", "output": []})
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """OpenAI's own client."""
    from openai import OpenAI

    with OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as running:
        yield running


def encoded(name: str, **fields: Any) -> dict[str, Any]:
    return responses.encode(WireRequest(model="m", messages=shape(name), **fields)).body


@pytest.mark.parametrize("name", INPUT)
def test_a_body_is_what_the_sdk_sends_for_the_same_conversation(name: str, client: Any, server: Recorder) -> None:
    """Turns, calls and results are items of `input`, in order; nothing is kept on the server."""
    client.responses.create(model="m", input=INPUT[name], store=False)
    assert encoded(name) == {"model": "m", "input": INPUT[name], "store": False} == server.last.body


@pytest.mark.parametrize("name", ["23 direct, image in an assistant turn", "23 direct, image in a system turn"])
def test_an_image_of_another_role_is_refused(name: str) -> None:
    """Images have a place in user turns and tool results only."""
    with pytest.raises(PromptError, match="user and tool turns only") as caught:
        encoded(name)
    assert caught.value.attempts == 0


def test_settings_tools_and_schema_are_what_the_sdk_sends(client: Any, server: Recorder) -> None:
    """Every setting of the API stands where the SDK puts it; a schema with optional keys is not strict."""
    client.responses.create(
        model="m", input=[S, U], store=False, temperature=0.5, top_p=0.9, max_output_tokens=99,
        reasoning={"effort": "low"},
        tools=[
            {"type": "function", "name": "f", "description": "Finds.", "parameters": PARAMETERS, "strict": False},
            {"type": "function", "name": "g", "parameters": PARAMETERS, "strict": False},
        ],
        text={"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": False}},
    )  # fmt: skip
    settings = Settings(temperature=0.5, top_p=0.9, max_output_tokens=99, reasoning_effort="low")
    tools = [Tool("f", "Finds.", PARAMETERS), Tool("g", None, PARAMETERS)]
    body = encoded("02 system, user", settings=settings, tools=tools, output_schema=SCHEMA)
    for tool in body["tools"]:
        if tool["description"] is None:
            del tool["description"]  # null is the same as absent
    assert body == server.last.body


def test_a_stream_is_asked_for_as_the_sdk_does(client: Any, server: Recorder) -> None:
    """A streamed request differs by one field."""
    before, kind = server.answer, server.content_type
    server.answer_events([])
    list(client.responses.create(model="m", input=[U], store=False, stream=True))
    server.answer, server.content_type = before, kind
    assert encoded("01 user only", stream=True) == server.last.body


def test_a_setting_that_the_api_lacks_is_refused() -> None:
    """There is no seed and no stop here: they are an error, not ignored."""
    for settings in (Settings(seed=1), Settings(stop=("x",)), Settings(thinking_budget=9)):
        with pytest.raises(PromptError, match="the Responses API takes no"):
            encoded("01 user only", settings=settings)


def test_the_request_line_and_the_key_are_the_sdks(client: Any, server: Recorder) -> None:
    """The key is a bearer token, and the path follows the base URL."""
    client.responses.create(model="m", input=[U])
    endpoint = endpoint_of(SimpleNamespace(provider="openai-responses", base_url=f"{server.url}/v1", api_key="key"))
    assert (server.last.method, server.last.target) == ("POST", urlsplit(endpoint.url).path)
    assert server.last.headers["authorization"] == endpoint.headers["Authorization"]
