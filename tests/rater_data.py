"""Two raters' labels with known figures: a worked table, and published data from tests/data/published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

PUBLISHED = Path(__file__).parent / "data" / "published"

TABLE = np.array([[20, 5, 1, 0, 0], [4, 18, 6, 1, 0], [1, 5, 22, 7, 1], [0, 1, 6, 25, 8], [0, 0, 1, 6, 30]])
"""168 samples on a scale of five; rows are the human's scores."""

PANDALM = ["1", "2", "tie"]
"""The labels of PandaLM: which answer is better."""

VALUES = [1.0, 2.0, 3.0, 4.0, 5.0]


def columns(table: Any) -> tuple[Codes, Codes]:
    """The pairs that a table of counts stands for, as two columns of codes."""
    counts = np.asarray(table)
    rows, across = np.nonzero(counts)
    times = counts[rows, across]
    return np.repeat(rows, times), np.repeat(across, times)


def lines(name: str) -> list[dict[str, Any]]:
    """The records of a published file."""
    return [json.loads(line) for line in (PUBLISHED / name).read_text(encoding="utf-8").splitlines()]


def pandalm_labels() -> Codes:
    """The labels of the three annotators of PandaLM, a column each, as codes of `PANDALM`."""
    rows = [[PANDALM.index(each["label"]) for each in sample["labels"]] for sample in lines("pandalm/samples.jsonl")]
    return np.array(rows)


def topical_chat() -> tuple[list[float], list[float], list[str]]:
    """Coherence of Topical-Chat replies: the mean human score, UniEval's score, and the conversation."""
    samples = lines("topical-chat/coherence.samples.jsonl")
    outputs = {each["id"]: json.loads(each["output"])["score"] for each in lines("topical-chat/coherence.replay.jsonl")}
    human = [sample["expected"]["score"] for sample in samples]
    return human, [outputs[sample["id"]] for sample in samples], [sample["cluster"] for sample in samples]
