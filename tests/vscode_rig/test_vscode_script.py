"""The scripted model obeys a request: it reads, writes and renames, and then says that it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.request import Request, urlopen

import pytest

from vscode_rig.model import scripted_model
from vscode_rig.script import Call, jobs_in, next_step

TOOLS = [
    {"function": {"name": "read_file", "parameters": {"properties": {"filePath": {}, "startLine": {}, "endLine": {}}}}},
    {"function": {"name": "create_file", "parameters": {"properties": {"filePath": {}, "content": {}}}}},
    {"function": {"name": "run_in_terminal", "parameters": {"properties": {"command": {}, "goal": {}}}}},
]


def request(name: str) -> str:
    """The text of a request file."""
    return f"Add.\n\nWrite your whole answer to the file: /m/{name}_res.tmp.md\nThen rename it to: /m/{name}_res.md\n"


def user(text: str) -> dict[str, Any]:
    """What the user says."""
    return {"role": "user", "content": text}


def made(call: Call, result: str) -> list[dict[str, Any]]:
    """A call that was made, and what the tool said."""
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return [{"role": "assistant", "tool_calls": [{"function": function}]}, {"role": "tool", "content": result}]


def step(messages: Sequence[Mapping[str, Any]]) -> list[Call]:
    """The next step of a model that answers with the first word of the request."""
    return next_step(messages, TOOLS, lambda text: text.split()[0])


def test_an_answer_is_written_then_renamed_and_then_it_is_done() -> None:
    """A request leads to create_file, to one mv in the terminal, and to no more calls."""
    talk = [user(request("1"))]
    [write] = step(talk)
    assert write == Call("create_file", {"filePath": "/m/1_res.tmp.md", "content": "Add."})
    talk += made(write, "written")
    [rename] = step(talk)
    assert (rename.tool, rename.arguments["command"]) == ("run_in_terminal", "mv /m/1_res.tmp.md /m/1_res.md")
    assert step([*talk, *made(rename, "")]) == []


def test_every_listed_request_is_read_and_answered() -> None:
    """A batch is read in one turn, written in one turn, and renamed one by one."""
    talk = [user("Answer each:\n- /m/1_0_req.md\n- /m/1_1_req.md\n")]
    reads = step(talk)
    assert [call.arguments["filePath"] for call in reads] == ["/m/1_0_req.md", "/m/1_1_req.md"]
    talk += [message for call, name in zip(reads, ("0", "1"), strict=True) for message in made(call, request(name))]
    writes = step(talk)
    assert [call.arguments["filePath"] for call in writes] == ["/m/0_res.tmp.md", "/m/1_res.tmp.md"]
    talk += [message for call in writes for message in made(call, "written")]
    for name in ("0", "1"):
        [rename] = step(talk)
        assert rename.arguments["command"] == f"mv /m/{name}_res.tmp.md /m/{name}_res.md"
        talk += made(rename, "")
    assert step(talk) == []


def test_a_request_that_is_only_linked_is_read() -> None:
    """A link to a request whose text is not there leads to read_file, with all that the tool wants."""
    assert step([user("Follow the instructions in [1 2_req.md](file:///m/1%202_req.md).")]) == [
        Call("read_file", {"filePath": "/m/1 2_req.md", "startLine": 1, "endLine": 2000})
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Write your whole answer to the file: /a.tmp.md",
        "Then rename it to: /a.md",
        "Write your whole answer to the file: /a.md\nThen rename it to: /b.md",
    ],
)
def test_half_a_request_is_none(text: str) -> None:
    """Only a request with both lines, and a first name that ends in .tmp.md, is one."""
    assert jobs_in([text]) == []


def test_the_model_streams_tool_calls_and_keeps_the_request() -> None:
    """Over HTTP, the answer to a request is a stream of chunks whose tool call can be read back."""
    body = {"messages": [user(request("1"))], "tools": TOOLS, "stream": True}
    with scripted_model(lambda text: "four") as model:
        asked = Request(f"{model.url}/chat/completions", json.dumps(body).encode())
        with urlopen(asked, timeout=5) as response:
            lines = response.read().decode().split("\n\n")
    first = json.loads(lines[0].removeprefix("data: "))
    call = first["choices"][0]["delta"]["tool_calls"][0]["function"]
    assert json.loads(call["arguments"]) == {"filePath": "/m/1_res.tmp.md", "content": "four"}
    assert lines[-2:] == ["data: [DONE]", ""]
    assert model.requests == [body]
