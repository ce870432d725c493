"""The world changes during a run: the clock goes back, and files are edited."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from fault_server import Received, serving
from faults.runs import completion, done_once, good, journal, make_project, run_folder, started, word_of, words

RUN = ("suite.yaml", "--target", "model", "--json", "--workers", "4")
PIXELS = [
    base64.b64decode(f"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42m{tail}") for tail in
    ("NkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "P8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
]  # fmt: skip
CLOCK_GOES_BACK = """
import datetime, time

began, real, aware = time.monotonic(), time.time, datetime.datetime


def back():
    return 86400.0 if time.monotonic() - began > 1.0 else 0.0


class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return aware.now(tz) - datetime.timedelta(seconds=back())


time.time = lambda: real() - back()
datetime.datetime = Jumping
"""


def test_a_clock_that_goes_back_confuses_nothing(tmp_path: Path) -> None:
    """A day earlier in the middle of the run, times still go forward, and the summary is sound."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(CLOCK_GOES_BACK)
    with serving(good, delay=0.05) as server:
        root = make_project(tmp_path / "project", server.url, 120)
        with started(
            root, *RUN, environment={"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
        ) as running:
            assert running.end() == 0
    records = journal(root)
    assert done_once(records) == words(120)
    assert all(record["latency_ms"] >= 0 for record in records)
    assert all(record["started_at"] <= record["finished_at"] for record in records)
    assert [record["finished_at"] for record in records] == sorted(record["finished_at"] for record in records)
    assert [event["seconds"] >= 1 for event in running.events if event["event"] == "end"] == [True]


def test_a_suite_that_is_edited_meanwhile_is_the_one_that_was_loaded(tmp_path: Path) -> None:
    """The run goes on with what it has read; to resume it is refused, with the lines that have changed."""
    with serving(good, delay=0.02) as server:
        root = make_project(tmp_path / "project", server.url, 100)
        with started(root, *RUN) as running:
            running.until_results(5)
            suite = root / "suite.yaml"
            suite.write_text(suite.read_text().replace("Say", "Shout"))
            assert running.end() == 0
        assert done_once(journal(root)) == words(100)
        assert all(b"Say" in request.body for request in server.received)
        with started(root, "--resume", run_folder(root).name) as running:
            assert running.end() == 2
    assert "suite.yaml has changed" in running.stderr
    assert "Shout" in running.stderr


def test_a_large_dataset_that_is_edited_stops_the_run(tmp_path: Path) -> None:
    """Rows that were not checked are not asked: the run ends cleanly, keeps what is done, and says what to do."""
    with serving(good, delay=0.002) as server:
        root = make_project(tmp_path / "project", server.url, 9_000)
        with started(root, *RUN) as running:
            running.until_results(5)
            with (root / "cases.jsonl").open("a") as dataset:
                dataset.write(json.dumps({"id": "w99999", "vars": {"word": "w99999"}}) + "\n")
                dataset.flush()
                os.fsync(dataset.fileno())
            running.until(lambda event: event["event"] == "end" or len(running.results) > 1_500)
            assert len(running.results) <= 1_500
            assert running.end() == 3
        assert "the file has changed since it was read" in running.stderr
        kept = done_once(journal(root))
        assert kept == sorted(event["case_id"] for event in running.results)
        assert "w99999" not in {word_of(request) for request in server.received}
        with started(root, "--resume", run_folder(root).name) as running:
            assert running.end() == 2
    assert "cases.jsonl has changed" in running.stderr


def test_an_attachment_that_is_edited_is_an_error_of_its_cases(tmp_path: Path) -> None:
    """What was planned is asked or nothing: no answer is to another picture than the run says."""
    with serving(lambda request: completion("fine"), delay=0.02) as server:
        root = _project_with_picture(tmp_path / "project", server.url)
        with started(root, "suite.yaml", "--target", "model", "--json", "--workers", "1") as running:
            running.until_results(5)
            (root / "new.png").write_bytes(PIXELS[1])
            os.replace(root / "new.png", root / "picture.png")
            assert running.end() == 3
        assert {_picture(request) for request in server.received} == {base64.b64encode(PIXELS[0])}
        records = journal(root)
        assert sorted(record["case_id"] for record in records) == words(60)
        errors = [record for record in records if record["status"] == "error"]
        assert len(errors) == 60 - len(server.received) > 0
        assert {record["error"]["kind"] for record in errors} == {"case"}
        assert all("picture.png has changed" in record["error"]["message"] for record in errors)
        with started(root, "--resume", run_folder(root).name) as running:
            assert running.end() == 2
    assert "picture.png: has changed" in running.stderr


def _project_with_picture(root: Path, url: str) -> Path:
    make_project(root, url, 60)
    (root / "picture.png").write_bytes(PIXELS[0])
    suite = json.loads((root / "suite.yaml").read_text())
    parts = [{"type": "text", "value": "{{ word }}"}, {"type": "image", "value": "picture.png"}]
    suite["input_messages"] = [{"role": "user", "content": parts}]
    suite["graders"] = [{"contains": "fine"}]
    (root / "suite.yaml").write_text(json.dumps(suite))
    return root


def _picture(request: Received) -> bytes:
    return request.body.partition(b"base64,")[2].partition(b'"')[0]
