"""The passes that APIs share: roles, names, empty turns, images, system text, turns that must alternate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...conversation.transcript import role_marker
from ...conversation.values import is_blank
from ...errors import PromptError
from .tools import calls_as_text
from .turns import Notes, Pass, Turn

__all__ = [
    "images_only_in",
    "known_roles",
    "merged_turns",
    "needs_user_turn",
    "no_empty_turns",
    "no_names",
    "no_trailing_space",
    "something_to_send",
    "system_apart",
    "texts_joined",
    "tool_images_apart",
]

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def known_roles(turns: list[Turn], notes: Notes) -> list[Turn]:
    """A role that no API knows becomes a user turn that says whose it is; only assistants call tools."""
    for turn in turns:
        if turn.role not in ROLES:
            marker = role_marker(turn.role)
            notes.add(
                "role-as-user", turn.index, f"the role `{turn.role}` became a user turn that starts `{marker}`",
                f"{notes.api} has no such role",
            )  # fmt: skip
            turn.role = "user"
            turn.prepend_text(marker)
        if turn.calls and turn.role != "assistant":
            calls_as_text(turn, turn.calls, notes, f"{notes.api} takes tool calls in assistant turns only")
    return turns


def no_empty_turns(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Texts of white space alone are left out, and turns with nothing in them."""
    kept = []
    for turn in turns:
        blank = [part["text"] for part in turn.parts if part["type"] == "text" and is_blank(part["text"])]
        parts = [part for part in turn.parts if part["type"] != "text" or not is_blank(part["text"])]
        stands_alone = bool(turn.calls) or turn.answers is not None
        if parts or stands_alone:
            # Beside calls, and as a result, no text is the same as an empty one: nothing is lost.
            if any(blank) if stands_alone else blank:
                notes.add("empty-text-left-out", turn.index, "an empty text was left out", _refuses_empty(notes))
            turn.parts = parts
            kept.append(turn)
        else:
            notes.add("empty-turn-left-out", turn.index, "the empty turn was left out", _refuses_empty(notes))
    return kept


def _refuses_empty(notes: Notes) -> str:
    return f"{notes.api} refuses empty text"


