"""What holds for every conversation: checked on generated ones, and against the rules written down a second time."""

from __future__ import annotations

import ast
import base64
import copy
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.conversation import Conversation, chat, conversation, transcript
from turnwise.conversation.files import ProjectFiles

Authored = dict[str, Any]

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n picture").decode()
URL = "data:image/gif;base64,R0lGODlh"
HEADER = "[[ ## Guidelines ## ]]"
# By path: the content as it is shown, and whether it is a guideline.
FILES = {
    "a.instructions.md": ("Rule a.", True),
    "rules/b.instructions.md": ("Rule b,\n\nin two parts.", True),
    "c.instructions.md": ("", True),
    "code.py": ("def f():\n    return 1", False),
    "empty.txt": ("", False),
}
# By spelling: the path.
SPELLINGS = {
    **{path: path for path in FILES},
    "./a.instructions.md": "a.instructions.md",
    "/a.instructions.md": "a.instructions.md",
    "rules/../code.py": "code.py",
}
IMAGES = {"p.png": ("p.png", "image/png", PNG), URL: ("data:image/gif", "image/gif", "R0lGODlh")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectFiles:
    root = tmp_path_factory.mktemp("project")
    (root / "rules").mkdir()
    for path, (content, _) in FILES.items():
        (root / path).write_text(content + "\n" if content else "", encoding="utf-8")
    (root / "p.png").write_bytes(base64.b64decode(PNG))
    return ProjectFiles(root)


def resolve(project: ProjectFiles, messages: list[Authored], system_prompt: str | None = None) -> Conversation:
    return Conversation.from_messages(messages, folder=project.root, system_prompt=system_prompt)


# Generated conversations

ROLES = st.sampled_from(["system", "user", "assistant", "tool", "developer"]) | st.text(min_size=1, max_size=5)
BLANKS = st.text(alphabet=" \n\t\r\u00a0\u3000", max_size=3)
WORDS = st.sampled_from(["Hello", " x ", "a\n\nb", "[User]:\nno", "<Attached: no>", "=== no ===", HEADER, "é 中 🙂\0"])
TEXTS = WORDS | st.text(max_size=12) | BLANKS
TEXT_SEGMENTS = (
    TEXTS
    | TEXTS.map(lambda text: {"type": "text", "value": text})
    | TEXTS.map(lambda text: {"type": "text", "text": text})
)
FILE_SEGMENTS = st.sampled_from(sorted(SPELLINGS)).map(lambda path: {"type": "file", "value": path})
IMAGE_SEGMENTS = st.sampled_from(sorted(IMAGES)).map(lambda path: {"type": "image", "value": path})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["c1", "c2"]),
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": st.sampled_from(["f", "get_weather"]), "arguments": JSON}),
        }
    ),
    min_size=1,
    max_size=2,
)


def messages_of(segments: st.SearchStrategy[Any], max_size: int = 6) -> st.SearchStrategy[list[Authored]]:
    content = TEXTS | st.lists(segments, max_size=4)
    plain = st.fixed_dictionaries({"role": ROLES, "content": content}, optional={"name": st.sampled_from(["Ann", "B"])})
    calling = st.fixed_dictionaries(
        {"role": st.sampled_from(["assistant", "critic"]), "tool_calls": CALLS},
        optional={"content": st.none() | content},
    )
    answer = st.fixed_dictionaries(
        {"role": st.just("tool"), "content": content, "tool_call_id": st.sampled_from(["c1", "c2"])}
    )
    return st.lists(plain | plain | plain | calling | answer, max_size=max_size)


CONVERSATIONS = messages_of(TEXT_SEGMENTS | FILE_SEGMENTS | FILE_SEGMENTS | IMAGE_SEGMENTS)
NO_IMAGES = messages_of(TEXT_SEGMENTS | FILE_SEGMENTS)
PROMPTS = st.none() | st.just("Configured.") | BLANKS
EXAMPLES = settings(max_examples=150, deadline=None)


# The conversion rules a second time, as plainly as possible, from the authored messages


def segments(message: Authored) -> list[Any]:
    """The parts of a message as authored, without blank texts."""
    content = message.get("content")
    listed = content if isinstance(content, list) else [] if content is None else [content]
    found: list[Any] = []
    for segment in listed:
        if isinstance(segment, str):
            segment = {"type": "text", "value": segment}
        elif segment["type"] == "text":
            segment = {"type": "text", "value": segment["value"] if "value" in segment else segment["text"]}
        if segment["type"] != "text" or segment["value"].strip() != "":
            found.append(segment)
    return found


