"""The transcript: what people, judges and agents read."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from turnwise.conversation import Conversation

PNG = b"\x89PNG\r\n\x1a\n picture"
GUIDE_A = {"type": "file", "value": "a.instructions.md"}
GUIDE_B = {"type": "file", "value": "./b.instructions.md"}
PLAIN = {"type": "file", "value": "./plain.txt"}
EMPTY = {"type": "file", "value": "empty.txt"}
IMAGE = {"type": "image", "value": "./p.png"}
DATA_IMAGE = {"type": "image", "value": "data:image/png;base64," + base64.b64encode(PNG).decode("ascii")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "a.instructions.md").write_text("Rule a.\n")
    (root / "b.instructions.md").write_text("Rule b.\n")
    (root / "plain.txt").write_text("plain text\n")
    (root / "empty.txt").write_text("")
    (root / "p.png").write_bytes(PNG)
    return root


def transcript(folder: Path, *messages: dict[str, Any]) -> str:
    return Conversation.from_messages(messages, folder=folder).transcript()


def turn(role: str, *content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content), **fields}


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


# Flat or marked


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([turn("user", "x")], "x"),
        ([turn("system", "x")], "x"),
        ([turn("system", "s"), turn("user", "x")], "s\n\nx"),
        ([turn("system", "s1", "s2"), turn("user", "x1", "x2")], "s1\ns2\n\nx1\nx2"),
        ([turn("system", " "), turn("user", "x"), turn("user", "")], "x"),
        ([turn("system", "s"), turn("user", " "), turn("user", "x")], "s\n\nx"),
        ([turn("system", GUIDE_A), turn("user", "x")], "x"),
        ([turn("system", "s"), turn("user", GUIDE_A)], "s"),
        ([turn("user", GUIDE_A), turn("system", "s"), turn("user", "x"), turn("system", GUIDE_B)], "s\n\nx"),
    ],
)
def test_flat(folder: Path, messages: list[dict[str, Any]], expected: str) -> None:
    """One visible message, or one system and one user message in this order: joined by a blank line, no markers."""
    assert transcript(folder, *messages) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([turn("user", "x"), turn("user", "y")], "[User]:\nx\n\n[User]:\ny"),
        ([turn("system", "x"), turn("system", "y")], "[System]:\nx\n\n[System]:\ny"),
        ([turn("user", "x"), turn("system", "y")], "[User]:\nx\n\n[System]:\ny"),
        (
            [turn("system", "s"), turn("user", "x"), turn("user", "y")],
            "[System]:\ns\n\n[User]:\nx\n\n[User]:\ny",
        ),
        (
            [turn("system", "s"), turn("system", "t"), turn("user", "y")],
            "[System]:\ns\n\n[System]:\nt\n\n[User]:\ny",
        ),
        ([turn("assistant", "x")], "[Assistant]:\nx"),
        ([turn("developer", "x")], "[Developer]:\nx"),
        ([turn("tool", "x")], "[Tool]:\nx"),
        # A message of another role counts even where it shows nothing.
        ([turn("user", "x"), turn("assistant", " ")], "[User]:\nx"),
        ([turn("assistant", GUIDE_A), turn("user", "x")], "[User]:\nx"),
        ([turn("system", "s"), turn("user", "x"), turn("tool", "")], "[System]:\ns\n\n[User]:\nx"),
        # Roles are compared as written.
        ([turn("User", "x")], "[User]:\nx"),
        ([turn("SYSTEM", "s"), turn("user", "x")], "[SYSTEM]:\ns\n\n[User]:\nx"),
    ],
)
def test_marked(folder: Path, messages: list[dict[str, Any]], expected: str) -> None:
    """Anything else has a `[Role]:` line above each visible message, and a blank line between turns."""
    assert transcript(folder, *messages) == expected


@pytest.mark.parametrize(
    ("role", "line"),
    [
        ("user", "[User]:"),
        ("assistant", "[Assistant]:"),
        ("critic two", "[Critic two]:"),
        ("myRole", "[MyRole]:"),
        ("élève", "[Élève]:"),
        ("7th", "[7th]:"),
        ("役", "[役]:"),
    ],
)
def test_the_line_above_a_turn(folder: Path, role: str, line: str) -> None:
    """Only the first letter of the role is upper-cased."""
    assert transcript(folder, turn(role, "x"), turn("tool", "y")) == f"{line}\nx\n\n[Tool]:\ny"


def test_system_messages_stay_where_they_stand(folder: Path) -> None:
    """The order is the authored order, for system messages too."""
    messages = [turn("user", "1"), turn("system", "2"), turn("assistant", "3"), turn("system", "4"), turn("user", "5")]
    assert transcript(folder, *messages) == (
        "[User]:\n1\n\n[System]:\n2\n\n[Assistant]:\n3\n\n[System]:\n4\n\n[User]:\n5"
    )


# Parts


def test_parts_of_a_marked_message(folder: Path) -> None:
    """Parts are joined by a line break; guidelines show as a marker in their place."""
    messages = [turn("user", PLAIN, "one", GUIDE_A, EMPTY, IMAGE, "two"), turn("assistant", "y", GUIDE_B)]
    assert transcript(folder, *messages) == (
        "[User]:\n=== ./plain.txt ===\nplain text\none\n<Attached: a.instructions.md>\n=== empty.txt ===\n\n"
        "<Image: ./p.png>\ntwo\n\n[Assistant]:\ny\n<Attached: ./b.instructions.md>"
    )


def test_flat_messages_show_no_guideline_marker(folder: Path) -> None:
    """A flat transcript has neither role lines nor `<Attached: …>`; other files and images show."""
    messages = [turn("system", GUIDE_A, "s", EMPTY), turn("user", "x", GUIDE_B, PLAIN, GUIDE_A, IMAGE)]
    assert transcript(folder, *messages) == (
        "s\n=== empty.txt ===\n\n\nx\n=== ./plain.txt ===\nplain text\n<Image: ./p.png>"
    )


def test_images_show_as_their_written_path(folder: Path) -> None:
    """An image is a line `<Image: path>`, a data URL one with its type, in every role."""
    assert transcript(folder, turn("user", IMAGE)) == "<Image: ./p.png>"
    assert transcript(folder, turn("user", "a", DATA_IMAGE, "b")) == "a\n<Image: data:image/png>\nb"
    assert transcript(folder, turn("system", IMAGE), turn("user", "x"), turn("tool", DATA_IMAGE)) == (
        "[System]:\n<Image: ./p.png>\n\n[User]:\nx\n\n[Tool]:\n<Image: data:image/png>"
    )


# Tool calls


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"city": "Oslo"}', '{"city": "Oslo"}'),
        ("", ""),
        ("not json (", "not json ("),
        ({"city": "Oslo", "days": [1, 2]}, '{"city":"Oslo","days":[1,2]}'),
        ({}, "{}"),
        ([1, "a"], '[1,"a"]'),
        ({"ü": "中 🙂"}, '{"ü":"中 🙂"}'),
        ({"b": 1, "a": {"d": None, "c": True}}, '{"b":1,"a":{"d":null,"c":true}}'),
        (None, "null"),
        (5, "5"),
    ],
)
def test_arguments_of_a_tool_call(folder: Path, arguments: Any, shown: str) -> None:
    """Arguments show as written if they are a string, else as compact JSON with their keys in order."""
    message = {"role": "assistant", "tool_calls": [call("get", arguments)]}
    assert transcript(folder, message) == f"[Assistant]:\nTool call: get({shown})"


def test_tool_calls_follow_the_other_parts(folder: Path) -> None:
    """Each call is a line of its own, after the texts, files, images and markers of its message."""
    message = turn("assistant", "a", GUIDE_A, IMAGE, PLAIN, tool_calls=[call("f", "1"), call("g", {"x": 2})])
    assert transcript(folder, message, turn("user", "x")) == (
        "[Assistant]:\na\n<Attached: a.instructions.md>\n<Image: ./p.png>\n=== ./plain.txt ===\nplain text\n"
        'Tool call: f(1)\nTool call: g({"x":2})\n\n[User]:\nx'
    )


def test_tool_calls_of_a_flat_message_show_too(folder: Path) -> None:
    """A lone user message with a tool call is flat, and nothing of it is lost."""
    assert transcript(folder, turn("user", "a", tool_calls=[call("f", "")])) == "a\nTool call: f()"


def test_a_tool_call_in_the_short_spelling(folder: Path) -> None:
    """A call with `name` and `arguments` (or `input`) at its top shows the same."""
    calls = [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "input": {"y": 2}}, {"name": "h"}]
    assert transcript(folder, {"role": "assistant", "tool_calls": calls}) == (
        '[Assistant]:\nTool call: f({"x":1})\nTool call: g({"y":2})\nTool call: h()'
    )


def test_a_tool_message_with_an_id_and_no_text_shows(folder: Path) -> None:
    """The id that it answers is visible content, so its `[Tool]:` line stands, with nothing below it."""
    messages = [turn("user", "x"), {"role": "tool", "content": "", "tool_call_id": "c1"}, turn("user", "y")]
    assert transcript(folder, *messages) == "[User]:\nx\n\n[Tool]:\n\n\n[User]:\ny"


# Messages without visible content


MARKER_A, MARKER_B = "<Attached: a.instructions.md>", "<Attached: ./b.instructions.md>"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], ""),
        ([turn("user", " ")], ""),
        ([turn("system"), turn("user"), turn("assistant")], ""),
        ([turn("user", GUIDE_A)], MARKER_A),
        ([turn("user", GUIDE_A, GUIDE_B)], f"{MARKER_A}\n{MARKER_B}"),
        ([turn("system", GUIDE_A)], MARKER_A),
        ([turn("system", GUIDE_A), turn("user", GUIDE_B)], f"{MARKER_A}\n\n{MARKER_B}"),
        ([turn("user", " "), turn("user", GUIDE_A)], MARKER_A),
        ([turn("user", GUIDE_A), turn("user", GUIDE_B)], f"[User]:\n{MARKER_A}\n\n[User]:\n{MARKER_B}"),
        ([turn("user", GUIDE_A), turn("assistant", " ")], f"[User]:\n{MARKER_A}"),
        ([turn("user", GUIDE_A), turn("assistant", GUIDE_B)], f"[User]:\n{MARKER_A}\n\n[Assistant]:\n{MARKER_B}"),
    ],
)
def test_where_nothing_is_visible_the_markers_are(folder: Path, messages: list[dict[str, Any]], expected: str) -> None:
    """Where no message has visible content, guideline references show as `<Attached: …>` lines."""
    assert transcript(folder, *messages) == expected


def test_a_configured_prompt_is_not_part_of_the_question(folder: Path) -> None:
    """The transcript shows what the messages say; prompts of the case, suite or target are not in it."""
    talk = Conversation.from_messages([turn("user", "x")], folder=folder, system_prompt="configured")
    assert talk.transcript() == "x"
