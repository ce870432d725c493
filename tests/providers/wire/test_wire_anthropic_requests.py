"""The Messages API: our bodies against hand-written ones, and against what Anthropic's SDK sends for these."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sdk_recorder import Recorder, recorder
from shapes import IMAGE_DATA, MARKERS, STRANGE, m, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.endpoints import endpoint_of
from turnwise.providers.wire import anthropic
from turnwise.providers.wire.base import WireRequest

U, V, A = m("user", "question"), m("user", "more"), m("assistant", "reply")
FIND = {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "x"}}
GET = {"type": "tool_use", "id": "c2", "name": "get", "input": {}}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE_DATA}}
LINE = 'Tool call: find({"q":"x"})'
RULE = {"system": "rule one"}
GUIDELINES = "[[ ## Guidelines ## ]]\n\n"
THREE = "\n\n".join(f"=== {name}.instructions.md ===\nGuideline {name}." for name in "abc")


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def tools(*names: str) -> dict[str, Any]:
    return {"tools": [{"name": name, "input_schema": {"type": "object"}} for name in names]}


CALLS, FOUND = m("assistant", [FIND]), m("user", [result("c1", "found")])
TALK = [U, CALLS, FOUND, V]
BODIES: dict[str, dict[str, Any]] = {
    "01 user only": {"messages": [U]},
    "02 system, user": {"messages": [U], **RULE},
    "03 two system messages first": {"messages": [U], "system": "rule one\n\nrule two"},
    "04 system after a user turn": {"messages": [U, V], **RULE},
    "04 direct": {"messages": [U, V], **RULE},
    "05 system after an assistant turn": {"messages": [U, A, V], **RULE},
    "05 direct": {"messages": [U, A, V], **RULE},
    "06 system between a call and its result": {"messages": TALK, **RULE, **tools("find")},
    "06 direct": {"messages": TALK, **RULE, **tools("find")},
    "07 system last": {"messages": [U, A], **RULE},
    "07 direct": {"messages": [U, A], **RULE},
    "07 direct, prefill with trailing space": {"messages": [U, m("assistant", "It is")], **RULE},
    "09 assistant first": {"messages": [A, U]},
    "10 two user turns": {"messages": [U, V]},
    "11 two assistant turns": {"messages": [U, A, m("assistant", "second reply"), V]},
    "12 assistant last": {"messages": [U, m("assistant", "It is")]},
    "12 assistant last, trailing space": {"messages": [U, m("assistant", "It is")]},
    "12 direct, three texts": {"messages": [U, m("assistant", [text("It"), text("is")])]},
    "13 direct, empty turn": {"messages": [U, V]},
    "14 direct, blank turn": {"messages": [U, V]},
    "14 direct, blank system": {"messages": [U]},
    "15 direct, list with an empty text": {"messages": [U, V]},
    "15 direct, list with an empty text and a text": {"messages": [m("user", [text("go")])]},
    "16 calls without text": {"messages": TALK, **tools("find")},
    "16 direct, call without id": {
        "messages": [U, m("assistant", [{**FIND, "id": "call_1"}]), m("user", [result("call_1", "found")])],
        **tools("find"),
    },
    "16 direct, strange id": {
        "messages": [U, m("assistant", [{**GET, "id": "call_1"}]), m("user", [result("call_1", "g")])],
        **tools("get"),
    },
    "16 direct, further keys": {
        "messages": [U, m("assistant", [GET]), m("user", [result("c2", "got")]), V], **tools("get"),
    },
    "16 direct, call by a user": {"messages": [m("user", f"question\n{LINE}")]},
    "17 calls with text": {"messages": [U, m("assistant", [text("reply"), FIND]), FOUND, V], **tools("find")},
    "18 two calls, results out of order": {
        "messages": [
            U, m("assistant", [FIND, GET]), m("user", [result("c2", "got"), result("c1", "found")]), V,
        ],
        **tools("find", "get"),
    },
    "18 direct, result far from its call": {"messages": TALK, **tools("find")},
    "19 call without result": {"messages": [U, m("assistant", f"reply\n{LINE}"), V]},
    "20 result without call": {"messages": [U, m("user", "[Tool]:\nfound"), V]},
    "20 direct, named": {"messages": [U, m("user", "[Tool]:\nfound"), V]},
    "21 two results for one call": {
        "messages": [U, CALLS, FOUND, m("user", "[Tool]:\nfound again"), V], **tools("find"),
    },
    "22 empty result": {
        "messages": [U, CALLS, m("user", [{"type": "tool_result", "tool_use_id": "c1"}]), V], **tools("find"),
    },
    "23 image in a user turn": {"messages": [m("user", [text("question"), PICTURE, text("more")])]},
    "24 image in a tool result": {
        "messages": [U, CALLS, m("user", [result("c1", [text("found"), PICTURE])]), V], **tools("find"),
    },
    "24 direct, image in a result without call": {"messages": [U, m("user", [text("[Tool]:\n"), PICTURE]), V]},
    "25 guidelines in three roles": {
        "messages": [
            m("user", "question\n<Attached: b.instructions.md>"),
            m("assistant", "reply\n<Attached: c.instructions.md>"),
            V,
        ],
        "system": f"rule one\n\n{GUIDELINES}{THREE}",
    },
    "26 guidelines only": {
        "messages": [m("user", "<Attached: a.instructions.md>")], "system": f"{GUIDELINES}Guideline a.",
    },
    "29 unknown role": {"messages": [U, m("user", "[Critic]:\nweak"), V]},
    "29 direct, named": {"messages": [m("user", "[Critic]:\nweak")]},
    "30 developer": {"messages": [U], **RULE},
    "31 200 turns": {"messages": [m("assistant" if each % 2 else "user", f"turn {each}") for each in range(200)]},
    "32 our own markers": {"messages": [m("user", MARKERS), A, V]},
    "34 strange text": {"messages": [m("user", STRANGE)]},
}  # fmt: skip
REFUSED = {
    "08 system only": "no user turn",
    "13 direct, empty alone": "no user turn",
    "16 direct, arguments that are no object": "arguments",
    "23 direct, image in an assistant turn": "image in the wrong turn",
    "23 direct, image in a system turn": "image in the wrong turn",
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder that answers with a message."""
    with recorder() as running:
        running.answer_json({
            "id": "i", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        })  # fmt: skip
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Anthropic's own client."""
    from anthropic import Anthropic

    with Anthropic(base_url=server.url, api_key="key", max_retries=0) as running:
        yield running


