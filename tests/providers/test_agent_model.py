"""The scripted model for agent programs: what it understands of their requests, and what it answers, by plain HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from agent_model import Read, Refuse, Reply, Run, agent_model, call_for, reading, refusing, running, saying
from agent_wire import CACHED, INPUT, OUTPUT, REASONING, Call

SHELL: dict[str, Any] = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
CHAT = {
    "model": "m",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
}
RESPONSES = {
    "model": "m",
    "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello?"}]}],
    "tools": [{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}}],
}
MESSAGES = {
    "model": "m",
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello?"}]}],
    "tools": [{"name": "Bash", "input_schema": SHELL}],
}
GEMINI = {
    "contents": [{"role": "user", "parts": [{"text": "Hello?"}]}],
    "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SHELL}]}],
}
CALL = Run("ls")

Where = tuple[str, dict[str, Any]]
CHAT_AT: Where = ("/v1/chat/completions", CHAT)
RESPONSES_AT: Where = ("/v1/responses", RESPONSES)
MESSAGES_AT: Where = ("/v1/messages?beta=true", MESSAGES)
GEMINI_AT: Where = ("/v1beta/models/m:generateContent", GEMINI)
ALL = [CHAT_AT, RESPONSES_AT, MESSAGES_AT, GEMINI_AT]


def post(url: str, body: object) -> tuple[int, str, str]:
    """Status, content type and text of the answer."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers["Content-Type"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def streamed(where: Where) -> Where:
    """The same request, asking for a stream."""
    path, body = where
    if where is GEMINI_AT:
        return path.replace(":generate", ":streamGenerate") + "?alt=sse", body
    return path, {**body, "stream": True}


def stream(text: str) -> list[Any]:
    """The data of the events; the last of a chat's is a word, not JSON."""
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [one if one == "[DONE]" else json.loads(one) for one in data]


@pytest.mark.parametrize("where", ALL)
@pytest.mark.parametrize("as_stream", [False, True])
def test_a_text_comes_back(where: Where, as_stream: bool) -> None:
    """In every format, streamed or whole, the script's text is in the answer, and the content type says which it is."""
    path, body = streamed(where) if as_stream else where
    with agent_model(saying("The answer is 42.")) as model:
        status, kind, text = post(model.url + path, body)
    assert status == 200
    assert kind == ("text/event-stream" if as_stream else "application/json")
    assert "The answer is 42." in text


@pytest.mark.parametrize("where", ALL)
def test_the_request_is_understood(where: Where) -> None:
    """The script gets what the user said, without the system's text; the log has the path and the body."""
    heard: list[list[str]] = []

    def script(texts: Any, results: Any) -> Reply:
        heard.append([*texts, *results])
        return "Yes."

    with agent_model(script) as model:
        post(model.url + where[0], where[1])
    assert heard == [["Hello?"]]
    assert [(one.method, one.path, one.body) for one in model.log] == [("POST", *where)]
    assert model.answered[0].model == "m"


def test_chat_stream_of_a_call() -> None:
    """A streamed chat has the call in a delta, ends with its reason, the usage and a last word."""
    path, body = streamed(CHAT_AT)
    with agent_model(running("ls")) as model:
        call, end, usage, last = stream(post(model.url + path, body)[2])
    function = call["choices"][0]["delta"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("bash", {"command": "ls"})
    assert end["choices"][0]["finish_reason"] == "tool_calls"
    assert (usage["usage"]["prompt_tokens"], usage["usage"]["completion_tokens"]) == (INPUT, OUTPUT)
    assert last == "[DONE]"


def test_responses_stream_of_a_call() -> None:
    """A streamed response numbers its events and gives the call as an item, complete in the end."""
    path, body = streamed(RESPONSES_AT)
    with agent_model(running("ls")) as model:
        found = stream(post(model.url + path, body)[2])
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    response = found[-1]["response"]
    assert (found[-1]["type"], response["status"]) == ("response.completed", "completed")
    assert json.loads(response["output"][0]["arguments"]) == {"cmd": "ls"}
    assert response["usage"]["input_tokens_details"]["cached_tokens"] == CACHED
    assert response["usage"]["output_tokens_details"]["reasoning_tokens"] == REASONING


def test_messages_stream_of_a_call() -> None:
    """A streamed message starts empty, gives the arguments as text, and says that a tool is to be used."""
    path, body = streamed(MESSAGES_AT)
    with agent_model(running("ls")) as model:
        text = post(model.url + path, body)[2]
    found = {event["type"]: event for event in stream(text)}
    assert found["message_start"]["message"]["content"] == []
    assert found["content_block_start"]["content_block"]["input"] == {}
    assert json.loads(found["content_block_delta"]["delta"]["partial_json"]) == {"command": "ls"}
    assert found["message_delta"]["delta"]["stop_reason"] == "tool_use"
    assert text.startswith("event: message_start\n")


def test_gemini_stream_of_a_call() -> None:
    """Gemini's call is a part with its arguments as an object; the tokens add up."""
    path, body = streamed(GEMINI_AT)
    with agent_model(running("ls")) as model:
        (event,) = stream(post(model.url + path, body)[2])
    call = event["candidates"][0]["content"]["parts"][0]["functionCall"]
    usage = event["usageMetadata"]
    assert call == {"name": "run_shell_command", "args": {"command": "ls"}}
    parts = usage["promptTokenCount"] + usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
    assert parts == usage["totalTokenCount"]


GAVE: list[tuple[Where, str, Any]] = [
    (CHAT_AT, "messages", {"role": "tool", "tool_call_id": "call_1", "content": "a.txt\n"}),
    (RESPONSES_AT, "input", {"type": "function_call_output", "call_id": "call_1", "output": "a.txt\n"}),
    (
        MESSAGES_AT,
        "messages",
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt\n"}]},
    ),
    (
        GEMINI_AT,
        "contents",
        {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {"output": "a.txt\n"}}}]},
    ),
]


