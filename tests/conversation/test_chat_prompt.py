"""The chat prompt: one system text first, then every turn in its place."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from turnwise.conversation import DEFAULT_SYSTEM_PROMPT, Conversation, with_system

PNG = b"\x89PNG\r\n\x1a\n picture"
PNG_DATA = base64.b64encode(PNG).decode("ascii")
PNG_PART = {"type": "image", "value": "p.png", "media_type": "image/png", "data": PNG_DATA}
DATA_URL = "data:image/gif;base64,R0lGODlh"
DATA_PART = {"type": "image", "value": "data:image/gif", "media_type": "image/gif", "data": "R0lGODlh"}

GUIDE_A = {"type": "file", "value": "a.instructions.md"}
GUIDE_B = {"type": "file", "value": "rules/b.instructions.md"}
PLAIN = {"type": "file", "value": "./plain.txt"}
EMPTY = {"type": "file", "value": "empty.txt"}
IMAGE = {"type": "image", "value": "p.png"}
DATA_IMAGE = {"type": "image", "value": DATA_URL}
HEADER = "[[ ## Guidelines ## ]]"
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "rules").mkdir()
    (root / "a.instructions.md").write_text("Rule a.\n")
    (root / "rules" / "b.instructions.md").write_text("Rule b.\n")
    (root / "plain.txt").write_text("plain text\n")
    (root / "empty.txt").write_text("")
    (root / "p.png").write_bytes(PNG)
    return root


def chat(folder: Path, *messages: dict[str, Any], configured: str | None = None, **arguments: str | None) -> Any:
    return Conversation.from_messages(messages, folder=folder, system_prompt=configured).chat_prompt(**arguments)


def system(*content: Any) -> dict[str, Any]:
    return {"role": "system", "content": list(content)}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


# 1. The system text


def test_parts_of_a_system_message_are_joined_by_a_line_break(folder: Path) -> None:
    """One system message's parts are joined by a line break, a file under its header."""
    assert chat(folder, system("Use:", PLAIN, "and", EMPTY), user("x"))[0] == {
        "role": "system",
        "content": "Use:\n=== ./plain.txt ===\nplain text\nand\n=== empty.txt ===\n",
    }


def test_system_messages_are_joined_by_a_blank_line_wherever_they_stand(folder: Path) -> None:
    """Several system messages become one, first in the prompt, with a blank line between them."""
    assert chat(folder, user("1"), system("a", "b"), user("2"), system(PLAIN), {"role": "system", "content": "c"}) == [
        {"role": "system", "content": "a\nb\n\n=== ./plain.txt ===\nplain text\n\nc"},
        {"role": "user", "content": "1"},
        {"role": "user", "content": "2"},
    ]


def test_blank_and_guideline_only_system_messages_leave_no_gap(folder: Path) -> None:
    """A system message without visible content adds neither text nor a blank line to the system text."""
    messages = [system("a"), system(" "), system(GUIDE_A), system(), system("b"), user("x")]
    assert chat(folder, *messages)[0]["content"] == f"a\n\nb\n\n{HEADER}\n\nRule a."


def test_a_guideline_in_a_system_message_leaves_no_marker(folder: Path) -> None:
    """The guideline's text already stands in the system text, so no `<Attached: …>` does."""
    assert chat(folder, system("a", GUIDE_A, "b"), user("x"))[0]["content"] == f"a\nb\n\n{HEADER}\n\nRule a."


@pytest.mark.parametrize(
    ("explicit", "configured", "target", "expected"),
    [
        ("explicit", "case", "target", "explicit"),
        ("explicit", None, "target", "explicit"),
        (None, "case", "target", "case"),
        (None, None, "target", "target"),
        (None, "case", None, "case"),
        (None, None, None, None),
    ],
)
@pytest.mark.parametrize("guideline", [False, True])
def test_the_first_system_text_that_exists_is_used_alone(
    folder: Path,
    explicit: str | None,
    configured: str | None,
    target: str | None,
    expected: str | None,
    guideline: bool,
) -> None:
    """Explicit messages, then the case's prompt, then the target's; they replace each other and are not added up."""
    messages = [user("x", *([GUIDE_A] if guideline else []))]
    if explicit is not None:
        messages.append(system(explicit))
    prompt = chat(folder, *messages, configured=configured, system_prompt=target, default_system_prompt="default")
    if guideline:
        assert prompt[0] == {"role": "system", "content": f"{expected or 'default'}\n\n{HEADER}\n\nRule a."}
    elif expected is None:
        assert [message["role"] for message in prompt] == ["user"]
    else:
        assert prompt[0] == {"role": "system", "content": expected}