def encoded(name: str, **fields: Any) -> dict[str, Any]:
    return anthropic.encode(WireRequest(model="m", messages=shape(name), **fields)).body


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_what_the_sdk_sends_for_the_same_conversation(name: str, client: Any, server: Recorder) -> None:
    """System text stands apart, results stand in user turns, called tools are declared; nothing else is sent."""
    client.messages.create(model="m", max_tokens=4096, **BODIES[name])
    assert encoded(name) == {"model": "m", "max_tokens": 4096, **BODIES[name]} == server.last.body


@pytest.mark.parametrize(("name", "rule"), REFUSED.items())
def test_what_the_api_has_no_form_for_is_refused(name: str, rule: str) -> None:
    """The error names the API's rule and says what to do; nothing was sent."""
    with pytest.raises(PromptError) as caught:
        encoded(name)
    assert (caught.value.rule, caught.value.attempts) == (rule, 0)
    assert caught.value.hint


def test_settings_tools_and_schema_are_what_the_sdk_sends(client: Any, server: Recorder) -> None:
    """Every setting of the API stands where the SDK puts it; newer SDKs take two of them as further fields only."""
    client.messages.create(
        model="m", max_tokens=9000, system="rule one", messages=[U], extra_body={"temperature": 1.0, "top_p": 0.95},
        stop_sequences=["END"], thinking={"type": "enabled", "budget_tokens": 2048},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        tools=[{"name": "f", "description": "Finds.", "input_schema": SCHEMA}],
    )  # fmt: skip
    settings = Settings(
        temperature=1.0, top_p=0.95, stop=("END",), reasoning_effort="low", thinking_budget=2048, max_output_tokens=9000
    )
    tool = Tool("f", "Finds.", SCHEMA)
    assert encoded("02 system, user", settings=settings, tools=[tool], output_schema=SCHEMA) == server.last.body


@pytest.mark.parametrize(
    ("budget", "thinking", "limit"),
    [(-1, {"type": "adaptive"}, 4096), (0, {"type": "disabled"}, 4096), (1024, None, 5120)],
)
def test_the_token_limit_leaves_room_for_thinking(budget: int, thinking: Any, limit: int) -> None:
    """A budget is added to the limit that the API demands, since thinking counts towards it."""
    body = encoded("01 user only", settings=Settings(thinking_budget=budget))
    assert body["thinking"] == (thinking or {"type": "enabled", "budget_tokens": budget})
    assert body["max_tokens"] == limit


def test_declared_tools_are_not_declared_again() -> None:
    """A tool of the request that the conversation calls keeps its own schema."""
    body = encoded("16 calls without text", tools=[Tool("find", None, SCHEMA)])
    assert body["tools"] == [{"name": "find", "input_schema": SCHEMA}]


def test_request_line_version_and_key_are_the_sdks(client: Any, server: Recorder) -> None:
    """Path, key and version of the API are those of the SDK; a base URL may end in `/v1` or not."""
    client.messages.create(model="m", max_tokens=9, messages=[U])
    for base in (server.url, f"{server.url}/v1/"):
        endpoint = endpoint_of(SimpleNamespace(provider="anthropic", base_url=base, api_key="key"))
        assert (server.last.method, server.url + server.last.target) == ("POST", endpoint.url)
        assert {name.lower(): value for name, value in endpoint.headers.items()}.items() <= server.last.headers.items()
