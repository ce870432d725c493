"""From a case to the request of a provider: everything that the suite says goes along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.errors import PromptError, ResolutionError
from turnwise.providers import ProviderRequest, Tool, messages_to_send, request_for
from turnwise.suite.suite import load_suite

SUITE = """
vars: {product: lamp}
tools:
  - {name: find_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}}}
  - {name: now}
cases:
  - id: plain
    input_messages: [{role: user, content: "My {{product}} is broken."}]
  - id: full
    system_prompt: You sell {{product}}s.
    vars: {product: desk, color: red}
    metadata: {team: support}
    output_schema: {type: object, properties: {ok: {type: boolean}}}
    tools: [{type: function, function: {name: refund, parameters: {type: object}}}]
    input_messages:
      - {role: user, content: Hello}
      - {role: assistant, content: Hi}
      - role: user
        content:
          - {type: text, value: "Read this:"}
          - {type: file, value: note.md}
          - {type: file, value: a.instructions.md}
  - id: nowhere
    input_messages: [{role: user, content: [{type: file, value: nowhere.md}]}]
"""


@pytest.fixture
def cases(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / "note.md").write_text("The lamp is green.")
    (tmp_path / "a.instructions.md").write_text("Be polite.")
    (tmp_path / "suite.yaml").write_text(SUITE)
    return {case.id: case for case in load_suite(tmp_path / "suite.yaml").cases}


def test_a_request_holds_what_the_case_says(cases: dict[str, Any]) -> None:
    """Messages, variables, metadata, the id and the number of the trial."""
    request = request_for(cases["full"], attempt=3)
    assert (request.case_id, request.attempt) == ("full", 3)
    assert request.vars == {"product": "desk", "color": "red"}
    assert request.metadata == {"team": "support"}
    assert request.chat_prompt is not None
    assert [message["role"] for message in request.chat_prompt] == ["system", "user", "assistant", "user"]
    assert request.guidelines == ["Be polite."]
    assert [Path(each.path or "").name for each in request.files] == ["note.md", "a.instructions.md"]
    assert "The lamp is green." in request.question


def test_variables_are_filled_in(cases: dict[str, Any]) -> None:
    """The texts that are sent hold values, not names; the case's value goes before the suite's."""
    plain = request_for(cases["plain"])
    assert plain.chat_prompt == [{"role": "user", "content": "My lamp is broken."}]
    assert plain.question == "My lamp is broken."
    full = request_for(cases["full"]).chat_prompt
    assert full is not None
    assert str(full[0]["content"]).startswith("You sell desks.")


def test_tools_come_from_the_case_or_the_suite(cases: dict[str, Any]) -> None:
    """In either form of writing; a tool without parameters takes none."""
    assert request_for(cases["plain"]).tools == [
        Tool("find_order", "Finds an order.", {"type": "object", "properties": {"id": {"type": "integer"}}}),
        Tool("now", None, {"type": "object", "properties": {}}),
    ]
    assert request_for(cases["full"]).tools == [Tool("refund", None, {"type": "object"})]


def test_the_output_schema_goes_along(cases: dict[str, Any]) -> None:
    """As it is written, and only where it is."""
    assert request_for(cases["full"]).output_schema == {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    assert request_for(cases["plain"]).output_schema is None


def test_the_targets_system_prompt_is_the_last_choice(cases: dict[str, Any]) -> None:
    """It is used where the case has none, and not where it has one."""
    plain = request_for(cases["plain"], system_prompt="You are terse.").chat_prompt
    assert plain is not None
    assert plain[0] == {"role": "system", "content": "You are terse."}
    full = request_for(cases["full"], system_prompt="You are terse.").chat_prompt
    assert "terse" not in str(full)


def test_a_missing_file_is_an_error_of_the_case(cases: dict[str, Any]) -> None:
    """Nothing is made of half a conversation."""
    with pytest.raises(ResolutionError, match=r"nowhere\.md"):
        request_for(cases["nowhere"])


@pytest.mark.parametrize(
    ("request_", "default", "messages"),
    [
        (ProviderRequest(question="Hi"), None, [("user", "Hi")]),
        (ProviderRequest(question="Hi"), " ", [("user", "Hi")]),
        (ProviderRequest(question="Hi"), "Be kind.", [("system", "Be kind."), ("user", "Hi")]),
        (
            ProviderRequest(question="Hi", metadata={"system_prompt": "Be terse."}),
            "Be kind.",
            [("system", "Be terse."), ("user", "Hi")],
        ),
        (
            ProviderRequest(question="Hi", metadata={"system_prompt": "  "}),
            "Be kind.",
            [("system", "Be kind."), ("user", "Hi")],
        ),
        (
            ProviderRequest(question="Hi", guidelines=["A", "B"]),
            None,
            [("system", "[[ ## Guidelines ## ]]\n\nA\n\nB"), ("user", "Hi")],
        ),
        (
            ProviderRequest(question="ignored", guidelines=["A"], chat_prompt=[{"role": "user", "content": "Hi"}]),
            "Be kind.",
            [("system", "Be kind."), ("user", "Hi")],
        ),
        (
            ProviderRequest(
                question="", chat_prompt=[{"role": "system", "content": "Own."}, {"role": "user", "content": "Hi"}]
            ),
            "Be kind.",
            [("system", "Own."), ("user", "Hi")],
        ),
    ],
)
def test_messages_are_the_chat_prompt_or_made_of_the_question(
    request_: ProviderRequest, default: str | None, messages: list[tuple[str, str]]
) -> None:
    """A system text is there once: the conversation's own, the request's, or the default."""
    assert [(each["role"], each["content"]) for each in messages_to_send(request_, default)] == messages


@pytest.mark.parametrize(
    "prompt", [[{"role": "user"}], [{"content": "x"}], ["x"], "text", [{"role": "user", "content": 5}], [], [None]]
)
def test_a_chat_prompt_that_is_none_is_a_prompt_error(prompt: Any) -> None:
    """Callers of the Python API may hand in anything: it is an error of ours, with a hint."""
    with pytest.raises(PromptError) as caught:
        messages_to_send(ProviderRequest(question="x", chat_prompt=prompt), None)
    assert caught.value.hint


@pytest.mark.parametrize(
    "fields",
    [
        {"question": 5},
        {"guidelines": [5]},
        {"settings": {"temperature": 1}},
        {"tools": [{"name": "f"}]},
        {"output_schema": "x"},
        {"chat_prompt": [{"role": "user", "content": "x", "name": 5}]},
        {"chat_prompt": [{"role": "assistant", "content": None, "tool_calls": "boo"}]},
        {"chat_prompt": [{"role": "assistant", "content": None, "tool_calls": ["f"]}]},
    ],
)
def test_odd_values_of_a_request_are_prompt_errors(fields: dict[str, Any]) -> None:
    """A request made in Python may hold anything: each error names what is wrong."""
    request = ProviderRequest(**{"question": "x", **fields})
    with pytest.raises(PromptError) as caught:
        messages_to_send(request, None)
    assert caught.value.hint
