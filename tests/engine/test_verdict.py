"""The verdict on a run: its exit code, and the line that says why."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.summary import Tally
from turnwise.engine.summary_format import Summary
from turnwise.engine.verdict import judge

A, B = "evals/a.yaml", "evals/b.yaml"


def of(passed: int = 0, failed: int = 0, ungraded: int = 0, errors: int = 0, *, suite: str | None = A) -> Tally:
    """A tally of that many results of one group."""
    return onto(Tally(), passed, failed, ungraded, errors, suite=suite)


def onto(
    tally: Tally, passed: int = 0, failed: int = 0, ungraded: int = 0, errors: int = 0, **fields: Any
) -> Tally:  # fmt: skip
    """The tally with that many more results."""
    outcomes: list[dict[str, Any]] = [
        *[{"score": 1.0}] * passed,
        *[{"score": 0.0}] * failed,
        *[{"score": None}] * ungraded,
        *[{"score": None, "error": {"kind": "timeout"}}] * errors,
    ]
    for number, outcome in enumerate(outcomes):
        tally.add({"case_id": f"case {number}", "target": "gpt", "trial": 1, **fields, **outcome})
    return tally


def verdict(tally: Tally, **options: Any) -> tuple[int, str]:
    """Exit code and text."""
    found = judge(tally.summary(), **options)
    return found.exit_code, found.text


def test_all_passed() -> None:
    """Without a bar, every graded result must pass."""
    assert verdict(of(40)) == (0, "PASSED: 40 of 40 (exit 0)")


def test_one_failed() -> None:
    """Without a bar, one failure is one too many."""
    assert verdict(of(37, 3)) == (1, "FAILED: evals/a.yaml on gpt: 3 of 40 failed (exit 1)")


def test_the_pass_rate_of_a_suite_is_its_bar() -> None:
    """A suite that asks for 0.9 has failed with 0.75, and passed with exactly 0.9."""
    bars = {A: 0.9}
    assert verdict(of(3, 1), min_pass_rates=bars) == (
        1,
        "FAILED: evals/a.yaml on gpt: pass rate 0.75 is below 0.9 (exit 1)",
    )
    assert verdict(of(9, 1), min_pass_rates=bars) == (0, "PASSED: 9 of 10 (exit 0)")


def test_the_command_line_is_above_the_suite() -> None:
    """A threshold that was given takes the place of every suite's own, be it stricter or not."""
    assert verdict(of(3, 1), min_pass_rates={A: 0.9}, threshold=0.7)[0] == 0
    assert verdict(of(3, 1), min_pass_rates={A: 0.5}, threshold=0.8)[0] == 1
    assert verdict(of(0, 4), threshold=0.0)[0] == 0


def test_rounding_does_not_fail_a_run() -> None:
    """A rate that is below its bar only as floats are is not below it."""
    assert verdict(of(7, 3), threshold=0.1 + 0.6 + 1e-12)[0] == 0
    assert verdict(of(7, 3), threshold=0.7 + 1e-6)[0] == 1


def test_a_rate_never_looks_like_the_bar_it_misses() -> None:
    """As many digits are shown as it takes."""
    assert "pass rate 0.899 is below 0.9 " in verdict(of(899, 101), threshold=0.9)[1]


def test_each_group_has_to_reach_its_bar() -> None:
    """A good suite does not make up for a bad one; variants are named."""
    tally = onto(of(100), 1, 1, suite=B, variant="short")
    assert verdict(tally, threshold=0.9) == (
        1,
        "FAILED: evals/b.yaml on gpt (short): pass rate 0.50 is below 0.9 (exit 1)",
    )


def test_many_failures_are_named_in_part() -> None:
    """Three groups are named, and the others counted."""
    tally = Tally()
    for number in range(5):
        onto(tally, 0, 1, suite=f"{number}.yaml")
    code, text = verdict(tally)
    assert code == 1
    assert "2.yaml" in text
    assert "3.yaml" not in text
    assert text.endswith("; and 2 more below the bar (exit 1)")


def test_errors_ungraded_and_missing_are_incomplete() -> None:
    """What is not known is told before what has failed, and does not hide it."""
    assert verdict(of(4, 0, 1, 3), left=2) == (3, "INCOMPLETE: 3 errors, 1 ungraded; 2 not run (exit 3)")
    assert verdict(of(1, 0, 0, 1)) == (3, "INCOMPLETE: 1 error (exit 3)")
    assert verdict(of(1, 1), left=1) == (3, "INCOMPLETE: 1 not run; evals/a.yaml on gpt: 1 of 2 failed (exit 3)")


def test_a_run_that_was_not_to_be_graded_may_be_ungraded() -> None:
    """Ungraded results are then fine; errors are not."""
    assert verdict(of(0, 0, 3), graded=False) == (0, "DONE: 3 answers, not graded (exit 0)")
    assert verdict(of(2, 0, 1), graded=False) == (0, "PASSED: 2 of 2, 1 not graded (exit 0)")
    assert verdict(of(0, 0, 3, 1), graded=False)[0] == 3


def test_no_results_are_no_success() -> None:
    """Nothing to judge is incomplete, whatever was asked for."""
    nothing = Summary(None, (), (), (), {})
    assert judge(nothing).text == "INCOMPLETE: there are no results (exit 3)"
    assert judge(nothing, graded=False, threshold=0.0).exit_code == 3


def test_an_interrupted_run_says_so_first() -> None:
    """130 stands above everything; the rest is still told."""
    assert verdict(of(3, 0, 0, 1), left=6, stopped="interrupted") == (
        130,
        "INTERRUPTED: 4 done; 1 error; 6 not run (exit 130)",
    )
    assert verdict(Tally(), left=6, stopped="interrupted")[1] == "INTERRUPTED: 0 done; 6 not run (exit 130)"


@pytest.mark.parametrize(
    ("stopped", "left", "expected"),
    [
        ("budget", 2, (3, "INCOMPLETE: the budget is used up; 2 not run (exit 3)")),
        ("budget", 0, (0, "PASSED: 1 of 1 (exit 0)")),
        ("fault", 0, (3, "INCOMPLETE: a fault ended the run early (exit 3)")),
    ],
)
def test_a_run_that_ended_early_says_why(stopped: str, left: int, expected: tuple[int, str]) -> None:
    """A budget that ran out only with the last result stopped nothing; a fault is never fine."""
    assert verdict(of(1), left=left, stopped=stopped) == expected


def test_results_without_a_suite_are_named_by_their_target() -> None:
    """Lines of another program may have no suite."""
    assert verdict(of(0, 1, suite=None), min_pass_rates={A: 0.0})[1] == "FAILED: gpt: 1 of 1 failed (exit 1)"