def no_names(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Names of speakers have no place in most APIs."""
    for turn in turns:
        if turn.name is not None:
            what = f"the name `{turn.name}` was left out"
            notes.add("name-left-out", turn.index, what, f"{notes.api} has no names of speakers here")
    return turns


def texts_joined(turn: Turn, notes: Notes) -> str:
    """The text of a turn for which the API takes one text only."""
    if turn.text_count > 1:
        what = f"its {turn.text_count} texts became one, a line each"
        notes.add("parts-joined", turn.index, what, f"{notes.api} takes a single text here")
    return turn.text


def no_trailing_space(turns: list[Turn], notes: Notes) -> list[Turn]:
    """The beginning of an answer that the model is to continue must not end in white space."""
    if turns and turns[-1].role == "assistant" and turns[-1].parts and not turns[-1].calls:
        last = turns[-1].parts[-1]
        if last["type"] == "text" and last["text"] != last["text"].rstrip():
            turns[-1].parts[-1] = {"type": "text", "text": last["text"].rstrip()}
            what = "white space at the end of the last assistant turn was cut"
            why = f"{notes.api} refuses an answer to continue that ends in white space"
            notes.add("trailing-space-cut", turns[-1].index, what, why)
    return turns


def images_only_in(*roles: str) -> Pass:
    """A pass that refuses images in turns of other roles, for which the API has no place."""

    def check(turns: list[Turn], notes: Notes) -> list[Turn]:
        for turn in turns:
            if turn.role not in roles and turn.has_images:
                allowed = " and ".join(roles)
                raise PromptError(
                    "image in the wrong turn",
                    f"message {turn.index + 1} is a {turn.role} turn with an image; {notes.api} takes images in "
                    f"{allowed} turns only",
                    hint="move the image to a user message",
                    message_index=turn.index,
                )
        return turns

    return check


def tool_images_apart(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Results of tools are text here: their images follow in a user turn, after the results of that turn."""
    if not any(turn.answers is not None and turn.has_images for turn in turns):
        return turns
    moved: list[Turn] = []
    pending: list[Turn] = []
    for turn in turns:
        if turn.answers is None:
            moved += pending
            pending = []
        elif turn.has_images:
            pending.append(_images_turn(turn))
            markers = "\n".join(_marker(part) if part["type"] == "image" else part["text"] for part in turn.parts)
            turn.parts = [{"type": "text", "text": markers}]
            turn.plain = True
            what = "the images of the tool result follow in a user turn; markers stand in their place"
            notes.add("image-moved", turn.index, what, f"{notes.api} takes text alone in tool results")
        moved.append(turn)
    return moved + pending


def _images_turn(turn: Turn) -> Turn:
    images = [part for part in turn.parts if part["type"] == "image"]
    return Turn("user", turn.index, [{"type": "text", "text": role_marker("tool")}, *images], plain=False)


def _marker(part: dict[str, Any]) -> str:
    # A caller of the Python API may hand over an image without a label: it reads as a data URL does.
    return f"<Image: {part.get('value') or 'data:' + part['media_type']}>"


def system_apart(turns: list[Turn], notes: Notes, field_name: str) -> tuple[str | None, list[Turn]]:
    """The system text, for an API that takes it beside the messages, and the other turns."""
    texts, rest = [], []
    for turn in turns:
        if turn.role not in ("system", "developer"):
            rest.append(turn)
            continue
        text = texts_joined(turn, notes)
        if is_blank(text):
            notes.add("empty-turn-left-out", turn.index, "the empty system text was left out", _refuses_empty(notes))
            continue
        texts.append(text)
        where = "" if not rest else f"; it stood after message {rest[-1].index + 1}"
        if turn.role == "developer":
            what = f"the developer message became system text in `{field_name}`{where}"
            notes.add("developer-as-system", turn.index, what, f"{notes.api} has no developer role")
        else:
            what = f"the system message went to `{field_name}`{where}"
            notes.add("system-hoisted", turn.index, what, f"{notes.api} takes system text beside the messages")
    return "\n\n".join(texts) if texts else None, rest


def needs_user_turn(turns: Sequence[Turn], notes: Notes, *, first: bool = False) -> None:
    """Raise `PromptError` for a conversation without a user turn, or, with `first`, one that begins otherwise."""
    if not any(turn.role == "user" for turn in turns):
        raise PromptError(
            "no user turn",
            f"the conversation has no user turn with visible content; {notes.api} needs one",
            hint="add a user message to the case",
        )
    if first and turns[0].role != "user":
        raise PromptError(
            "user first",
            f"the conversation begins with message {turns[0].index + 1}, of the role {turns[0].role}; "
            f"{notes.api} takes only conversations that begin with a user turn",
            hint="put a user message before it",
            message_index=turns[0].index,
        )


def something_to_send(messages: Sequence[Any], notes: Notes) -> None:
    """Raise `PromptError` for a conversation without any message."""
    if not messages:
        raise PromptError(
            "nothing to send",
            f"the conversation has no messages; {notes.api} needs at least one",
            hint="add a user message to the case",
        )


def merged_turns(
    blocks: Iterable[tuple[str, int, list[dict[str, Any]]]], notes: Notes, why: str
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Join neighbours of one role: (role, message index, blocks) to (role, blocks)."""
    joined: list[tuple[str, list[dict[str, Any]]]] = []
    for role, index, content in blocks:
        if joined and joined[-1][0] == role:
            joined[-1][1].extend(content)
            notes.add("turns-merged", index, "joined with the turn before it", why)
        else:
            joined.append((role, list(content)))
    return joined
