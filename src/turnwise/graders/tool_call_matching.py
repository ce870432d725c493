"""Which tool calls that were made are which of those that were expected. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

__all__ = ["Fits", "Order", "matched"]

Order = Literal["exact", "in_order", "any_order", "subset"]
Fits = Sequence[Sequence[bool]]
"""For each expected call, whether each call that was made is one."""


def matched(fits: Fits, order: Order, made: int) -> dict[int, int]:
    """The calls that were made, by index, with the expected call that each of them is.

    As many as the order allows: in `any_order` each expected call is met once, in `subset` as often as it likes.

    >>> matched([[False, True], [True, False]], "any_order", 2) == {0: 1, 1: 0}
    True
    >>> len(matched([[False, True], [True, False]], "in_order", 2))
    1
    """
    if order == "subset":
        allowed = {index: [row for row, each in enumerate(fits) if each[index]] for index in range(made)}
        return {index: rows[0] for index, rows in allowed.items() if rows}
    return _paired(fits) if order == "any_order" else _longest_in_order(fits, made)


def _paired(fits: Fits) -> dict[int, int]:
    """A largest set of pairs: an expected call that could be several gives way to one that could be fewer."""
    taken: dict[int, int] = {}

    def found(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in taken or found(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    for row in range(len(fits)):
        found(row, set())
    return taken


def _longest_in_order(fits: Fits, made: int) -> dict[int, int]:
    """A longest run of pairs in which both sides keep their order."""
    rows = len(fits)
    longest = [[0] * (made + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(made - 1, -1, -1):
            pair = longest[row + 1][column + 1] + 1 if fits[row][column] else 0
            longest[row][column] = max(pair, longest[row + 1][column], longest[row][column + 1])
    return dict(_walk(fits, longest))


def _walk(fits: Fits, longest: list[list[int]]) -> list[tuple[int, int]]:
    pairs, row, column = [], 0, 0
    while longest[row][column]:
        if fits[row][column] and longest[row][column] == longest[row + 1][column + 1] + 1:
            pairs.append((column, row))
            row, column = row + 1, column + 1
        elif longest[row][column] == longest[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs
