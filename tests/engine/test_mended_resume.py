"""A run that is resumed means what it meant before, wherever it is resumed from and whatever was given again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import turnwise.engine.session as session_module
from run_fixtures import journal, keys, mock, project, run, suite
from turnwise import RunOutcome
from turnwise.engine.description import describe_run
from turnwise.engine.journal import JournalWriter
from turnwise.errors import RunError, SuiteError, UsageError
from turnwise.targets.stand_ins import MockTarget


def forget_last(outcome: RunOutcome) -> dict[str, Any]:
    """Take the last result out of the journal, as if the run had been stopped before it."""
    *kept, last = journal(outcome)
    text = "".join(json.dumps(each) + "\n" for each in kept)
    (outcome.folder / "results.jsonl").write_text(text)
    return last


def system_text(record: dict[str, Any]) -> str:
    """What was sent first."""
    return str(record["raw_request"]["messages"][0]["content"])


@pytest.fixture
def prompted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunOutcome:
    """A run under the system prompt of a file, one result of which is missing; started in the project's folder."""
    root = project(tmp_path / "one", s=suite(2))
    (root / "prompt.md").write_text("Be kind.")
    monkeypatch.chdir(root)
    outcome = run("s.yaml", system_prompts=["prompt.md"], workers=1)
    forget_last(outcome)
    return outcome


