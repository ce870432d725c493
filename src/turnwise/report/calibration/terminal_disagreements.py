"""The disagreements that could do harm, on a terminal: the conversation beside what people and judges said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .contested import LONGEST_ID, LONGEST_REASON, LONGEST_TEXT, MOST_MESSAGES
from .layout import Line, side_by_side, wrapped
from .wording import code_text, counted, cut

if TYPE_CHECKING:
    from ...calibration.report import Item
    from .contested import Contested
    from .layout import Style

__all__ = ["disagreement_block"]

_TWO_COLUMNS = 100
_ROLES = {"user": "green", "assistant": "blue", "system": "magenta"}


def disagreement_block(contested: Contested, style: Style, width: int, clean: Callable[[str], str]) -> list[str]:
    """One sample: in two columns where there is room, else one below the other."""
    marked = f"{_flat(clean(cut(contested.id, LONGEST_ID)))}{'  dangerous' if contested.dangerous else ''}"
    colour = "red" if contested.dangerous else None
    head = [style(line, colour, bold=True) for line in wrapped(marked, width, "  ")]
    two = width >= _TWO_COLUMNS
    column = (width - 3) // 2 if two else width - 2
    left = list(_conversation(contested.item, column, clean))
    right = list(_opinions(contested, column, clean))
    if two:
        return [*head, *side_by_side(left, right, column, style)]
    lines = [f"  {style(each.text, each.colour, bold=each.bold)}".rstrip() for each in (*right, *left)]
    return [*head, *lines]


def _conversation(item: Item | None, width: int, clean: Callable[[str], str]) -> Iterator[Line]:
    """The last messages, which the judge was asked about, and how many went before."""
    if item is None:
        return
    messages = item.sample.messages
    earlier = len(messages) - MOST_MESSAGES
    if earlier > 0:
        yield Line(f"… ({counted(earlier, 'earlier message')})", "grey")
    for message in messages[-MOST_MESSAGES:]:
        role = cut(message["role"], 40)
        yield from _paragraph(f"{role}: ", message["content"], width, clean, _ROLES.get(message["role"], "cyan"))


def _opinions(contested: Contested, width: int, clean: Callable[[str], str]) -> Iterator[Line]:
    """What people said, then each judge, with reasons."""
    _, first = contested.judges[0]
    yield from _opinion("people", first.human, first.human_reason, width, clean, "green")
    for model, each in contested.judges:
        yield from _opinion(cut(model, 60), each.judge, each.judge_reason, width, clean, "red")


def _opinion(
    who: str, value: float | str, reason: str | None, width: int, clean: Callable[[str], str], colour: str
) -> Iterator[Line]:
    yield from _coloured(wrapped(_flat(clean(f"{who}: {cut(code_text(value), 60)}")), width, "  "), colour)
    yield from _coloured(_text(reason or "(no reason given)", LONGEST_REASON, width, clean), None)


def _paragraph(who: str, text: str, width: int, clean: Callable[[str], str], colour: str) -> Iterator[Line]:
    yield from _coloured(wrapped(_flat(clean(who)), width, "  "), colour)
    yield from _coloured(_text(text, LONGEST_TEXT, width, clean), None)


def _text(text: str, longest: int, width: int, clean: Callable[[str], str]) -> list[str]:
    shown = clean(cut(text.strip(), longest)).expandtabs(4)
    return [f"  {line}" for line in wrapped(shown, width - 2)]


def _coloured(lines: Sequence[str], colour: str | None) -> Iterator[Line]:
    return (Line(line, colour) for line in lines)


def _flat(text: str) -> str:
    return text.replace("\n", "␊").replace("\t", " ").rstrip()
