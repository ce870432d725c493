"""Recordings: what was asked and answered, one JSON line each, so that it can be answered again without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..conversation.chat import ChatMessage
from ..errors import ApplicationError, ProtocolError, UsageError
from .base import Preview, Provider, ProviderRequest, ProviderResponse, Settings, Tool
from .prompt import messages_to_send

__all__ = [
    "SCHEMA_VERSION",
    "Recorder",
    "check_answer",
    "content_text",
    "is_failure",
    "malformed",
    "messages_key",
    "read_record",
    "request_key",
]

SCHEMA_VERSION = 1


def request_key(request: ProviderRequest, default_system_prompt: str | None) -> str:
    """A name for what is asked: equal for equal messages, settings, tools and output schema, whoever is asked.

    >>> same = [request_key(ProviderRequest(question="Hi", case_id=each), None) for each in ("a", "b")]
    >>> same[0] == same[1] != request_key(ProviderRequest(question="Hello"), None)
    True
    """
    return _request_key(request, messages_to_send(request, default_system_prompt))


def messages_key(messages: Any) -> str:
    """A name for messages alone, for records that do not tell what went beside them."""
    return _hash({"messages": messages})


def content_text(content: Any) -> str:
    """The text of a message's content: of its text parts, if it has parts.

    >>> content_text([{"type": "text", "text": "Look:"}, {"type": "image", "data": "…"}])
    'Look:'
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


class Recorder:
    """A provider that asks another one and appends each answer to a file. Failures are not recorded.

    A line is written whole, by one call, so that several recorders can share a file. Raises `UsageError` if there can
    be no such file.
    """

    def __init__(self, provider: Provider, path: Path) -> None:
        self._provider = provider
        self._path = path
        if path.is_dir():
            raise UsageError(f"cannot record into {path}: it is a folder", "name a file, such as answers.jsonl")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot record into {path}: {error.strerror}", "name another file") from error

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask, and record the answer before it is given."""
        response = await self._provider.ask(request)
        sent = response.sent or self._provider.preview(request).messages
        self._append(_line(_record(request, response, sent)))
        return response

    def preview(self, request: ProviderRequest) -> Preview:
        """What the provider would send."""
        return self._provider.preview(request)

    async def close(self) -> None:
        """Close the provider; the file is complete at any time."""
        await self._provider.close()

    def _append(self, line: bytes) -> None:
        try:
            with self._path.open("ab", buffering=0) as file:
                written = file.write(line)
        except OSError as error:
            raise self._not_recorded(error.strerror or str(error)) from error
        if written != len(line):
            raise self._not_recorded(f"only {written} of {len(line)} bytes were written")

    def _not_recorded(self, reason: str) -> ApplicationError:
        return ApplicationError(
            f"an answer came, but cannot be recorded in {self._path}: {reason}",
            hint="make room, or record into another file",
        )


def read_record(line: bytes, where: str) -> dict[str, Any]:
    """One line of a recording, or of a run's results. `where` names it in errors. Raises `ProtocolError`."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise malformed(where, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise malformed(where, "not a JSON object")
    version = record.get("schema_version", SCHEMA_VERSION)
    if "request" in record and version != SCHEMA_VERSION:
        raise malformed(where, f"`schema_version` is {version!r}, and this version of Turnwise reads {SCHEMA_VERSION}")
    return record


def check_answer(record: dict[str, Any], where: str) -> None:
    """Raise `ProtocolError` for a record that cannot be answered with."""
    if not isinstance(record.get("answer"), str):
        raise malformed(where, "`answer` must be a text")
    messages = record.get("output_messages") or []
    if not (isinstance(messages, list) and all(isinstance(message, dict) for message in messages)):
        raise malformed(where, "`output_messages` must be a list of messages")


def malformed(where: str, what: str) -> ProtocolError:
    """The error for a recording that cannot be read."""
    return ProtocolError(f"{where}: {what}", retryable=False, hint="remove the line, or record the answers again")


def is_failure(record: dict[str, Any]) -> bool:
    """Whether a run's line tells of a failure, and so holds no answer."""
    return record.get("status") == "error" or (record.get("answer") is None and bool(record.get("error")))


def _record(request: ProviderRequest, response: ProviderResponse, sent: Sequence[ChatMessage]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "request": _request_key(request, sent),
        "case_id": request.case_id,
        "attempt": request.attempt,
        "question": request.question,
        "answer": response.text,
        "output_messages": list(response.messages),
        "finish_reason": response.finish_reason,
        "raw_finish_reason": response.raw_finish_reason,
        "reasoning": response.reasoning,
        "refusal": response.refusal,
        "usage": asdict(response.usage),
        "model": response.model,
    }


def _line(record: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair has no UTF-8; as an escape it comes back as it was.
        return json.dumps(record, separators=(",", ":"), default=_plain).encode() + b"\n"


def _request_key(request: ProviderRequest, messages: Sequence[ChatMessage]) -> str:
    # What is not asked for is left out: a setting that is new in a later version changes no key.
    asked = {
        "messages": list(messages),
        "settings": _settings(request.settings),
        "tools": [_tool(tool) for tool in request.tools],
        "output_schema": request.output_schema,
    }
    return _hash({name: value for name, value in asked.items() if value})


def _settings(settings: Settings) -> dict[str, Any]:
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    return {name: _number(value) for name, value in values.items() if value is not None}


def _number(value: Any) -> Any:
    """The same for 1 and 1.0, which are one temperature but two texts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _hash(value: Any) -> str:
    text = json.dumps(_with_text_keys(value), sort_keys=True, separators=(",", ":"), default=_plain)
    return sha256(text.encode()).hexdigest()


def _with_text_keys(value: Any) -> Any:
    """The same data with texts for keys, which YAML does not demand: keys of several kinds have no order."""
    if isinstance(value, Mapping):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """JSON for what json does not know: read-only mappings, and values of YAML such as dates."""
    return dict(value) if isinstance(value, Mapping) else str(value)