def is_guideline(segment: Authored) -> bool:
    return segment["type"] == "file" and FILES[SPELLINGS[segment["value"]]][1]


def has_visible_content(message: Authored) -> bool:
    if any(not is_guideline(segment) for segment in segments(message)):
        return True
    if message.get("tool_calls"):
        return True
    return message["role"] == "tool" and message.get("tool_call_id") is not None


def kept_messages(messages: list[Authored]) -> list[Authored]:
    """The messages that show: those with visible content, or, if there is none, those with guidelines."""
    visible = [message for message in messages if has_visible_content(message)]
    return visible or [message for message in messages if any(is_guideline(s) for s in segments(message))]


def in_words(segment: Authored) -> str:
    value: str = segment["value"]
    if segment["type"] == "text":
        return value
    if segment["type"] == "image":
        return f"<Image: {IMAGES[value][0]}>"
    if is_guideline(segment):
        return f"<Attached: {value}>"
    return f"=== {value} ===\n{FILES[SPELLINGS[value]][0]}"


def guideline_section(messages: list[Authored]) -> tuple[str | None, list[str]]:
    first_spelling: dict[str, str] = {}
    for message in messages:
        for segment in segments(message):
            if is_guideline(segment) and SPELLINGS[segment["value"]] not in first_spelling:
                first_spelling[SPELLINGS[segment["value"]]] = segment["value"]
    texts = [FILES[path][0] for path in first_spelling]
    if not texts:
        return None, []
    if len(texts) == 1:
        return f"{HEADER}\n\n{texts[0]}", texts
    blocks = [f"=== {first_spelling[path]} ===\n{FILES[path][0]}" for path in first_spelling]
    return f"{HEADER}\n\n" + "\n\n".join(blocks), texts


def with_images(pieces: list[Any]) -> Any:
    """Content of (separator, segment) pieces: text, or a list where there is an image."""
    if not any(segment["type"] == "image" for _, segment in pieces):
        return "".join((separator if index else "") + in_words(s) for index, (separator, s) in enumerate(pieces))
    parts: list[Any] = []
    for separator, segment in pieces:
        if segment["type"] == "image":
            label, media_type, data = IMAGES[segment["value"]]
            parts.append({"type": "image", "value": label, "media_type": media_type, "data": data})
        elif parts and parts[-1]["type"] == "text":
            parts[-1]["text"] += separator + in_words(segment)
        else:
            parts.append({"type": "text", "text": in_words(segment)})
    return parts


def expected_chat(messages: list[Authored], configured: str | None = None, default: str | None = None) -> Any:
    system: list[Any] = []
    for message in messages:
        if message["role"] == "system":
            own = [segment for segment in segments(message) if not is_guideline(segment)]
            system += [("\n" if index else "\n\n", segment) for index, segment in enumerate(own)]
    section, _ = guideline_section(messages)
    if not system and configured is not None and configured.strip():
        system = [("", {"type": "text", "value": configured})]
    if section is not None:
        if not system and default is not None and default.strip():
            system = [("", {"type": "text", "value": default})]
        system.append(("\n\n", {"type": "text", "value": section}))
    prompt: list[Any] = [{"role": "system", "content": with_images(system)}] if system else []
    for message in kept_messages(messages):
        if message["role"] != "system":
            parts = [("\n", segment) for segment in segments(message)]
            content = with_images(parts) if parts else None if message.get("tool_calls") else ""
            extras = {key: message[key] for key in ("name", "tool_calls", "tool_call_id") if message.get(key)}
            prompt.append({"role": message["role"], "content": content, **extras})
    return prompt


def expected_transcript(messages: list[Authored]) -> str:
    shown = kept_messages(messages)
    roles = [message["role"] for message in shown]
    flat = len(shown) == 1 or roles == ["system", "user"]
    if any(message["role"] not in ("system", "user") for message in messages):
        flat = False
    markers = not flat or not any(has_visible_content(message) for message in messages)
    turns = []
    for message in shown:
        lines = [in_words(segment) for segment in segments(message) if markers or not is_guideline(segment)]
        for tool_call in message.get("tool_calls") or []:
            name, arguments = tool_call["function"]["name"], tool_call["function"]["arguments"]
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
            lines.append(f"Tool call: {name}({arguments})")
        role = message["role"]
        turns.append(("" if flat else f"[{role[0].upper()}{role[1:]}]:\n") + "\n".join(lines))
    return "\n\n".join(turns)


