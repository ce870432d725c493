"""`turnwise.run` and `turnwise.stream`: one thing or several, nothing of no use, and nothing left locked."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import journal, mock, project, run, suite
from turnwise import load_suite
from turnwise.engine import api
from turnwise.engine.session import begin
from turnwise.errors import RunError, UsageError


@pytest.mark.parametrize(
    ("cases", "taken"),
    [("c1*", {"c1", "c10", "c11"}), ({"c2", "c3"}, {"c2", "c3"}), (("c4", "c5"), {"c4", "c5"}), (["c6"], {"c6"})],
)
def test_one_pattern_or_several(tmp_path: Path, cases: Any, taken: set[str]) -> None:
    """A text is one pattern, not its letters; a set is as good as a list."""
    outcome = run(project(tmp_path, s=suite(12)) / "s.yaml", cases=cases)
    assert {each["case_id"] for each in journal(outcome)} == taken


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"workers": "8"}, "`workers` must be a whole number, found '8'"),
        ({"workers": True}, "`workers` must be a whole number, found True"),
        ({"graded": "no"}, "`graded` must be True or False, found 'no'"),
        ({"trials": 1.5}, "`trials` must be a whole number, found 1.5"),
        ({"timeout": "5"}, "`timeout` must be a number, found '5'"),
        ({"cases": 5}, "`cases` must be a text, or a list of texts, found 5"),
        ({"resume": 5}, "`resume` must be a text or a path, found 5"),
        ({"target": None}, "`target` must be one or several, found None"),
        ({"target": [None]}, "a target must be a name or a target, found None"),
        ({"suites": 5}, "`suites` must be one or several, found 5"),
        ({"suites": [5]}, "a suite must be a path or a `Suite`, found 5"),
    ],
)
def test_a_value_of_no_use_is_refused(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    """With what was found and what is expected, before anything is asked or written."""
    root = project(tmp_path)
    with pytest.raises(UsageError) as caught:
        run(**{"suites": root / "s.yaml", **settings})
    assert str(caught.value) == said
    assert not (root / ".turnwise/runs").exists()


def test_one_system_prompt_may_be_a_path(tmp_path: Path) -> None:
    """As one pattern may be a text."""
    (tmp_path / "kind.md").write_text("Be kind.")
    outcome = run(project(tmp_path) / "s.yaml", system_prompts=tmp_path / "kind.md")
    assert [each["variant"] for each in journal(outcome)] == ["kind"]


def test_suites_and_targets_may_be_sets(tmp_path: Path) -> None:
    """Of two suites and two targets, everything is asked."""
    root = project(tmp_path, mock("a"), mock("b"), s=suite(1), t=suite(1))
    outcome = run({root / "s.yaml", root / "t.yaml"}, {"a", "b"})
    assert outcome.summary.results == 4


def test_a_run_that_is_cancelled_while_it_is_planned_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that plans goes on for a moment; the run that it makes can be resumed in the same process."""
    root = project(tmp_path, s=suite(2))
    planning, go_on = threading.Event(), threading.Event()

    def slow(*arguments: Any, **named: Any) -> Any:
        planning.set()
        assert go_on.wait(10)
        return begin(*arguments, **named)

    monkeypatch.setattr(api, "begin", slow)

    async def main() -> None:
        running = asyncio.create_task(api.run(root / "s.yaml"))
        while not planning.is_set():
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        go_on.set()

    asyncio.run(main())
    (folder,) = (root / ".turnwise/runs").iterdir()
    assert run(resume=folder).summary.results == 2


def test_a_stream_whose_budget_is_used_up_says_that_results_are_missing(tmp_path: Path) -> None:
    """Whoever takes the results must not believe that these are all; the run can be resumed."""
    root = project(tmp_path, s=suite(20, system_prompt="x" * 4000))
    taken: list[str] = []

    async def main() -> None:
        async for result in api.stream(root / "s.yaml", workers=1, max_tokens_total=3500):
            taken.append(result.case_id)  # noqa: PERF401  (those before the error count)

    with pytest.raises(RunError, match=r"the budget is used up: 17 results of the run .* are missing") as caught:
        asyncio.run(main())
    assert taken == ["c0", "c1", "c2"]
    (folder,) = (root / ".turnwise/runs").iterdir()
    assert caught.value.hint == f"go on with resume={folder.name!r}"


def test_a_loaded_suite_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was loaded by a relative path, and the current folder has changed since."""
    root = project(tmp_path / "one", s=suite(3))
    monkeypatch.chdir(root)
    loaded = load_suite("s.yaml")
    (tmp_path / "two").mkdir()
    monkeypatch.chdir(tmp_path / "two")
    outcome = run(loaded)
    assert outcome.summary.results == 3
    assert outcome.folder.parent.resolve() == (root / ".turnwise/runs").resolve()
