"""`vars` fill `{{ name }}`: plain substitution, and only where there are variables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.diagnostics import Diagnostic
from turnwise.suite.case import Case
from turnwise.suite.suite import read_suite
from turnwise.suite.template import Filler


@pytest.fixture(autouse=True)
def _project(tmp_path: Path) -> None:
    (tmp_path / ".turnwise").mkdir()


def read(folder: Path, value: dict[str, Any]) -> tuple[list[Case] | None, list[Diagnostic]]:
    path = folder / "suite.yaml"
    path.write_text(json.dumps(value, indent=1))
    suite, diagnostics = read_suite(path)
    return (None if suite is None else list(suite.cases)), diagnostics


def case_with(folder: Path, content: Any, **more: Any) -> Case:
    """The one case of a suite whose message has this content."""
    case = {"id": "x", "input_messages": [{"role": "user", "content": content}], **more}
    cases, diagnostics = read(folder, {"cases": [case]})
    assert cases is not None, diagnostics
    return cases[0]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ city }}", "Oslo"),
        ("{{city}}", "Oslo"),
        ("{{\tcity \n}}", "Oslo"),
        ("{{ city }}{{ city }} and {{ days }}", "OsloOslo and 3"),
        ("{{{ city }}}", "{Oslo}"),
        ("{ { city } }", "{ { city } }"),
        ("{{ city", "{{ city"),
        ("city }}", "city }}"),
        ("{% if city %}", "{% if city %}"),
        ("${{ city }}", "$Oslo"),
        ("{{ odd name! }}", "ok"),
    ],
)
def test_placeholders(text: str, filled: str) -> None:
    """Two braces, any white space, a name: nothing else is a placeholder."""
    filler = Filler({"city": "Oslo", "days": 3, "odd name!": "ok"})
    assert filler.text(text, ()) == filled
    assert filler.problems == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"), ("", ""), (3, "3"), (1.5, "1.5"), (True, "true"), (None, "null"),
        (["a", 1], '["a", 1]'), ({"é": "ü"}, '{"é": "ü"}'), ('say "hi"\n', 'say "hi"\n'),
    ],
)  # fmt: skip
def test_values_of_every_type(value: Any, shown: str) -> None:
    """Text is filled in as it is, anything else as JSON."""
    assert Filler({"v": value}).text("<{{ v }}>", ()) == f"<{shown}>"


def test_what_is_filled_in_is_not_read_again() -> None:
    """A value that looks like a placeholder is text."""
    filler = Filler({"a": "{{ b }}", "b": "{{ a }}", "open": "{{", "name": " a }}"})
    assert filler.text("{{ a }} {{ b }} {{ open }}{{ name }}", ()) == "{{ b }} {{ a }} {{ a }}"
    assert filler.problems == []


@pytest.mark.parametrize("text", ["{{ town }}", "{{ }}", "{{ city | upper }}", "{{ city.name }}", "{{ City }}"])
def test_unknown_names_are_problems(text: str) -> None:
    """There are no expressions: what is not exactly a known name is an unknown one, and the text stays."""
    filler = Filler({"city": "Oslo"})
    assert filler.text(text, ("outcome",)) == text
    (problem,) = filler.problems
    assert (problem.code, problem.path) == ("unknown-variable", ("outcome",))


def test_an_unknown_name_gets_a_suggestion() -> None:
    """The nearest name is offered."""
    filler = Filler({"city": "Oslo", "days": 3})
    filler.text("{{ citty }}", ())
    assert filler.problems[0].hint == "did you mean `city`?"


def test_long_white_space_is_read_in_one_go() -> None:
    """An opening that is never closed costs no more than its length."""
    text = "{{" + " " * 200_000
    assert Filler({}).text(text * 3, ()) == text * 3


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.text(), min_size=1), st.data())
def test_filling_is_replacing(values: dict[str, str], data: Any) -> None:
    """A text of pieces and placeholders becomes the pieces and the values, in order."""
    names = data.draw(st.lists(st.sampled_from(sorted(values)), max_size=5))
    pieces = data.draw(
        st.lists(st.text(st.characters(exclude_characters="{}")), min_size=len(names) + 1, max_size=len(names) + 1)
    )
    text = pieces[0] + "".join("{{ " + name + " }}" + piece for name, piece in zip(names, pieces[1:], strict=True))
    expected = pieces[0] + "".join(values[name] + piece for name, piece in zip(names, pieces[1:], strict=True))
    assert Filler(values).text(text, ()) == expected


def test_without_variables_nothing_is_touched(tmp_path: Path) -> None:
    """A suite about templates can be written without any escaping."""
    case = case_with(tmp_path, "Render {{ name }} {{", outcome="Explains {{ name }}.", system_prompt="{{ x }}")
    assert case.conversation.transcript() == "Render {{ name }} {{"
    assert (case.outcome, case.system_prompt) == ("Explains {{ name }}.", "{{ x }}")


def test_empty_variables_are_variables(tmp_path: Path) -> None:
    """`vars: {}` turns filling on: a name that is not there is an error."""
    case = {"id": "x", "vars": {}, "input_messages": [{"role": "user", "content": "{{ a }}"}]}
    cases, (found,) = read(tmp_path, {"cases": [case]})
    assert (cases, found.code) == (None, "unknown-variable")


def test_every_text_of_a_case_is_filled(tmp_path: Path) -> None:
    """Messages, all kinds of text segments, expected messages, outcome and system prompt and names are filled."""
    content = ["{{ v }}", {"type": "text", "value": "1{{ v }}"}, {"type": "text", "text": "2{{ v }}"}]
    case = case_with(
        tmp_path,
        content,
        vars={"v": "X"},
        expected_messages=[{"role": "assistant", "content": "3{{ v }}", "name": "{{ v }}"}],
        outcome="4{{ v }}",
        system_prompt="5{{ v }}",
        tags=["{{ v }}"],
        metadata={"k": "{{ v }}"},
    )
    assert case.conversation.chat_prompt() == [
        {"role": "system", "content": "5X"},
        {"role": "user", "content": "X\n1X\n2X"},
    ]
    assert case.expected.messages[0].name == "X"
    assert case.expected.transcript().endswith("3X")
    assert case.outcome == "4X"
    assert case.tags == ("{{ v }}",)
    assert case.metadata == {"k": "{{ v }}"}


def test_file_paths_are_filled(tmp_path: Path) -> None:
    """A path may depend on the case; the written path is the filled one."""
    (tmp_path / "no.txt").write_text("Norge")
    case = case_with(tmp_path, [{"type": "file", "value": "{{ code }}.txt"}], vars={"code": "no"})
    assert case.conversation.transcript() == "=== no.txt ===\nNorge"


def test_a_path_filled_with_nothing_is_an_error_of_the_case(tmp_path: Path) -> None:
    """An empty path is refused when the conversation is made."""
    from turnwise.suite.check import check_case

    case = case_with(tmp_path, [{"type": "file", "value": "{{ p }}"}], vars={"p": ""})
    (found,) = check_case(case)
    assert (found.severity, found.code) == ("error", "file-bad-path")


def test_messages_without_content_stay_without(tmp_path: Path) -> None:
    """A message of tool calls alone is not given a content by filling."""
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{{ v }}"}}]
    messages = [{"role": "user", "content": "{{ v }}"}, {"role": "assistant", "tool_calls": calls}]
    cases, _ = read(tmp_path, {"cases": [{"id": "x", "vars": {"v": 1}, "input_messages": messages}]})
    assert cases is not None
    assistant = cases[0].conversation.messages[1]
    assert assistant.parts == ()
    assert [call["function"]["arguments"] for call in assistant.tool_calls] == ["1"]


def test_variables_of_a_case_go_before_the_suites(tmp_path: Path) -> None:
    """Both are known; where both name one, the case's counts."""
    message = {"role": "user", "content": "{{ a }} {{ b }}"}
    cases, _ = read(
        tmp_path,
        {
            "vars": {"a": "suite", "b": "suite"},
            "cases": [
                {"id": "x", "vars": {"b": "case"}, "input_messages": [message]},
                {"id": "y", "input_messages": [message]},
            ],
        },
    )
    assert cases is not None
    assert [case.conversation.transcript() for case in cases] == ["suite case", "suite suite"]


