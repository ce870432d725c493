"""What the pages about running list is what the code has: keys of results, events, settings, and kinds of files."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path

import turnwise
from helpers import ROOT
from turnwise.checks.schemas import FORMATS
from turnwise.engine.api import RunSettings
from turnwise.engine.events import Event
from turnwise.report.event_json import event_record

DOCS = ROOT / "docs"


def rows(page: str, heading: str) -> dict[str, str]:
    """The first table below a heading: what stands in backticks in the first column, and the rest of the row."""
    _, _, below = (DOCS / page).read_text(encoding="utf-8").partition(f"{heading}\n")
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table is not None, heading
    cells = [line.strip("|").split("|", 1) for line in table[0].splitlines()[2:]]
    return {name.strip(): rest for name, rest in cells}


def code_spans(text: str) -> list[str]:
    """The names in backticks, notes in parentheses aside."""
    return re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", text))


def watched_run(runs_dir: Path) -> tuple[turnwise.RunOutcome, list[Event]]:
    """A small run, and what it told."""
    events: list[Event] = []
    suite = ROOT / "examples" / "triage" / "suite.yaml"
    outcome = asyncio.run(turnwise.run(suite, "mock/billing", runs_dir=runs_dir, on_event=events.append))
    return outcome, events


def test_every_format_has_a_page() -> None:
    """Each format of `turnwise schema` has a generated page; a case is explained on the page of suites."""
    pages = {"suite": "suite", "config": "config", "targets": "targets", "result": "results"}
    assert {*pages, "case"} == set(FORMATS)
    for page in pages.values():
        assert (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8").startswith("<!-- Generated")


def test_the_keys_of_a_result_are_on_its_page(tmp_path: Path) -> None:
    """results.md lists exactly the keys that a run writes, for the line and for what stands in it."""
    outcome, _ = watched_run(tmp_path)
    record = next(outcome.results()).record
    for heading, written in (
        ("## The line", {**record, "agent": None, "live": None, "masked": None}),  # which few have
        ("## Grade", record["grades"][0]),
        ("## Raw request", record["raw_request"]),
        ("## Usage", record["usage"]),
    ):
        assert set(rows("reference/results.md", heading)) == {f"`{key}`" for key in written}


def test_the_events_are_listed_with_their_keys(tmp_path: Path) -> None:
    """ci.md lists every event of `--json`, and for those that each run tells, exactly the keys that are printed."""
    listed = rows("guides/ci.md", "`--json` prints one JSON object a line, as things happen:")
    source = (ROOT / "src" / "turnwise" / "report" / "event_json.py").read_text(encoding="utf-8")
    assert {f"`{name}`" for name in re.findall(r'"event": "(\w+)"', source)} == set(listed)
    _, events = watched_run(tmp_path)
    for record in filter(None, map(event_record, events)):
        assert {"event", *code_spans(listed[f"`{record['event']}`"])} == set(record)


def test_every_setting_of_a_run_is_listed() -> None:
    """python-api.md names every setting that `turnwise.run` takes, and no other."""
    listed = {name for names in rows("reference/python-api.md", "## run") for name in code_spans(names)}
    assert listed == set(RunSettings.__annotations__)


def test_the_exit_codes_of_a_run_are_listed() -> None:
    """running.md lists every exit code that a verdict can have."""
    source = ast.parse((ROOT / "src" / "turnwise" / "engine" / "verdict.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(source) if isinstance(node, ast.Call)]
    codes = {
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Verdict" and isinstance(call.args[0], ast.Constant)
    }
    assert codes == {"0", "1", "3", "130"}
    assert codes <= set(rows("guides/running.md", "## Exit codes"))
