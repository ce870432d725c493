"""Prompts for judges: what is filled in is a text between marks, and nothing of it is ever read as a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Submission
from turnwise.graders.judge_prompt import JudgePrompt, fence_key, filled, material
from turnwise.graders.judge_values import judge_value
from turnwise.graders.rubric_answer import parse_rubric
from turnwise.graders.verdict import Status

TEXTS = st.text(alphabet='ab{}$<>/ \n"answer:', max_size=60)


@given(TEXTS, TEXTS)
def test_values_stand_where_the_prompt_names_them(question: str, answer: str) -> None:
    """Whatever the values are, taking them out again gives the words of the author."""
    prompt = JudgePrompt("Q {{ question }} A {{answer}} end")
    text = filled(prompt, Submission(question=question, text=answer))
    key = fence_key([question, answer, prompt.text])
    for name, value in (("question", question), ("answer", answer)):
        inner = f"\n{value}\n" if "\n" in value else value
        assert text.count(f"<{name} {key}>{inner}</{name} {key}>") == 1
        text = text.replace(f"<{name} {key}>{inner}</{name} {key}>", name)
    assert text == "Q question A answer end"


@given(st.lists(TEXTS, max_size=4))
def test_no_value_holds_the_key(values: list[str]) -> None:
    """The key is the same for the same values, and is in none of them."""
    key = fence_key(values)
    assert key == fence_key(values)
    assert not any(key in value for value in values)


def test_a_value_that_holds_the_first_key_gets_another() -> None:
    """Even a value that has guessed it cannot end its place."""
    first = fence_key(["x"])
    assert fence_key([f"{first} x"]) not in f"{first} x"


@pytest.mark.parametrize("name", ["anser", "answer.text", "answer|upper", "1 + 1", "", "metadata", "vars.x"])
def test_only_names_can_be_filled_in(name: str) -> None:
    """Neither expressions nor other names are known."""
    (problem,) = JudgePrompt(f"{{{{ {name} }}}}").problems()
    assert problem.code == "unknown-placeholder"


def test_what_the_case_does_not_have_is_left_out_of_the_material() -> None:
    """Question and answer are always there, outcome and reference only if the case has them."""
    bare = material(Submission(question="Q?", text=""))
    whole = material(Submission(question="Q?", text="A", outcome="O", reference="R"))
    assert [line.split()[0] for line in bare.split("\n\n")] == ["<question", "<answer"]
    assert [line.split()[0] for line in whole.split("\n\n")] == [
        "<question",
        "<reference_answer",
        "<outcome",
        "<answer",
    ]


def test_pictures_are_not_written_out() -> None:
    """Messages as JSON name long data by its size."""
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1000}}
    submission = Submission(question="Q?", text="A", input_messages=[{"role": "user", "content": [part]}])
    assert "data:image/png;base64, 1,022 characters" in judge_value("input_messages", submission)


@given(st.text(alphabet='{}[]":,123 linesmetrufa.', max_size=80))
def test_any_text_is_verdicts_or_a_status(text: str) -> None:
    """No answer of a judge breaks the reader, and none gives fewer verdicts than there are lines."""
    said = parse_rubric(text, {"1": None})
    assert isinstance(said, Status) or len(said.lines) == 1


def test_what_agentv_does_not_know_stays() -> None:
    """`${NAME}` of another language is text, unless it is nearly a name of ours, which is a slip."""
    prompt = JudgePrompt("Is ${candidate_answer} right, with ${HOME}?", "dollar")
    assert prompt.problems() == []
    assert "with ${HOME}?" in filled(prompt, Submission(question="Q?", text="42"))
    assert [each.code for each in JudgePrompt("${candidat_answer}", "dollar").problems()] == ["unknown-placeholder"]
