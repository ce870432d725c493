"""A run that is resumed means the same as before: what has changed since is refused, and shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, journal, mock, project, run, suite, targets
from turnwise import RunOutcome
from turnwise.errors import RunError, TurnwiseError

FILE = [{"type": "file", "value": "note.txt"}]


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunOutcome:
    """A run with one error left, of a suite with a dataset, an attachment, a system prompt and a config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TONE", raising=False)
    rows = [case("good"), case("bad"), {"id": "file", "input_messages": [{"role": "user", "content": FILE}]}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "p.md").write_text("Be it.")
    (tmp_path / ".env").write_text("TONE=calm\n")
    project(tmp_path, target(), s=suite("rows.jsonl", description="as it was"))
    (tmp_path / ".turnwise" / "config.yaml").write_text("default_system_prompt: Be default.\n")
    outcome = run("s.yaml", system_prompts=["p.md"])
    assert [each["case_id"] for each in journal(outcome) if each["status"] == "error"] == ["bad"]
    return outcome


def target(**settings: Any) -> dict[str, Any]:
    failing = [{"case": "bad", "status": 400}]
    return mock(script=failing, system_prompt="Speak ${{ TONE }}.", **settings)


def put(name: str, text: str) -> Callable[[], object]:
    """Writes a file."""
    return lambda: Path(name).write_text(text)


def appended(name: str, text: str) -> Callable[[], object]:
    """Adds to a file."""
    return lambda: Path(name).write_text(Path(name).read_text() + text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: Path("s.yaml").write_text(Path("s.yaml").read_text().replace("as it was", "new")), r"s\.yaml has ch"),
        (appended("rows.jsonl", json.dumps(case("more")) + "\n"), r"rows\.jsonl has changed"),
        (lambda: Path("rows.jsonl").unlink(), r"rows\.jsonl: No such file"),
        (put("p.md", "Be another."), r"p\.md has changed"),
        (put("note.txt", "hello, too"), r"note\.txt: has changed"),
        (lambda: Path("note.txt").unlink(), r"note\.txt: cannot be read"),
        (put(".turnwise/config.yaml", "default_system_prompt: X.\n"), "config: `default_system_prompt` was"),
        (put(".turnwise/targets.yaml", targets(target(delay=0.001))), "target echo: `delay` was not set, and is 0.001"),
        (put(".env", "TONE=loud\n"), 'target echo: `system_prompt` was "Speak calm."'),
    ],
)
def test_what_has_changed_is_refused_and_shown(begun: RunOutcome, change: Callable[[], object], said: str) -> None:
    """Old and new results would be mixed. Nothing is asked, nothing written, and the run is not locked any more."""
    change()
    with pytest.raises(RunError, match="something has changed") as caught:
        run(resume=begun.run_id)
    assert caught.value.hint == "undo the change, or start a new run"
    assert re.search(said, "\n".join(caught.value.details))
    assert len(journal(begun)) == 3
    with pytest.raises(RunError, match="something has changed"):
        run(resume=begun.run_id)


def test_a_changed_file_is_shown_as_a_diff(begun: RunOutcome) -> None:
    """The lines that were, and those that are; a long one is cut."""
    Path("p.md").write_text("Be another.\n" + "x" * 9999)
    with pytest.raises(RunError) as caught:
        run(resume=begun.run_id)
    assert "  -Be it." in caught.value.details
    assert "  +Be another." in caught.value.details
    assert max(map(len, caught.value.details)) < 200


def test_a_long_diff_is_cut(begun: RunOutcome) -> None:
    """Nobody reads a thousand lines of it."""
    Path("p.md").write_text("".join(f"line {number}\n" for number in range(1000)))
    with pytest.raises(RunError) as caught:
        run(resume=begun.run_id)
    assert len(caught.value.details) < 60
    assert caught.value.details[-1].strip() == "…"


@pytest.mark.parametrize(
    "change",
    [
        lambda: None,
        put(".turnwise/targets.yaml", targets(target(max_retries=9, workers=2, timeout=5.0, description="new"))),
        put(".turnwise/config.yaml", "default_system_prompt: Be default.\ncache: true\n"),
        put("unrelated.txt", "x"),
    ],
)
def test_what_changes_no_answer_may_change(begun: RunOutcome, change: Callable[[], object]) -> None:
    """How a target is asked, and how often, is another matter than what it is asked."""
    change()
    outcome = run(resume=begun.run_id, workers=1)
    assert (outcome.run_id, len(journal(outcome))) == (begun.run_id, 4)


def test_a_damaged_description_is_refused(begun: RunOutcome) -> None:
    """Of another version, or cut: said in words."""
    path = begun.folder / "run.json"
    read = json.loads(path.read_text())
    for damaged in ({**read, "schema_version": 99}, {key: each for key, each in read.items() if key != "options"}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(RunError, match="another version of Turnwise, or damaged"):
            run(resume=begun.run_id)
    path.write_text(json.dumps({**read, "options": {"selection": 5}}))
    with pytest.raises(TurnwiseError):
        run(resume=begun.run_id)


def test_targets_of_one_name_in_two_projects_are_told_apart(tmp_path: Path) -> None:
    """Each is compared with what it was itself: nothing has changed, and the run goes on."""
    failing = [{"status": 400}]
    first = project(tmp_path / "one", mock(response="hello one"))
    second = project(tmp_path / "two", mock(response="hello two", script=failing))
    begun = run([first / "s.yaml", second / "s.yaml"])
    again = run(resume=begun.folder)
    assert sorted(each["status"] for each in journal(again)) == ["error", "error", "passed"]
    project(tmp_path / "two", mock(response="hello three", script=failing))
    with pytest.raises(RunError) as caught:
        run(resume=begun.folder)
    assert any("hello two" in line for line in caught.value.details)
