"""Labelled samples, unlabelled answers, and what a judge said of both, as files in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["ORACLE", "answer_rows", "conversation", "estimate_files", "judged_rows", "lines_to"]

Row = dict[str, Any]
ORACLE = {("pass", "pass"): 180, ("pass", "fail"): 20, ("fail", "fail"): 140, ("fail", "pass"): 60}
"""Labels and verdicts with TPR .9 and TNR .7, 200 labels of each kind."""


def conversation(name: str, **fields: Any) -> Row:
    """A sample of two turns, by default without a label."""
    turns = [{"role": "user", "content": f"Question {name}"}, {"role": "assistant", "content": f"Answer {name}"}]
    return {"id": name, "messages": turns, **fields}


def judged_rows(cells: Mapping[tuple[str, str], int]) -> tuple[list[Row], dict[str, str]]:
    """Labelled samples, and the judge's word for each; `cells` counts (label, verdict)."""
    pairs = [pair for pair, count in cells.items() for _ in range(count)]
    rows = [conversation(f"s{place}", expected=label) for place, (label, _) in enumerate(pairs)]
    return rows, {f"s{place}": verdict for place, (_, verdict) in enumerate(pairs)}


def answer_rows(words: Iterable[str]) -> tuple[list[Row], dict[str, str]]:
    """Unlabelled answers, and the judge's word for each."""
    said = {f"a{place}": word for place, word in enumerate(words)}
    return [conversation(name) for name in said], said


def lines_to(path: str | Path, rows: Iterable[Row]) -> str:
    """A file of JSON lines; its name."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def estimate_files(folder: Path, cells: Mapping[tuple[str, str], int], words: Iterable[str]) -> None:
    """`s.jsonl`, `a.jsonl` and `r.jsonl`: samples, answers, and what the judge `m` said; `?` is no verdict."""
    samples, of_samples = judged_rows(cells)
    answers, of_answers = answer_rows(words)
    lines_to(folder / "s.jsonl", samples)
    lines_to(folder / "a.jsonl", answers)
    said = {**of_samples, **of_answers}
    outputs = {name: "no idea" if word == "?" else json.dumps({"label": word}) for name, word in said.items()}
    lines_to(folder / "r.jsonl", [{"id": name, "model": "m", "output": text} for name, text in outputs.items()])
