"""The program of the guard: it reads which groups of processes and folders to watch, and ends what is left at the end.

Run by path, with nothing of Turnwise imported but two files beside it, which need nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

__all__ = ["guard_all"]

_GRACE_SECONDS = 1.0


def guard_all() -> None:
    """Until the input ends, keep account; then ask the groups that are left to end, and make them; then end who left
    its group, and remove the folders that are left."""
    watched: dict[str, set[Any]] = {"group": set(), "place": set()}
    for line in sys.stdin:
        if not line.endswith("\n"):
            break  # who wrote it was killed in the middle
        verb, kind, which = json.loads(line)
        watched[kind].add(which) if verb == "watch" else watched[kind].discard(which)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for group in watched["group"]:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        if watched["group"] and number == signal.SIGTERM:
            time.sleep(_GRACE_SECONDS)
    if watched["place"]:
        strays, removal = _beside("strays"), _beside("removal")
        for folder in map(Path, watched["place"]):
            strays.end_strays(folder.name)
            removal.removed(folder)


def _beside(name: str) -> Any:
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    guard_all()
