"""Samples and recorded outputs as files, and the report of their replay as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnwise.calibration.options import CalibrationOptions
from turnwise.calibration.replaying import replayed
from turnwise.calibration.report_record import report_record

__all__ = [
    "Row",
    "binary_cells",
    "calibration_files",
    "deck_text",
    "judge_lines",
    "replay_report",
    "sample_row",
    "write_lines",
]

Row = dict[str, Any]
_FEW_DRAWS = 200


def sample_row(name: str, label: float | str | None = None, **fields: Any) -> Row:
    """A sample of two turns; without a label, it has none."""
    messages = [{"role": "user", "content": f"Question {name}"}, {"role": "assistant", "content": f"Answer {name}"}]
    expected = {} if label is None else {"expected": label}
    return {"id": name, "messages": messages, **expected, **fields}


def judge_lines(model: str, said: Mapping[str, Any]) -> list[Row]:
    """The recorded outputs of a model; a text is the output itself, anything else the verdict's score."""
    return [
        {"id": name, "model": model, "output": value if isinstance(value, str) else json.dumps({"score": value})}
        for name, value in said.items()
    ]


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def deck_text(scale: str = "", body: str = "Grade the answer.", more: str = "") -> str:
    """A deck; `scale` is what stands in its table, `more` what stands above that."""
    table = f"[scale]\n{scale}\n" if scale else ""
    return f"+++\n{more}\n{table}+++\n{body}\n"


def calibration_files(folder: Path, samples: Iterable[Any], outputs: Iterable[Any], deck: str | None = None) -> None:
    """`s.jsonl`, `r.jsonl` and, if there is one, `d.deck.md` in the folder."""
    write_lines(folder / "s.jsonl", samples)
    write_lines(folder / "r.jsonl", outputs)
    if deck is not None:
        (folder / "d.deck.md").write_text(deck, encoding="utf-8")


def replay_report(
    folder: Path,
    samples: Iterable[Any],
    outputs: Iterable[Any],
    deck: str | None = None,
    *,
    draws: int = _FEW_DRAWS,
    **options: Any,
) -> Row:
    """The report that `--format json` would print."""
    calibration_files(folder, samples, outputs, deck)
    decks = () if deck is None else (str(folder / "d.deck.md"),)
    asked = CalibrationOptions(decks=decks, samples=(str(folder / "s.jsonl"),), **options)
    reports, _ = replayed(asked, str(folder / "r.jsonl"), draws=draws)
    return report_record(reports[0])


def binary_cells(counts: Sequence[int], model: str = "judge", **fields: Any) -> tuple[list[Row], list[Row]]:
    """Samples and outputs with so many true positives, false negatives, false positives and true negatives."""
    cells = [("pass", "pass"), ("pass", "fail"), ("fail", "pass"), ("fail", "fail")]
    pairs = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    samples = [sample_row(f"s{place}", human, **fields) for place, (human, _) in enumerate(pairs)]
    return samples, judge_lines(model, {f"s{place}": judge for place, (_, judge) in enumerate(pairs)})
