"""What the scripted model does next, from the messages so far: read requests, write answers, rename them, finish."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

__all__ = ["Call", "Job", "jobs_in", "listed_requests", "next_step"]

Message = Mapping[str, Any]
Answer = Callable[[str], str]

_JOB = re.compile(
    r"Write your whole answer to the file: *(?P<written>\S.*\.tmp\.md)\s*$"
    r"(?s:.*?)Then rename it to: *(?P<renamed>\S.*\.md)\s*$",
    re.MULTILINE,
)
_LISTED = re.compile(r"^\s*- (\S.*_req\.md)\s*$", re.MULTILINE)
_LINKED = re.compile(r"\(file://(/[^)\s]*_req\.md)\)")
# What a tool may want beside the obvious; each is given only if the tool's description names it.
_READ_ALL = {"startLine": 1, "endLine": 2000}
_TERMINAL = {
    "explanation": "Rename the finished answer",
    "goal": "Rename the finished answer",
    "isBackground": False,
    "mode": "sync",
    "timeout": 10_000,
}


@dataclass(frozen=True, slots=True)
class Job:
    """An answer to write: under one name first, under another when it is complete; and the text that asked for it."""

    written: str
    renamed: str
    request: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]


def jobs_in(texts: Sequence[str]) -> list[Job]:
    """Every answer that the texts ask for, once.

    >>> text = "Write your whole answer to the file: /a_res.tmp.md\\nThen rename it to: /a_res.md\\n"
    >>> [(job.written, job.renamed) for job in jobs_in([text, text])]
    [('/a_res.tmp.md', '/a_res.md')]
    """
    jobs: dict[str, Job] = {}
    for text in texts:
        for found in _JOB.finditer(text):
            jobs.setdefault(found["written"], Job(found["written"], found["renamed"], text))
    return list(jobs.values())


def listed_requests(texts: Sequence[str]) -> list[str]:
    """The request files that the texts list, one per line.

    >>> listed_requests(["Answer each of these:\\n- /m/1_0_req.md\\n- /m/1_1_req.md\\n"])
    ['/m/1_0_req.md', '/m/1_1_req.md']
    """
    return list(dict.fromkeys(path for text in texts for path in _LISTED.findall(text)))


def next_step(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], answer: Answer) -> list[Call]:
    """The tool calls to make now; none if everything is done. The calls so far are in the messages."""
    texts, calls = _texts(messages), _calls(messages)
    jobs = jobs_in(texts)
    linked = [] if jobs else [unquote(path) for text in texts for path in _LINKED.findall(text)]
    read, written = _given(calls, "filePath", "read_file"), _given(calls, "filePath", "create_file")
    if unread := [path for path in dict.fromkeys(listed_requests(texts) + linked) if path not in read]:
        return [Call("read_file", {"filePath": path, **_extra(tools, "read_file", _READ_ALL)}) for path in unread]
    if unwritten := [job for job in jobs if job.written not in written]:
        return [Call("create_file", {"filePath": job.written, "content": answer(job.request)}) for job in unwritten]
    commands = _given(calls, "command", "run_in_terminal")
    renames = [shlex.join(("mv", job.written, job.renamed)) for job in jobs]
    # One command at a time: they share a terminal.
    left = [command for command in renames if command not in commands][:1]
    more = _extra(tools, "run_in_terminal", _TERMINAL)
    return [Call("run_in_terminal", {"command": command, **more}) for command in left]


def _texts(messages: Sequence[Message]) -> list[str]:
    """What the user and the tools said."""
    return [_text(message.get("content")) for message in messages if message.get("role") in ("user", "tool")]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def _calls(messages: Sequence[Message]) -> list[Call]:
    functions = [call["function"] for message in messages for call in message.get("tool_calls") or []]
    return [Call(function["name"], json.loads(function["arguments"])) for function in functions]


def _given(calls: Sequence[Call], argument: str, tool: str) -> set[str]:
    return {call.arguments.get(argument, "") for call in calls if call.tool == tool}


def _extra(tools: Sequence[Mapping[str, Any]], name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that the tool has a parameter for."""
    functions = [tool["function"] for tool in tools if tool.get("function", {}).get("name") == name]
    known = functions[0].get("parameters", {}).get("properties", {}) if functions else {}
    return {key: value for key, value in values.items() if key in known}