@pytest.mark.parametrize(("where", "key", "result"), GAVE)
@pytest.mark.parametrize("script", [running("ls"), reading("a.txt")])
def test_the_tool_result_is_quoted(where: Where, key: str, result: Any, script: Any) -> None:
    """After a tool result the model answers with a text that quotes it, so that a test sees that the tool ran."""
    path, body = where
    with agent_model(script) as model:
        text = post(model.url + path, {**body, key: [*body[key], result]})[2]
    assert "The tool gave: a.txt" in text
    assert model.answered[0].results == ["a.txt\n"]


@pytest.mark.parametrize("where", ALL)
def test_a_refusal(where: Where) -> None:
    """A refusal has the status and the message that the script wants."""
    with agent_model(refusing(401, "Incorrect API key.")) as model:
        status, _, text = post(model.url + where[0], where[1])
    assert (status, json.loads(text)["error"]["message"]) == (401, "Incorrect API key.")


def test_side_requests() -> None:
    """Whether the server is there, its models and a count are answered without the script; nothing else is there."""
    with agent_model(refusing(500, "Not for these.")) as model:
        head = urllib.request.Request(model.url + "/", method="HEAD")
        with urllib.request.urlopen(head, timeout=5) as response:
            assert (response.status, response.read()) == (200, b"")
        with urllib.request.urlopen(model.url + "/v1/models", timeout=5) as response:
            assert json.loads(response.read())["data"][0]["id"] == "mock-model"
        assert json.loads(post(model.url + "/v1/messages/count_tokens", MESSAGES)[2]) == {"input_tokens": 1}
        assert json.loads(post(model.url + "/v1beta/models/m:countTokens", GEMINI)[2]) == {"totalTokens": 1}
        assert post(model.url + "/v1/telemetry", {})[0] == 404
    assert model.answered == []
    assert [one.method for one in model.log] == ["HEAD", "GET", "POST", "POST", "POST"]


def test_a_call_without_tools_becomes_a_text() -> None:
    """A side request that offers no tools gets a plain text, for an agent could not run a call."""
    path, body = CHAT_AT
    with agent_model(running("ls")) as model:
        answer = json.loads(post(model.url + path, {**body, "tools": []})[2])
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_tools_are_picked_by_what_is_offered() -> None:
    """The command goes into the tool's own parameter, as words if it wants a list; other required ones are filled."""
    words = {"shell": {"properties": {"command": {"type": "array"}}}}
    strict = {
        "run_in_terminal": {
            "properties": {"command": {"type": "string"}, "goal": {"enum": ["a", "b"]}, "later": {"type": "boolean"}},
            "required": ["command", "goal", "later"],
        }
    }
    assert call_for(CALL, words) == Call("shell", {"command": ["bash", "-lc", "ls"]})
    assert call_for(CALL, strict) == Call("run_in_terminal", {"command": "ls", "goal": "a", "later": False})


def test_reading_without_a_tool_for_it_uses_the_shell() -> None:
    """A file is read by the agent's own tool, or by a command that quotes the path."""
    reads = {"read": {"properties": {"path": {"type": "string"}}}, "bash": SHELL}
    assert call_for(Read("a b.txt"), reads) == Call("read", {"path": "a b.txt"})
    assert call_for(Read("a b.txt"), {"bash": SHELL}) == Call("bash", {"command": "cat 'a b.txt'"})


def test_a_script_that_fails_is_raised() -> None:
    """What goes wrong in the script reaches the test, and the agent gets an error."""

    def broken(texts: Any, results: Any) -> Reply:
        raise LookupError("no such case")

    with pytest.raises(LookupError, match="no such case"), agent_model(broken) as model:
        assert post(model.url + CHAT_AT[0], CHAT)[0] == 500


def test_a_script_sees_which_case_asks() -> None:
    """One model serves many cases: the script can tell them apart by what the user said."""

    def script(texts: Any, results: Any) -> Reply:
        return "first" if "one" in texts[-1] else Refuse(400, "second")

    with agent_model(script) as model:
        first = post(model.url + CHAT_AT[0], {**CHAT, "messages": [{"role": "user", "content": "case one"}]})
        second = post(model.url + CHAT_AT[0], {**CHAT, "messages": [{"role": "user", "content": "case two"}]})
    assert (first[0], second[0]) == (200, 400)
