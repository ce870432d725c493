"""Samples for people at a terminal: a conversation, and what a file of samples holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .terminal import one_line, printable
from .words import counted

if TYPE_CHECKING:
    from ..decks.sample import HumanLabel, Sample, SampleMessage
    from .terminal import Style

__all__ = ["conversation_text", "label_text", "sample_counts", "sample_counts_text"]

_ROLE_COLOURS = {"system": "magenta", "user": "green", "assistant": "blue"}
_LONGEST_PART = 6_000
_MOST_LISTED = 20


def conversation_text(messages: Sequence[SampleMessage], style: Style, most_lines: int | None = None) -> str:
    """The turns with their roles. A text of more than `most_lines` lines is cut in its middle, and says so."""
    blocks = [_turn(message, style) for message in messages]
    lines = "\n\n".join(blocks).split("\n")
    if most_lines is None:
        return "\n".join(lines)
    hidden = len(lines) - most_lines
    if hidden > 1:
        head = most_lines // 2
        note = style(f"  … {counted(hidden, 'more line')}: m shows all", "grey")
        lines = [*lines[:head], note, *lines[head + hidden :]]
    return "\n".join(_shortened(line, style) for line in lines)


def _turn(message: SampleMessage, style: Style) -> str:
    name = f" {message['name']}" if message.get("name") else ""
    role = style(one_line(f"[{message['role']}{name}]"), _ROLE_COLOURS.get(message["role"], "cyan"), bold=True)
    lines = printable(message["content"]).split("\n")
    return "\n".join([role, *(f"  {line}" if line else "" for line in lines)])


def _shortened(line: str, style: Style) -> str:
    hidden = len(line) - _LONGEST_PART
    return line if hidden <= 0 else line[:_LONGEST_PART] + style(f" … {hidden:,} more characters: m shows all", "grey")


def label_text(label: HumanLabel) -> str:
    """One label, with who gave it and why."""
    value = "no label" if label.value is None else one_line(str(label.value))
    rater = "" if label.rater is None else f"{one_line(label.rater)}: "
    return f"{rater}{value}" + (f" ({one_line(label.reason)})" if label.reason else "")


def sample_counts(samples: Sequence[Sample]) -> dict[str, Any]:
    """What a file of samples holds, in numbers; labels are counted as calibration reads them."""
    from collections import Counter

    from ..graders.verdict_scale import comparable

    given = [_counting(sample) for sample in samples]
    values = [comparable(label.value) for labels in given for label in labels if label.value is not None]
    return {
        "samples": len(samples),
        "labelled": sum(1 for sample in samples if sample.is_labelled),
        "unlabelled": sum(1 for sample in samples if not sample.is_labelled),
        "clusters": len({sample.cluster for sample in samples if sample.cluster is not None}),
        "raters": _sorted(Counter(label.rater for labels in given for label in labels if label.rater is not None)),
        "tags": _sorted(Counter(tag for sample in samples for tag in sample.tags)),
        "labels": {str(value): count for value, count in sorted(Counter(values).items(), key=_numbers_first)},
    }


def _counting(sample: Sample) -> tuple[HumanLabel, ...]:
    """Labels of several people go before the expected one."""
    return sample.labels or (() if sample.expected is None else (sample.expected,))


def _numbers_first(item: tuple[float | str, int]) -> tuple[bool, float, str]:
    value = item[0]
    return (True, 0, value) if isinstance(value, str) else (False, value, "")


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def sample_counts_text(counts: Mapping[str, Any]) -> str:
    """The counts, a line for each kind that there is."""
    first = f"{counted(counts['samples'], 'sample')}: {counts['labelled']:,} labelled, {counts['unlabelled']:,} not"
    lines = [first + (f", {counted(counts['clusters'], 'cluster')}" if counts["clusters"] else "")]
    for kind in ("labels", "raters", "tags"):
        found = list(counts[kind].items())
        if found:
            shown = ", ".join(f"{one_line(name)} ({count:,})" for name, count in found[:_MOST_LISTED])
            more = f", and {len(found) - _MOST_LISTED:,} more" if len(found) > _MOST_LISTED else ""
            lines.append(f"{kind}: {shown}{more}")
    return "\n".join(lines)
