"""`turnwise prompt`: what each case sends, for programs and for people."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers import run_turnwise

SUITE = """\
cases:
  - id: review
    input_messages:
      - role: user
        content:
          - Please review
          - {type: file, value: long.py}
          - {type: file, value: style.instructions.md}
      - role: assistant
        content: Which part?
      - role: user
        content: "All of it.\\e[31m"
  - id: weather
    input_messages:
      - {role: user, content: Weather?}
      - role: assistant
        tool_calls: [{id: c1, type: function, function: {name: get_weather, arguments: '{}'}}]
      - {role: tool, tool_call_id: c1, content: rain}
"""
LONG = "\n".join(f"line {number}" for number in range(1, 31))


def project(tmp_path: Path, suite: str = SUITE) -> Path:
    (tmp_path / "long.py").write_text(LONG, encoding="utf-8")
    (tmp_path / "style.instructions.md").write_text("Be brief.", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(suite, encoding="utf-8")
    return tmp_path


def records(*arguments: str, cwd: Path, code: int = 0) -> list[dict[str, Any]]:
    done = run_turnwise("prompt", "--format", "json", *arguments, cwd=cwd)
    assert done.returncode == code, done.stderr
    loaded: list[dict[str, Any]] = json.loads(done.stdout)
    return loaded


def test_json_has_one_object_per_case_with_the_promised_keys(tmp_path: Path) -> None:
    """A list; each object holds id, chat prompt, question, guidelines, messages, files and diagnostics."""
    review, weather = records("suite.yaml", cwd=project(tmp_path))
    assert review["id"] == "review"
    assert set(review) == {
        "id", "suite", "chat_prompt", "question", "guidelines", "messages", "files", "diagnostics"
    }  # fmt: skip
    assert review["guidelines"] == ["Be brief."]
    assert [(file["written"], file["type"]) for file in review["files"]] == [
        ("long.py", "file"),
        ("style.instructions.md", "guideline"),
    ]
    assert LONG in review["messages"][1]["content"]
    assert weather["messages"][0] == {"role": "system", "content": "You are a careful assistant."}
    assert weather["chat_prompt"][1]["content"] is None


def test_a_case_that_cannot_be_resolved_shows_its_error_and_the_others_go_on(tmp_path: Path) -> None:
    """A missing file is the error of its case alone; the exit code is 2."""
    suite = SUITE.replace("value: long.py", "value: gone.py")
    broken, fine = records("suite.yaml", cwd=project(tmp_path, suite), code=2)
    assert "gone.py" in broken["error"]
    assert "chat_prompt" not in broken
    assert broken["diagnostics"][0]["line"] == 7
    assert fine["id"] == "weather"
    assert "error" not in fine


def test_a_suite_that_is_not_well_formed_does_not_hide_the_others(tmp_path: Path) -> None:
    """The good suite is printed, the bad one is explained on standard error, the exit code is 2."""
    folder = project(tmp_path)
    (folder / "bad.yaml").write_text("cases:\n  - id: x\n    input_mesages: []\n", encoding="utf-8")
    done = run_turnwise("prompt", "--format", "json", ".", cwd=folder)
    assert done.returncode == 2
    assert [record["id"] for record in json.loads(done.stdout)] == ["review", "weather"]
    assert "bad.yaml:3:5: error: unknown key `input_mesages`" in done.stderr


def test_wire_problems_are_only_diagnostics(tmp_path: Path) -> None:
    """Without a target, a conversation that some API would refuse is a warning and exit code 0."""
    suite = "cases: [{id: a, input_messages: [{role: assistant, content: Hi}]}]"
    (record,) = records("suite.yaml", cwd=project(tmp_path, suite))
    assert {item["code"] for item in record["diagnostics"]} == {"no-user-turn", "assistant-last"}
    assert {item["severity"] for item in record["diagnostics"]} == {"warning"}


def test_case_selects_by_id_and_by_glob(tmp_path: Path) -> None:
    """`--case` takes ids and globs, and may be repeated."""
    folder = project(tmp_path)
    assert [r["id"] for r in records("suite.yaml", "--case", "weather", cwd=folder)] == ["weather"]
    assert [r["id"] for r in records("suite.yaml", "--case", "w*", cwd=folder)] == ["weather"]
    both = records("suite.yaml", "--case", "weather", "--case", "review", cwd=folder)
    assert [r["id"] for r in both] == ["review", "weather"]


def test_an_id_that_no_case_has_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    """A typo in `--case` is not silently an empty result."""
    done = run_turnwise("prompt", "suite.yaml", "--case", "wether", cwd=project(tmp_path))
    assert done.returncode == 2
    assert "no case is named wether" in done.stderr
    assert "did you mean `weather`?" in done.stderr


def test_standard_input_holds_yaml_or_jsonl(tmp_path: Path) -> None:
    """`-` reads a suite or a dataset; files are looked up from the current folder."""
    folder = project(tmp_path)
    done = run_turnwise("prompt", "--format", "json", "-", cwd=folder, stdin=SUITE.encode())
    assert [record["id"] for record in json.loads(done.stdout)] == ["review", "weather"]
    line = '{"id": "one", "input_messages": [{"role": "user", "content": [{"type": "file", "value": "long.py"}]}]}\n'
    done = run_turnwise("prompt", "--format", "json", "-", cwd=folder, stdin=line.encode() * 1)
    assert json.loads(done.stdout)[0]["files"][0]["path"] == "long.py"
    assert done.returncode == 0


def test_text_folds_long_files_and_full_shows_them(tmp_path: Path) -> None:
    """A file of thirty lines is folded to three, unless `--full`."""
    folder = project(tmp_path)
    short = run_turnwise("prompt", "suite.yaml", "--case", "review", cwd=folder).stdout
    assert "line 3" in short
    assert "line 4" not in short
    assert "27 more lines" in short
    assert "line 30" in run_turnwise("prompt", "suite.yaml", "--full", cwd=folder).stdout


def test_text_cannot_take_over_the_terminal(tmp_path: Path) -> None:
    """Control sequences in a suite are shown, not obeyed, and nothing is coloured in a pipe."""
    out = run_turnwise("prompt", "suite.yaml", cwd=project(tmp_path)).stdout
    assert "\x1b" not in out
    assert "␛[31m" in out


def test_colour_is_for_terminals_and_can_be_forced_and_forbidden(tmp_path: Path) -> None:
    """FORCE_COLOR and NO_COLOR are honoured."""
    folder = project(tmp_path)
    assert "\x1b[1;32m[user]" in run_turnwise("prompt", "suite.yaml", cwd=folder, FORCE_COLOR="1").stdout
    both = run_turnwise("prompt", "suite.yaml", cwd=folder, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b" not in both


def test_the_question_view_is_the_transcript(tmp_path: Path) -> None:
    """`--view question` shows what people, judges and agents read."""
    out = run_turnwise("prompt", "suite.yaml", "--case", "weather", "--view", "question", cwd=project(tmp_path)).stdout
    assert "  [User]:\n  Weather?\n" in out
    assert "Tool call: get_weather({})" in out


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    """`turnwise prompt … | head -1` ends quietly."""
    lines = [
        json.dumps({"id": f"c{n}", "input_messages": [{"role": "user", "content": "x" * 500}]}) for n in range(3000)
    ]
    (tmp_path / "many.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "turnwise", "prompt", "--format", "json", "many.jsonl"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """Emoji and right-to-left text survive a C locale."""
    suite = "cases: [{id: a, input_messages: [{role: user, content: 'שלום 👋'}]}]"
    folder = project(tmp_path, suite)
    done = run_turnwise("prompt", "--format", "json", "suite.yaml", cwd=folder, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)[0]["question"] == "שלום 👋"


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    """A path that does not exist and a folder without suites are usage errors."""
    gone = run_turnwise("prompt", "nowhere.yaml", cwd=tmp_path)
    assert gone.returncode == 2
    assert "nowhere.yaml does not exist" in gone.stderr
    empty = run_turnwise("prompt", ".", cwd=tmp_path)
    assert empty.returncode == 2
    assert "no suite found" in empty.stderr


def test_the_same_dataset_is_not_shown_twice(tmp_path: Path) -> None:
    """In a folder, a dataset that a suite refers to is not a suite of its own; another one is."""
    line = '{"id": "%s", "input_messages": [{"role": "user", "content": "Hi"}]}\n'
    (tmp_path / "used.jsonl").write_text(line % "used", encoding="utf-8")
    (tmp_path / "alone.jsonl").write_text(line % "alone", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text("cases: used.jsonl\n", encoding="utf-8")
    assert [record["id"] for record in records(".", cwd=tmp_path)] == ["used", "alone"]


def test_interrupting_is_quick_and_clean(tmp_path: Path) -> None:
    """Ctrl-C gives exit code 130 and no traceback."""
    (tmp_path / "first.yaml").write_text("cases: [{id: a, input_messages: [{role: user, content: Hi}]}]")
    os.mkfifo(tmp_path / "never.yaml")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "turnwise", "prompt", "first.yaml", "never.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (an ignored one is inherited)
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first suite is there: now it waits for the second
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_output_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A full disk is an error of its own, with its own exit code; a closed stream is nobody waiting."""
    suite = project(tmp_path) / "suite.yaml"
    command = f"{sys.executable} -m turnwise prompt {suite}"
    full = subprocess.run(["sh", "-c", f"{command} > /dev/full"], capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (74, "error: the output cannot be written: No space left on device\n")
    closed = subprocess.run(["sh", "-c", f"{command} >&- 2>&-"], capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_each_case_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    """One good id does not hide a misspelt one."""
    done = run_turnwise("prompt", "suite.yaml", "--case", "weather", "--case", "reviw", cwd=project(tmp_path))
    assert done.returncode == 2
    assert "no case is named reviw" in done.stderr
    assert "[user]" in done.stdout