def test_unknown_names_are_shown_where_they_stand(tmp_path: Path) -> None:
    """Each unknown name is an error at its text."""
    path = tmp_path / "suite.yaml"
    path.write_text("""\
vars: {city: Oslo}
cases:
  - id: x
    outcome: "{{ nope }}"
    input_messages:
      - role: user
        content: Where is {{ town }}?
      - role: user
        content:
          - "{{ city }}"
          - {type: text, value: "{{ land }}"}
""")
    suite, diagnostics = read_suite(path)
    assert suite is None
    assert sorted((found.code, found.place.line, found.place.column, found.path) for found in diagnostics) == [
        ("unknown-variable", 4, 14, "cases[0].outcome"),
        ("unknown-variable", 7, 18, "cases[0].input_messages[0].content"),
        ("unknown-variable", 11, 33, "cases[0].input_messages[1].content[1].value"),
    ]
    assert {found.case_id for found in diagnostics} == {"x"}


def test_graders_are_filled_but_for_their_prompts(tmp_path: Path) -> None:
    """Rubric lines and values take variables; a judge's `prompt` keeps its own placeholders."""
    graders = [
        "mentions {{ city }}",
        {"contains": "{{ city }}"},
        {"type": "llm_judge", "prompt": "Is {{ answer }} right?", "criteria": ["{{ city }}"], "weight": 2},
    ]
    messages = [{"role": "user", "content": "Hi"}]
    suite = {"vars": {"city": "Oslo"}, "graders": graders, "cases": [{"id": "x", "input_messages": messages}]}
    cases, _ = read(tmp_path, suite)
    assert cases is not None
    line, short, long = cases[0].graders
    assert line == "mentions Oslo"
    assert short == {"contains": "Oslo"}
    assert long.model_dump(exclude_unset=True) == {**graders[2], "criteria": ["Oslo"]}  # type: ignore[dict-item, union-attr]


def test_an_unknown_variable_in_a_grader_is_an_error(tmp_path: Path) -> None:
    """A typo in a rubric line does not reach the judge."""
    messages = [{"role": "user", "content": "Hi"}]
    suite = {"vars": {"city": "Oslo"}, "graders": ["{{ ctiy }}"], "cases": [{"id": "x", "input_messages": messages}]}
    _, diagnostics = read(tmp_path, suite)
    assert [diagnostic.code for diagnostic in diagnostics] == ["unknown-variable"]


def test_graders_added_to_the_suites_are_counted_from_the_first(tmp_path: Path) -> None:
    """With `inherit_graders`, an unknown variable is shown in the grader that holds it, the suite's only once."""
    path = tmp_path / "suite.yaml"
    path.write_text("""\
vars: {}
input_messages: [{role: user, content: Hello}]
graders: [{contains: fine}, {contains: "{{ suites }}"}]
cases:
  - id: a
    inherit_graders: true
    graders:
      - contains: "{{ own }}"
  - {id: b, inherit_graders: true, graders: []}
""")
    suite, diagnostics = read_suite(path)
    assert suite is None
    assert [(found.place.line, found.path, found.case_id) for found in diagnostics] == [
        (3, "graders[1].contains", None),
        (8, "cases[0].graders[0].contains", "a"),
    ]
