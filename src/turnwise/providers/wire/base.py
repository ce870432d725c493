"""What every wire module takes and gives. A wire module is two pure functions and a class:

encode(request)     the body that its API takes, and the rewrites that the API's rules forced
decode(body)        the answer in the API's JSON, in our form
Assembly            the events of a streamed answer, put together to the same JSON
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...conversation.chat import ChatMessage
from ...errors import PromptError, ProtocolError
from ..base import FinishReason, Rewrite, Settings, Tool, Usage

__all__ = [
    "Answer",
    "Assembly",
    "Encoded",
    "Wire",
    "WireRequest",
    "checked_settings",
    "count",
    "fields_of",
    "index_of",
    "listed",
    "mapping",
    "merged",
    "numbered",
    "objects",
    "present",
    "text_of",
    "total",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One request to one API: the neutral messages and all that goes beside them."""

    model: str
    messages: Sequence[ChatMessage]
    settings: Settings = Settings()
    tools: Sequence[Tool] = ()
    output_schema: Mapping[str, Any] | None = None
    stream: bool = False
    images: bool = True
    system_role: str = "system"
    max_tokens_field: str = "max_completion_tokens"
    extra_body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Encoded:
    """The body of a request, and what had to change to make it."""

    body: dict[str, Any]
    rewrites: tuple[Rewrite, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an API's JSON says, in our form. `tool_calls` are in OpenAI's form, as in a suite."""

    text: str
    tool_calls: Sequence[dict[str, Any]] = ()
    finish_reason: FinishReason = "stop"
    raw_finish_reason: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    usage: Usage = Usage()
    model: str | None = None
    response_id: str | None = None

    @property
    def message(self) -> ChatMessage:
        """The answer as the next message of the conversation."""
        message: ChatMessage = {"role": "assistant", "content": self.text or (None if self.tool_calls else "")}
        if self.tool_calls:
            message["tool_calls"] = list(self.tool_calls)
        return message


class Assembly(Protocol):
    """Puts the events of one streamed answer together."""

    begun: bool
    """Whether the first piece of the answer has come."""
    done: bool
    """Whether the API has said that the answer is whole."""
    finished: bool
    """Whether nothing more is to come that matters, such as counts: the rest need not be read."""

    def add(self, event: Any) -> None:
        """Take the next event: JSON data, already parsed."""
        ...

    def result(self) -> dict[str, Any]:
        """The whole answer, as the API would have sent it in one piece."""
        ...


class Wire(Protocol):
    """One API's form of requests and answers. Every wire module is one."""

    API: str
    SETTINGS: frozenset[str]
    Assembly: type[Assembly]

    def encode(self, request: WireRequest) -> Encoded: ...

    def decode(self, body: Any) -> Answer: ...


def checked_settings(request: WireRequest, api: str, takes: frozenset[str]) -> Settings:
    """The request's settings. Raises `PromptError` for one that the API has no parameter for."""
    settings = request.settings
    if settings is not _NO_SETTINGS:
        for name in Settings.__dataclass_fields__:
            if name not in takes and getattr(settings, name) is not None:
                message = f"{api} takes no `{name}`"
                raise PromptError("unknown setting", message, hint="remove the setting, or try `extra_body`")
    return settings


_NO_SETTINGS = Settings()


def merged(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body with further fields; mappings are merged, anything else is replaced.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}, "d": 4})
    {'a': {'b': 1, 'c': 3}, 'd': 4}
    """
    for key, value in extra.items():
        old = body.get(key)
        body[key] = merged(dict(old), value) if isinstance(old, dict) and isinstance(value, Mapping) else value
    return body


def present(**values: Any) -> dict[str, Any]:
    """The values that are given.

    >>> present(seed=7, top_p=None)
    {'seed': 7}
    """
    return {name: value for name, value in values.items() if value is not None}


def numbered(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of an answer, with an id where the API gave none: a suite pairs results with it.

    >>> numbered([{"id": None}, {"id": "c7"}])
    [{'id': 'call_1'}, {'id': 'c7'}]
    """
    return [call if call["id"] else {**call, "id": f"call_{number}"} for number, call in enumerate(calls, 1)]


def text_of(value: Any) -> str | None:
    """A text field of an answer, or None: an API may leave it out or send null."""
    return value if isinstance(value, str) else None


def count(value: Any) -> int | None:
    """A token count of an answer, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def listed(value: Any) -> list[Any]:
    """A list of an answer; an empty one if the API sent something else.

    >>> listed([1]), listed(5)
    ([1], [])
    """
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The JSON objects in a list of an answer; anything else in it is passed over.

    >>> objects([{"a": 1}, 5]), objects(None)
    ([{'a': 1}], [])
    """
    return [each for each in listed(value) if isinstance(each, dict)]


def fields_of(value: Any) -> dict[str, Any]:
    """An object of an answer that may be left out; an empty one if it is, or is something else.

    >>> fields_of({"a": 1}), fields_of(5)
    ({'a': 1}, {})
    """
    return value if isinstance(value, dict) else {}


def index_of(value: Any) -> int:
    """The place of a piece in a streamed answer; 0 if the API did not say.

    >>> index_of(2), index_of(None), index_of([1])
    (2, 0, 0)
    """
    return value if isinstance(value, int) else 0


def mapping(value: Any, api: str, what: str) -> dict[str, Any]:
    """A JSON object that the API promises. Raises `ProtocolError` if it is something else."""
    if isinstance(value, dict):
        return value
    found = "nothing" if value is None else f"a {type(value).__name__}"
    raise ProtocolError(f"{api}: {what} should be a JSON object, found {found}", hint="is this the API's address?")


def total(*counts: int | None) -> int | None:
    """The sum of counts of which some may be unknown; None if all are."""
    known = [each for each in counts if each is not None]
    return sum(known) if known else None
