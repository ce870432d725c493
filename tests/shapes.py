"""Every shape of conversation that an API may be handed, as chat prompts: plain data for the tests of the wire modules.

Most are written as in a suite and converted; those named "direct" are what a caller of the Python API may hand over.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from turnwise.conversation import Conversation
from turnwise.conversation.chat import ChatPrompt

__all__ = ["IMAGE_DATA", "IMAGE_PART", "MARKERS", "PNG", "STRANGE", "Shape", "all_shapes", "call", "m", "shape"]

PNG = b"\x89PNG\r\n\x1a\n picture"
IMAGE_DATA = base64.b64encode(PNG).decode()
IMAGE_PART = {"type": "image", "value": "p.png", "media_type": "image/png", "data": IMAGE_DATA}
MARKERS = "<Attached: x>\n=== x ===\n[[ ## Guidelines ## ]]\n[User]:\n<Image: x>\nTool call: f()"
STRANGE = "{{ name }} ${{ HOME }}\n---\n🙂 עברית \u202eabc\u202c \0 \u2028 %s"
FILES = {
    "a.instructions.md": b"Guideline a.\n",
    "b.instructions.md": b"Guideline b.\n",
    "c.instructions.md": b"Guideline c.\n",
    "code.py": b"x = 1\n",
    "crlf.txt": b"one\r\ntwo\r\n",
    "bom.txt": b"\xef\xbb\xbfmarked\n",
    "p.png": PNG,
}


class Shape(NamedTuple):
    """A conversation as an adapter is handed it; `name` begins with its number."""

    name: str
    messages: ChatPrompt

    @property
    def number(self) -> int:
        """Its place among the 34 shapes; variants share one."""
        return int(self.name[:2])


def m(role: str, content: Any, **fields: Any) -> Any:
    """A message."""
    return {"role": role, "content": content, **fields}


def call(call_id: str | None, name: str, arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    """A tool call, in OpenAI's form."""
    with_id = {} if call_id is None else {"id": call_id}
    return {**with_id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def _file(path: str) -> dict[str, str]:
    return {"type": "file", "value": path}


_S, _T = m("system", "rule one"), m("system", "rule two")
_U, _V, _A, _B = m("user", "question"), m("user", "more"), m("assistant", "reply"), m("assistant", "second reply")
_FIND, _GET = call("c1", "find", '{"q":"x"}'), call("c2", "get")
_CALLS: Any = {"role": "assistant", "tool_calls": [_FIND]}
_R1, _R2 = m("tool", "found", tool_call_id="c1"), m("tool", "got", tool_call_id="c2")
_IMAGE = {"type": "image", "value": "p.png"}
_NO_LABEL = {key: value for key, value in IMAGE_PART.items() if key != "value"}
_NULL: Any = {"role": "assistant", "content": None}

_AUTHORED: list[tuple[str, list[Any]]] = [
    ("01 user only", [_U]),
    ("02 system, user", [_S, _U]),
    ("03 two system messages first", [_S, _T, _U]),
    ("04 system after a user turn", [_U, _S, _V]),
    ("05 system after an assistant turn", [_U, _A, _S, _V]),
    ("06 system between a call and its result", [_U, _CALLS, _S, _R1, _V]),
    ("07 system last", [_U, _A, _S]),
    ("08 system only", [_S]),
    ("09 assistant first", [_A, _U]),
    ("10 two user turns", [_U, _V]),
    ("11 two assistant turns", [_U, _A, _B, _V]),
    ("12 assistant last", [_U, m("assistant", "It is")]),
    ("12 assistant last, trailing space", [_U, m("assistant", "It is \n")]),
    ("16 calls without text", [_U, _CALLS, _R1, _V]),
    ("17 calls with text", [_U, m("assistant", "reply", tool_calls=[_FIND]), _R1, _V]),
    ("18 two calls, results out of order", [_U, {"role": "assistant", "tool_calls": [_FIND, _GET]}, _R2, _R1, _V]),
    ("19 call without result", [_U, m("assistant", "reply", tool_calls=[_FIND]), _V]),
    ("20 result without call", [_U, _R1, _V]),
    ("21 two results for one call", [_U, _CALLS, _R1, m("tool", "found again", tool_call_id="c1"), _V]),
    ("22 empty result", [_U, _CALLS, m("tool", "", tool_call_id="c1"), _V]),
    ("23 image in a user turn", [m("user", ["question", _IMAGE, "more"])]),
    ("24 image in a tool result", [_U, _CALLS, m("tool", ["found", _IMAGE], tool_call_id="c1"), _V]),
    (
        "25 guidelines in three roles",
        [
            m("system", ["rule one", _file("a.instructions.md")]),
            m("user", ["question", _file("b.instructions.md")]),
            m("assistant", ["reply", _file("c.instructions.md")]),
            _V,
        ],
    ),
    ("26 guidelines only", [m("user", [_file("a.instructions.md")])]),
    ("27 one guideline twice", [m("user", [_file("a.instructions.md"), "question", _file("a.instructions.md")])]),
    ("28 line ends and byte-order mark", [m("user", [_file("crlf.txt"), _file("bom.txt")])]),
    ("29 unknown role", [_U, m("critic", "weak"), _V]),
    ("30 developer", [m("developer", "rule one"), _U]),
    ("31 200 turns", [m(("user", "assistant")[each % 2], f"turn {each}") for each in range(200)]),
    ("32 our own markers", [m("user", MARKERS), _A, _V]),
    ("33 text and files mixed", [m("user", ["question", _file("code.py"), "more", _file("crlf.txt")])]),
    ("34 strange text", [m("user", STRANGE)]),
]

_DIRECT: list[tuple[str, list[Any]]] = [
    ("04 direct", [_U, _S, _V]),
    ("05 direct", [_U, _A, _S, _V]),
    ("06 direct", [_U, {**_NULL, "tool_calls": [_FIND]}, _S, _R1, _V]),
    ("07 direct", [_U, _A, _S]),
    ("07 direct, prefill with trailing space", [_U, m("assistant", "It is "), _S]),
    ("12 direct, three texts", [_U, m("assistant", [{"type": "text", "text": each} for each in ("It", "is ", " ")])]),
    ("13 direct, empty turn", [_U, m("assistant", ""), _V]),
    ("13 direct, empty alone", [m("user", "")]),
    ("14 direct, blank turn", [_U, m("assistant", " \n"), _V]),
    ("14 direct, blank system", [m("system", " "), _U]),
    ("15 direct, list with an empty text", [_U, m("assistant", [{"type": "text", "text": ""}]), _V]),
    ("15 direct, list with an empty text and a text", [m("user", [{"type": "text", "text": t} for t in ("", "go")])]),
    ("16 direct, call without id", [_U, {**_NULL, "tool_calls": [call(None, "find", {"q": "x"})]}, m("tool", "found")]),
    (
        "16 direct, strange id",
        [_U, {**_NULL, "tool_calls": [call("a b/c", "get")]}, m("tool", "g", tool_call_id="a b/c")],
    ),
    ("16 direct, further keys", [_U, {**_NULL, "tool_calls": [call("c2", "get", cache="x")]}, _R2, _V]),
    ("16 direct, call by a user", [m("user", "question", tool_calls=[_FIND])]),
    ("16 direct, arguments that are no object", [_U, {**_NULL, "tool_calls": [call("c2", "get", "[1]")]}, _R2]),
    ("18 direct, result far from its call", [_U, {**_NULL, "tool_calls": [_FIND]}, _V, _R1]),
    ("20 direct, named", [_U, m("tool", "found", tool_call_id="c1", name="find"), _V]),
    ("23 direct, image in an assistant turn", [_U, m("assistant", [IMAGE_PART]), _V]),
    ("23 direct, image in a system turn", [m("system", [IMAGE_PART]), _U]),
    (
        "24 direct, image without a label",
        [_U, {**_NULL, "tool_calls": [_GET]}, m("tool", [_NO_LABEL], tool_call_id="c2")],
    ),
    ("24 direct, image in a result without call", [_U, m("tool", [IMAGE_PART], tool_call_id="c1"), _V]),
    ("29 direct, named", [m("critic", "weak", name="Ann")]),
    ("29 direct, a further key", [m("user", "question", mood="calm")]),
]


def shape(name: str) -> ChatPrompt:
    """The messages of the shape of this name, each time a fresh copy."""
    from copy import deepcopy

    return deepcopy({each.name: each.messages for each in all_shapes()}[name])


@cache
def all_shapes() -> list[Shape]:
    """All of them, in order."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in FILES.items():
            (folder / path).write_bytes(content)
        converted = [
            Shape(name, Conversation.from_messages(messages, folder=folder).chat_prompt())
            for name, messages in _AUTHORED
        ]
    return sorted([*converted, *(Shape(name, messages) for name, messages in _DIRECT)], key=lambda each: each.name)
