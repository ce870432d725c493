"""A sample as plain data: what a line of JSONL holds, and what the other forms are written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .sample import HumanLabel, Sample

__all__ = ["label_record", "labelled", "sample_record"]


def label_record(label: HumanLabel) -> dict[str, Any]:
    """What a person said; what was not said is left out.

    >>> label_record(HumanLabel(2, reason="curt", rater="ann"))
    {'rater': 'ann', 'score': 2, 'reason': 'curt'}
    """
    fields = {"rater": label.rater, "score": label.score, "label": label.label, "reason": label.reason}
    return {name: value for name, value in fields.items() if value is not None}


def sample_record(sample: Sample, extras: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The sample; `extras` are its name, description and metadata."""
    record: dict[str, Any] = {"id": sample.id, "messages": [dict(message) for message in sample.messages]}
    if sample.expected is not None:
        record["expected"] = label_record(sample.expected)
    if sample.labels:
        record["labels"] = [label_record(label) for label in sample.labels]
    if sample.cluster is not None:
        record["cluster"] = sample.cluster
    if sample.tags:
        record["tags"] = list(sample.tags)
    return record | dict(extras or {})


def labelled(sample: Sample, label: HumanLabel) -> Sample:
    """The sample with the label: in `labels` if it has a rater, whose earlier one it replaces; else in `expected`."""
    if label.rater is None:
        return replace(sample, expected=label)
    raters = [each.rater for each in sample.labels]
    if label.rater not in raters:
        return replace(sample, labels=(*sample.labels, label))
    index = raters.index(label.rater)
    return replace(sample, labels=(*sample.labels[:index], label, *sample.labels[index + 1 :]))
