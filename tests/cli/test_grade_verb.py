"""`turnwise grade` as a person calls it: what it prints, its exit codes, and going on after it was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from deck_run_fixtures import deck_project, verdict
from fault_server import answer, serving
from run_fixtures import journal, project, run, suite

TONE = {"type": "deck", "name": "tone", "path": "tone.deck.md", "target": "judge"}


def grade(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, ended."""
    return turnwise(root, "grade", *arguments)


def turnwise(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Any command, ended."""
    command = [sys.executable, "-m", "turnwise", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)


def test_it_prints_a_summary_and_what_has_changed(tmp_path: Path) -> None:
    """The last line counts what has another status, and the exit code is the verdict's; --quiet prints that alone."""
    root = project(tmp_path, s=suite(3))
    run_id = run(root / "s.yaml").run_id
    (root / "strict.yaml").write_text('{"graders": [{"contains": "bye"}]}')
    done = grade(root, run_id, "--graders", "strict.yaml")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "3 of 3 changed: 3 passed → failed"
    quiet = grade(root, run_id, "--quiet")
    assert (quiet.returncode, quiet.stdout) == (0, "PASSED: 3 of 3 (exit 0)\n")


def test_json_ends_with_what_has_changed(tmp_path: Path) -> None:
    """The summary of --json has the counts."""
    root = project(tmp_path, s=suite(2))
    run_id = run(root / "s.yaml").run_id
    last = json.loads(grade(root, run_id, "--json").stdout.splitlines()[-1])
    assert last["summary"]["regraded"] == {"results": 2, "changed": 0, "changes": []}


def test_a_dry_run_begins_nothing(tmp_path: Path) -> None:
    """It says what would be graded, and makes no folder."""
    root = project(tmp_path, s=suite(2))
    before = run(root / "s.yaml")
    done = grade(root, before.run_id, "--dry-run")
    assert done.stdout.startswith(f"2 results of 2 cases, of the run {before.run_id}, graded again: answers of echo\n")
    assert [each.name for each in before.folder.parent.iterdir()] == [before.run_id]


def test_mistakes_of_usage_are_named(tmp_path: Path) -> None:
    """No run, a run that there is not, and choices beside --resume end with exit code 2 and a hint."""
    root = project(tmp_path)
    for arguments, said in (((), "name the run"), (("nope",), "'nope'"), (("--resume", "x", "--case", "a"), "--case")):
        done = grade(root, *arguments)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_one_that_was_killed_goes_on(tmp_path: Path) -> None:
    """What was judged before the end of the process is not judged again, and every result is there once."""
    with serving(lambda _: verdict(5), delay=0.05) as server:
        root = deck_project(tmp_path, server.url, s=suite(30))
        before = run(root / "s.yaml")
        (root / "tone.yaml").write_text(json.dumps({"graders": [TONE]}))
        command = [sys.executable, "-m", "turnwise", "grade", before.run_id, "--graders", "tone.yaml", "--workers", "2"]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 30
            while len(server.received) < 6 and time.monotonic() < until:
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGKILL)
        (new,) = [each for each in before.folder.parent.iterdir() if each.name != before.run_id]
        kept = len(journal(new))
        assert 0 < kept < 30
        asked = len(server.received)
        done = grade(root, "--resume", new.name)
        assert len(server.received) - asked == 30 - kept
    assert done.stdout.splitlines()[-1] == "0 of 30 changed"
    assert (done.returncode, sorted(each["case_id"] for each in journal(new))) == (
        0,
        sorted(f"c{i}" for i in range(30)),
    )


def test_a_run_whose_judge_failed_says_how_to_ask_it_again(tmp_path: Path) -> None:
    """Resuming leaves an answer alone that is there, so the run names the command that asks the judge once more."""
    replies = iter([answer({"error": {"message": "no"}}, 400), verdict(5)])
    with serving(lambda _: next(replies)) as server:
        root = deck_project(tmp_path, server.url, s=suite(1, graders=[TONE]))
        first = turnwise(root, "run", "s.yaml")
        (folder,) = (root / ".turnwise" / "runs").iterdir()
        line = f"1 result lacks the verdict of a judge; ask for it again with: turnwise grade {folder.name}\n"
        assert line in first.stderr
        second = grade(root, folder.name)
    assert (second.returncode, "verdict of a judge" in second.stderr) == (0, False)
