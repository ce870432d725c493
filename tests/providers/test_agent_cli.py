"""`cli` targets: how a program gets the prompt and the files, and where its answer is looked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_scripts import answers, cli, failure, outcomes, request, script
from turnwise.conversation.values import File
from turnwise.errors import ApplicationError, ProtocolError, ProviderError, SetupError
from turnwise.providers.agents.base import Surroundings
from turnwise.providers.agents.cli import open_cli
from turnwise.targets.load import load_targets
from turnwise.targets.resolve import resolve_target

SAY = "import sys; print('|'.join(sys.argv[1:]))"
TONE = File("docs/tone.md", "docs/tone.md", "Be kind.\n", guideline=True)
DATA = File("data.csv", "data.csv", "1,2\n")


def test_the_prompt_is_an_argument(tmp_path: Path) -> None:
    """`{PROMPT}` is the agent document, as one argument; the newline at the end of the output is no part of it."""
    command = [*script(SAY), "--ask", "{PROMPT}", "{CASE_ID}", "{ATTEMPT}"]
    assert answers(cli(tmp_path, command), request("c1", "Is it\n5 o'clock?")) == ["--ask|Is it\n5 o'clock?|c1|1"]


def test_a_command_without_a_place_for_the_prompt_gets_it_at_the_end(tmp_path: Path) -> None:
    """The last argument is the prompt, if none is."""
    assert answers(cli(tmp_path, [*script(SAY), "--ask"])) == ["--ask|Do it."]


@pytest.mark.parametrize("prompt_by", ["argument", "file", "stdin"])
def test_every_way_to_give_the_prompt_gives_the_same(tmp_path: Path, prompt_by: str) -> None:
    """Argument, file and standard input hold the same text, whatever is in it."""
    ways = {
        "argument": [*script("import sys; print(sys.argv[1])"), "{PROMPT}"],
        "file": [*script("import sys; print(open(sys.argv[1]).read())"), "{PROMPT_FILE}"],
        "stdin": script("import sys; print(sys.stdin.read())"),
    }
    said = "Grüße\n\n$(id) `id` 'x' \"y\" {PROMPT} \\"
    assert answers(cli(tmp_path, ways[prompt_by], prompt_by=prompt_by), request("a", said)) == [said]


def test_files_are_in_the_workspace(tmp_path: Path) -> None:
    """`{FILES}` are paths in the folder where the program starts, and `{GUIDELINES}` those of them to follow."""
    code = "import os,sys; print([os.path.relpath(p) for p in sys.argv[2:]], open('docs/tone.md').read())"
    everything = answers(cli(tmp_path, [*script(code), "{PROMPT}", "{FILES}"]), request("a", "Q", [TONE, DATA]))
    assert everything == ["['docs/tone.md', 'data.csv'] Be kind.\n".rstrip("\n")]
    rules = answers(cli(tmp_path, [*script(code), "{PROMPT}", "{GUIDELINES}"]), request("a", "Q", [TONE, DATA]))
    assert rules == ["['docs/tone.md'] Be kind."]


def test_a_shell_runs_a_text_and_quotes_what_is_filled_in(tmp_path: Path) -> None:
    """With `shell: true` there are pipes; a prompt cannot add any."""
    command = "printf '%s' {PROMPT} | tr a-z A-Z"
    assert answers(cli(tmp_path, command, shell=True), request("a", "x; echo $HOME 'y'")) == ["X; ECHO $HOME 'Y'"]


def test_without_a_shell_nothing_is_expanded(tmp_path: Path) -> None:
    """A text is split and no more: `$HOME` and a quoted `|` are arguments."""
    assert answers(cli(tmp_path, "echo $HOME '|' {PROMPT}")) == ["$HOME | Do it."]


def test_a_program_of_the_project_is_found_by_its_path(tmp_path: Path) -> None:
    """A relative path names a program of the project, though the program starts in its workspace."""
    program = tmp_path / "tools" / "agent.sh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$1 from $(basename "$PWD")"\n')
    program.chmod(0o755)
    assert answers(cli(tmp_path, ["tools/agent.sh"])) == ["Do it. from workspace"]
    assert answers(cli(tmp_path, "{PROJECT}/tools/agent.sh {PROMPT}", shell=True)) == ["Do it. from workspace"]


def test_a_program_of_the_template_is_found_in_the_workspace(tmp_path: Path) -> None:
    """A relative path that is none of the project's is looked for in the workspace."""
    program = tmp_path / "kit" / "run.sh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho from the template\n")
    program.chmod(0o755)
    assert answers(cli(tmp_path, ["./run.sh"], workspace_template="kit")) == ["from the template"]


