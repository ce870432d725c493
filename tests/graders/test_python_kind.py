"""The kind `python`: what a function is given, what it may return, and what is said of its failures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from turnwise.graders.base import Grade, GradeError

pytest_plugins = ["grader_fixtures"]

Judge = Callable[..., Grade]
MODULE = "own_checks_for_tests"


@pytest.fixture
def judge(grade: Callable[..., Grade], tmp_path: Path) -> Iterator[Judge]:
    """Grades by a function `check` with this body, in a module beside the suite."""

    def judged(body: str, text: str = "x", head: str = "def check(given):", **options: Any) -> Grade:
        indented = "\n    ".join(body.splitlines())
        (tmp_path / f"{MODULE}.py").write_text(f"{head}\n    {indented}\n", encoding="utf-8")
        spec = {"type": "python", "function": f"{MODULE}:check", **options}
        return grade(spec, text, folder=tmp_path, root=tmp_path.parent, reference="Oslo")

    yield judged
    sys.modules.pop(MODULE, None)


def error_of(grade: Grade) -> GradeError:
    """The error of a grade that has one, and so no score."""
    assert (grade.score, grade.passed) == (None, None)
    assert grade.error is not None
    return grade.error


@pytest.mark.parametrize(
    ("body", "score", "passed"),
    [
        ("return 0.25", 0.25, False),
        ("return 1", 1, True),
        ("return True", 1, True),
        ("return False", 0, False),
        ("return {'score': 0.5, 'passed': True}", 0.5, True),
        ("return {'passed': False}", 0, False),
        ("import numpy\nreturn numpy.float32(0.5)", 0.5, False),
        ("import numpy\nreturn numpy.array([1, 2]).mean() > 1", 1, True),
        ("from fractions import Fraction\nreturn Fraction(1, 4)", 0.25, False),
        ("return given['reference_answer'] == 'Oslo' and given['answer'] == 'x'", 1, True),
    ],
)
def test_a_function_returns_a_number_a_truth_value_or_a_mapping(
    judge: Judge, body: str, score: float, passed: bool
) -> None:
    """Each is a score from 0 to 1; numbers of numpy are numbers."""
    grade = judge(body)
    assert (grade.error, grade.score, grade.passed) == (None, score, passed)


def test_a_function_may_be_async(judge: Judge) -> None:
    """It runs in the event loop then; what a sync one returns is awaited as well."""
    waiting = "import asyncio\nawait asyncio.sleep(0)\nreturn 0.5"
    assert judge(waiting, head="async def check(given):").score == 0.5


def test_a_function_may_return_an_awaitable(judge: Judge) -> None:
    """Such as one that hands its work to an async one."""
    assert judge("async def later():\n    return 0.5\nreturn later()").score == 0.5


def test_a_grade_keeps_the_settings_of_the_suite(judge: Judge) -> None:
    """A function may return a `Grade`: what it found counts, name and weight are the suite's."""
    body = (
        "from turnwise.graders.base import Grade\n"
        "return Grade(name='n', kind='k', score=0.5, passed=True, reason='why', evidence={'a': 1}, weight=9)"
    )
    grade = judge(body, name="mine", weight=2)
    assert (grade.name, grade.kind, grade.weight) == ("mine", "python", 2)
    assert (grade.score, grade.passed, grade.reason, grade.evidence) == (0.5, True, "why", {"a": 1})


def test_a_grade_with_an_error_is_one(judge: Judge) -> None:
    """With the function's own kind."""
    body = (
        "from turnwise.graders.base import GradeError, GraderSettings\n"
        "return GraderSettings(name='n', kind='k').ungraded(GradeError('no-data', 'nothing to compare with'))"
    )
    assert error_of(judge(body)) == GradeError("no-data", "nothing to compare with")


def test_a_function_that_cannot_grade_says_so(judge: Judge) -> None:
    """As a program does."""
    assert error_of(judge("return {'error': 'no data'}")).kind == "cannot-grade"


