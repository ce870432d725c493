"""Judges of a panel are asked at the same time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from turnwise.graders.base import Grade, Submission
from turnwise.graders.judges import Asker, JudgeAnswer
from turnwise.graders.specs import make_graders
from turnwise.providers import ProviderRequest
from turnwise.providers.base import Settings
from turnwise.suite.format import LongGrader


class WaitForEachOther:
    """Judges of whom none answers before all were asked; each gives its own score."""

    def __init__(self, scores: dict[str, float]) -> None:
        self._scores = scores
        self._asked: list[str] = []
        self._all = asyncio.Event()

    def asker(self, target: str | None, model: str | None = None) -> Asker | None:
        assert target is not None
        assert model is None

        async def ask(request: ProviderRequest) -> JudgeAnswer:
            assert request.question
            self._asked.append(target)
            if len(self._asked) == len(self._scores):
                self._all.set()
            await self._all.wait()
            return JudgeAnswer(text=json.dumps({"score": self._scores[target], "reason": target}))

        return Asker(target, Settings(), ask)


def test_all_are_asked_before_one_answers() -> None:
    """A panel takes as long as its slowest judge, and its votes stand in the order of the suite."""

    async def graded() -> Grade:
        spec = LongGrader(type="llm_judge", targets=["one", "two", "three"], combine="mean")
        (grader,), problems = make_graders([spec])
        assert problems == []
        judges: Any = WaitForEachOther({"one": 0.2, "two": 0.4, "three": 0.6})
        return await asyncio.wait_for(grader.grade(Submission(question="Q?", text="A", judges=judges)), 10)

    found = asyncio.run(graded())
    assert found.score is not None
    assert abs(found.score - 0.4) < 1e-9
    assert [vote["judge"] for vote in found.evidence["votes"]] == ["one", "two", "three"]
