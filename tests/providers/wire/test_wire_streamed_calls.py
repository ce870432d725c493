"""Tool calls of Chat Completions as servers other than OpenAI's send them, in pieces and whole."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.providers.wire import openai, responses


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}


def called(*pieces: dict[str, Any], finish: str | None = None, key: str = "tool_calls") -> list[tuple[Any, str, str]]:
    """Id, name and arguments of the calls that come together, a chunk for each piece."""
    assembly = openai.Assembly()
    for each in pieces:
        assembly.add({"choices": [{"delta": {key: [each] if key == "tool_calls" else each}}]})
    assembly.add({"choices": [{"delta": {}, "finish_reason": finish}]})
    calls = openai.decode(assembly.result()).tool_calls
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]


def test_arguments_that_are_an_object_become_json_text() -> None:
    """A call that comes whole may have its arguments as they are."""
    assert called(piece("find", {"q": "ü"}, index=0, id="c1")) == [("c1", "find", '{"q": "ü"}')]


def test_a_name_that_is_repeated_counts_once() -> None:
    """Some servers send the name with every piece; one in pieces is joined."""
    repeated = [piece("find", text, index=0, id="c1") for text in ('{"q"', ': "x"', "}")]
    assert called(*repeated) == [("c1", "find", '{"q": "x"}')]
    assert called(piece("fi", "", index=0), piece("nd", "{}", index=0)) == [("call_1", "find", "{}")]


def test_a_piece_without_a_place_belongs_to_the_call_of_its_id() -> None:
    """Without an index, the id tells calls apart."""
    begun = [piece("f", '{"a"', id="c1"), piece("g", "{", id="c2")]
    ended = [piece(None, ": 1}", id="c1"), piece(None, "}", id="c2")]
    assert called(*begun, *ended) == [("c1", "f", '{"a": 1}'), ("c2", "g", "{}")]


def test_a_piece_without_place_and_id_belongs_to_the_last_call() -> None:
    """What says nothing of itself continues what came before it."""
    assert called(piece("f", '{"a"', id="c1"), piece(None, ": 1}")) == [("c1", "f", '{"a": 1}')]
    assert called(piece("f", '{"a"'), piece("f", ": 1}")) == [("call_1", "f", '{"a": 1}')]
    assert called(piece("f", '{"a"', index=3), piece(None, ": 1}")) == [("call_1", "f", '{"a": 1}')]


def test_a_whole_call_after_a_whole_one_is_another() -> None:
    """Two calls of one tool, without place and id, stay two."""
    assert called(piece("f", '{"a": 1}'), piece("f", '{"a": 2}')) == [
        ("call_1", "f", '{"a": 1}'),
        ("call_2", "f", '{"a": 2}'),
    ]


def test_calls_stand_in_the_order_of_their_places() -> None:
    """Pieces may come in any order."""
    assert [call[1] for call in called(piece("g", "{}", index=1), piece("f", "{}", index=0))] == ["f", "g"]


def test_the_old_form_of_a_call_is_a_call() -> None:
    """`function_call`, in a message and in pieces, reads as one tool call without an id."""
    function = {"name": "f", "arguments": '{"a": 1}'}
    choice = {"message": {"content": None, "function_call": function}, "finish_reason": "function_call"}
    answer = openai.decode({"choices": [choice]})
    assert answer.tool_calls == [{"id": "call_1", "type": "function", "function": function}]
    assert answer.finish_reason == "tool_calls"
    pieces: list[dict[str, Any]] = [{"name": "f", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
    assert called(*pieces, key="function_call") == [("call_1", "f", '{"a": 1}')]


@pytest.mark.parametrize("finish", ["stop", None, "tool_calls", "function_call"])
def test_an_answer_with_calls_stopped_for_them(finish: str | None) -> None:
    """Some servers say `stop` beside calls; their own word is kept beside ours."""
    message = {"content": None, "tool_calls": [piece("f", "{}", id="c1")]}
    answer = openai.decode({"choices": [{"message": message, "finish_reason": finish}]})
    assert (answer.finish_reason, answer.raw_finish_reason) == ("tool_calls", finish)


def test_a_cut_answer_with_calls_was_cut() -> None:
    """Any other reason to finish is believed."""
    message = {"content": None, "tool_calls": [piece("f", '{"a', id="c1")]}
    assert openai.decode({"choices": [{"message": message, "finish_reason": "length"}]}).finish_reason == "length"


def test_a_message_of_a_response_may_be_a_text() -> None:
    """Servers that speak the Responses API send a text where OpenAI sends parts."""
    assert responses.decode({"output": [{"type": "message", "content": "hello"}]}).text == "hello"


def test_arguments_of_a_response_may_be_an_object() -> None:
    """As for Chat Completions."""
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": {"a": 1}}
    assert responses.decode({"output": [call]}).tool_calls[0]["function"]["arguments"] == '{"a": 1}'
