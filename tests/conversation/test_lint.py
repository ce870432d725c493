"""Warnings about a conversation: each one, and its absence where all is well."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.conversation import File, Image, Message, Part, Text
from turnwise.conversation.lint import lint

GUIDELINE = File("g.instructions.md", "g.instructions.md", "Rule.", guideline=True)
PLAIN = File("a.txt", "a.txt", "[User]:\n=== x ===\n<Attached: y>")
IMAGE = Image("p.png", "p.png", "image/png", "AAAA")


def say(role: str, *parts: Part | str, **fields: Any) -> Message:
    return Message(role, tuple(Text(part) if isinstance(part, str) else part for part in parts), **fields)


def call(call_id: str | None = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def codes(*messages: Message) -> list[tuple[int | None, str]]:
    return [(finding.message_index, finding.code) for finding in lint(messages)]


@pytest.mark.parametrize(
    "messages",
    [
        [say("user", "Hello")],
        [say("system", "s"), say("user", "x")],
        [say("user", "x"), say("assistant", "y"), say("user", "z")],
        [say("user", "x", GUIDELINE)],
        [say("system", GUIDELINE), say("user", PLAIN, IMAGE)],
        [say("developer", "d"), say("user", "x")],
        [say("user", "x"), say("critic", "hm")],
        [
            say("user", "x"),
            say("assistant", tool_calls=(call("c1"), call("c2"))),
            say("tool", "2", tool_call_id="c2"),
            say("tool", tool_call_id="c1"),
            say("assistant", "done"),
            say("user", "thanks"),
        ],
        [say("user", "a [User]: b"), say("user", "see [1]: and <b>", name="Ann"), say("user", "== x ==\n====\n===\n")],
    ],
)
def test_a_clean_conversation_has_no_warning(messages: list[Message]) -> None:
    """What every API takes and nobody can misread is not warned about."""
    assert codes(*messages) == []


# Turns


@pytest.mark.parametrize(
    ("messages", "warned"),
    [
        ([], True),
        ([say("system", "s")], True),
        ([say("developer", "s")], True),
        ([say("tool", "s", tool_call_id="c")], True),
        ([say("user"), say("system", "s")], True),
        ([say("user", GUIDELINE), say("system", "s")], True),
        ([say("system", GUIDELINE)], True),
        ([say("User", "x")], True),
        ([say("user", GUIDELINE)], False),
        ([say("system", GUIDELINE), say("user", GUIDELINE)], False),
        ([say("user", IMAGE), say("system", "s")], False),
    ],
)
def test_no_user_turn(messages: list[Message], warned: bool) -> None:
    """A conversation in which no user turn is sent is refused by some APIs."""
    assert ((None, "no-user-turn") in codes(*messages)) is warned


@pytest.mark.parametrize(
    ("messages", "warned_at"),
    [
        ([say("user", "x"), say("assistant", "y")], 1),
        ([say("user", "x"), say("assistant", "y"), say("user")], 1),
        ([say("user", "x"), say("assistant", "y"), say("system", "s")], 1),
        ([say("user", "x"), say("assistant", "y"), say("user", GUIDELINE)], 1),
        ([say("user", GUIDELINE), say("assistant", GUIDELINE)], 1),
        ([say("user", "x"), say("assistant", "y"), say("user", "z")], None),
        ([say("user", "x"), say("assistant")], None),
        ([say("assistant", "y"), say("user", "x")], None),
    ],
)
def test_assistant_last(messages: list[Message], warned_at: int | None) -> None:
    """A conversation whose last turn is the assistant's own is warned about at that turn."""
    found = [index for index, code in codes(*messages) if code == "assistant-last"]
    assert found == ([] if warned_at is None else [warned_at])


def test_blank_message() -> None:
    """A message that says nothing is not sent, and that is said."""
    assert codes(say("user", "x"), say("assistant"), say("user", "y")) == [(1, "blank-message")]
    assert codes(say("system"), say("user", "y")) == [(0, "blank-message")]
    assert codes(say("user")) == [(None, "no-user-turn"), (0, "blank-message")]


def test_guideline_only_message() -> None:
    """A turn of guidelines only is not sent where others are visible; a system message needs no turn."""
    assert codes(say("user", GUIDELINE), say("user", "x")) == [(0, "guideline-only-message")]
    assert codes(say("system", GUIDELINE), say("user", "x")) == []


def test_guideline_only_message_that_is_sent() -> None:
    """Where nothing else is visible the turn is sent, so there is nothing to warn about."""
    assert codes(say("user", GUIDELINE)) == []
    assert codes(say("user"), say("user", GUIDELINE)) == [(0, "blank-message")]


@pytest.mark.parametrize("fields", [{"name": "Ann"}, {"tool_calls": (call(),)}, {"tool_call_id": "c1"}])
def test_system_extras(fields: dict[str, Any]) -> None:
    """What a system message loses when it is merged into the system text is said."""
    assert (0, "system-extras") in codes(say("system", "s", **fields), say("user", "x"))
    assert "system-extras" not in [code for _, code in codes(say("critic", "s", **fields), say("user", "x"))]


@pytest.mark.parametrize("role", ["User", "USER", " user", "System", "Assistant ", "TOOL", "Developer"])
def test_role_spelling(role: str) -> None:
    """A role that differs from a common one only in case or spaces is probably a slip."""
    assert (1, "role-spelling") in codes(say("user", "x"), say(role, "y"), say("user", "z"))


@pytest.mark.parametrize("role", ["user", "system", "users", "Critic", "model", "human"])
def test_role_spelling_of_other_words(role: str) -> None:
    """Any other word may be a role."""
    assert "role-spelling" not in [code for _, code in codes(say("user", "x"), say(role, "y"), say("user", "z"))]


