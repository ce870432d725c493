"""Draws from a list: all alike, or from each stratum in proportion to its size."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from ..errors import UsageError

__all__ = ["allotted", "draw", "draw_from_strata"]


def draw(count: int, wanted: int | None, seed: int) -> list[int]:
    """Which of `count` things are drawn, in their order; all of them if none are wanted in particular.

    >>> draw(3, None, 0), len(draw(100, 10, 0))
    ([0, 1, 2], 10)
    """
    if wanted is None or wanted >= count:
        return list(range(count))
    return sorted(random.Random(seed).sample(range(count), wanted))  # noqa: S311  (a draw that can be repeated, not a secret)


def draw_from_strata(strata: Sequence[str], wanted: int | None, seed: int) -> list[int]:
    """The same, with at least one of each stratum; `strata` names that of each thing. Raises `UsageError`."""
    members: dict[str, list[int]] = {}
    for index, name in enumerate(strata):
        members.setdefault(name, []).append(index)
    if wanted is None or wanted >= len(strata):
        return list(range(len(strata)))
    shares = allotted({name: len(indexes) for name, indexes in members.items()}, wanted)
    chance = random.Random(seed)  # noqa: S311  (a draw that can be repeated, not a secret)
    return sorted(index for name in sorted(members) for index in chance.sample(members[name], shares[name]))


def allotted(sizes: Mapping[str, int], wanted: int) -> dict[str, int]:
    """How many to take of each stratum: in proportion, at least one, and `wanted` in all. Raises `UsageError`.

    >>> allotted({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 8, 'b': 1, 'c': 1}
    """
    if wanted < len(sizes):
        message = f"{wanted} cannot hold one of each of {len(sizes)} strata: {', '.join(sorted(sizes)[:10])}"
        raise UsageError(message, f"draw {len(sizes)} or more, or leave --stratify out")
    total = sum(sizes.values())
    fair = {name: wanted * size / total for name, size in sizes.items()}
    shares = {name: max(1, int(each)) for name, each in fair.items()}
    while sum(shares.values()) < wanted:
        open_ = [name for name in sizes if shares[name] < sizes[name]]
        shares[max(open_, key=lambda name: fair[name] - shares[name])] += 1
    while sum(shares.values()) > wanted:
        rich = [name for name in sizes if shares[name] > 1]
        shares[max(rich, key=lambda name: shares[name] - fair[name])] -= 1
    return shares