@pytest.mark.parametrize(
    "body",
    [
        "return None",
        "return 'good'",
        "return 1.5",
        "return float('nan')",
        "return 10 ** 400",
        "return 1j",
        "return [1]",
        "return object()",
        "return {'score': 1, 'evidence': {'x': object()}}",
        "return {'score': 1, 'hits': [1]}",
        "import numpy\nreturn numpy.array([1.0])",
    ],
)
def test_what_is_no_judgement_is_an_error(judge: Judge, body: str) -> None:
    """Never a 0; the message says what was found and what is expected."""
    error = error_of(judge(body))
    assert error.kind == "bad-output"
    assert "expected" in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("raise SystemExit(3)", "sys.exit(3)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise StopIteration", "StopIteration"),
        ("raise TimeoutError('mine')", "TimeoutError: mine"),
        ("import asyncio\nraise asyncio.CancelledError", "CancelledError"),
    ],
)
def test_an_exception_is_a_crash_with_its_place(judge: Judge, body: str, words: str) -> None:
    """Whatever it raises, the run goes on, and the author finds the line."""
    error = error_of(judge(body))
    assert error.kind == "crash"
    assert words in error.message
    assert f"{MODULE}.py:{1 + len(body.splitlines())}" in error.message


@pytest.mark.parametrize("raised", ["ValueError('boom')", "SystemExit(3)", "asyncio.CancelledError", "TimeoutError"])
def test_an_exception_of_an_async_function_is_a_crash(judge: Judge, raised: str) -> None:
    """Not even a cancellation of its own, or an exit, reaches the run."""
    error = error_of(judge(f"import asyncio\nraise {raised}", head="async def check(given):"))
    assert (error.kind, f"{MODULE}.py:3" in error.message) == ("crash", True)


@pytest.mark.parametrize("head", ["def check(given):", "async def check(given):"])
def test_a_function_that_takes_too_long_is_given_up(judge: Judge, head: str) -> None:
    """An async one is cancelled; nobody waits for the other."""
    body = "import asyncio\nawait asyncio.sleep(5)" if "async" in head else "import time\ntime.sleep(5)"
    started = monotonic()
    error = error_of(judge(body, head=head, timeout=0.2))
    assert (error.kind, "0.2 s" in error.message) == ("timeout", True)
    assert monotonic() - started < 3


def test_what_a_function_changes_is_its_own(grade: Callable[..., Grade], judge: Judge, tmp_path: Path) -> None:
    """It gets a copy: other graders of the case are given the same as it was."""
    metadata = {"list": [1]}
    judge("return 1")
    (tmp_path / f"{MODULE}.py").write_text("def check(given):\n    given['metadata']['list'].append(2)\n    return 1\n")
    sys.modules.pop(MODULE)
    spec = {"python": f"{MODULE}:check"}
    assert grade(spec, "x", folder=tmp_path, metadata=metadata).score == 1
    assert metadata == {"list": [1]}


def test_a_module_is_found_beside_the_suite_or_at_the_root(grade: Callable[..., Grade], tmp_path: Path) -> None:
    """`path` names another folder, relative to the suite's."""
    for folder, name, score in (("evals", "beside_t", 0.1), (".", "at_root_t", 0.2), ("evals/lib", "deeper_t", 0.3)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text(f"def check(given):\n    return {score}\n")
    where = {"folder": tmp_path / "evals", "root": tmp_path}
    assert grade({"python": "beside_t:check"}, "x", **where).score == 0.1
    assert grade({"python": "at_root_t:check"}, "x", **where).score == 0.2
    assert grade({"python": {"function": "deeper_t:check", "path": "lib"}}, "x", **where).score == 0.3


@pytest.mark.parametrize(
    ("function", "words"),
    [("no_such_module_t:check", "there is no module"), (f"{MODULE}:chekc", "did you mean `check`?")],
)
def test_a_function_that_is_not_there_is_named(
    grade: Callable[..., Grade], judge: Judge, tmp_path: Path, function: str, words: str
) -> None:
    """With what to do."""
    judge("return 1")
    error = error_of(grade({"python": function}, "x", folder=tmp_path))
    assert error.kind == "not-found"
    assert words in error.message