@pytest.mark.parametrize("part", [PLAIN, EMPTY, IMAGE])
def test_a_system_message_of_files_or_images_is_explicit_system_text(folder: Path, part: dict[str, Any]) -> None:
    """A system message without words, but with a file or an image, replaces a configured prompt too."""
    prompt = chat(folder, system(part), user("x"), configured="case", system_prompt="target")
    assert "case" not in str(prompt[0]["content"])
    assert "target" not in str(prompt[0]["content"])


def test_a_guideline_only_system_message_does_not_replace_the_configured_prompt(folder: Path) -> None:
    """Guidelines follow the system text; they are not the system text."""
    prompt = chat(folder, system(GUIDE_A), user("x"), configured="case")
    assert prompt[0]["content"] == f"case\n\n{HEADER}\n\nRule a."


def test_a_configured_prompt_is_kept_as_written(folder: Path) -> None:
    """White space around a configured prompt is part of it."""
    assert chat(folder, user("x"), configured=" case\n")[0]["content"] == " case\n"
    assert chat(folder, user("x"), system_prompt="\ttarget ")[0]["content"] == "\ttarget "


# 2. and 3. Guidelines


def test_several_guidelines_stand_under_their_written_paths(folder: Path) -> None:
    """One guideline stands alone; several have a header each, with a blank line between them."""
    assert chat(folder, user("x", GUIDE_A))[0]["content"] == f"{HEADER}\n\nRule a."
    assert chat(folder, user("x", GUIDE_B), {"role": "assistant", "content": [GUIDE_A]})[0]["content"] == (
        f"{HEADER}\n\n=== rules/b.instructions.md ===\nRule b.\n\n=== a.instructions.md ===\nRule a."
    )


def test_a_repeated_guideline_keeps_its_first_spelling_and_every_marker(folder: Path) -> None:
    """A guideline counts once, under the path first written; each message marks it as that message wrote it."""
    again = {"type": "file", "value": "./rules/../a.instructions.md"}
    assert chat(folder, user(GUIDE_A, "x", again), user(GUIDE_B, again, "y")) == [
        {
            "role": "system",
            "content": f"{HEADER}\n\n=== a.instructions.md ===\nRule a.\n\n=== rules/b.instructions.md ===\nRule b.",
        },
        {
            "role": "user",
            "content": "<Attached: a.instructions.md>\nx\n<Attached: ./rules/../a.instructions.md>",
        },
        {
            "role": "user",
            "content": "<Attached: rules/b.instructions.md>\n<Attached: ./rules/../a.instructions.md>\ny",
        },
    ]


def test_the_pure_function_invents_no_prompt(folder: Path) -> None:
    """Without arguments there is no default prompt: not before guidelines, not before plain turns."""
    assert chat(folder, user("x", GUIDE_A))[0]["content"] == f"{HEADER}\n\nRule a."
    assert chat(folder, user("x")) == [{"role": "user", "content": "x"}]


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_blank_default_prompt_is_none(folder: Path, blank: str | None) -> None:
    """A default that is turned off leaves the guidelines alone, without a gap before them."""
    assert chat(folder, user("x", GUIDE_A), default_system_prompt=blank)[0]["content"] == f"{HEADER}\n\nRule a."


def test_the_default_prompt_stands_only_before_guidelines(folder: Path) -> None:
    """The conversion adds the default prompt only where guidelines would stand alone."""
    assert chat(folder, user("x"), default_system_prompt="default") == [{"role": "user", "content": "x"}]
    assert chat(folder, user("x", GUIDE_A), default_system_prompt="default")[0]["content"] == (
        f"default\n\n{HEADER}\n\nRule a."
    )


# 4. Turns


def test_text_and_files_keep_their_mixed_order(folder: Path) -> None:
    """Text as written, a file under its header, a guideline as a marker: in the order of the message."""
    assert chat(folder, user(PLAIN, "one", GUIDE_A, EMPTY, "two"))[1]["content"] == (
        "=== ./plain.txt ===\nplain text\none\n<Attached: a.instructions.md>\n=== empty.txt ===\n\ntwo"
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([IMAGE], [PNG_PART]),
        ([DATA_IMAGE], [DATA_PART]),
        ([IMAGE, DATA_IMAGE], [PNG_PART, DATA_PART]),
        (["a", IMAGE], [{"type": "text", "text": "a"}, PNG_PART]),
        ([IMAGE, "a"], [PNG_PART, {"type": "text", "text": "a"}]),
        (["a", "b", IMAGE, "c", "d"], [{"type": "text", "text": "a\nb"}, PNG_PART, {"type": "text", "text": "c\nd"}]),
        (
            ["a", PLAIN, IMAGE, GUIDE_A, DATA_IMAGE],
            [
                {"type": "text", "text": "a\n=== ./plain.txt ===\nplain text"},
                PNG_PART,
                {"type": "text", "text": "<Attached: a.instructions.md>"},
                DATA_PART,
            ],
        ),
        (["", IMAGE, " "], [PNG_PART]),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "critic"])