def test_resumed_elsewhere_the_prompt_is_that_of_the_run(prompted: RunOutcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of that name in the current folder is another one."""
    elsewhere = project(prompted.folder.parents[3] / "two")
    (elsewhere / "prompt.md").write_text("Be rude.")
    monkeypatch.chdir(elsewhere)
    run(resume=prompted.folder)
    assert [system_text(each) for each in journal(prompted)] == ["Be kind."] * 2


def test_resumed_elsewhere_a_prompt_is_not_missing(prompted: RunOutcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the current folder has no such file, the run's own is read."""
    monkeypatch.chdir(prompted.folder.parents[3])
    assert run(resume=prompted.folder).left == 0


def test_a_changed_prompt_is_refused(prompted: RunOutcome) -> None:
    """With what it said and what it says."""
    Path("prompt.md").write_text("Be rude.")
    with pytest.raises(RunError, match="something has changed") as caught:
        run(resume=prompted.run_id)
    assert "prompt.md has changed" in caught.value.details[0]
    assert {"  -Be kind.", "  +Be rude."} <= set(caught.value.details)


@pytest.mark.parametrize("changed", ["s.yaml", "rows.jsonl"])
def test_a_suite_that_changes_while_the_run_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """What `run.json` says must be what was read: the run does not begin, and leaves no folder."""
    root = project(tmp_path, s=suite("rows.jsonl"))
    (root / "rows.jsonl").write_text('{"id": "a", "input_messages": [{"role": "user", "content": "hello"}]}\n')

    def meanwhile(*arguments: Any, **named: Any) -> dict[str, Any]:
        path = root / changed
        path.write_text(path.read_text().replace("hello", "hullo!"))
        return describe_run(*arguments, **named)

    monkeypatch.setattr(session_module, "describe_run", meanwhile)
    with pytest.raises(SuiteError, match=changed):
        run(root / "s.yaml")
    assert list((root / ".turnwise/runs").iterdir()) == []


@pytest.mark.parametrize("place", ["one", "two"])
def test_the_config_of_every_project_is_compared(tmp_path: Path, place: str) -> None:
    """A run of two projects depends on both."""
    roots = [project(tmp_path / name, s=suite(1)) for name in ("one", "two")]
    outcome = run([root / "s.yaml" for root in roots])
    (tmp_path / place / ".turnwise/config.yaml").write_text("default_system_prompt: Be rude.\n")
    with pytest.raises(RunError, match="something has changed") as caught:
        run(resume=outcome.folder)
    assert "default_system_prompt" in "\n".join(caught.value.details)


def test_a_journal_has_one_writer_even_without_the_lock_file(tmp_path: Path) -> None:
    """Whoever deletes the lock does not make room for a second writer; what is there stays as it is."""
    outcome = run(project(tmp_path, s=suite(2)) / "s.yaml")
    forget_last(outcome)
    path = outcome.folder / "results.jsonl"
    before = path.read_bytes()
    with JournalWriter(path):
        (outcome.folder / "run.lock").unlink()
        with pytest.raises(RunError, match="is writing"):
            run(resume=outcome.folder)
    assert path.read_bytes() == before
    assert run(resume=outcome.folder).left == 0


def test_a_target_that_the_suites_name_may_be_given_again(tmp_path: Path) -> None:
    """It is what the run asks, though nobody gave it at first; another one is refused."""
    root = project(tmp_path, mock(), mock("other"), s=suite(1))
    outcome = run(root / "s.yaml")
    assert run(resume=outcome.folder, target="echo").left == 0
    with pytest.raises(UsageError, match=r"--target other is not what the run asks, which is echo"):
        run(resume=outcome.folder, target="other")


def test_the_order_of_targets_does_not_matter(tmp_path: Path) -> None:
    """Two targets the other way round are the same two."""
    outcome = run(project(tmp_path, mock("a"), mock("b"), s=suite(2)) / "s.yaml", ["a", "b"])
    forget_last(outcome)
    assert run(resume=outcome.folder, target=["b", "a"]).left == 0
    assert len(set(keys(journal(outcome)))) == 4


def test_a_target_object_goes_on_as_an_object(tmp_path: Path) -> None:
    """No file has it: whoever resumes the run gives it again, and it must be the same."""
    mine = MockTarget(name="mine", provider="mock", response="hello")
    outcome = run(project(tmp_path, s=suite(2)) / "s.yaml", mine)
    forget_last(outcome)
    with pytest.raises(RunError, match="something has changed"):
        run(resume=outcome.folder, target=MockTarget(name="mine", provider="mock", response="no"))
    assert run(resume=outcome.folder, target=mine).left == 0
    assert {each["status"] for each in journal(outcome)} == {"passed"}


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    """A suite's file may have any name: the description is valid JSON, and the run can be resumed."""
    root = project(tmp_path, s=suite(2))
    named = root / os.fsdecode(b"s\xff.yaml")
    (root / "s.yaml").rename(named)
    outcome = run(named, workers=1)
    described = json.loads((outcome.folder / "run.json").read_bytes().decode("utf-8"))
    assert described["suites"][0]["file"] == named.name
    forget_last(outcome)
    assert run(resume=outcome.folder).left == 0
    assert [each["case_id"] for each in journal(outcome)] == ["c0", "c1"]


def test_a_line_that_is_not_of_the_plan_is_refused_with_its_number(tmp_path: Path) -> None:
    """A result that somebody has added by hand would count otherwise."""
    outcome = run(project(tmp_path, s=suite(2)) / "s.yaml", workers=1)
    added = {**journal(outcome)[0], "case_id": "strange"}
    with (outcome.folder / "results.jsonl").open("a") as file:
        file.write(json.dumps(added) + "\n")
    with pytest.raises(RunError, match=r"results\.jsonl, result 3: the case 'strange' is not of the plan"):
        run(resume=outcome.folder)


@pytest.mark.parametrize(
    ("damage", "said"),
    [({"score": 7}, "`score` must be .* found 7"), ({"trial": "1"}, "does not say which case, target and trial")],
)
def test_a_damaged_result_names_its_line(tmp_path: Path, damage: dict[str, Any], said: str) -> None:
    """What was found and what is expected, and where."""
    outcome = run(project(tmp_path, s=suite(3)) / "s.yaml", workers=1)
    first, second, third = journal(outcome)
    lines = [first, {**second, **damage}, third]
    (outcome.folder / "results.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    with pytest.raises(RunError, match=rf"results\.jsonl, result 2: .*{said}"):
        run(resume=outcome.folder)
