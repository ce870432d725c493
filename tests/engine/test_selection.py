"""Selection: which cases a run takes, and that the same words always take the same cases."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.selection import Selection
from turnwise.errors import UsageError


@dataclass(frozen=True)
class Case:
    id: str
    tags: tuple[str, ...] = ()


CASES = [
    ("a.yaml", Case("refund-annual", ("billing", "hard"))),
    ("a.yaml", Case("refund-monthly", ("billing",))),
    ("b.yaml", Case("greeting", ("easy",))),
    ("b.yaml", Case("refund-annual")),
    ("b.yaml", Case("odd[1]")),
]


def taken(selection: Selection, cases: list[tuple[str, Case]] = CASES) -> list[tuple[str, str]]:
    return [(suite, case.id) for suite, case in selection.of(lambda: iter(cases))]


@pytest.mark.parametrize(
    ("selection", "places"),
    [
        (Selection(), [0, 1, 2, 3, 4]),
        (Selection(cases=("refund-*",)), [0, 1, 3]),
        (Selection(cases=("refund-*",), exclude=("*-annual",)), [1]),
        (Selection(cases=("greeting", "odd[1]")), [2, 4]),
        (Selection(tags=("easy", "hard")), [0, 2]),
        (Selection(tags=("billing",), exclude=("refund-monthly",)), [0]),
        (Selection(only=frozenset({("b.yaml", "refund-annual")})), [3]),
        (Selection(only=frozenset()), []),
        (Selection(limit=2), [0, 1]),
        (Selection(cases=("*-annual",), limit=1), [0]),
    ],
)
def test_conditions_all_hold(selection: Selection, places: list[int]) -> None:
    """By id or glob, without the excluded, with one of the tags, among those of another run, the first so many."""
    assert taken(selection) == [(CASES[place][0], CASES[place][1].id) for place in places]


IDS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.text(max_size=3)), unique=True, max_size=12)


@given(IDS, st.integers(1, 6), st.integers(0, 9), st.randoms())
def test_a_sample_does_not_depend_on_the_order(
    ids: list[tuple[str, str]], size: int, seed: int, shuffling: random.Random
) -> None:
    """So many as asked for, or all; the same ones for the same seed, in the order of the suites."""
    cases = [(suite, Case(name)) for suite, name in ids]
    sample = taken(Selection(sample=size, seed=seed), cases)
    assert len(sample) == min(size, len(cases))
    assert sample == [pair for pair in ids if pair in set(sample)]
    shuffled = list(cases)
    shuffling.shuffle(shuffled)
    assert set(taken(Selection(sample=size, seed=seed), shuffled)) == set(sample)


@given(IDS, st.integers(1, 6), st.integers(0, 9))
def test_a_new_case_changes_a_sample_by_one_at_most(ids: list[tuple[str, str]], size: int, seed: int) -> None:
    """So that a sample stays comparable while its suite grows."""
    selection = Selection(sample=size, seed=seed)
    before = set(taken(selection, [(suite, Case(name)) for suite, name in ids]))
    after = set(taken(selection, [(suite, Case(name)) for suite, name in [*ids, ("c", "new")]]))
    assert len(before - after) <= 1
    assert after - before <= {("c", "new")}


def test_seeds_draw_differently() -> None:
    """Among many cases, two seeds give two samples."""
    cases = [("a", Case(str(number))) for number in range(200)]
    assert taken(Selection(sample=20, seed=1), cases) != taken(Selection(sample=20, seed=2), cases)


def test_a_sample_is_drawn_before_the_limit() -> None:
    """`limit` shortens a run; it does not change which cases the sample is."""
    cases = [("a", Case(str(number))) for number in range(50)]
    whole = taken(Selection(sample=10, seed=3), cases)
    assert taken(Selection(sample=10, seed=3, limit=4), cases) == whole[:4]


def test_cases_are_streamed() -> None:
    """A limit reads no more than it needs."""
    read = 0

    def stream() -> Iterator[tuple[str, Case]]:
        nonlocal read
        while True:
            read += 1
            yield "a", Case(str(read))

    assert len(list(Selection(limit=3).of(stream))) == 3
    assert read <= 4


@pytest.mark.parametrize("name", ["sample", "limit"])
def test_none_at_all_is_refused(name: str) -> None:
    """A run of no cases would pass without having looked at anything."""
    with pytest.raises(UsageError, match=f"--{name} must be at least 1, found 0"):
        Selection(**{name: 0})  # type: ignore[arg-type]


def test_everything_is_told_from_a_part() -> None:
    """A seed alone leaves nothing out."""
    assert Selection(seed=7).is_everything
    assert not Selection(limit=1).is_everything
