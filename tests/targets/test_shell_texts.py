"""Texts of commands: what a shell reads as one plain argument is accepted, everything else is refused with a reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.errors import SetupError
from turnwise.providers.agents.cli_template import filled
from turnwise.targets.commands import placeholders
from turnwise.targets.load import read_targets

PLAIN = [
    "show {PROMPT}",
    'echo "\\" " >&2; show {PROMPT}',
    "# it's a comment\nshow {PROMPT}",
    "echo $((1<<2)) >&2; show {PROMPT}",
    "echo $(( (1+2) << 3 )) >&2; show {PROMPT}",
    "cat >&2 <<EOF\nit's $HOME $(echo a)\nEOF\nshow {PROMPT}",
    "cat >&2 <<-'E F'\n\t`it's\n\tE F\nshow {PROMPT}",
    'echo "$(echo "a)" \')\' "b")" >&2; show {PROMPT}',
    "show \"$(show {PROMPT} | sed 's/^<//;s/>$//')\"",
    "echo `echo \"it's\"` ${HOME} \"${HOME:-$PATH}\" ${X:-\"a b\"} >&2; show {PROMPT}",
    "echo a#'b' c\\ #'d' >&2; show {PROMPT}",
    "true && \\\n  show {PROMPT}",
    "X={PROMPT}; show \"$X\" # it's done",
]  # fmt: skip
DEFINED = "show() { printf '<%s>' \"$@\"; }\n"


@pytest.mark.parametrize("text", PLAIN)
@settings(max_examples=12, deadline=None)
@given(prompt=st.text(st.sampled_from("a'\"\\`$(){}<>#;&|\n !*"), min_size=1, max_size=12).map(lambda s: f"x{s}x"))
def test_whatever_the_prompt_is_the_shell_gets_it_as_one_argument(text: str, prompt: str) -> None:
    """A text that is accepted hands over the prompt, and nothing in it is run."""
    arguments = filled(DEFINED + text, {"PROMPT": prompt}, shell=True, files_format=None)
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert ended.stdout == f"<{prompt}>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo '{PROMPT}'", "within quotes"),
        ('echo "a {PROMPT}"', "within quotes"),
        ('echo "$(echo "a" ) {PROMPT}"', "within quotes"),
        ("echo `echo {PROMPT}`", "within backticks"),
        ("echo \\{PROMPT}", "after a backslash"),
        ("echo a # {PROMPT}", "within a comment"),
        ("echo $(({PROMPT}))", "within `$((…))`"),
        ("cat <<EOF\n{PROMPT}\nEOF", "within a here-document"),
        ("cat <<EOF | grep {PROMPT}\na\nEOF", "on a line with `<<`"),
        ("cat <<{PROMPT}", "after `<<`, whose end is not sure"),
        ("cat <<EOF\na\necho {PROMPT}", "after a here-document whose end is not sure"),
        ("cat <<EOF\na\\\nEOF\necho {PROMPT}\nEOF", "after a here-document whose end is not sure"),
        ("cat <<EOF 'a\nEOF\n' {PROMPT}\nEOF", "after a line with `<<`"),
        ('echo "$(case a in a) echo " {PROMPT}"', "after `case` within `$(…)`"),
        ("echo $'a\\'' {PROMPT}", "which shells read in two ways"),
        ("echo $((echo a) | cat) {PROMPT}", "after `$((`, whose end is not sure"),
        ("echo ${X:-'}'} {PROMPT}", "after `${`, whose end is not sure"),
        ("echo {FILES}# {PROMPT}", "where there are no files"),
    ],
)
def test_what_is_doubted_is_said(text: str, reason: str) -> None:
    """A value is refused where it might run commands, with what stands around it and what to write."""
    with pytest.raises(SetupError) as raised:
        filled(text, {"PROMPT": "x", "FILES": ()}, shell=True, files_format=None)
    assert reason in str(raised.value)
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("write ")


@pytest.mark.parametrize("form", ['{path} "', "{path} #", "{path} \\"])
def test_a_form_of_files_ends_where_a_word_may_begin(form: str) -> None:
    """Each file is followed by the next: a form that leaves something open would have that one read otherwise."""
    with pytest.raises(SetupError, match="`files_format` ends"):
        filled("echo {FILES}", {"FILES": ("a", "b")}, shell=True, files_format=form)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('echo "\\" " {PROMPT}', ("echo", '" ', "x")),
        ('echo "a \\" | \\" b" {PROMPT}', ("echo", 'a " | " b', "x")),
        ("echo \\| '&&' {PROMPT}", ("echo", "|", "&&", "x")),
    ],
)
def test_escaped_quotes_are_no_end_of_quotes(text: str, arguments: tuple[str, ...]) -> None:
    """Without a shell, a text with escapes is split as a shell would, and what is quoted is no word of a shell's."""
    assert filled(text, {"PROMPT": "x"}, shell=False, files_format=None) == arguments


def test_a_bad_text_is_told_at_its_key(tmp_path: Path) -> None:
    """The diagnostic stands at `command`, with line and column, and not at the target's name."""
    path = tmp_path / "targets.yaml"
    path.write_text("targets:\n  - name: t\n    provider: cli\n    command: echo \"a 'b {PROMPT}\n")
    spec, (found,) = read_targets(path)
    assert spec is None
    assert (found.place.line, found.path) == (4, "targets[0].command")
    assert "cannot be split into arguments" in found.message


def test_a_name_in_two_pairs_of_braces_is_a_text() -> None:
    """There is a way to write `{X}` itself, and no value is looked at for braces."""
    words = ["a", "{{X}}", "{{{X}}}", "{{PROMPT}}", '{"a":{"b":{PROMPT}}}']
    given_words = filled(words, {"PROMPT": "{{Y}}"}, shell=False, files_format=None)
    assert given_words == ("a", "{X}", "{{X}}", "{PROMPT}", '{"a":{"b":{{Y}}}}')


def test_an_unknown_name_tells_how_to_write_it_as_a_text() -> None:
    """The hint names both what might be meant."""
    with pytest.raises(SetupError) as raised:
        placeholders(["a", "{PROMT}"])
    assert raised.value.hint == "did you mean `{PROMPT}`, or, if {PROMT} is a text, write {{PROMT}}"


def test_a_health_check_for_a_shell_is_told_to_be_a_list() -> None:
    """`shell: true` would be for the target's own command, which is a list."""
    with pytest.raises(SetupError) as raised:
        filled("a && b", {}, shell=False, files_format=None, key="healthcheck.command")
    assert raised.value.hint is not None
    assert raised.value.hint.startswith('write it as a list: [sh, -c, "…"]')
