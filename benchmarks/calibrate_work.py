"""Files of a calibration, made in a process of its own so that the one that measures stays small.

`python calibrate_work.py files FOLDER COUNT` writes samples and recorded outputs; `python calibrate_work.py bodies
FOLDER FILE` writes the very bodies that a calibration of the folder's deck sends, one a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["DECK", "OUTPUTS", "SAMPLES", "TARGET"]

DECK, SAMPLES, OUTPUTS, TARGET = "grader.deck.md", "samples.jsonl", "outputs.jsonl", "loopback"
_SEED = 50_021
_ROLES = ("user", "assistant")
_OFF_BY = (-1, 0, 0, 0, 1)


def _pairs(count: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Samples on a scale of five, each with what a judge said of it: three of five times the same as people."""
    from generate import sentence

    rng = random.Random(_SEED)
    for number in range(count):
        human = rng.randint(1, 5)
        judge = min(5, max(1, human + rng.choice(_OFF_BY)))
        messages = [{"role": role, "content": f"{sentence(rng)} {sentence(rng)} Ticket {number}-{turn}."}
                    for turn, role in enumerate(_ROLES)]  # fmt: skip
        name = f"sample-{number:06d}"
        output = json.dumps({"score": judge, "reason": "It names the desk, the deadline and the way to pay."})
        yield (
            {"id": name, "messages": messages, "expected": {"score": human, "reason": "as the policy says"}},
            {"id": name, "model": "judge", "output": output},
        )


def write_files(folder: Path, count: int) -> None:
    """Samples and recorded outputs."""
    with (
        open(folder / SAMPLES, "w", encoding="utf-8") as samples,
        open(folder / OUTPUTS, "w", encoding="utf-8") as said,
    ):
        for sample, output in _pairs(count):
            samples.write(json.dumps(sample, ensure_ascii=False) + "\n")
            said.write(json.dumps(output, ensure_ascii=False) + "\n")


async def _write_bodies(path: Path) -> None:
    from turnwise.calibration.options import CalibrationOptions
    from turnwise.calibration.session import plan_calibration
    from turnwise.providers.opening import open_provider

    plan = plan_calibration(CalibrationOptions(decks=(DECK,), samples=(SAMPLES,), models=(TARGET,)))
    [target] = plan.targets
    async with open_provider(target.spec) as provider:
        with open(path, "w", encoding="utf-8") as file:
            for work in plan.work(target):
                request = provider.preview(work.request(None)).request
                assert request is not None
                file.write(json.dumps(request.body, ensure_ascii=False, separators=(",", ":")) + "\n")


def main() -> None:
    """Write what was asked for."""
    job, folder, more = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if job == "files":
        write_files(folder, int(more))
        return
    os.chdir(folder)
    asyncio.run(_write_bodies(Path(more)))


if __name__ == "__main__":
    main()
