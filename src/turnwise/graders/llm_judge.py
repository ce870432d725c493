"""The kind `llm_judge`: a model judges the answer by a prompt, and says what is good and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ..conversation.authored import Word
from ..programs.words import clean_text
from .asking import about_call, answer_status, judge_request, prompt_of
from .base import Grade, GraderSettings, Submission
from .judge_prompt import Form, filled, material
from .judge_words import JUDGE, exact_number
from .panel import PanelOptions, Vote, ask_panel, combined_score, judged_settings, panel_evidence, without_verdict
from .roles import PromptText, Wanted
from .thresholds import reaches
from .verdict import Status, parse_verdict, verdict_object
from .verdict_scale import Scale

if TYPE_CHECKING:
    from .judges import Asker, JudgeAnswer

__all__ = ["LlmJudge", "LlmJudgeGrader", "Range", "judge_schema", "judge_system", "unit", "unit_scale"]

_MOST_POINTS = 20


def _has_two_ends(ends: list[float]) -> list[float]:
    low, high = ends
    if not (isfinite(low) and isfinite(high) and low < high):
        hint = "write the worst score first: `range: [1, 5]`"
        raise PydanticCustomError("grader_options", "`range` must go from a number to a larger one", {"hint": hint})
    return ends


Range = Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(_has_two_ends)]
"""The ends of a range of scores: the worst, and the best."""


class LlmJudge(PanelOptions):
    """A model that judges by a prompt."""

    prompt: Word | None = Field(
        None, description="What the judge is asked: a text, or the path of a file; the built-in prompt if absent."
    )
    placeholders: Form = Field(
        "braces", description="`braces`: the prompt has `{{ answer }}`; `dollar`: `${answer}`, as in AgentV."
    )
    range: Range | None = Field(None, description="The worst and the best score; `[0, 1]` if absent.")
    model: Word | None = Field(None, description="Another model of the target that judges.")


@dataclass(frozen=True, slots=True)
class LlmJudgeGrader:
    """Asks one judge or several. What they cannot say leaves the answer ungraded."""

    options: LlmJudge
    settings: GraderSettings

    def wanted(self) -> Wanted:
        """Whom it asks, and by which prompt."""
        own = self.options.prompt
        prompt = None if own is None else PromptText(own, self.options.placeholders)
        return Wanted(self.options.judges(self.settings.target), self.options.model, prompt)

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        options, settings = self.options, judged_settings(self.settings)
        judges = options.judges(settings.target)
        votes = await ask_panel(judges, options.model, submission, partial(self._vote, submission))
        if not isinstance(votes, list):
            return settings.ungraded(votes)
        evidence = panel_evidence(votes, options.combine)
        if (error := without_verdict(votes, options.least)) is not None:
            return settings.ungraded(error, evidence)
        scores = [vote.score for vote in votes if vote.score is not None]
        score = combined_score(scores, options.combine or "mean", settings.threshold or 0.0)
        return settings.graded(score, _reason(votes), {**_points(votes), **evidence})

    async def _vote(self, submission: Submission, asker: Asker) -> Vote:
        prompt = self.wanted().prompt
        shown = material(submission) if prompt is None else filled(prompt_of(submission, prompt), submission)
        scale = unit_scale(self.options.range)
        answer = await asker.ask(judge_request(asker, judge_system(scale), shown, judge_schema(), submission))
        return self._read(answer, asker, scale)

    def _read(self, answer: JudgeAnswer, asker: Asker, scale: Scale) -> Vote:
        call = about_call(asker, answer)
        status = answer_status(answer)
        text = answer.text or ""
        said = status or parse_verdict(text, scale, finish_reason=answer.finish_reason)
        if isinstance(said, Status):
            return Vote(asker.target, {}, status=said, reason=said.reason, call=call)
        found: Mapping[str, Any] = verdict_object(text, scale) or {}
        reason = said.reason or _text(found.get("reasoning"))
        score = unit(said.score or 0.0, scale)
        threshold = judged_settings(self.settings).threshold or 0.0
        points = {key: _texts(found.get(key)) for key in ("hits", "misses")}
        more = {"verdict": said.value, **points, "repairs": list(said.repairs)}
        return Vote(asker.target, more, score, reaches(score, threshold), reason=reason, call=call)


def unit_scale(ends: Sequence[float] | None) -> Scale:
    """The scale of a range; from 0 to 1 without one."""
    low, high = ends or (0.0, 1.0)
    return Scale("continuous", min=low, max=high)


def unit(score: float, scale: Scale) -> float:
    """A score as the share of its scale.

    >>> unit(4, unit_scale([1, 5]))
    0.75
    """
    low, high = scale.min or 0.0, 1.0 if scale.max is None else scale.max
    return min(1.0, max(0.0, (score - low) / (high - low)))


def judge_system(scale: Scale) -> str:
    """What the judge is told before it is shown the material."""
    low, high = scale.min or 0.0, 1.0 if scale.max is None else scale.max
    return JUDGE.replace("LOW", exact_number(low)).replace("HIGH", exact_number(high))


def judge_schema() -> dict[str, Any]:
    """The form of the answer. The score comes last: what a model has written so far is what it decides by."""
    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "hits": texts,
            "misses": texts,
            "reason": {"type": "string"},
            "score": {"type": "number"},
        },
        "required": ["hits", "misses", "reason", "score"],
        "additionalProperties": False,
    }


def _texts(value: Any) -> list[str]:
    """Points of a judge that are texts; anything else is left out, since only the score decides."""
    listed = value if isinstance(value, list) else []
    return [clean_text(each) for each in listed[:_MOST_POINTS] if isinstance(each, str)]


def _text(value: Any) -> str | None:
    return clean_text(value) if isinstance(value, str) else None


def _points(votes: Sequence[Vote]) -> Mapping[str, list[str]]:
    """What all judges found, each point once."""
    found: dict[str, dict[str, None]] = {"hits": {}, "misses": {}}
    for vote in votes:
        for key, points in found.items():
            points |= dict.fromkeys(vote.said.get(key, ()))
    return {key: list(points) for key, points in found.items()}


def _reason(votes: Sequence[Vote]) -> str:
    valid = [vote for vote in votes if vote.score is not None]
    if len(votes) == 1:
        return clean_text(valid[0].reason or "") or f"{valid[0].score:g}, without a reason"
    shown = "; ".join(f"{vote.judge} {vote.score:.2f}: {clean_text(vote.reason or 'no reason', 300)}" for vote in valid)
    lost = [vote.judge for vote in votes if vote.score is None]
    return shown + (f"; no verdict of {', '.join(lost)}" if lost else "")
