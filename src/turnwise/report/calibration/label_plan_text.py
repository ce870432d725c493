"""How the labels that a figure takes read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import counted, figure, name_of

if TYPE_CHECKING:
    from ...calibration.label_plan import Need

__all__ = ["need_line"]

_OF_CLASS = {"tpr": "of good samples", "tnr": "of bad samples"}


def need_line(need: Need, half_width: float) -> str:
    """What one figure takes, in a line.

    >>> from ...calibration.label_plan import Need
    >>> need_line(Need("agreement", 0.85, 120, 0.064, 192, 72, "gpt"), 0.05)
    'agreement .85: now ± .06 (n 120); ± .05 needs 192 labels: 72 more'
    """
    head = f"{name_of(need.figure)} {figure(need.value)}"
    if need.half_width is not None:
        head += f": now ± {figure(need.half_width)} (n {need.n:,})"
    if need.total is None:
        return f"{head}; how many labels it needs is not known: {need.reason}"
    if need.assumed is not None:
        return f"{head}: {counted(need.total, 'label')}, {need.more:,} more (assumed: {need.assumed})"
    kind = _OF_CLASS.get(need.figure)
    words = counted(need.total, "label") + (f" {kind}" if kind else "")
    more = "no more" if need.more == 0 else "no number known" if need.more is None else f"{need.more:,} more"
    more += " of all kinds" if kind and need.more else ""
    return f"{head}; ± {figure(half_width)} needs {words}: {more}"
