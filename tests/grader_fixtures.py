"""What the tests of graders share: one call from a spec and an answer to a grade."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from turnwise.graders.base import Grade, Submission
from turnwise.graders.bounded import shared_workers
from turnwise.graders.specs import make_graders
from turnwise.suite.format import GraderSpec


@pytest.fixture(scope="session")
def grade() -> Callable[..., Grade]:
    """Grades a text by a grader that is written as in a suite; further keywords belong to the submission."""
    adapter: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)

    def graded(spec: Any, text: str, **submission: Any) -> Grade:
        (grader,), problems = make_graders([adapter.validate_python(spec)])
        assert problems == []
        return asyncio.run(grader.grade(Submission(question="Q?", text=text, **submission)))

    return graded


@pytest.fixture(scope="session", autouse=True)
def _ended_worker() -> Iterator[None]:
    yield
    shared_workers().close()
