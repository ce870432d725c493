"""Samples as CSV text: a line for each label, and the conversation as JSON in the first line of a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["csv_row", "csv_samples"]

_COLUMNS = ("id", "messages", "score", "label", "reason", "rater", "cluster", "tags")
_EXTRA = ("name", "description", "metadata")


def csv_row(cells: Sequence[str]) -> str:
    """One line, with its line end.

    >>> csv_row(["a", 'say "no"'])
    'a,"say ""no\"""\\r\\n'
    """
    import csv
    import io

    out = io.StringIO(newline="")
    csv.writer(out).writerow(cells)
    return out.getvalue()


def csv_samples(records: Sequence[Mapping[str, Any]]) -> str:
    """The whole file, with its header."""
    columns = [*_COLUMNS, *(name for name in _EXTRA if any(name in record for record in records))]
    rows = (row for record in records for row in _rows(record))
    return csv_row(columns) + "".join(csv_row([_cell(name, row.get(name)) for name in columns]) for row in rows)


def _rows(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    labels = [*([record["expected"]] if record.get("expected") else []), *record.get("labels", ())]
    yield {**record, **(labels[0] if labels else {})}
    for label in labels[1:]:
        yield {"id": record["id"], **label}


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "tags":
        return _tags(value)
    return value if isinstance(value, str) and name != "metadata" else json.dumps(value, ensure_ascii=False)


def _tags(tags: Sequence[str]) -> str:
    """Tags that would be taken apart, or trimmed, are written as JSON.

    >>> _tags(["a", "b"]), _tags(["a;b"])
    ('a; b', '["a;b"]')
    """
    is_plain = all(tag == tag.strip() and tag and not set(tag) & set(";|[") for tag in tags)
    return "; ".join(tags) if is_plain else json.dumps(list(tags), ensure_ascii=False)