def test_a_message_with_images_has_a_list_as_content(
    folder: Path, role: str, content: list[Any], expected: list[Any]
) -> None:
    """Neighbouring texts are joined into one text part, images stand between them, in order."""
    turn = chat(folder, {"role": role, "content": content})[-1]
    assert turn == {"role": role, "content": expected}


def test_images_of_system_messages_stand_in_the_system_content(folder: Path) -> None:
    """System text with an image is a list too; texts of neighbouring messages keep their blank line."""
    assert chat(folder, system("a", IMAGE), user("x"), system("b"), system("c", DATA_IMAGE, GUIDE_A)) == [
        {
            "role": "system",
            "content": [
                {"type": "text", "text": "a"},
                PNG_PART,
                {"type": "text", "text": "b\n\nc"},
                DATA_PART,
                {"type": "text", "text": f"{HEADER}\n\nRule a."},
            ],
        },
        {"role": "user", "content": "x"},
    ]


def test_guidelines_follow_the_last_text_of_a_system_content_with_images(folder: Path) -> None:
    """Where text stands last, the guidelines join it after a blank line."""
    assert chat(folder, system(IMAGE, "look", GUIDE_A), user("x"))[0]["content"] == [
        PNG_PART,
        {"type": "text", "text": f"look\n\n{HEADER}\n\nRule a."},
    ]


@pytest.mark.parametrize("content", [None, "", "  ", [], [" "]])
def test_tool_calls_alone_have_null_content(folder: Path, content: Any) -> None:
    """A message that holds only `tool_calls` has `content: null`, blank text beside them or not."""
    assert chat(folder, {"role": "assistant", "content": content, "tool_calls": [CALL]}) == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]}
    ]


def test_tool_calls_beside_a_guideline_keep_its_marker(folder: Path) -> None:
    """A message with tool calls is visible, so its guideline reference shows as a marker."""
    assert chat(folder, {"role": "assistant", "content": [GUIDE_A], "tool_calls": [CALL]})[1] == {
        "role": "assistant",
        "content": "<Attached: a.instructions.md>",
        "tool_calls": [CALL],
    }


def test_names_calls_and_ids_pass_through(folder: Path) -> None:
    """`name`, `tool_calls` and `tool_call_id` pass through unchanged, in any role, and absent ones stay absent."""
    second = {"id": "c2", "name": "g", "input": {"x": [1, 2.5, None]}, "vendor": {"kept": True}}
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "x", "name": "Ann"},
        {"role": "assistant", "content": "y", "tool_calls": [CALL, second]},
        {"role": "tool", "content": "z", "tool_call_id": "c2", "name": "g"},
        {"role": "critic", "content": "w", "tool_call_id": "c1", "tool_calls": [CALL]},
    ]
    assert chat(folder, *turns) == turns


def test_null_fields_are_absent_fields(folder: Path) -> None:
    """`name: null` and the like are the same as leaving them out."""
    message = {"role": "user", "content": "x", "name": None, "tool_calls": None, "tool_call_id": None}
    assert chat(folder, message) == [{"role": "user", "content": "x"}]


def test_changing_a_prompt_changes_nothing_else(folder: Path) -> None:
    """A chat prompt is the caller's own: changing it, tool calls included, does not reach the conversation."""
    talk = Conversation.from_messages(
        [user("x", IMAGE), {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "", "name": "f"}],
        folder=folder,
    )
    first: Any = talk.chat_prompt()
    question = talk.transcript()
    first[0]["content"].clear()
    first[1]["tool_calls"][0]["function"]["name"] = "changed"
    first[1]["tool_calls"].append({})
    assert talk.transcript() == question
    second: Any = talk.chat_prompt()
    assert second[0]["content"] == [{"type": "text", "text": "x"}, PNG_PART]
    assert second[1]["tool_calls"] == [CALL]
    assert CALL["function"] == {"name": "f", "arguments": "{}"}


# 5. Messages without visible content


