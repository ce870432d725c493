"""Tool calls and their results, as APIs take them: in pairs, with ids, results directly after the turn that calls."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ...conversation.transcript import role_marker
from ...errors import PromptError, ProtocolError
from .turns import Call, Notes, Pass, Turn

__all__ = [
    "arguments_object",
    "arguments_of",
    "arguments_text",
    "call_ids_like",
    "calls_as_text",
    "no_call_extras",
    "paired_tools",
    "undeclared",
]


def paired_tools(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Every call has its result directly after its turn, every result its call; what has no partner becomes text."""
    if not any(turn.calls or turn.role == "tool" for turn in turns):
        return turns
    results: dict[int, list[Turn]] = {}
    ids: set[str] = set()
    callers: list[Turn] = []
    for turn in turns:
        if turn.calls:
            callers.append(turn)
        elif turn.role == "tool":
            caller = _answer(turn, callers)
            if caller is None:
                _result_as_user(turn, notes)
            else:
                results.setdefault(caller.index, []).append(turn)
    for turn in callers:
        for call in turn.calls:
            if call.answered:
                ids.add(_own_id(call, ids, turn, callers, notes))
        lonely = [call for call in turn.calls if not call.answered]
        calls_as_text(turn, lonely, notes, f"{notes.api} takes a call only together with its result")
    return _results_after_calls(turns, results, notes)


def _answer(result: Turn, callers: list[Turn]) -> Turn | None:
    """Pair a result with the latest open call of its id, or, both without one, with the first open call."""
    for caller in reversed(callers):
        for call in caller.calls:
            if not call.answered and call.id == result.call_id:
                call.answered = True
                result.answers = call
                return caller
    return None


def _own_id(call: Call, ids: set[str], turn: Turn, callers: list[Turn], notes: Notes) -> str:
    """The id of a call that no call before it has."""
    old, why = call.id, f"{notes.api} pairs calls and results by id"
    if old is not None and old not in ids:
        return old
    call.id = _free_id(1, callers)
    if old is None:
        notes.add("tool-id-added", turn.index, f"the call of `{call.name}` got the id `{call.id}`", why)
    else:
        what = f"the id of the call of `{call.name}`, `{old}`, which an earlier call has, became `{call.id}`"
        notes.add("tool-id-changed", turn.index, what, why)
    return call.id


def _free_id(number: int, callers: list[Turn]) -> str:
    taken = {call.id for turn in callers for call in turn.calls}
    while f"call_{number}" in taken:
        number += 1
    return f"call_{number}"


def _result_as_user(turn: Turn, notes: Notes) -> None:
    why = f"{notes.api} takes a tool result only for a call that is declared before it and has no result yet"
    notes.add("tool-as-user", turn.index, "the tool message became a user turn that starts `[Tool]:`", why)
    if turn.name is not None:
        notes.add("name-left-out", turn.index, f"the name `{turn.name}` was left out", "it names a tool, not a user")
    turn.role = "user"
    turn.name = None
    turn.prepend_text(role_marker("tool"))


def _results_after_calls(turns: list[Turn], results: dict[int, list[Turn]], notes: Notes) -> list[Turn]:
    ordered: list[Turn] = []
    for turn in turns:
        if turn.answers is None:
            ordered.append(turn)
            ordered += results.get(turn.index, ())
    for caller in (turn for turn in turns if turn.index in results):
        at_home = {result.index for result in results[caller.index]}
        for result in results[caller.index]:
            if any(between not in at_home for between in range(caller.index + 1, result.index)):
                what = f"the result of `{result.answers.name if result.answers else ''}` moved up to its call"
                why = f"{notes.api} takes results only directly after the turn that calls"
                notes.add("tool-result-moved", result.index, what, why)
    return ordered


def call_ids_like(pattern: re.Pattern[str]) -> Pass:
    """A pass that renames the ids of calls that the API would refuse."""

    def rename(turns: list[Turn], notes: Notes) -> list[Turn]:
        callers = [turn for turn in turns if turn.calls]
        for turn in callers:
            for number, call in enumerate(turn.calls, 1):
                if call.id is not None and pattern.fullmatch(call.id) is None:
                    old, call.id = call.id, _free_id(number, callers)
                    what = f"the id of the call of `{call.name}`, `{old}`, became `{call.id}`"
                    notes.add("tool-id-changed", turn.index, what, f"{notes.api} refuses ids of this form")
        return turns

    return rename


def no_call_extras(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Further keys of tool calls have no place in APIs other than OpenAI's."""
    for turn in turns:
        for call in turn.calls:
            if call.extra or call.function_extra:
                keys = ", ".join(f"`{key}`" for key in [*call.extra, *call.function_extra])
                what = f"{keys} of the call of `{call.name}` left out"
                notes.add("call-key-left-out", turn.index, what, f"{notes.api} has no such keys in tool calls")
    return turns


def calls_as_text(turn: Turn, calls: list[Call], notes: Notes, why: str) -> None:
    """Show calls as lines of the turn's text."""
    for call in calls:
        turn.append_text(call.line)
        notes.add("tool-call-as-text", turn.index, f"the call of `{call.name}` became a line of text", why)
    turn.calls = [call for call in turn.calls if call not in calls]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")  # one of its values would be lost
    return dict(pairs)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that JSON can hold")
    return number


_STRICT = json.JSONDecoder(parse_constant=_finite, parse_float=_finite, object_pairs_hook=_unique)


def arguments_object(call: Call, turn: Turn, notes: Notes) -> dict[str, Any]:
    """The arguments of a call as a JSON object. Raises `PromptError` if they are none."""
    arguments = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = _STRICT.decode(arguments)
        except (ValueError, RecursionError):
            arguments = None
    if isinstance(arguments, dict):
        return arguments
    raise PromptError(
        "arguments",
        f"message {turn.index + 1} calls `{call.name}` with arguments that are no JSON object, or not a sound one; "
        f"{notes.api} takes only objects",
        hint='write arguments such as {"city": "Rome"}',
        message_index=turn.index,
    )


def undeclared(turns: list[Turn], declared: set[str], notes: Notes) -> list[str]:
    """Tools that the conversation calls and nobody declares: APIs that demand a declaration get an open one."""
    names = []
    for turn in turns:
        for call in turn.calls:
            if call.name not in declared:
                declared.add(call.name)
                names.append(call.name)
                what = f"the tool `{call.name}` was declared, with any arguments"
                why = f"{notes.api} takes tool calls only beside declared tools; `tools` in the suite declares your own"
                notes.add("tool-declared", turn.index, what, why)
    return names


def arguments_of(text: str) -> Any:
    """The arguments of a call that came in pieces; the text itself if it was cut off, or is no JSON otherwise.

    >>> arguments_of('{"city": "Oslo"}'), arguments_of('{"city": "Os')
    ({'city': 'Oslo'}, '{"city": "Os')
    """
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def arguments_text(arguments: Any) -> str:
    """The arguments of a call of an answer, as JSON text, as a suite writes them.

    >>> arguments_text({"city": "Oslo"}), arguments_text(None)
    ('{"city": "Oslo"}', '{}')
    """
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    except RecursionError as error:
        raise ProtocolError("the arguments of a tool call in the answer are nested too deeply") from error
