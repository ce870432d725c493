"""Calibrations against a server of this machine: a project, a judge that answers by the sample's number, a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from fault_server import Received
from faults.runs import KEY, completion, word_of, words
from replay_fixtures import deck_text, write_lines

__all__ = [
    "Body",
    "asked_about",
    "body_of",
    "calibration_folder",
    "calibration_process",
    "figures_of",
    "judge",
    "make_calibration",
    "samples_of",
]

Body = dict[str, Any]
_LONGEST = 60.0
_SCALE = 'kind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"'


def judge(request: Received) -> bytes:
    """A verdict that is right but for every fifth sample."""
    number = int(word_of(request)[1:])
    good = (number % 2 == 0) != (number % 5 == 4)
    return completion(json.dumps({"label": "pass" if good else "fail", "reason": f"because of w{number:05}"}))


def samples_of(count: int) -> list[Body]:
    """Samples of which every other one is good; the id of each is a word that its messages hold."""
    return [
        {
            "id": word,
            "messages": [{"role": "user", "content": f"Say {word}"}, {"role": "assistant", "content": f"It is {word}"}],
            "expected": "fail" if place % 2 else "pass",
            "tags": ["early" if place < count // 2 else "late"],
        }
        for place, word in enumerate(words(count))
    ]


def make_calibration(
    root: Path, url: str, samples: int = 10, decks: Mapping[str, str] | None = None, **targets: Mapping[str, Any]
) -> Path:
    """A project with `s.jsonl`, decks by their stem, `d` if there are none, and targets with these settings, `gpt` if
    there are none. Targets do not pause before a retry, and their key is that of `KEY`."""
    (root / ".turnwise").mkdir(parents=True, exist_ok=True)
    common = {"provider": "openai", "base_url": f"{url}/v1", "api_key": "${{ RUN_KEY }}", "retry_initial_delay": 0}
    specs = [{"name": name, "model": f"m-{name}", **common, **each} for name, each in (targets or {"gpt": {}}).items()]
    (root / ".turnwise/targets.yaml").write_text(json.dumps({"targets": specs}))
    for stem, text in (decks or {"d": deck_text(_SCALE)}).items():
        (root / f"{stem}.deck.md").write_text(text)
    write_lines(root / "s.jsonl", samples_of(samples))
    return root


def body_of(request: Received) -> Body:
    """What a request asks."""
    body: Body = json.loads(request.body)
    return body


def asked_about(received: list[Received]) -> list[str]:
    """The samples that were asked about, sorted; one that was asked about twice stands there twice."""
    return sorted(word_of(each) for each in received)


def calibration_folder(root: Path) -> Path:
    """The folder of the latest calibration."""
    return max((root / ".turnwise/calibrations").iterdir())


def figures_of(report: Body) -> Body:
    """What must be the same where the same answers are compared: all but time, usage, and how answers were had."""
    kept = ("samples", "scale", "baseline", "ceiling", "warnings", "seed", "deck")
    names = ("model", "total", "valid", "invalid", "statistics", "confusion", "differences", "disagreements", "verdict")
    models = [{name: each[name] for name in names} for each in report["models"]]
    return {**{name: report[name] for name in kept}, "models": models}


@contextmanager
def calibration_process(root: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`turnwise calibrate` as a process of its own; killed if it is still there at the end or far too late."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "turnwise", "calibrate", *arguments],
        cwd=root,
        env={**kept, "RUN_KEY": KEY},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = Timer(_LONGEST, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
