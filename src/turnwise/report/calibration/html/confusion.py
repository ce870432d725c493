"""Who said what: the table of people's labels against the judge's, as a map of heat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figures import code_text
from .markup import Html, tag

if TYPE_CHECKING:
    from ....calibration.report import Confusion

__all__ = ["confusion_table"]

_MOST_LABELS = 25


def confusion_table(confusion: Confusion) -> Html:
    """Counts with the share of their row, the darker the larger; the outlined cells are those of agreement."""
    if len(confusion.labels) > _MOST_LABELS:
        text = f"The table of {len(confusion.labels)} labels is too large to show; the JSON report has it."
        return tag("p", text, class_="note")
    names = [code_text(label) for label in confusion.labels]
    over = tag("tr", tag("td"), tag("th", "judge", colspan=len(names) + 1, scope="colgroup"))
    head = tag(
        "tr", tag("th", "people", scope="col"), *(tag("th", name, scope="col") for name in names), tag("th", "n")
    )
    rows = [_confusion_row(place, names[place], row) for place, row in enumerate(confusion.counts)]
    caption = tag("caption", "Who said what: counts, and % of the row")
    table = tag("table", caption, tag("thead", over, head), tag("tbody", *rows), class_="confusion")
    return tag("div", table, class_="scroll")


def _confusion_row(place: int, name: str, counts: Sequence[int]) -> Html:
    total = sum(counts)
    cells = [_confusion_cell(count, total, place == column) for column, count in enumerate(counts)]
    return tag("tr", tag("th", name, scope="row"), *cells, tag("td", f"{total:,}", class_="total"))


def _confusion_cell(count: int, total: int, agrees: bool) -> Html:
    share = count / total if total else 0.0
    heat = f"heat-{math.ceil(share * 9)}" + (" agrees" if agrees else "")
    shown = [f"{count:,}", tag("small", f"{share:.0%}")] if count else [tag("span", "0", class_="none")]
    return tag("td", *shown, class_=heat)
