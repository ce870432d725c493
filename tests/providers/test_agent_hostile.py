"""Programs that do not behave, as real processes: a typed error, bounded, nothing left running, nothing leaked."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent_scripts import answers, cli, failure, gone, outcomes, script
from helpers import run_turnwise
from turnwise.errors import ApplicationError, ProtocolError, ProviderTimeoutError
from turnwise.providers import ProviderResponse
from turnwise.providers.agents import base

KEY = "sk-0123456789abcdef"
TELL = "import os,signal,sys,time\ndef tell(n): open({path!r}, 'a').write(f'{{n}} ')\ntell(os.getpid())\n"


def told(root: Path, code: str) -> list[str]:
    """A script that tells its process number, and has `tell` for others'."""
    return script(TELL.format(path=str(root / "pids")) + code)


def numbers(root: Path) -> list[int]:
    return [int(each) for each in (root / "pids").read_text().split()]


def test_one_that_never_answers_is_ended_with_its_children(tmp_path: Path) -> None:
    """The time limit ends the whole process group."""
    code = "child = os.fork()\nif child: tell(child)\ntime.sleep(60)"
    error = failure(cli(tmp_path, told(tmp_path, code), timeout=0.5))
    assert isinstance(error, ProviderTimeoutError)
    assert "within 0.5 s" in str(error)
    assert error.retryable is False
    assert len(numbers(tmp_path)) == 2
    assert all(gone(each) for each in numbers(tmp_path))


def test_one_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """It has a second to tidy up, and then no choice."""
    code = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN); time.sleep(60)"
    began = time.monotonic()
    assert isinstance(failure(cli(tmp_path, told(tmp_path, code), timeout=0.3)), ProviderTimeoutError)
    assert time.monotonic() - began < 5
    assert gone(numbers(tmp_path)[0], 0.1)


def test_children_that_hold_its_output_open_are_not_waited_for(tmp_path: Path) -> None:
    """When the program has ended, its answer counts, and what it left behind is ended."""
    code = "child = os.fork()\nif child: tell(child); print('done')\nelse: time.sleep(60)"
    began = time.monotonic()
    assert answers(cli(tmp_path, told(tmp_path, code))) == ["done"]
    assert time.monotonic() - began < 5
    assert all(gone(each) for each in numbers(tmp_path))