def test_the_answer_is_read_from_a_file(tmp_path: Path) -> None:
    """`answer_from: file` takes what is in `{OUTPUT_FILE}`; what is printed is only logged."""
    code = "import sys; print('noise'); open(sys.argv[1], 'w').write('the answer\\n')"
    command = [*script(code), "{OUTPUT_FILE}", "{PROMPT}"]
    assert answers(cli(tmp_path, command, answer_from="file")) == ["the answer"]


@pytest.mark.parametrize("act", ["pass", "import os; os.mkfifo(p)", "import os; os.symlink('/etc/passwd', p)"])
def test_a_file_that_is_none_is_no_answer(tmp_path: Path, act: str) -> None:
    """Nothing, a pipe or a link in the place of the file: an error, at once."""
    command = [*script(f"import sys; p = sys.argv[1]; {act}"), "{OUTPUT_FILE}", "{PROMPT}"]
    error = failure(cli(tmp_path, command, answer_from="file"))
    assert isinstance(error, ProtocolError)
    assert "left no answer in the file {OUTPUT_FILE}" in str(error)


def test_a_pointer_leads_to_the_answer(tmp_path: Path) -> None:
    """`answer_pointer` picks a text out of JSON."""
    written = json.dumps({"result": {"texts": ["no", "yes\n"]}})
    provider = cli(tmp_path, ["echo", written], answer_pointer="/result/texts/1", prompt_by="stdin")
    assert answers(provider) == ["yes\n"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('{"reply": "x"}', "its keys: `reply`"),
        ('{"answer": 5}', "is no text: 5"),
        ("Sure! {}", "'Sure! {}'"),
        ('{"answer": "x', "should write JSON"),
        ("[" * 100_000, "should write JSON"),
    ],
)
def test_a_pointer_that_leads_nowhere_shows_what_is_there(tmp_path: Path, written: str, found: str) -> None:
    """What was written is named: other keys, another kind of value, or no JSON at all."""
    command = [*script("import sys; print(sys.stdin.read())")]
    provider = cli(tmp_path, command, answer_pointer="/answer", prompt_by="stdin")
    error = failure(provider, request("a", written))
    assert isinstance(error, ProtocolError)
    assert found in str(error)


def test_an_empty_answer_is_an_error(tmp_path: Path) -> None:
    """A program that says nothing has not answered."""
    assert isinstance(failure(cli(tmp_path, script("print(' ')"))), ProtocolError)


