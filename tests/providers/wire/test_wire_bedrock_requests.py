"""The Converse API: our bodies against hand-written ones, and against what botocore sends for these."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sdk_recorder import Recorder, recorder
from shapes import IMAGE_DATA, MARKERS, PNG, STRANGE, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.endpoints import endpoint_of
from turnwise.providers.wire import bedrock
from turnwise.providers.wire.base import WireRequest


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": each} if isinstance(each, str) else each for each in blocks]}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {**user(*blocks), "role": "assistant"}


def called(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def result(call_id: str, *content: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": user(*content)["content"]}}


def tools(*names: str) -> dict[str, Any]:
    specs = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in names]
    return {"toolConfig": {"tools": specs}}


U, V, A = user("question"), user("more"), assistant("reply")
FIND, GET, FOUND = called("c1", "find", {"q": "x"}), called("c2", "get", {}), result("c1", "found")
# As botocore takes it: bytes, which it sends as base64.
PICTURE = {"image": {"format": "png", "source": {"bytes": PNG}}}
LINE = 'Tool call: find({"q":"x"})'
RULE = {"system": [{"text": "rule one"}]}
TALK = [U, assistant(FIND), user(FOUND, "more")]
TWO = [user("question", "more")]
BODIES: dict[str, dict[str, Any]] = {
    "01 user only": {"messages": [U]},
    "02 system, user": {"messages": [U], **RULE},
    "03 two system messages first": {"messages": [U], "system": [{"text": "rule one\n\nrule two"}]},
    "04 direct": {"messages": TWO, **RULE},
    "05 direct": {"messages": [U, A, V], **RULE},
    "06 system between a call and its result": {"messages": TALK, **RULE, **tools("find")},
    "06 direct": {"messages": TALK, **RULE, **tools("find")},
    "07 direct": {"messages": [U, A], **RULE},
    "07 direct, prefill with trailing space": {"messages": [U, assistant("It is")], **RULE},
    "10 two user turns": {"messages": TWO},
    "11 two assistant turns": {"messages": [U, assistant("reply", "second reply"), V]},
    "12 assistant last": {"messages": [U, assistant("It is")]},
    "12 assistant last, trailing space": {"messages": [U, assistant("It is")]},
    "12 direct, three texts": {"messages": [U, assistant("It", "is")]},
    "13 direct, empty turn": {"messages": TWO},
    "14 direct, blank turn": {"messages": TWO},
    "14 direct, blank system": {"messages": [U]},
    "15 direct, list with an empty text": {"messages": TWO},
    "15 direct, list with an empty text and a text": {"messages": [user("go")]},
    "16 calls without text": {"messages": TALK, **tools("find")},
    "16 direct, call without id": {
        "messages": [U, assistant(called("call_1", "find", {"q": "x"})), user(result("call_1", "found"))],
        **tools("find"),
    },
    "16 direct, strange id": {
        "messages": [U, assistant(called("call_1", "get", {})), user(result("call_1", "g"))], **tools("get"),
    },
    "16 direct, further keys": {
        "messages": [U, assistant(GET), user(result("c2", "got"), "more")], **tools("get"),
    },
    "16 direct, call by a user": {"messages": [user(f"question\n{LINE}")]},
    "17 calls with text": {"messages": [U, assistant("reply", FIND), user(FOUND, "more")], **tools("find")},
    "18 two calls, results out of order": {
        "messages": [U, assistant(FIND, GET), user(result("c2", "got"), FOUND, "more")], **tools("find", "get"),
    },
    "18 direct, result far from its call": {"messages": TALK, **tools("find")},
    "19 call without result": {"messages": [U, assistant(f"reply\n{LINE}"), V]},
    "20 result without call": {"messages": [user("question", "[Tool]:\nfound", "more")]},
    "21 two results for one call": {
        "messages": [U, assistant(FIND), user(FOUND, "[Tool]:\nfound again", "more")], **tools("find"),
    },
    "22 empty result": {"messages": [U, assistant(FIND), user(result("c1"), "more")], **tools("find")},
    "23 image in a user turn": {"messages": [user("question", PICTURE, "more")]},
    "24 image in a tool result": {
        "messages": [U, assistant(FIND), user(result("c1", "found", PICTURE), "more")], **tools("find"),
    },
    "26 guidelines only": {
        "messages": [user("<Attached: a.instructions.md>")],
        "system": [{"text": "[[ ## Guidelines ## ]]\n\nGuideline a."}],
    },
    "29 unknown role": {"messages": [user("question", "[Critic]:\nweak", "more")]},
    "30 developer": {"messages": [U], **RULE},
    "31 200 turns": {"messages": [(assistant if each % 2 else user)(f"turn {each}") for each in range(200)]},
    "32 our own markers": {"messages": [user(MARKERS), A, V]},
    "34 strange text": {"messages": [user(STRANGE)]},
}  # fmt: skip
REFUSED = {
    "08 system only": ("no user turn", None),
    "09 assistant first": ("user first", 0),
    "13 direct, empty alone": ("no user turn", None),
    "16 direct, arguments that are no object": ("arguments", 1),
    "23 direct, image in an assistant turn": ("image in the wrong turn", 1),
    "23 direct, image in a system turn": ("image in the wrong turn", 0),
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
MODELS = [
    "anthropic.claude-x-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-x-v1:0",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder that answers with a message."""
    with recorder() as running:
        message = {"role": "assistant", "content": [{"text": "ok"}]}
        running.answer_json({"output": {"message": message}, "stopReason": "end_turn"})
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Amazon's own client."""
    from botocore.config import Config
    from botocore.session import Session

    session = Session()
    session.set_credentials("id", "secret")
    config = Config(retries={"max_attempts": 0}, proxies={})
    running = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=server.url, config=config)
    yield running
    running.close()


