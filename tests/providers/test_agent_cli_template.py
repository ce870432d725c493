"""Commands with placeholders: what is filled in, how it is quoted, and what is refused."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.errors import SetupError
from turnwise.providers.agents.cli_template import filled, placeholders

VALUES: dict[str, str | tuple[str, ...]] = {
    "PROMPT": "two words",
    "PROMPT_FILE": "/s/prompt.md",
    "FILES": ("/w/a b.md", "/w/c.md"),
    "GUIDELINES": ("/w/c.md",),
    "CASE_ID": "case-1",
    "ATTEMPT": "2",
    "OUTPUT_FILE": "/s/answer",
    "PROJECT": "/my project",
}


def arguments(command: list[str] | str, files_format: str | None = None, *, shell: bool = False) -> list[str]:
    return list(filled(command, VALUES, shell=shell, files_format=files_format))


def test_every_placeholder_is_filled_in_within_a_longer_argument_too() -> None:
    """A value takes the place of its name, wherever in an argument it stands."""
    command = ["x", "--id={CASE_ID}-{ATTEMPT}", "{PROMPT}", "{PROMPT_FILE}", "{OUTPUT_FILE}", "{PROJECT}/a.py"]
    assert arguments(command) == ["x", "--id=case-1-2", "two words", "/s/prompt.md", "/s/answer", "/my project/a.py"]


def test_files_are_one_argument_each() -> None:
    """An argument that is exactly `{FILES}` becomes as many as there are files; within another they are joined."""
    assert arguments(["x", "{FILES}"]) == ["x", "/w/a b.md", "/w/c.md"]
    assert arguments("x {FILES}") == ["x", "/w/a b.md", "/w/c.md"]
    assert arguments(["x", "see {FILES}"]) == ["x", "see /w/a b.md /w/c.md"]
    assert arguments(["x", "{GUIDELINES}"], "--file={path}") == ["x", "/w/c.md"]


def test_no_files_are_no_arguments() -> None:
    """Without files, `{FILES}` leaves nothing behind."""
    assert filled(["x", "{FILES}", "y"], {**VALUES, "FILES": ()}, shell=False, files_format=None) == ("x", "y")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("@{path}", ["x", "@/w/a b.md", "@/w/c.md"]),
        ("--file {path}", ["x", "--file", "/w/a b.md", "--file", "/w/c.md"]),
        ("{basename}:{path}", ["x", "a b.md:/w/a b.md", "c.md:/w/c.md"]),
    ],
)
def test_files_have_a_form(form: str, expected: list[str]) -> None:
    """`files_format` is written for each file; what is two words there is two arguments."""
    assert arguments(["x", "{FILES}"], form) == expected


def test_a_text_is_split_before_it_is_filled_in() -> None:
    """A value with spaces or quotes stays one argument."""
    assert arguments("x 'a b' --p={PROMPT} {PROMPT}") == ["x", "a b", "--p=two words", "two words"]


@pytest.mark.parametrize(
    "word", ["{print $1}", '{"a": {"b": 1}}', "${PROMPT}", "{prompt}", "{A,B}", "{{ name }}", "{}"]
)
def test_other_braces_stay(word: str) -> None:
    """Only the known names in upper case are placeholders."""
    assert arguments(["x", word]) == ["x", word]


def test_a_value_is_never_searched_for_placeholders() -> None:
    """A prompt that holds `{OUTPUT_FILE}` is passed on as it is."""
    values = {**VALUES, "PROMPT": "{OUTPUT_FILE} {NOPE}"}
    assert filled(["x", "{PROMPT}"], values, shell=False, files_format=None) == ("x", "{OUTPUT_FILE} {NOPE}")


@pytest.mark.parametrize(
    ("word", "hint"), [("{PROMT}", "did you mean `{PROMPT}`"), ("{OUTPUT}", "`{OUTPUT_FILE}`"), ("{ZZ9}", "there are")]
)
def test_an_unknown_placeholder_is_an_error(word: str, hint: str) -> None:
    """A mistyped name is told, with the one that was meant."""
    with pytest.raises(SetupError, match="not known") as caught:
        placeholders(["x", word])
    assert word in str(caught.value)
    assert hint in str(caught.value.hint)


def test_a_text_that_cannot_be_split_is_an_error() -> None:
    """A quote that is not closed is told."""
    with pytest.raises(SetupError, match="cannot be split"):
        arguments("x 'a")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ('x "{PROMPT}"', "without quotes"),
        ("x '{PROMPT}'", "without quotes"),
        ("x `y {PROMPT}`", "write a list"),
        ("x \\{PROMPT}", "write a list"),
        ('x "a \\" {PROMPT}"', "without quotes"),
        ("cat <<END\n{PROMPT}\nEND", "write a list"),
    ],
)
def test_a_placeholder_within_quotes_of_a_shell_is_refused(command: str, hint: str) -> None:
    """Quotes within quotes would end them, and a prompt could run commands."""
    with pytest.raises(SetupError, match="PROMPT") as caught:
        arguments(command, shell=True)
    assert hint in str(caught.value.hint)


def test_a_form_of_files_within_quotes_is_refused_too() -> None:
    """The same goes for `files_format`."""
    with pytest.raises(SetupError, match="files_format"):
        arguments("x {FILES}", '--file "{path}"', shell=True)


def test_a_list_for_a_shell_is_an_error() -> None:
    """A shell takes one text."""
    with pytest.raises(SetupError, match="one text"):
        arguments(["x", "{PROMPT}"], shell=True)


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_shell_gets_every_value_as_it_is(prompt: str) -> None:
    """Whatever a prompt holds, a shell passes it on unchanged, and runs nothing of it."""
    command = "printf '%s|' \"it's\" {PROMPT} {FILES} $((1+1))"
    done = subprocess.run(
        filled(command, {**VALUES, "PROMPT": prompt}, shell=True, files_format="-f {path}"), capture_output=True
    )
    assert done.stdout.decode() == f"it's|{prompt}|-f|/w/a b.md|-f|/w/c.md|2|"
