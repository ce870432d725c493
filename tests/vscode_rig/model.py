"""A model on 127.0.0.1 that plays an obedient agent: chat completions as server-sent events, with tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

from vscode_rig.script import Answer, Call, next_step
from vscode_rig.settings import MODEL

__all__ = ["ScriptedModel", "chunks", "scripted_model"]

_DONE = "Done."
_POLL_SECONDS = 0.02
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(slots=True)
class ScriptedModel:
    """Where the model is (an address that ends in `/v1`), and the body of every request that it got."""

    url: str
    answer: Answer
    requests: list[dict[str, Any]] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The chunks that answer a request. A request without tools, such as for a title, gets a word."""
        self.requests.append(body)
        tools = body.get("tools") or []
        calls = next_step(body["messages"], tools, self.answer) if tools else []
        return chunks(calls, f"call_{len(self.requests)}")


def chunks(calls: Sequence[Call], call_id: str) -> list[dict[str, Any]]:
    """Tool calls, or a last word, as chunks of a chat completion.

    >>> chunks([], "call_1")[0]["choices"][0]["delta"]["content"]
    'Done.'
    """
    delta: dict[str, Any] = {"role": "assistant", "content": None if calls else _DONE}
    if calls:
        delta["tool_calls"] = [_tool_call(call, f"{call_id}_{index}", index) for index, call in enumerate(calls)]
    reason = "tool_calls" if calls else "stop"
    return [
        _chunk([{"index": 0, "delta": delta, "finish_reason": None}]),
        _chunk([{"index": 0, "delta": {}, "finish_reason": reason}]),
        {**_chunk([]), "usage": _USAGE},
    ]


def _chunk(choices: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "id": "completion",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": choices,
    }


def _tool_call(call: Call, call_id: str, index: int) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"index": index, "id": call_id, "type": "function", "function": function}


class _Handler(BaseHTTPRequestHandler):
    model: ClassVar[ScriptedModel]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        lines = [*(json.dumps(chunk) for chunk in self.model.reply(body)), "[DONE]"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(f"data: {line}\n\n" for line in lines).encode())

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def _answer_to_everything(request: str) -> str:
    return "The answer is 42.\n"


@contextmanager
def scripted_model(answer: Answer = _answer_to_everything) -> Iterator[ScriptedModel]:
    """A running model; `answer` gets the text that holds a request, and gives what to write into its answer file."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    model = ScriptedModel(f"http://127.0.0.1:{server.server_address[1]}/v1", answer)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"model": model})
    thread = Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
