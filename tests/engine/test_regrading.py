"""A recorded run is graded again: by other graders, without asking for its answers, and without a change to it."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import turnwise
from deck_run_fixtures import deck_project, verdict
from fault_server import serving
from run_fixtures import case, journal, mock, project, run, suite
from turnwise import RunOutcome
from turnwise.engine.regrading import RegradeOptions, plan_regrading
from turnwise.errors import InputError, RunError, UsageError
from turnwise.providers import MockProvider

TONE = {"type": "deck", "name": "tone", "path": "tone.deck.md", "target": "judge"}


def again(recorded: RunOutcome | Path | None, **settings: Any) -> RunOutcome:
    """Grade a run again."""
    folder = recorded.folder if isinstance(recorded, RunOutcome) else recorded
    return asyncio.run(turnwise.grade(folder, **settings))


def statuses(outcome: RunOutcome) -> dict[str, str]:
    """The status of each case."""
    return {result.case_id: result.status for result in outcome.results()}


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder, with the time of its last change."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def two_cases(**fields: Any) -> dict[str, Any]:
    """A suite whose answers are `hello` and `hello world`."""
    return suite([case("short"), case("long", "hello world")], **fields)


def rewrite(root: Path, **fields: Any) -> None:
    """The same suite with other settings."""
    (root / "s.yaml").write_text(json.dumps({"target": "echo", **two_cases(**fields)}))


def graders(root: Path, *specs: Any, name: str = "graders.yaml") -> Path:
    """A file of graders."""
    path = root / name
    path.write_text(json.dumps({"graders": list(specs)}))
    return path


def test_a_changed_grader_decides_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite's graders of now judge the answers of then; nobody is asked, and the old run stays byte for byte."""
    root = project(tmp_path, s=two_cases())
    before = run(root / "s.yaml")
    assert statuses(before) == {"short": "passed", "long": "passed"}
    kept = contents(before.folder)
    rewrite(root, graders=[{"equals": "hello"}])
    monkeypatch.setattr(MockProvider, "ask", None)
    after = again(before)
    assert statuses(after) == {"short": "passed", "long": "failed"}
    assert after.changes is not None
    assert after.changes.text == "1 of 2 changed: 1 passed → failed"
    assert (after.verdict.exit_code, after.left) == (1, 0)
    assert contents(before.folder) == kept
    assert after.folder != before.folder


def test_the_answer_is_taken_as_it_was(tmp_path: Path) -> None:
    """Answer, messages, request, tokens, times and cost of the new line are those of the old one."""
    root = project(tmp_path, s=two_cases())
    before = run(root / "s.yaml")
    old = sorted(journal(before), key=lambda each: str(each["case_id"]))
    new = sorted(journal(again(before)), key=lambda each: str(each["case_id"]))
    kept = ("answer", "output_messages", "finish_reason", "raw_request", "usage", "latency_ms", "attempts", "cost_usd")
    for one, other in zip(old, new, strict=True):
        assert {name: one[name] for name in kept} == {name: other[name] for name in kept}
        assert one["run_id"] != other["run_id"]


def test_the_new_run_says_which_one_it_grades(tmp_path: Path) -> None:
    """run.json names the run, its results and the file of graders."""
    root = project(tmp_path)
    before = run(root / "s.yaml")
    after = again(before, graders=graders(root, {"contains": "hello"}))
    said = json.loads((after.folder / "run.json").read_text())["regrades"]
    assert (said["run_id"], said["graders"]) == (before.run_id, "graders.yaml")
    assert (root / said["results"]).samefile(before.folder / "results.jsonl")


def test_errors_stay_errors(tmp_path: Path) -> None:
    """A result without an answer is counted as the error that it was, of the same kind, and has no grades."""
    script = [{"case": "long", "status": 400}, {"pattern": ".", "response": "hello"}]
    root = project(tmp_path, mock("echo", max_retries=0, script=script), s=two_cases())
    asked = run(root / "s.yaml")
    old = {each["case_id"]: each for each in journal(asked)}
    after = again(asked)
    new = {each["case_id"]: each for each in journal(after)}
    assert (old["long"]["status"], new["long"]["status"]) == ("error", "error")
    assert new["long"]["error"]["kind"] == old["long"]["error"]["kind"]
    assert new["long"]["error"]["message"] == old["long"]["error"]["message"]
    assert (new["long"]["grades"], new["short"]["status"]) == ([], "passed")
    assert after.verdict.exit_code == 3


