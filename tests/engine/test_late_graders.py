"""Graders that take more time than a result has: the answer was paid for, and is kept with their errors."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import Server, case, hello, journal, mock, project, run, suite
from turnwise.graders.base import Grade, GraderSettings, Submission
from turnwise.graders.guarded import grade_until, guarded
from turnwise.providers import ProviderRequest, ProviderResponse, Usage

HELLO = {"contains": "hello"}
PROGRAM = {"type": "code", "name": "sleepy", "command": [sys.executable, "-c", "import time; time.sleep(30)"]}
FUNCTION = {"type": "python", "name": "sleepy", "function": "sleepy_graders:sleep"}
ASYNC = {"type": "python", "name": "sleepy", "function": "sleepy_graders:sleep_async"}
SLEEPY = """
import asyncio, time

def sleep(data):
    time.sleep(5)
    return 1

async def sleep_async(data):
    await asyncio.sleep(30)
    return 1
"""


@pytest.fixture(autouse=True)
def functions(tmp_path: Path) -> Iterator[None]:
    """The module of the functions, which each test imports from its own folder."""
    (tmp_path / "sleepy_graders.py").write_text(SLEEPY)
    yield
    sys.modules.pop("sleepy_graders", None)


def inside(grader: dict[str, Any]) -> dict[str, Any]:
    """The same in a composite, beside one that is quick."""
    return {"type": "composite", "graders": [HELLO, grader]}


@pytest.mark.parametrize("grader", [PROGRAM, FUNCTION, ASYNC])
def test_a_grader_that_is_late_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grader: dict[str, Any]
) -> None:
    """Answer, tokens and cost are kept; the grade says `timeout`, names the grader, and others grade as ever."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        return hello(usage=Usage(input_tokens=100, output_tokens=10))

    Server(reply).install(monkeypatch)
    prices = {"input": 1.0, "output": 1.0}
    project(tmp_path, mock(prices=prices), s=suite(graders=[grader, HELLO]))
    began = time.monotonic()
    (record,) = journal(run(tmp_path / "s.yaml", timeout=0.5))
    assert time.monotonic() - began < 10
    assert (record["status"], record["answer"], record["error"]) == ("ungraded", "hello", None)
    assert (record["usage"]["input_tokens"], record["cost_usd"]) == (100, pytest.approx(110 / 1_000_000))
    late, quick = record["grades"]
    assert (late["name"], late["score"], late["error"]["kind"]) == ("sleepy", None, "timeout")
    assert "sleepy: not done" in record["reason"]
    assert "--timeout" in late["error"]["message"]
    assert quick["score"] == 1.0


def test_what_else_is_inside_of_a_composite_is_kept(tmp_path: Path) -> None:
    """The inner grader is the one that is late: the grades beside it stay in the evidence, however deep."""
    project(tmp_path, s=suite([case("a", turns=[{"user": "hello, again"}])], graders=[inside(inside(ASYNC))]))
    (record,) = journal(run(tmp_path / "s.yaml", timeout=0.3))
    (outer,) = record["grades"]
    assert (record["status"], outer["error"]["kind"]) == ("ungraded", "inner")
    quick, deeper = outer["evidence"]["grades"]
    assert (quick["score"], deeper["error"]["kind"]) == (1.0, "inner")
    assert [each["score"] for each in deeper["evidence"]["grades"]] == [1.0, None]
    assert deeper["evidence"]["grades"][1]["error"]["kind"] == "timeout"


class _Raises:
    settings = GraderSettings(name="own", kind="own")

    async def grade(self, submission: Submission) -> Grade:
        raise TimeoutError("its own")


def test_a_timeout_that_a_grader_raises_is_its_own_failure() -> None:
    """Only the time of the result makes it late: whatever else it raises is a crash."""

    async def graded() -> Grade:
        grade_until(asyncio.get_running_loop().time() + 60)
        return await guarded(_Raises(), Submission(question="Q?", text="A"))

    grade = asyncio.run(graded())
    assert grade.error is not None
    assert (grade.error.kind, "its own" in grade.error.message) == ("crash", True)
