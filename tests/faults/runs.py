"""Runs as processes of their own, which tests watch, stop, starve and look at afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO

from fault_server import Received, answer

__all__ = [
    "KEY",
    "Running",
    "completion",
    "done_once",
    "good",
    "journal",
    "journal_lines",
    "make_project",
    "run_folder",
    "started",
    "word_of",
    "words",
]

KEY = "sk-run-fault-key-7391"
_LONGEST = 60.0
_WORD = re.compile(rb"w\d{5}")


def completion(text: str) -> bytes:
    """A sound answer of the Chat Completions API."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return answer({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})


def word_of(request: Received) -> str:
    """The word that the case of a request is about; each case has its own."""
    found = _WORD.search(request.body)
    assert found is not None
    return found[0].decode()


def good(request: Received) -> bytes:
    """An answer that passes."""
    return completion(f"It is {word_of(request)}.")


def words(cases: int) -> list[str]:
    """The words of that many cases, which are their ids, too."""
    return [f"w{number:05}" for number in range(cases)]


def make_project(root: Path, url: str, cases: int, **settings: Any) -> Path:
    """A project with one target and one suite, whose dataset has so many cases; the folder is given back."""
    spec = {"name": "model", "provider": "openai", "model": "m", "base_url": url, "api_key": "${{ RUN_KEY }}"}
    (root / ".turnwise").mkdir(parents=True, exist_ok=True)
    (root / ".turnwise/targets.yaml").write_text(json.dumps({"targets": [{**spec, **settings}]}))
    suite = {
        "input_messages": [{"role": "user", "content": "Say {{ word }}"}],
        "graders": [{"contains": "{{ word }}"}],
        "cases": "cases.jsonl",
    }
    (root / "suite.yaml").write_text(json.dumps(suite))
    rows = ({"id": word, "vars": {"word": word}} for word in words(cases))
    (root / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


@dataclass
class Running:
    """A `turnwise` process. With `--json`, `events` are those that were read so far."""

    process: subprocess.Popen[bytes]
    stderr_file: Path
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def stderr(self) -> str:
        """What it has written to stderr so far."""
        return self.stderr_file.read_text("utf-8")

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results that it has reported and that were read."""
        return [event for event in self.events if event["event"] == "result"]

    def until(self, enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read events up to one that is enough; fails if the process ends before."""
        for event in self._read():
            if enough(event):
                return event
        raise AssertionError(f"the run has ended: {self.stderr}")

    def until_results(self, count: int) -> None:
        """Read until so many results were reported."""
        self.until(lambda _: len(self.results) >= count)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Read the rest, and give the exit code; never a traceback."""
        for _ in self._read():
            pass
        code = self.process.wait(_LONGEST)
        assert "Traceback" not in self.stderr
        return code

    def _read(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith(b"\n") and line.startswith(b"{"):
                self.events.append(json.loads(line))
                yield self.events[-1]


@contextmanager
def started(
    root: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    out: BinaryIO | int = subprocess.PIPE,
) -> Iterator[Running]:
    """`turnwise run` with these arguments, in the project; killed if it is still there at the end or far too late."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    errors = root / f"stderr-{len(list(root.glob('stderr-*')))}.txt"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "turnwise", "run", *arguments],
            cwd=root,
            env={**kept, "RUN_KEY": KEY, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=stderr,
        )
    watchdog = Timer(_LONGEST, process.kill)
    watchdog.start()
    try:
        yield Running(process, errors)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def run_folder(root: Path) -> Path:
    """The folder of the only run."""
    [found] = (root / ".turnwise/runs").iterdir()
    return found


def journal_lines(root: Path) -> list[bytes]:
    """The lines of the only run's journal, each with its line break; there may be no journal yet."""
    path = run_folder(root) / "results.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def journal(root: Path) -> list[dict[str, Any]]:
    """The results of the only run's journal; fails if a line is torn."""
    lines = journal_lines(root)
    assert all(line.endswith(b"\n") for line in lines)
    return [json.loads(line) for line in lines]


def done_once(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The cases that have passed, sorted; fails if one has done so twice."""
    counted = Counter(record["case_id"] for record in records if record["status"] == "passed")
    assert not [case for case, count in counted.items() if count > 1]
    return sorted(counted)
