"""The command line in this process, for tests of `turnwise run`."""

from __future__ import annotations

import gc
import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from turnwise.cli import main

__all__ = ["Said", "Turnwise", "runs", "turnwise"]


class Said(NamedTuple):
    """What a command ended with."""

    code: Any
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Its output, where every line is JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Turnwise = Callable[..., Said]


@pytest.fixture
def turnwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Turnwise]:
    """The command line, in this process, in a folder of its own; signals are as before afterwards."""
    monkeypatch.chdir(tmp_path)
    thresholds = gc.get_threshold()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def called(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["turnwise", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return Said(end.value.code, *capsys.readouterr())

    yield called
    gc.set_threshold(*thresholds)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def runs() -> list[Path]:
    """The folders of all runs, in their order."""
    folder = Path(".turnwise/runs")
    return sorted(folder.iterdir()) if folder.exists() else []