def encoded(name: str, **fields: Any) -> dict[str, Any]:
    return bedrock.encode(WireRequest(model="m", messages=shape(name), **fields)).body


def as_json(value: Any) -> Any:
    """Bytes as they stand in JSON."""
    if isinstance(value, bytes):
        assert value == PNG
        return IMAGE_DATA
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_what_the_sdk_sends_for_the_same_conversation(name: str, client: Any, server: Recorder) -> None:
    """System text stands apart, user and assistant take turns, called tools are declared; nothing else is sent."""
    client.converse(modelId="m", **BODIES[name])
    assert encoded(name) == as_json(BODIES[name]) == server.last.body


@pytest.mark.parametrize(("name", "rule", "index"), [(name, *why) for name, why in REFUSED.items()])
def test_what_the_api_has_no_form_for_is_refused(name: str, rule: str, index: int | None) -> None:
    """The error names the API's rule and leads to the message."""
    with pytest.raises(PromptError) as caught:
        encoded(name)
    assert (caught.value.rule, caught.value.message_index) == (rule, index)
    assert caught.value.hint


def test_settings_tools_and_schema_are_what_the_sdk_sends(client: Any, server: Recorder) -> None:
    """Every setting of the API stands where botocore puts it; the schema is a tool that the model must call."""
    answer = {"name": "turnwise_answer", "description": "Gives the answer.", "inputSchema": {"json": SCHEMA}}
    client.converse(
        modelId="m", messages=[U],
        inferenceConfig={"maxTokens": 99, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
        outputConfig={"effort": "low"},
        toolConfig={
            "tools": [
                {"toolSpec": {"name": "f", "description": "Finds.", "inputSchema": {"json": SCHEMA}}},
                {"toolSpec": answer},
            ],
            "toolChoice": {"tool": {"name": "turnwise_answer"}},
        },
    )  # fmt: skip
    settings = Settings(max_output_tokens=99, temperature=0.5, top_p=0.9, stop=("END",), reasoning_effort="low")
    tools = [Tool("f", "Finds.", SCHEMA)]
    assert encoded("01 user only", settings=settings, tools=tools, output_schema=SCHEMA) == server.last.body


@pytest.mark.parametrize("model", MODELS)
def test_the_request_line_is_the_sdks(model: str, client: Any, server: Recorder) -> None:
    """Colons and slashes of a model's name are quoted, so that they are no part of the path."""
    client.converse(modelId=model, messages=[U])
    target = SimpleNamespace(provider="bedrock", base_url=f"{server.url}/", model=model, api_key=None, stream=False)
    assert (server.last.method, server.url + server.last.target) == ("POST", endpoint_of(target).url)


@pytest.mark.usefixtures("server")
def test_an_api_key_is_a_bearer_as_in_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amazon's own variable for such keys makes botocore send the header that we send."""
    from botocore.awsrequest import AWSResponse
    from botocore.session import Session

    sent: dict[str, str] = {}

    def keep(request: Any, **_: Any) -> Any:
        sent.update({name: value.decode() for name, value in request.headers.items() if isinstance(value, bytes)})
        answer = AWSResponse(request.url, 200, {}, None)
        answer._content = b"{}"
        return answer

    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "key")
    # Botocore sends such keys over HTTPS only: nothing is sent at all here.
    client = Session().create_client("bedrock-runtime", region_name="us-east-1", endpoint_url="https://127.0.0.1:9")
    client.meta.events.register("before-send.bedrock-runtime.Converse", keep)
    client.converse(modelId="m", messages=[U])
    client.close()
    target = SimpleNamespace(provider="bedrock", base_url="https://127.0.0.1:9", model="m", api_key="key", stream=False)
    assert endpoint_of(target).headers["Authorization"] == sent["Authorization"]
