"""Live conversations that tests share: a server of this machine that speaks the Chat Completions API, by a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import turnwise
from fault_server import Fault, FaultServer, Received, answer, serving
from run_fixtures import journal, openai, project, run, suite
from turnwise import RunOutcome

__all__ = ["Model", "again", "bodies", "calling", "model_at", "only", "saying", "sent_messages"]

Model = Callable[[list[dict[str, Any]]], "Fault | bytes"]
"""What a model does with the messages that it gets."""


def _completion(message: dict[str, Any], sent: int, received: int) -> bytes:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return answer({"choices": [choice], "usage": {"prompt_tokens": sent, "completion_tokens": received}})


def saying(text: str, sent: int = 100, received: int = 10) -> bytes:
    """An answer, with the tokens that it took."""
    return _completion({"content": text}, sent, received)


def calling(*calls: tuple[str, dict[str, Any]], first: int = 1) -> bytes:
    """An answer that calls tools; their ids count from `first`."""
    listed = [
        {"id": f"id{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls, first)
    ]
    return _completion({"content": None, "tool_calls": listed}, 100, 10)


@contextmanager
def model_at(root: Path, model: Model, *cases: Any, **settings: Any) -> Iterator[FaultServer]:
    """A project at `root` whose suite `s.yaml` asks a model at a server; tokens cost a dollar a million."""

    def reply(request: Received) -> Fault | bytes:
        return model(json.loads(request.body)["messages"])

    with serving(reply) as server:
        usual = {"api_key": "sk-0123456789", "max_retries": 0, "prices": {"input": 1.0, "output": 1.0}}
        suite_fields = settings.pop("suite", {})
        specs: Sequence[Any] = settings.pop("targets", ())
        target = openai(server.url, **{**usual, **settings})
        project(root, target, *specs, s=suite(list(cases), target="gpt", **suite_fields))
        yield server


def only(root: Path, **settings: Any) -> dict[str, Any]:
    """The one result of the suite."""
    (record,) = journal(run(root / "s.yaml", **{"cache": False, **settings}))
    return record


def again(recorded: RunOutcome, **settings: Any) -> dict[str, Any]:
    """The one line of a run that is graded again."""
    (line,) = journal(asyncio.run(turnwise.grade(recorded.folder, **settings)))
    return line


def bodies(server: FaultServer) -> list[dict[str, Any]]:
    """What the server was sent, in order."""
    return [json.loads(each.body) for each in server.received]


def sent_messages(server: FaultServer) -> list[list[dict[str, Any]]]:
    """The messages of each request."""
    return [each["messages"] for each in bodies(server)]