def test_a_non_zero_exit_is_an_error_with_the_end_of_stderr(tmp_path: Path) -> None:
    """Whatever it printed before. Its words are not guessed at: a program may speak of keys and limits as it likes."""
    code = "import sys; print('half'); print('401 api key quota', file=sys.stderr); sys.exit(3)"
    error = failure(cli(tmp_path, script(code)))
    assert isinstance(error, ApplicationError)
    assert str(error) == "mine ended with exit code 3; the end of its stderr: 401 api key quota"
    assert error.retryable is False
    assert error.agent is not None
    assert error.agent["exit_code"] == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"command": ["no-such-program-7"]}, "no program 'no-such-program-7' on the PATH"),
        ({"command": ["./nowhere.sh"]}, "no program './nowhere.sh'"),
    ],
)
def test_a_command_that_cannot_work_is_told(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    """Each is an error of the set-up, with what to do."""
    error = failure(cli(tmp_path, **settings))
    assert isinstance(error, SetupError)
    assert message in str(error)
    assert error.hint


def test_a_script_that_is_not_executable_is_told_so(tmp_path: Path) -> None:
    """The message says what is missing, not that there is no file."""
    (tmp_path / "agent.py").write_text("print(1)")
    assert "cannot be run" in str(failure(cli(tmp_path, ["./agent.py"])))


@pytest.mark.parametrize("shell", [False, True])
def test_a_prompt_that_is_too_long_for_an_argument_is_told(tmp_path: Path, shell: bool) -> None:
    """The error names its size and the other ways, which take it."""
    long = "x" * 130_000
    error = failure(cli(tmp_path, "echo {PROMPT}", shell=shell), request("a", long))
    assert isinstance(error, SetupError)
    assert "120,000" in str(error)
    assert "stdin" in str(error.hint)
    assert answers(cli(tmp_path, "cat", prompt_by="stdin"), request("a", long)) == [long]


def test_a_prompt_with_a_zero_byte_is_an_error(tmp_path: Path) -> None:
    """No system takes it in an argument."""
    assert isinstance(failure(cli(tmp_path, "echo {PROMPT}"), request("a", "a\0b")), SetupError)


def test_half_a_character_of_a_prompt_hurts_nobody(tmp_path: Path) -> None:
    """A lone surrogate, which has no bytes, is a question mark."""
    assert answers(cli(tmp_path, "echo {PROMPT}"), request("a", "a\ud800b")) == ["a?b"]


def test_the_surroundings_are_the_targets(tmp_path: Path) -> None:
    """`env` is set, `pass_env` passed on, and nothing else of the environment seen; HOME is the case's own."""
    code = "import os; print(os.environ['SET'], os.environ['SEEN'], 'HIDDEN' in os.environ, os.environ['HOME'])"
    known = {"PATH": "/usr/bin:/bin", "SEEN": "seen", "HIDDEN": "hidden", "HOME": "/root"}
    provider = cli(tmp_path, script(code), environment=known, env={"SET": "set"}, pass_env=["SEEN"])
    (answer,) = answers(provider)
    assert answer.startswith("set seen False ")
    assert not answer.endswith(" /root")


def test_cwd_is_where_it_starts(tmp_path: Path) -> None:
    """With `cwd` the program works in that folder of the project, and files of a case are elsewhere."""
    (tmp_path / "app").mkdir()
    code = "import os,sys; print(os.getcwd(), os.path.exists('data.csv'), open(sys.argv[2]).read())"
    command = [*script(code), "{PROMPT}", "{FILES}"]
    found = answers(cli(tmp_path, command, cwd="app"), request("a", "Q", [DATA]))
    assert found == [f"{(tmp_path / 'app').resolve()} False 1,2"]


def test_what_a_program_changed_comes_back(tmp_path: Path) -> None:
    """The diff of its workspace is part of the response; the prompt's own file is not."""
    command = [*script("open('made.txt', 'w').write('new\\n'); print('done')"), "{PROMPT_FILE}"]
    (found,) = outcomes(cli(tmp_path, command))
    assert not isinstance(found, ProviderError)
    assert found.agent is not None
    assert [(each.path, each.kind) for each in found.agent.changes.files] == [("made.txt", "added")]


def test_a_target_of_agentv_works_unchanged(tmp_path: Path) -> None:
    """A template for a shell, their names of files and cases, and the answer in their output file."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "mock_cli.py").write_text(
        "import sys\nargs = sys.argv[1:]\n"
        "if args == ['--healthcheck', 'healthcheck']: sys.exit(0)\n"
        "out = args[args.index('--out') + 1]\n"
        "names = [args[i + 1].rpartition('/')[2] for i, a in enumerate(args) if a == '--file']\n"
        "open(out, 'w').write('|'.join([args[1], args[3], *names]))\n"
    )
    file = tmp_path / ".agentv" / "targets.yaml"
    file.parent.mkdir()
    file.write_text(
        "targets:\n  - name: mine\n    provider: cli\n"
        "    command_template: python3 ./mock_cli.py --prompt {PROMPT} --id {EVAL_ID} --out {OUTPUT_FILE} {FILES}\n"
        "    files_format: --file {path}\n    cwd: ${{ EVALS }}\n    timeout_seconds: 30\n"
        "    healthcheck:\n      type: command\n      command_template: python3 ./mock_cli.py --healthcheck {EVAL_ID}\n"
    )
    (target,) = load_targets(file).targets
    provider = open_cli(resolve_target(target, {"EVALS": "evals"}), Surroundings(tmp_path, os.environ))
    asked = request("case 7", "It's $5; ok?", [DATA])
    prompt, case_id, *names = answers(provider, asked)[0].split("|")
    assert prompt.endswith("answer this:\n\nIt's $5; ok?")
    assert (case_id, names) == ("case 7", ["data.csv"])