# Small conversations, all of them

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GUIDE = {"type": "file", "value": "a.instructions.md"}
KINDS: dict[str, Authored] = {
    "text": {"content": "x"},
    "blank": {"content": " "},
    "guideline": {"content": [GUIDE]},
    "both": {"content": ["x", GUIDE]},
    "call": {"content": "", "tool_calls": [CALL]},
    "answer": {"content": "", "tool_call_id": "c1"},
}


def sequences(roles: list[str], kinds: list[str], length: int) -> Iterator[list[Authored]]:
    atoms: list[Authored] = [{"role": role, **KINDS[kind]} for role in roles for kind in kinds]
    for chosen in itertools.product(atoms, repeat=length):
        yield list(chosen)


def check_all(project: ProjectFiles, conversations: Iterator[list[Authored]]) -> int:
    """Compare both views with the plain ones; one resolution for all, as each costs a validation."""
    listed = list(conversations)
    messages = resolve(project, [message for messages in listed for message in messages]).messages
    start = 0
    for authored in listed:
        talk = Conversation(messages[start : start + len(authored)])
        start += len(authored)
        prompt: Any = talk.chat_prompt(None, "Default.")
        assert prompt == expected_chat(authored, None, "Default."), authored
        assert talk.transcript() == expected_transcript(authored), authored
        assert talk.guidelines == guideline_section(authored)[1], authored
    return len(listed)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_all_short_conversations(project: ProjectFiles, length: int) -> None:
    """Up to two messages of five roles and six kinds come out as the conversion rules say."""
    roles = ["system", "user", "assistant", "tool", "critic"]
    assert check_all(project, sequences(roles, list(KINDS), length)) == 30**length


def test_all_conversations_of_three(project: ProjectFiles) -> None:
    """Three messages of three roles, and every kind of content that decides what shows, come out as the rules say."""
    kinds = ["text", "blank", "guideline", "both", "call"]
    assert check_all(project, sequences(["system", "user", "assistant"], kinds, 3)) == 15**3


def test_all_conversations_of_four(project: ProjectFiles) -> None:
    """Flat or marked: four messages that are visible, blank or guidelines, in the roles that count."""
    kinds = ["text", "blank", "guideline"]
    assert check_all(project, sequences(["system", "user"], kinds, 4)) == 6**4


# Generated conversations


@given(CONVERSATIONS, PROMPTS, PROMPTS, PROMPTS)
@EXAMPLES
def test_both_views_are_what_a_plain_reading_of_the_rules_gives(
    project: ProjectFiles, messages: list[Authored], configured: str | None, target: str | None, default: str | None
) -> None:
    """Chat prompt and transcript equal those of a second, plain reading of the conversion rules."""
    talk = resolve(project, messages, configured)
    first = configured if configured is not None and configured.strip() else target
    prompt: Any = talk.chat_prompt(target, default)
    assert prompt == expected_chat(messages, first, default)
    assert talk.transcript() == expected_transcript(messages)


def text_of(content: Any) -> str:
    """Content as one text; an image as its own JSON."""
    if isinstance(content, list):
        return "\n".join(part["text"] if part["type"] == "text" else json.dumps(part) for part in content)
    return content or ""


def assert_in_order(pieces: list[str], text: str) -> None:
    position = 0
    for piece in pieces:
        found = text.find(piece, position)
        assert found >= 0, (piece, text)
        position = found + len(piece)


def needles(message: Authored, markers: bool, images_as_data: bool) -> list[str]:
    """What must be found of a message: texts, headers, contents, markers and images, in this order."""
    found: list[str] = []
    for segment in segments(message):
        value = segment["value"]
        if segment["type"] == "text":
            found.append(value)
        elif segment["type"] == "image":
            found.append(json.dumps(IMAGES[value][2]) if images_as_data else f"<Image: {IMAGES[value][0]}>")
        elif is_guideline(segment):
            found += [f"<Attached: {value}>"] if markers else []
        else:
            found += [f"=== {value} ===", FILES[SPELLINGS[value]][0]]
    return found


