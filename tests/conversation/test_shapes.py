"""Every shape of conversation that the wire adapters are tested with, as this room hands it over to them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from turnwise.conversation import Conversation
from turnwise.errors import ResolutionError

PNG = b"\x89PNG\r\n\x1a\n picture"
FILES: dict[str, bytes] = {
    "a.instructions.md": b"Rule a.\n",
    "b.instructions.md": b"Rule b.\n",
    "c.instructions.md": b"Rule c.\n",
    "code.py": b"x = 1\n",
    "crlf.txt": b"one\r\ntwo\r\n",
    "bom.txt": b"\xef\xbb\xbfone\n",
    "latin.txt": b"caf\xe9\n",
    "p.png": PNG,
}
IMAGE_PART = {"type": "image", "value": "p.png", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
IMAGE = {"type": "image", "value": "p.png"}


class Shape(NamedTuple):
    """Messages as authored, the turns of the chat prompt, and the transcript."""

    name: str
    messages: list[dict[str, Any]]
    chat: list[dict[str, Any]]
    transcript: str


def m(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def file(path: str) -> dict[str, Any]:
    return {"type": "file", "value": path}


def call(call_id: str, name: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


S, U, A, V = m("system", "s"), m("user", "u"), m("assistant", "a"), m("user", "v")
F, G = call("c1", "f"), call("c2", "g")
CALLING = {"role": "assistant", "tool_calls": [F]}
CALLED = {"role": "assistant", "content": None, "tool_calls": [F]}
RESULT = m("tool", "r", tool_call_id="c1")
OWN_MARKERS = "<Attached: x>\n=== x ===\n[[ ## Guidelines ## ]]\n[User]:\n<Image: x>\nTool call: f()"
STRANGE = "{{ name }} ${{ HOME }} {% if %}\n---\n- 🙂👩‍👩‍👧 עברית \u202eabc\u202c \0 \x1b[31m \u2028 %s {0}"

SHAPES = [
    Shape("01 user only", [U], [U], "u"),
    Shape("02 system, user", [S, U], [S, U], "s\n\nu"),
    Shape(
        "03 two system messages first",
        [S, m("system", "t"), U],
        [m("system", "s\n\nt"), U],
        "[System]:\ns\n\n[System]:\nt\n\n[User]:\nu",
    ),
    Shape("04 system after a user turn", [U, S, V], [S, U, V], "[User]:\nu\n\n[System]:\ns\n\n[User]:\nv"),
    Shape(
        "05 system after an assistant turn",
        [U, A, S, V],
        [S, U, A, V],
        "[User]:\nu\n\n[Assistant]:\na\n\n[System]:\ns\n\n[User]:\nv",
    ),
    Shape(
        "06 system between a tool call and its result",
        [U, CALLING, S, RESULT, V],
        [S, U, CALLED, RESULT, V],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[System]:\ns\n\n[Tool]:\nr\n\n[User]:\nv",
    ),
    Shape("07 system last", [U, A, S], [S, U, A], "[User]:\nu\n\n[Assistant]:\na\n\n[System]:\ns"),
    Shape("08 system only", [S], [S], "s"),
    Shape("09 assistant first", [A, U], [A, U], "[Assistant]:\na\n\n[User]:\nu"),
    Shape("10 two user turns in a row", [U, V], [U, V], "[User]:\nu\n\n[User]:\nv"),
    Shape(
        "11 two assistant turns in a row",
        [U, A, m("assistant", "b")],
        [U, A, m("assistant", "b")],
        "[User]:\nu\n\n[Assistant]:\na\n\n[Assistant]:\nb",
    ),
    Shape("12 assistant last", [U, m("assistant", "So")], [U, m("assistant", "So")], "[User]:\nu\n\n[Assistant]:\nSo"),
    Shape(
        "12 assistant last with trailing spaces",
        [U, m("assistant", "So  \n")],
        [U, m("assistant", "So  \n")],
        "[User]:\nu\n\n[Assistant]:\nSo  \n",
    ),
    Shape("13 empty content", [m("user", "")], [], ""),
    Shape("13 empty content beside another", [U, m("user", "")], [U], "u"),
    Shape("13 empty list", [U, m("user", [])], [U], "u"),
    Shape("14 blank content", [m("user", " \n\t")], [], ""),
    Shape("14 blank content beside another", [U, m("assistant", "  "), V], [U, V], "[User]:\nu\n\n[User]:\nv"),
    Shape("15 a content list with one empty text", [m("user", [{"type": "text", "value": ""}])], [], ""),
    Shape("15 one empty text beside another", [m("user", ["", {"type": "text", "text": "u"}])], [U], "u"),
    Shape(
        "16 assistant with tool calls and no text",
        [U, CALLING, RESULT],
        [U, CALLED, RESULT],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[Tool]:\nr",
    ),
    Shape(
        "17 assistant with tool calls and text",
        [U, m("assistant", "Wait.", tool_calls=[F]), RESULT],
        [U, m("assistant", "Wait.", tool_calls=[F]), RESULT],
        "[User]:\nu\n\n[Assistant]:\nWait.\nTool call: f({})\n\n[Tool]:\nr",
    ),
    Shape(
        "18 two tool calls, two results, out of order",
        [U, m("assistant", None, tool_calls=[F, G]), m("tool", "rg", tool_call_id="c2"), RESULT],
        [U, m("assistant", None, tool_calls=[F, G]), m("tool", "rg", tool_call_id="c2"), RESULT],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\nTool call: g({})\n\n[Tool]:\nrg\n\n[Tool]:\nr",
    ),
    Shape(
        "19 a tool call without result",
        [U, CALLING, V],
        [U, CALLED, V],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[User]:\nv",
    ),
    Shape("20 a tool result without call", [U, RESULT], [U, RESULT], "[User]:\nu\n\n[Tool]:\nr"),
    Shape(
        "21 two results with one id",
        [U, CALLING, RESULT, m("tool", "again", tool_call_id="c1")],
        [U, CALLED, RESULT, m("tool", "again", tool_call_id="c1")],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[Tool]:\nr\n\n[Tool]:\nagain",
    ),
    Shape(
        "22 a result with empty text",
        [U, CALLING, m("tool", "", tool_call_id="c1")],
        [U, CALLED, m("tool", "", tool_call_id="c1")],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[Tool]:\n",
    ),
    Shape(
        "23 an image in a user turn",
        [m("user", ["Look:", IMAGE, "What", "is it?"])],
        [
            m(
                "user",
                [{"type": "text", "text": "Look:"}, IMAGE_PART, {"type": "text", "text": "What\nis it?"}],
            )
        ],
        "Look:\n<Image: p.png>\nWhat\nis it?",
    ),
    Shape(
        "24 an image in a tool result",
        [U, CALLING, m("tool", [IMAGE], tool_call_id="c1")],
        [U, CALLED, m("tool", [IMAGE_PART], tool_call_id="c1")],
        "[User]:\nu\n\n[Assistant]:\nTool call: f({})\n\n[Tool]:\n<Image: p.png>",
    ),
    Shape(
        "25 guideline files in user, assistant and system messages",
        [
            m("user", ["u", file("a.instructions.md")]),
            m("assistant", [file("./b.instructions.md"), "a"]),
            m("system", ["s", file("c.instructions.md")]),
        ],
        [
            m(
                "system",
                "s\n\n[[ ## Guidelines ## ]]\n\n=== a.instructions.md ===\nRule a.\n\n"
                "=== ./b.instructions.md ===\nRule b.\n\n=== c.instructions.md ===\nRule c.",
            ),
            m("user", "u\n<Attached: a.instructions.md>"),
            m("assistant", "<Attached: ./b.instructions.md>\na"),
        ],
        "[User]:\nu\n<Attached: a.instructions.md>\n\n[Assistant]:\n<Attached: ./b.instructions.md>\na\n\n"
        "[System]:\ns\n<Attached: c.instructions.md>",
    ),
    Shape(
        "26 a message of guideline files only",
        [m("user", [file("a.instructions.md")]), V],
        [m("system", "[[ ## Guidelines ## ]]\n\nRule a."), V],
        "v",
    ),
    Shape(
        "26 nothing but a message of guideline files",
        [m("user", [file("a.instructions.md"), file("b.instructions.md")])],
        [
            m(
                "system",
                "[[ ## Guidelines ## ]]\n\n=== a.instructions.md ===\nRule a.\n\n=== b.instructions.md ===\nRule b.",
            ),
            m("user", "<Attached: a.instructions.md>\n<Attached: b.instructions.md>"),
        ],
        "<Attached: a.instructions.md>\n<Attached: b.instructions.md>",
    ),
    Shape(
        "27 the same guideline twice",
        [m("user", ["u", file("a.instructions.md")]), m("user", ["v", file("./a.instructions.md")])],
        [
            m("system", "[[ ## Guidelines ## ]]\n\nRule a."),
            m("user", "u\n<Attached: a.instructions.md>"),
            m("user", "v\n<Attached: ./a.instructions.md>"),
        ],
        "[User]:\nu\n<Attached: a.instructions.md>\n\n[User]:\nv\n<Attached: ./a.instructions.md>",
    ),
    Shape(
        "28 files with CRLF and with a byte-order mark",
        [m("user", [file("crlf.txt"), file("bom.txt")])],
        [m("user", "=== crlf.txt ===\none\ntwo\n=== bom.txt ===\none")],
        "=== crlf.txt ===\none\ntwo\n=== bom.txt ===\none",
    ),
    Shape("29 an unknown role", [U, m("critic", "c")], [U, m("critic", "c")], "[User]:\nu\n\n[Critic]:\nc"),
    Shape("30 developer", [m("developer", "d"), U], [m("developer", "d"), U], "[Developer]:\nd\n\n[User]:\nu"),
    Shape("31 200 turns", [U, A] * 100, [U, A] * 100, "\n\n".join(["[User]:\nu\n\n[Assistant]:\na"] * 100)),
    Shape("32 text that holds our own markers", [m("user", OWN_MARKERS)], [m("user", OWN_MARKERS)], OWN_MARKERS),
    Shape(
        "32 our own markers over several turns",
        [m("user", OWN_MARKERS), m("assistant", [OWN_MARKERS, "a"])],
        [m("user", OWN_MARKERS), m("assistant", f"{OWN_MARKERS}\na")],
        f"[User]:\n{OWN_MARKERS}\n\n[Assistant]:\n{OWN_MARKERS}\na",
    ),
    Shape(
        "33 text and files in mixed order",
        [m("user", [file("code.py"), "first", file("a.instructions.md"), file("./crlf.txt"), "last"]), A],
        [
            m("system", "[[ ## Guidelines ## ]]\n\nRule a."),
            m(
                "user",
                "=== code.py ===\nx = 1\nfirst\n<Attached: a.instructions.md>\n=== ./crlf.txt ===\none\ntwo\nlast",
            ),
            A,
        ],
        "[User]:\n=== code.py ===\nx = 1\nfirst\n<Attached: a.instructions.md>\n=== ./crlf.txt ===\none\ntwo\nlast\n\n"
        "[Assistant]:\na",
    ),
    Shape(
        "34 strange text",
        [m("system", STRANGE), m("user", STRANGE)],
        [m("system", STRANGE), m("user", STRANGE)],
        f"{STRANGE}\n\n{STRANGE}",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name, data in FILES.items():
        (root / name).write_bytes(data)
    return root


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shape(shape: Shape, folder: Path) -> None:
    """Chat prompt and transcript of the shape are what the conversion rules say."""
    talk = Conversation.from_messages(shape.messages, folder=folder)
    chat: Any = talk.chat_prompt()
    assert chat == shape.chat
    assert talk.transcript() == shape.transcript


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shape_with_a_configured_prompt(shape: Shape, folder: Path) -> None:
    """A configured prompt stands first where the shape has no system text of its own, and changes nothing else."""
    configured = Conversation.from_messages(shape.messages, folder=folder, system_prompt="Configured.")
    chat: Any = configured.chat_prompt("Target's.", "Default.")
    turns = [turn for turn in shape.chat if turn["role"] != "system"]
    system = [turn["content"] for turn in shape.chat if turn["role"] == "system"]
    if not system:
        expected = "Configured."
    elif system[0].startswith("[[ ## Guidelines ## ]]"):
        expected = f"Configured.\n\n{system[0]}"
    else:
        expected = system[0]
    assert chat == [m("system", expected), *turns]
    assert configured.transcript() == shape.transcript


def test_shape_28_not_utf8(folder: Path) -> None:
    """A file that is not UTF-8 is an error for the case, at the segment."""
    with pytest.raises(ResolutionError) as caught:
        Conversation.from_messages([m("user", ["x", file("latin.txt")])], folder=folder)
    (problem,) = caught.value.problems
    assert (problem.path, problem.code) == (("input_messages", 0, "content", 1, "value"), "file-binary")
    assert "0xe9" in problem.message
    assert str(folder.resolve() / "latin.txt") in problem.message


def test_every_shape_is_here() -> None:
    """The list names all 34 shapes."""
    assert sorted({int(shape.name[:2]) for shape in SHAPES}) == list(range(1, 35))