def test_a_file_of_graders_stands_in_for_all(tmp_path: Path) -> None:
    """Its graders are the only ones, and know the variables and the expected text of each case."""
    cases = [case("a", "{{ word }}", vars={"word": "hello"}), case("b", "ho", vars={"word": "hi"})]
    cases[1]["expected_messages"] = [{"role": "assistant", "content": "ho"}]
    cases[0]["expected_messages"] = [{"role": "assistant", "content": "no"}]
    root = project(tmp_path, s=suite(cases))
    before = run(root / "s.yaml")
    after = again(before, graders=graders(root, {"contains": "{{ word }}"}, {"type": "equals", "weight": 3}))
    kinds = {each["case_id"]: [(g["kind"], g["score"]) for g in each["grades"]] for each in journal(after)}
    assert kinds == {"a": [("contains", 1.0), ("equals", 0.0)], "b": [("contains", 0.0), ("equals", 1.0)]}


def test_a_case_that_is_gone_is_refused_by_name(tmp_path: Path) -> None:
    """Nothing is left out silently; a condition, or a file of graders, says what is to be done."""
    root = project(tmp_path, s=two_cases())
    before = run(root / "s.yaml")
    (root / "s.yaml").write_text(json.dumps({"target": "echo", **suite([case("short")])}))
    with pytest.raises(RunError, match="1 case of the run is not in the suites any more: 'long'"):
        again(before)
    assert statuses(again(before, cases=["short"])) == {"short": "passed"}
    file = graders(root, {"equals": "hello world"})
    assert statuses(again(before, graders=file)) == {"short": "failed", "long": "passed"}


def test_without_its_suite_only_a_file_of_graders_grades(tmp_path: Path) -> None:
    """The record alone is enough for graders of one's own, also as a file of results; a suite that is gone is named."""
    root = project(tmp_path, s=two_cases())
    before = run(root / "s.yaml")
    (root / "s.yaml").unlink()
    with pytest.raises(UsageError, match=r"s\.yaml is not there"):
        again(before)
    results = shutil.copy(before.folder / "results.jsonl", root / "kept.jsonl")
    after = again(Path(results), graders=graders(root, {"length": {"max": 5}}), runs_dir=root / "runs")
    assert statuses(after) == {"short": "passed", "long": "failed"}


@pytest.mark.parametrize(
    ("condition", "status", "kind"),
    [
        ({"tags": ["hard"]}, "ungraded", "unknown-condition"),
        ({"metadata": {"lang": "en"}}, "ungraded", "unknown-condition"),
        ({"tags": ["hard"], "target": "other"}, "passed", "not-applicable"),
        ({"target": "echo"}, "failed", None),
    ],
)
def test_what_is_not_known_of_a_case_that_is_gone_decides_nothing(
    tmp_path: Path, condition: Any, status: str, kind: str | None
) -> None:
    """Whether a grader for tags or metadata is meant cannot be told from the record: it is ungraded, not left out."""
    root = project(tmp_path, s=suite([case("a", tags=["hard"], metadata={"lang": "en"})]))
    before = run(root / "s.yaml")
    (root / "s.yaml").unlink()
    strict = {"type": "contains", "value": "not there", "required": True, "when": condition}
    (line,) = journal(again(before, graders=graders(root, strict, {"contains": "hello"})))
    error = line["grades"][0]["error"]
    assert (line["status"], error and error["kind"]) == (status, kind)


def test_a_changed_conversation_is_warned_of(tmp_path: Path) -> None:
    """The answer is to another question than the case asks now; graders are given the question that was answered."""
    root = project(tmp_path, s=suite([case("a"), case("b")]))
    before = run(root / "s.yaml")
    (root / "s.yaml").write_text(json.dumps({"target": "echo", **suite([case("a"), case("b", "bye")])}))
    plan = plan_regrading(RegradeOptions(run=str(before.folder)))
    assert [(each.code, each.case_id) for each in plan.warnings] == [("changed-conversation", "b")]
    (line,) = journal(again(before, cases=["b"]))
    assert (line["status"], "hello" in line["raw_request"]["question"]) == ("passed", True)


def test_only_what_is_chosen_is_graded(tmp_path: Path) -> None:
    """Conditions on ids, tags and targets hold; a target that has no answers is named."""
    root = project(tmp_path, mock(), mock("other"), s=suite([case("a", tags=["x"]), case("b")]))
    before = run(root / "s.yaml", ["echo", "other"])
    assert len(journal(again(before))) == 4
    assert statuses(again(before, tags=["x"], targets=["other"])) == {"a": "passed"}
    with pytest.raises(UsageError, match="no answers of 'othr'"):
        again(before, targets=["othr"])