# Tools


@pytest.mark.parametrize(
    ("messages", "warned_at"),
    [
        ([say("user", "x"), say("tool", "r")], [1]),
        ([say("user", "x"), say("tool", "r", tool_call_id="c1")], [1]),
        ([say("user", "x"), say("assistant", tool_calls=(call("c1"),)), say("tool", "r", tool_call_id="c2")], [2]),
        ([say("user", "x"), say("assistant", tool_calls=(call("c1"),)), say("tool", "r")], [2]),
        ([say("user", "x"), say("tool", "r", tool_call_id="c1"), say("assistant", tool_calls=(call("c1"),))], [1]),
        (
            [
                say("user", "x"),
                say("assistant", tool_calls=(call("c1"),)),
                say("tool", "r", tool_call_id="c1"),
                say("tool", "again", tool_call_id="c1"),
            ],
            [3],
        ),
        ([say("user", "x"), say("assistant", tool_calls=(call("c1"),)), say("tool", "r", tool_call_id="c1")], []),
        ([say("user", "x", tool_call_id="c1")], []),
    ],
)
def test_tool_without_call(messages: list[Message], warned_at: list[int]) -> None:
    """A tool message that answers no open call before it is warned about."""
    assert [index for index, code in codes(*messages) if code == "tool-without-call"] == warned_at


@pytest.mark.parametrize(
    ("messages", "warned_at"),
    [
        ([say("user", "x"), say("assistant", tool_calls=(call("c1"),)), say("user", "y")], [1]),
        (
            [
                say("user", "x"),
                say("assistant", tool_calls=(call("c1"), call("c2"))),
                say("tool", "r", tool_call_id="c2"),
            ],
            [1],
        ),
        ([say("user", "x"), say("assistant", tool_calls=(call("c1"),))], []),
        (
            [say("user", "x"), say("assistant", tool_calls=(call("c1"),)), say("tool", "r", tool_call_id="c1")],
            [],
        ),
    ],
)
def test_call_without_answer(messages: list[Message], warned_at: list[int]) -> None:
    """A call that later turns leave unanswered is warned about; one in the last turn waits for its answer."""
    assert [index for index, code in codes(*messages) if code == "call-without-answer"] == warned_at


# Markers


@pytest.mark.parametrize(
    "text",
    [
        "[User]:",
        "a\n[User]:\nb",
        "a\n  [Assistant]:  \nb",
        "a\r\n[System]:\r\nb",
        "[Tool]:\nx",
        "[Critic]:\nx",
        "see <Attached: x>",
        "<Attached: a.md>",
        "<Image: a.png>",
        "[[ ## Guidelines ## ]]",
        "a\n=== x ===\nb",
        "=== a b.txt ===",
    ],
)
def test_marker_in_text(text: str) -> None:
    """Text that could be taken for one of our own markers is warned about, once, in whatever segment it stands."""
    assert codes(say("critic", "hm"), say("user", "x", text)) == [(1, "marker-in-text")]


@pytest.mark.parametrize(
    "text",
    [
        "[User]: hello",
        "say [User]:",
        "[Stranger]:",
        "[user]:",
        "Attached: x",
        "=== x",
        "x ===",
        "a === b === c",
        "=======",
    ],
)
def test_no_marker_in_text(text: str) -> None:
    """What only resembles a marker is left alone."""
    assert codes(say("critic", "hm"), say("user", text)) == []


def test_markers_in_files_are_left_alone() -> None:
    """Files stand under their own header, so that their lines are not taken for turns."""
    assert codes(say("user", PLAIN)) == []


def test_all_warnings_come_in_the_order_of_the_messages() -> None:
    """What concerns the whole conversation comes first, then message by message, each with a hint."""
    messages = [say("tool", "r"), say("assistant"), say("critic", "<Attached: x> <Image: y>"), say("System", "s")]
    findings = lint(messages)
    assert [(finding.message_index, finding.code) for finding in findings] == [
        (None, "no-user-turn"),
        (0, "tool-without-call"),
        (1, "blank-message"),
        (2, "marker-in-text"),
        (2, "marker-in-text"),
        (3, "role-spelling"),
    ]
    assert all(finding.message and finding.hint for finding in findings)


# Anything at all

ROLES = st.sampled_from(["system", "user", "assistant", "tool", "developer", "User", " ", "critic"]) | st.text(
    min_size=1
)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
CALLS = st.lists(st.dictionaries(st.sampled_from(["id", "function", "name", "arguments"]), JSON), max_size=3)
TEXTS = st.text(min_size=1).filter(str.strip) | st.sampled_from(
    ["[User]:", "<Attached: x>", "=== x ===", "]:\n[", "==="]
)
PARTS = TEXTS.map(Text) | st.sampled_from([GUIDELINE, PLAIN, IMAGE])
MESSAGES = st.lists(
    st.builds(
        Message,
        ROLES,
        st.lists(PARTS, max_size=3).map(tuple),
        st.none() | st.text(),
        CALLS.map(tuple),
        st.none() | st.text() | st.just("c1"),
    ),
    max_size=6,
)


@given(MESSAGES)
@settings(max_examples=150, deadline=None)
def test_lint_never_raises_and_changes_nothing(messages: list[Message]) -> None:
    """Whatever the messages are, there are only findings about them, in their order, and twice the same."""
    before = repr(messages)
    findings = lint(messages)
    indices = [-1 if finding.message_index is None else finding.message_index for finding in findings]
    assert indices == sorted(indices)
    assert all(-1 <= index < max(len(messages), 1) for index in indices)
    assert lint(messages) == findings
    assert repr(messages) == before
