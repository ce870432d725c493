"""Answers that the vendors' SDKs never show: what other servers that speak these APIs send, or leave out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from turnwise.errors import OverloadedError
from turnwise.providers.base import Usage
from turnwise.providers.wire import openai, responses

MINIMAL: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"message": {"content": "hello"}}]},
    "responses": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "hello"}]}]},
    "anthropic": {"content": [{"type": "text", "text": "hello"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "hello"}]}}]},
    "bedrock": {"output": {"message": {"content": [{"text": "hello"}]}}},
}
COUNTS = {
    "openai": ("usage", "prompt_tokens"),
    "responses": ("usage", "input_tokens"),
    "anthropic": ("usage", "input_tokens"),
    "gemini": ("usageMetadata", "promptTokenCount"),
    "bedrock": ("usage", "inputTokens"),
}


def decoded(wire: str, body: Any) -> Any:
    return import_module(f"turnwise.providers.wire.{wire}").decode(body)


def completion(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": None}]}


@pytest.mark.parametrize("wire", MINIMAL)
def test_what_a_server_leaves_out_is_unknown(wire: str) -> None:
    """Without counts, model, id and reason to finish, the text still is an answer, and the rest is None."""
    answer = decoded(wire, MINIMAL[wire])
    assert (answer.text, answer.finish_reason, answer.raw_finish_reason) == ("hello", "stop", None)
    assert (answer.usage, answer.model, answer.response_id) == (Usage(), None, None)


@pytest.mark.parametrize("wire", COUNTS)
@pytest.mark.parametrize("wrong", [None, "12", -1, True, 1.5, {}])
def test_counts_that_are_none_are_unknown(wire: str, wrong: Any) -> None:
    """A count that is no whole number from 0 on is not counted; one beside it is."""
    field, key = COUNTS[wire]
    assert decoded(wire, {**MINIMAL[wire], field: wrong}).usage == Usage()
    assert decoded(wire, {**MINIMAL[wire], field: {key: wrong}}).usage.input_tokens is None
    assert decoded(wire, {**MINIMAL[wire], field: {key: 0}}).usage.input_tokens == 0


def test_content_in_parts_is_joined() -> None:
    """Some servers send a list where OpenAI sends a text."""
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}, "three", {"type": "odd"}]
    assert openai.decode(completion(content=parts)).text == "one two"


@pytest.mark.parametrize(
    ("arguments", "text"), [({"q": "ü"}, '{"q": "ü"}'), (None, "{}"), ([], "[]"), ('{"q": 1}', '{"q": 1}')]
)
def test_arguments_become_json_text(arguments: Any, text: str) -> None:
    """Some servers send the arguments of a call as an object."""
    call = {"id": "c1", "function": {"name": "f", "arguments": arguments}}
    answer = openai.decode(completion(content=None, tool_calls=[call]))
    assert answer.tool_calls == [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": text}}]
    assert answer.finish_reason == "tool_calls"


def test_reasoning_is_found_under_both_names() -> None:
    """Servers differ in the name of the field, in whole answers and in streamed ones."""
    for key in ("reasoning", "reasoning_content"):
        assert openai.decode(completion(content="42", **{key: "six times seven"})).reasoning == "six times seven"
        assembly = openai.Assembly()
        for delta in ({key: "six times "}, {key: "seven"}, {"content": "42"}):
            assembly.add({"choices": [{"delta": delta}]})
        streamed = openai.decode(assembly.result())
        assert (streamed.reasoning, streamed.text) == ("six times seven", "42")


def test_streamed_calls_without_an_index_are_calls_of_their_own() -> None:
    """Some servers send each call whole, and number none."""
    assembly = openai.Assembly()
    for name in ("f", "g"):
        assembly.add({"choices": [{"delta": {"tool_calls": [{"function": {"name": name, "arguments": "{}"}}]}}]})
    assert [call["function"]["name"] for call in openai.decode(assembly.result()).tool_calls] == ["f", "g"]


def test_other_choices_of_a_stream_are_passed_over() -> None:
    """Only the first choice is the answer."""
    assembly = openai.Assembly()
    for index, text in ((1, "other"), (0, "first"), (1, "other")):
        assembly.add({"choices": [{"index": index, "delta": {"content": text}}]})
    assert openai.decode(assembly.result()).text == "first"


@pytest.mark.parametrize("fields", [{"status": "cancelled"}, {"status": "failed", "error": None}])
def test_a_response_that_did_not_end_well_is_an_error(fields: dict[str, Any]) -> None:
    """A status of failure counts without an error that explains it, and without any output."""
    for body in ({**MINIMAL["responses"], **fields}, fields):
        with pytest.raises(OverloadedError, match="without a reason"):
            responses.decode(body)


def test_an_error_of_null_is_none() -> None:
    """OpenAI sends `error: null` with every response that ended well."""
    assert responses.decode({**MINIMAL["responses"], "status": "completed", "error": None}).text == "hello"