@given(CONVERSATIONS)
@EXAMPLES
def test_nothing_authored_is_lost_in_the_chat_prompt(project: ProjectFiles, messages: list[Authored]) -> None:
    """Every text, file, image, marker and field stands in its own turn, in order; guidelines in the system text."""
    prompt: Any = resolve(project, messages).chat_prompt()
    system = [turn for turn in prompt if turn["role"] == "system"]
    assert system == prompt[: len(system)]
    assert len(system) <= 1
    system_text = text_of(system[0]["content"]) if system else ""
    explicit = [message for message in messages if message["role"] == "system"]
    pieces = [needle for message in explicit for needle in needles(message, markers=False, images_as_data=True)]
    assert_in_order(pieces + guideline_section(messages)[1], system_text)
    turns = prompt[len(system) :]
    authored = [message for message in kept_messages(messages) if message["role"] != "system"]
    assert [turn["role"] for turn in turns] == [message["role"] for message in authored]
    for turn, message in zip(turns, authored, strict=True):
        assert_in_order(needles(message, markers=True, images_as_data=True), text_of(turn["content"]))
        for field in ("name", "tool_calls", "tool_call_id"):
            assert turn.get(field) == message.get(field)


@given(CONVERSATIONS)
@EXAMPLES
def test_nothing_authored_is_lost_in_the_transcript(project: ProjectFiles, messages: list[Authored]) -> None:
    """Every text, file, image and tool call of every visible message stands in the transcript, in authored order."""
    talk = resolve(project, messages)
    pieces: list[str] = []
    for message in messages:
        pieces += needles(message, markers=False, images_as_data=False)
        pieces += [f"Tool call: {item['function']['name']}(" for item in message.get("tool_calls") or []]
    assert_in_order(pieces, talk.transcript())


@given(CONVERSATIONS)
@EXAMPLES
def test_conversion_is_a_pure_function(project: ProjectFiles, messages: list[Authored]) -> None:
    """The same input gives the same output each time, in any order of asking, and the input stays as it was."""
    before = copy.deepcopy(messages)
    one, two = resolve(project, messages), resolve(ProjectFiles(project.root), messages)
    assert one == two
    values = copy.deepcopy(one.messages)
    prompt, question = one.chat_prompt("T.", "D."), one.transcript()
    assert (two.transcript(), two.chat_prompt("T.", "D.")) == (question, prompt)
    assert (one.transcript(), one.chat_prompt("T.", "D.")) == (question, prompt)
    assert messages == before
    assert one.messages == values


@given(CONVERSATIONS, PROMPTS)
@EXAMPLES
def test_the_transcript_does_not_depend_on_prompts(
    project: ProjectFiles, messages: list[Authored], configured: str | None
) -> None:
    """Configured prompts change the system text alone: not the transcript, not the turns, not the guidelines."""
    plain, other = resolve(project, messages), resolve(project, messages, configured)
    assert other.transcript() == plain.transcript()
    assert other.guidelines == plain.guidelines
    turns = [turn for turn in plain.chat_prompt() if turn["role"] != "system"]
    assert [turn for turn in other.chat_prompt("T.", "D.") if turn["role"] != "system"] == turns


def spoil(content: Any) -> None:
    """Change everything that can be changed."""
    if isinstance(content, dict):
        for value in content.values():
            spoil(value)
        content.clear()
    elif isinstance(content, list):
        for value in content:
            spoil(value)
        content.clear()


@given(CONVERSATIONS)
@EXAMPLES
def test_what_becomes_of_a_chat_prompt_changes_nothing(project: ProjectFiles, messages: list[Authored]) -> None:
    """A caller may take a chat prompt apart: the transcript and the next chat prompt are as before."""
    talk = resolve(project, messages)
    question, prompt = talk.transcript(), copy.deepcopy(talk.chat_prompt("T.", "D."))
    spoil(talk.chat_prompt("T.", "D."))
    assert talk.transcript() == question
    assert talk.chat_prompt("T.", "D.") == prompt


def broken(*_: object, **__: object) -> Any:
    raise AssertionError("one view asked the other")


RICH: list[Authored] = [
    {"role": "system", "content": ["s", GUIDE, {"type": "image", "value": "p.png"}]},
    {"role": "user", "content": ["u", {"type": "file", "value": "code.py"}, GUIDE]},
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "content": "r", "tool_call_id": "c1"},
]


def own_functions(module: Any) -> list[str]:
    return [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]