@pytest.mark.parametrize("hides", [False, True])
def test_a_daemon_that_leaves_the_group(tmp_path: Path, hides: bool) -> None:
    """A child with a session of its own is found and ended, unless it hides; it is never waited for."""
    code = (
        "child = os.fork()\nif child == 0:\n    os.setsid(); tell(os.getpid())\n"
        f"    os.execvpe('sleep', ['sleep', '20'], {{'PATH': os.environ['PATH']}} if {hides} else os.environ)\n"
        f"else:\n    while len(open({str(tmp_path / 'pids')!r}).read().split()) < 2: time.sleep(0.01)\n"
        "    print('done')"
    )
    began = time.monotonic()
    assert answers(cli(tmp_path, told(tmp_path, code))) == ["done"]
    assert time.monotonic() - began < 5
    daemon = numbers(tmp_path)[1]
    assert gone(daemon, 0.1) is not hides
    if hides:
        os.kill(daemon, signal.SIGKILL)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_is_bounded(tmp_path: Path, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that writes without end is ended, long before its time limit."""
    monkeypatch.setattr(base, "_MOST_OUTPUT", 1024 * 1024)
    code = f"while True: sys.{stream}.write('x' * 65536)"
    error = failure(cli(tmp_path, told(tmp_path, code)))
    assert isinstance(error, ApplicationError)
    assert "1,048,576 bytes" in str(error)
    assert len(str(error)) < 2000
    assert gone(numbers(tmp_path)[0])


def test_one_that_does_not_read_its_input_may_still_answer(tmp_path: Path) -> None:
    """A long prompt that nobody reads is no failure."""
    code = "import os; os.close(0); print('done')"
    assert answers(cli(tmp_path, script(code), prompt_by="stdin"), "x" * 10) == ["done"]


def test_one_that_ends_at_once_gave_no_answer(tmp_path: Path) -> None:
    """Without reading and without writing."""
    assert isinstance(failure(cli(tmp_path, ["true"], prompt_by="stdin")), ProtocolError)


def test_one_that_closes_its_output_gave_no_answer(tmp_path: Path) -> None:
    """It is waited for, and then it is an error."""
    code = "import os,time; [os.close(n) for n in (0, 1, 2)]; time.sleep(0.2); os._exit(0)"
    assert isinstance(failure(cli(tmp_path, script(code))), ProtocolError)


def test_half_a_line_of_json_is_an_error(tmp_path: Path) -> None:
    """Where JSON is expected, half of it is none; what came is shown."""
    error = failure(cli(tmp_path, ["printf", '{"answer": "ye'], prompt_by="stdin", answer_pointer="/answer"))
    assert isinstance(error, ProtocolError)
    assert '{"answer": "ye' in str(error)


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    """What is not UTF-8 is shown as such, and stops nothing; codes for terminals are part of the answer."""
    code = r"import sys; sys.stdout.buffer.write(b'a\xff\xfeb \x1b[31mred \x00')"
    assert answers(cli(tmp_path, script(code))) == ["a\ufffd\ufffdb \x1b[31mred \x00"]


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_one_that_dies_by_a_signal_is_told(tmp_path: Path, name: str) -> None:
    """What it had printed is no answer."""
    code = f"import os,signal; print('half', flush=True); os.kill(os.getpid(), signal.{name})"
    error = failure(cli(tmp_path, script(code)))
    assert isinstance(error, ApplicationError)
    assert name in str(error)


def test_what_one_case_writes_is_not_seen_by_the_next(tmp_path: Path) -> None:
    """Not in HOME, not in the workspace, not in the temporary folder, and not in the template it came from."""
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "rule.md").write_text("original")
    code = (
        "import os,tempfile\nplaces = [os.path.expanduser('~'), '.', tempfile.gettempdir()]\n"
        "print(sorted(n for p in places for n in os.listdir(p)), open('rule.md').read())\n"
        "for p in places: open(p + '/left', 'w').write('x')\n"
        f"for p in ('rule.md', {str(tmp_path / 'kit' / 'rule.md')!r}): open(p, 'w').write('changed')"
    )
    provider = cli(tmp_path, script(code), workspace_template="kit")
    assert answers(provider, "a", "b", together=False) == ["['rule.md'] original"] * 2


@pytest.mark.parametrize(
    "act",
    [
        "shutil.rmtree(os.getcwd())",
        "open('f', 'w'); os.chmod('.', 0o500)",
        "os.makedirs('a/b'); open('a/b/f', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)",
        "shutil.rmtree(os.path.dirname(os.getcwd()))",
        "here = os.getcwd(); os.rename(here, here + '2'); os.symlink('/', here)",
        "os.symlink('/etc', 'link'); os.mkfifo('pipe')",
    ],
)
def test_whatever_it_does_to_its_workspace_the_answer_counts(tmp_path: Path, act: str) -> None:
    """Removed, locked, moved or full of odd files: the folder is gone afterwards, and nothing outside of it."""
    code = f"import os,shutil; print(os.getcwd(), flush=True); {act}"
    (folder,) = answers(cli(tmp_path, script(code)))
    assert not Path(folder).parent.exists()
    assert Path("/etc/passwd").exists()


def test_a_key_that_it_prints_is_kept_from_log_and_error(tmp_path: Path) -> None:
    """Wherever the program writes it, and also where the end of its stderr is cut off."""
    code = "import os,sys; k = os.environ['MY_API_KEY']; print(k); sys.exit((k + ' ') * 300)"
    known = {"PATH": "/usr/bin:/bin", "SOME_KEY": KEY}
    settings: dict[str, Any] = {"environment": known, "env": {"MY_API_KEY": "${{ SOME_KEY }}"}}
    error = failure(cli(tmp_path, script(code), logs=tmp_path / "logs", **settings))
    kept = [path.read_text() for path in (tmp_path / "logs").rglob("*") if path.is_file()]
    assert len(kept) == 2
    assert all("[redacted]" in each for each in (str(error), *kept))
    assert not any(KEY[5:] in each for each in (str(error), json.dumps(dict(error.agent or {})), *kept))


def test_many_hostile_ones_at_once_do_not_hold_each_other_up(tmp_path: Path) -> None:
    """Some hang, some crash, some answer: each has its own end."""
    code = "import sys,time; n = sys.argv[1]; n == '0' and time.sleep(60); n == '1' and sys.exit(5); print(n)"
    provider = cli(tmp_path, [*script(code), "{CASE_ID}"], timeout=2, prompt_by="stdin")
    found = outcomes(provider, *"012012")
    kinds = [each.text if isinstance(each, ProviderResponse) else each.kind for each in found]
    assert kinds == ["timeout", "application", "2"] * 2


def run(root: Path, command: list[str], **settings: Any) -> tuple[int, list[dict[str, Any]], str]:
    """A run as a user starts it: the exit code, the results and all that was printed."""
    target = {"name": "mine", "provider": "cli", "command": command, "timeout": 1, **settings}
    (root / ".turnwise").mkdir()
    (root / ".turnwise" / "targets.yaml").write_text(json.dumps({"targets": [target]}))
    cases = [{"id": name, "input_messages": [{"role": "user", "content": "Hello"}]} for name in ("a", "b")]
    suite = {"target": "mine", "graders": [{"contains": "Hello"}], "cases": cases}
    (root / "suite.yaml").write_text(json.dumps(suite))
    done = run_turnwise("run", "suite.yaml", cwd=root, SOME_KEY=KEY)
    (results,) = (root / ".turnwise" / "runs").glob("*/results.jsonl")
    return done.returncode, [json.loads(line) for line in results.read_text().splitlines()], done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", "timeout"),
        ("import sys; sys.exit(7)", "application"),
        ("pass", "protocol"),
    ],
)
def test_a_run_of_a_hostile_program_ends_with_errors_and_no_scores(tmp_path: Path, code: str, kind: str) -> None:
    """No hung run, no 0: each case has an error of its kind, and the exit code says so."""
    status, results, printed = run(tmp_path, [sys.executable, "-c", code])
    assert status == 3
    assert [(each["status"], each["score"], each["error"]["kind"]) for each in results] == [("error", None, kind)] * 2
    assert "Traceback" not in printed


def test_a_run_keeps_a_key_out_of_everything(tmp_path: Path) -> None:
    """An answer that is a key, in results, logs and on the screen."""
    code = "import os,sys; print('Hello', os.environ['MY_API_KEY']); print(os.environ['MY_API_KEY'], file=sys.stderr)"
    environment = {"MY_API_KEY": "${{ SOME_KEY }}"}
    status, results, printed = run(tmp_path, [sys.executable, "-c", code], env=environment)
    assert status == 0
    assert len(results) == 2
    kept = [path.read_bytes() for path in (tmp_path / ".turnwise" / "runs").rglob("*") if path.is_file()]
    assert any(b"Hello [redacted" in each for each in kept)
    assert not any(KEY.encode() in each for each in (*kept, printed.encode()))