def test_variants_and_trials_are_graded_each(tmp_path: Path) -> None:
    """Every recorded trial of every variant has its grade, under the variables of its variant."""
    fields = {"vars": {"word": "hello"}, "variants": {"plain": None, "loud": {"vars": {"word": "HELLO"}}}}
    root = project(tmp_path, s=suite([case("a", "{{ word }}")], graders=[{"contains": "{{ word }}"}], **fields))
    before = run(root / "s.yaml", trials=2)
    after = again(before)
    found = sorted((each["variant"], each["trial"], each["status"]) for each in journal(after))
    expected = [(name, trial, "passed") for name in ("loud", "plain") for trial in (1, 2)]
    assert found == expected


def test_judges_are_asked_and_nobody_else(tmp_path: Path) -> None:
    """A deck that is added later is asked once for each answer; tokens, cost and calibration are in the line."""
    with serving(lambda request: verdict(2 if b"world" in request.body else 5)) as server:
        root = deck_project(tmp_path, server.url, s=two_cases())
        before = run(root / "s.yaml")
        assert server.received == []
        rewrite(root, graders=[TONE])
        after = again(before)
        assert len(server.received) == 2
    assert statuses(after) == {"short": "passed", "long": "failed"}
    line = journal(after)[0]
    assert (line["judge_usage"]["input_tokens"], line["judge_usage"]["output_tokens"]) == (1000, 100)
    assert line["judge_cost_usd"] == pytest.approx(1100 / 1_000_000)
    assert line["grades"][0]["evidence"]["calibration"].startswith("uncalibrated")


def test_a_budget_bounds_the_judges_and_the_rest_is_resumed(tmp_path: Path) -> None:
    """What answers cost then is not counted: the budget is the judges'. The rest goes on without judging twice."""
    with serving(lambda _: verdict(5)) as server:
        root = deck_project(tmp_path, server.url, s=suite(8))
        before = run(root / "s.yaml")
        (root / "s.yaml").write_text(json.dumps({"target": "echo", **suite(8, graders=[TONE])}))
        part = again(before, budget_usd=0.003, workers=1)
        assert 0 < part.left < 8
        whole = again(None, resume=part.run_id, budget_usd=1.0, runs_dir=part.folder.parent)
        assert len(server.received) == 8
    assert (whole.left, len(journal(whole)), whole.passed) == (0, 8, True)
    assert whole.changes is not None
    assert whole.changes.text == "0 of 8 changed"


def test_what_is_graded_may_not_change_before_it_is_resumed(tmp_path: Path) -> None:
    """Other results, or other graders, under the same name would make one run of two."""
    root = project(tmp_path)
    before = run(root / "s.yaml")
    file = graders(root, {"contains": "hello"})
    after = again(before, graders=file)
    file.write_text('{"graders": [{"contains": "bye"}]}')
    with pytest.raises(RunError, match="something has changed"):
        again(None, resume=after.folder)
    file.write_text('{"graders": [{"contains": "hello"}]}')
    with open(before.folder / "results.jsonl", "a") as results:
        results.write(json.dumps({**journal(before)[0], "trial": 2}) + "\n")
    with pytest.raises(RunError, match="have changed"):
        again(None, resume=after.folder)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[1]", "wrong-type"),
        ("graders: []", "empty"),
        ("graders: [{contians: x}]", "unknown-grader"),
        ("grader: [{contains: x}]", "missing-key"),
        ("graders: [{contains: '{{ nobody }}'}]", "unknown-variable"),
    ],
)
def test_what_is_wrong_with_a_file_of_graders_is_said(tmp_path: Path, text: str, code: str) -> None:
    """Each mistake has its code and its file, and nothing is graded."""
    root = project(tmp_path, s=suite([case("a", vars={"x": "1"})]))
    before = run(root / "s.yaml")
    path = root / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        again(before, graders=path)
    found = [each for each in caught.value.diagnostics if each.code == code]
    assert found
    assert found[0].file.endswith("wrong.yaml")


@pytest.mark.parametrize("line", ["nonsense\n", "[1]\n", '{"case_id": 5}\n', ""])
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, line: str) -> None:
    """It is named, with the line that is wrong, and no run is begun."""
    root = project(tmp_path)
    (root / "x.jsonl").write_text(line)
    with pytest.raises(RunError, match=r"x\.jsonl"):
        again(root / "x.jsonl", runs_dir=root / "runs")
    assert not (root / "runs").exists()


def test_an_answer_that_is_no_text_is_an_error_of_its_own(tmp_path: Path) -> None:
    """A line that somebody has damaged spoils its own result alone."""
    root = project(tmp_path, s=two_cases())
    before = run(root / "s.yaml")
    lines = journal(before)
    lines[0]["answer"] = 5
    file = root / "damaged.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    after = {each["case_id"]: each for each in journal(again(file, suites=[root / "s.yaml"], runs_dir=root / "runs"))}
    assert after[lines[0]["case_id"]]["error"]["kind"] == "protocol"
    assert after[lines[1]["case_id"]]["status"] == "passed"