@pytest.mark.parametrize(
    ("module", "entry", "other"),
    [
        (transcript, "transcript", lambda talk: talk.chat_prompt("T.", "D.")),
        (chat, "chat_prompt", lambda talk: talk.transcript()),
    ],
    ids=["chat prompt without transcript", "transcript without chat prompt"],
)
def test_each_view_works_without_the_other(
    project: ProjectFiles,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    entry: str,
    other: Callable[[Conversation], Any],
) -> None:
    """With every function of one view replaced by a failing one, the other view comes out the same."""
    talk = resolve(project, RICH)
    before = other(talk)
    for name in own_functions(module):
        monkeypatch.setattr(module, name, broken)
    monkeypatch.setattr(conversation, entry, broken)
    assert other(talk) == before
    with pytest.raises(AssertionError, match="asked the other"):
        talk.transcript() if entry == "transcript" else talk.chat_prompt()


@pytest.mark.parametrize(("module", "forbidden"), [(chat, "transcript"), (transcript, "chat")])
def test_no_view_imports_the_other(module: Any, forbidden: str) -> None:
    """Neither module names the other one in an import."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported += [node.module or "", *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
    assert not [name for name in imported if name.split(".")[-1] == forbidden]


@given(NO_IMAGES, PROMPTS)
@EXAMPLES
def test_a_chat_prompt_without_images_is_stable(
    project: ProjectFiles, messages: list[Authored], configured: str | None
) -> None:
    """Fed back as messages it gives the same chat prompt again, whatever prompts are configured around it."""
    prompt: Any = resolve(project, messages, configured).chat_prompt(None, "Default.")
    again = resolve(project, prompt)
    assert again.chat_prompt(None, "Default.") == prompt
    assert again.guidelines == []
    if prompt and prompt[0]["role"] == "system":
        assert resolve(project, prompt, "Configured.").chat_prompt("Target's.", "Default.") == prompt


@given(CONVERSATIONS, st.data())
@EXAMPLES
def test_blank_segments_never_matter(project: ProjectFiles, messages: list[Authored], data: st.DataObject) -> None:
    """Blank texts put anywhere among the segments of a message change neither view."""
    blanks = BLANKS | BLANKS.map(lambda text: {"type": "text", "value": text})
    padded: list[Authored] = []
    for message in messages:
        content = message.get("content")
        listed = list(content) if isinstance(content, list) else [] if content is None else [content]
        listed.insert(data.draw(st.integers(0, len(listed))), data.draw(blanks))
        padded.append({**message, "content": listed})
    plain, other = resolve(project, messages), resolve(project, padded)
    assert other.chat_prompt() == plain.chat_prompt()
    assert other.transcript() == plain.transcript()


@given(CONVERSATIONS, st.data())
@EXAMPLES
def test_a_blank_user_message_never_matters(
    project: ProjectFiles, messages: list[Authored], data: st.DataObject
) -> None:
    """A blank message of role user (or system), wherever it stands, changes neither view."""
    blank = {"role": data.draw(st.sampled_from(["user", "system"])), "content": data.draw(BLANKS)}
    place = data.draw(st.integers(0, len(messages)))
    plain, other = resolve(project, messages), resolve(project, [*messages[:place], blank, *messages[place:]])
    assert other.chat_prompt(None, "D.") == plain.chat_prompt(None, "D.")
    assert other.transcript() == plain.transcript()


@given(CONVERSATIONS)
@EXAMPLES
def test_guidelines_come_once_in_order_of_first_appearance(project: ProjectFiles, messages: list[Authored]) -> None:
    """Asking twice for the same guidelines adds none: a conversation said twice has the guidelines of one."""
    talk, twice = resolve(project, messages), resolve(project, messages + messages)
    order: list[str] = []
    for message in messages:
        for segment in segments(message):
            if is_guideline(segment) and SPELLINGS[segment["value"]] not in order:
                order.append(SPELLINGS[segment["value"]])
    assert talk.guidelines == [FILES[path][0] for path in order]
    assert twice.guidelines == talk.guidelines
    assert twice.files == talk.files


@given(CONVERSATIONS)
@EXAMPLES
def test_a_marked_transcript_grows_by_its_turns(project: ProjectFiles, messages: list[Authored]) -> None:
    """A visible assistant turn added at the end adds just its own lines to a marked transcript."""
    authored: list[Authored] = [*messages, {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    before = resolve(project, authored).transcript()
    after = resolve(project, [*authored, {"role": "assistant", "content": "z"}]).transcript()
    assert after == f"{before}\n\n[Assistant]:\nz"