MARKER_A = "<Attached: a.instructions.md>"
ONE = f"{HEADER}\n\nRule a."


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # Something is visible: blank and guideline-only messages are omitted.
        ([user("x"), user(GUIDE_A)], [("system", ONE), ("user", "x")]),
        ([user(GUIDE_A), {"role": "assistant", "content": "y"}], [("system", ONE), ("assistant", "y")]),
        ([user("x"), user("  "), user()], [("user", "x")]),
        ([system("s"), user(GUIDE_A)], [("system", f"s\n\n{ONE}")]),
        ([system("s"), user("")], [("system", "s")]),
        ([user(GUIDE_A), system(EMPTY)], [("system", f"=== empty.txt ===\n\n\n{ONE}")]),
        ([user(GUIDE_A), {"role": "assistant", "tool_calls": [CALL]}], [("system", ONE), ("assistant", None)]),
        (
            [user(GUIDE_A), {"role": "tool", "content": "", "tool_call_id": "c1"}],
            [("system", ONE), ("tool", "")],
        ),
        # Nothing is visible: messages that hold guideline references stay, blank ones do not.
        ([user(GUIDE_A)], [("system", ONE), ("user", MARKER_A)]),
        ([user(GUIDE_A, " ", GUIDE_A)], [("system", ONE), ("user", f"{MARKER_A}\n{MARKER_A}")]),
        ([user(" "), user(GUIDE_A), user()], [("system", ONE), ("user", MARKER_A)]),
        (
            [user(GUIDE_A), {"role": "assistant", "content": [GUIDE_A]}, {"role": "tool", "content": "", "name": "f"}],
            [("system", ONE), ("user", MARKER_A), ("assistant", MARKER_A)],
        ),
        # The text of a guideline-only system message is its guideline; it leaves no turn and no marker.
        ([system(GUIDE_A)], [("system", ONE)]),
        ([system(GUIDE_A), user(GUIDE_A)], [("system", ONE), ("user", MARKER_A)]),
        ([system(GUIDE_A), user(" ")], [("system", ONE)]),
        # Nothing at all.
        ([], []),
        ([user(" ")], []),
        ([system(""), user(), {"role": "assistant", "content": "\n"}], []),
    ],
)
def test_messages_without_visible_content(
    folder: Path, messages: list[dict[str, Any]], expected: list[tuple[str, str | None]]
) -> None:
    """They are omitted, unless nothing is visible in the case: then guideline references stay as markers."""
    assert [(turn["role"], turn["content"]) for turn in chat(folder, *messages)] == expected


def test_a_configured_prompt_is_no_message_of_the_case(folder: Path) -> None:
    """A configured system prompt does not make anything visible: the guideline-only turn stays."""
    assert chat(folder, user(GUIDE_A), configured="case", system_prompt="target") == [
        {"role": "system", "content": f"case\n\n{ONE}"},
        {"role": "user", "content": MARKER_A},
    ]


def test_a_configured_prompt_is_sent_even_when_all_messages_are_blank(folder: Path) -> None:
    """The system text stands on its own; blank turns add nothing to it."""
    assert chat(folder, user(""), configured="case") == [{"role": "system", "content": "case"}]


# The default prompt, as an LLM adapter adds it


def test_with_system_puts_the_default_prompt_first() -> None:
    """A prompt without a system message gets the default one, whatever its first role is."""
    for role in ("user", "developer", "assistant"):
        assert with_system([{"role": role, "content": "x"}], "default") == [
            {"role": "system", "content": "default"},
            {"role": role, "content": "x"},
        ]
    assert with_system([], "default") == [{"role": "system", "content": "default"}]


def test_with_system_keeps_a_prompt_that_has_a_system_message() -> None:
    """The default never joins or replaces a system message."""
    prompt: Any = [{"role": "system", "content": "mine"}, {"role": "user", "content": "x"}]
    assert with_system(prompt, "default") == prompt


@pytest.mark.parametrize("off", [None, "", " \n"])
def test_with_system_can_be_turned_off(off: str | None) -> None:
    """A null or blank default sends none."""
    assert with_system([{"role": "user", "content": "x"}], off) == [{"role": "user", "content": "x"}]


def test_with_system_leaves_its_argument_alone() -> None:
    """The prompt that is passed in is not changed."""
    prompt: Any = [{"role": "user", "content": "x"}]
    with_system(prompt, "default")
    assert prompt == [{"role": "user", "content": "x"}]


def test_the_default_prompt_of_the_product() -> None:
    """The default system prompt has the wording that docs/concepts/conversion.md gives."""
    assert DEFAULT_SYSTEM_PROMPT == "You are a careful assistant."
