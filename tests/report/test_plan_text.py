"""What a run would do, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from turnwise.engine.judges import JudgeBook
from turnwise.report.plan import plan_text

if TYPE_CHECKING:
    from turnwise.engine.plan import Plan


def plan_of(cases: int, trials: int, variants: tuple[str | None, ...] = (None,)) -> Plan:
    """A plan of one suite and one target."""
    made = [None if name is None else SimpleNamespace(name=name) for name in variants]
    suite = SimpleNamespace(name="s.yaml", variants=made)
    plan = SimpleNamespace(
        results=cases * trials * len(variants), cases=cases, targets=[SimpleNamespace(name="gpt\x1b")], suites=[suite],
        selected=lambda: [(suite, None)] * cases, judges=JudgeBook(), regrades=None,
    )  # fmt: skip
    return cast("Plan", plan)


def test_one_of_each_is_singular() -> None:
    """A single result of a single case reads as one; names cannot harm the terminal."""
    assert plan_text(plan_of(1, 1)).splitlines() == ["1 result of 1 case, asked of gpt␛", "  s.yaml: 1 case"]


def test_many_are_plural_and_variants_are_named() -> None:
    """Results count cases, trials and variants."""
    lines = plan_text(plan_of(1000, 2, (None, "terse"))).splitlines()
    assert lines == [
        "4,000 results of 1,000 cases, asked of gpt␛",
        "  s.yaml: 1,000 cases, variants: as written, terse",
    ]
