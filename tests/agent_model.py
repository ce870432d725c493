"""A scripted model on 127.0.0.1 for the real agent programs: it answers, has their own tools called, or refuses."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agent_wire import Asked, Call, asked, events, format_of, whole
from fault_server import Fault, Received, answer, serving

__all__ = [
    "AgentModel",
    "Logged",
    "Read",
    "Refuse",
    "Reply",
    "Run",
    "Script",
    "agent_model",
    "call_for",
    "reading",
    "refusing",
    "running",
    "saying",
]


@dataclass(frozen=True, slots=True)
class Run:
    """Have the agent run a shell command with its own tool."""

    command: str


@dataclass(frozen=True, slots=True)
class Read:
    """Have the agent read a file with its own tool; by a shell command, if it has no tool for that."""

    path: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error of the API."""

    status: int
    message: str


Reply = str | Run | Read | Refuse
Script = Callable[[Sequence[str], Sequence[str]], Reply]
"""From what the user said (the latest last) and what tools have given so far, to what the model does; text is final."""

SHELL_TOOLS = ("exec_command", "shell_command", "shell", "Bash", "bash", "run_shell_command", "run_in_terminal")
READ_TOOLS = ("Read", "read", "read_file", "view")
COMMAND_KEYS = ("cmd", "command")
PATH_KEYS = ("file_path", "filePath", "absolute_path", "path")
FILLED = {"string": "as the test says", "boolean": False, "array": [], "object": {}, "integer": 1, "number": 1}
"""What other required arguments get, by their type."""
NO_TOOL = "No such tool was offered."
"""The answer to side requests, for a title for example: they come without tools."""


def saying(text: str) -> Script:
    """A model that answers at once."""
    return lambda _texts, _results: text


def running(command: str) -> Script:
    """A model that has one command run, and then quotes what the tool gave."""
    return lambda _texts, results: _quoting(results) if results else Run(command)


def reading(path: str) -> Script:
    """A model that has one file read, and then quotes what the tool gave."""
    return lambda _texts, results: _quoting(results) if results else Read(path)


def refusing(status: int, message: str) -> Script:
    """A model that answers every request with an error."""
    return lambda _texts, _results: Refuse(status, message)


def _quoting(results: Sequence[str]) -> str:
    return f"The tool gave: {results[-1].strip()}"


@dataclass(frozen=True, slots=True)
class Logged:
    """One request as it came; `body` is None when it had none, `asked` when it was not for an answer."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    asked: Asked | None


@dataclass(slots=True)
class AgentModel:
    """The running model: its address (without /v1), and what it was asked."""

    script: Script
    url: str = ""
    log: list[Logged] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    @property
    def answered(self) -> list[Asked]:
        """The requests for an answer, in order."""
        return [one.asked for one in self.log if one.asked is not None]

    def reply(self, request: Received) -> Fault | bytes:
        """Answer one request; what goes wrong here is kept for the test, for the agent would only see a lost line."""
        try:
            return self._reply(request)
        except Exception as error:  # noqa: BLE001 - raised again when the model is closed
            self.failures.append(error)
            return answer({"error": {"message": f"The test's model failed: {error!r}"}}, 500)

    def _reply(self, request: Received) -> Fault | bytes:
        body: Any = json.loads(request.body) if request.body else None
        name = format_of(request.path) if request.method == "POST" else None
        understood = asked(name, request.path, body) if name else None
        self.log.append(Logged(request.method, request.path, request.headers, body, understood))
        if name is None or understood is None:
            return _side_answer(request)
        reply = self.script(understood.texts, understood.results)
        if isinstance(reply, Refuse):
            return _refusal(name, reply)
        return _answer(name, reply if isinstance(reply, str) else call_for(reply, understood.tools), understood)


@contextmanager
def agent_model(script: Script) -> Iterator[AgentModel]:
    """Run the model on a free port in a thread of its own; a script that failed raises here, at the end."""
    model = AgentModel(script)
    with serving(model.reply) as server:
        model.url = server.url
        yield model
    if model.failures:
        raise model.failures[0]


def call_for(reply: Run | Read, tools: Mapping[str, dict[str, Any]]) -> Call | str:
    """The call of that tool, among those offered, that does it; a plain text if none does."""
    names, keys = (READ_TOOLS, PATH_KEYS) if isinstance(reply, Read) else (SHELL_TOOLS, COMMAND_KEYS)
    wanted = reply.path if isinstance(reply, Read) else reply.command
    for name in [name for name in names if name in tools]:
        properties = tools[name].get("properties", {})
        for key in [key for key in keys if key in properties]:
            return Call(name, _arguments(tools[name], key, wanted))
    return call_for(Run(f"cat {shlex.quote(reply.path)}"), tools) if isinstance(reply, Read) else NO_TOOL


def _arguments(schema: dict[str, Any], key: str, wanted: str) -> dict[str, Any]:
    properties = schema["properties"]
    required = {name: _filled(properties.get(name, {})) for name in schema.get("required", [])}
    words = ["bash", "-lc", wanted]
    return required | {key: words if properties[key].get("type") == "array" else wanted}


def _filled(schema: dict[str, Any]) -> object:
    return schema["enum"][0] if schema.get("enum") else FILLED[str(schema.get("type", "string")).lower()]


def _answer(name: str, reply: str | Call, request: Asked) -> Fault | bytes:
    if not request.streamed:
        return answer(whole(name, reply, request.model))
    lines = [_event(title, data) for title, data in events(name, reply, request.model)]
    head, _, _ = answer(b"".join(lines), content_type="text/event-stream").partition(b"\r\n\r\n")
    return Fault([head + b"\r\n\r\n", *lines])


def _event(title: str, data: dict[str, Any] | str) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {title}\n" if title else "").encode() + f"data: {text}\n\n".encode()


def _refusal(name: str, refusal: Refuse) -> bytes:
    kind = "authentication_error" if refusal.status == 401 else "invalid_request_error"
    error: dict[str, Any] = {"message": refusal.message, "type": kind}
    if name == "gemini":
        error = {"code": refusal.status, "message": refusal.message, "status": "INVALID_ARGUMENT"}
    body = {"type": "error", "error": error} if name == "messages" else {"error": error}
    return answer(body, refusal.status)


def _side_answer(request: Received) -> bytes:
    """What agents ask beside answers: whether the server is there, its models, a token count."""
    path = request.path.partition("?")[0]
    if path.endswith("/models"):
        return answer({"object": "list", "data": [{"id": "mock-model", "object": "model", "owned_by": "tests"}]})
    if path.endswith("/count_tokens"):
        return answer({"input_tokens": 1})
    if path.endswith(":countTokens"):
        return answer({"totalTokens": 1})
    return answer(b"") if path == "/" else answer({"error": {"message": f"Nothing is at {path}."}}, 404)
