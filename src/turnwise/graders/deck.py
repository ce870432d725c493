"""The kind `deck`: a model judges the answer by a deck, and its verdict on the deck's scale becomes the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ..conversation.authored import FormatModel
from ..programs.words import clean_text
from ..suite.sources import WholeFile
from .base import Grade, GradeError, GraderSettings, Submission
from .calibrated import short_trust
from .deck_score import passes, unit_score
from .judge_values import shown_answer
from .roles import WantedDeck
from .verdict import Status, Verdict, parse_verdict

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from .judges import Judge, JudgeAnswer

_LONGEST_RAW = 20_000

__all__ = ["DeckGrader", "DeckOptions", "sample_of"]


class DeckOptions(FormatModel):
    """The options of a deck grader."""

    path: str = Field(min_length=1, description="The deck, as a path from the suite.")


@dataclass(frozen=True, slots=True)
class DeckGrader:
    """Asks a judge. A judge that gives no verdict leaves the answer ungraded: that says nothing about the answer."""

    options: DeckOptions
    settings: GraderSettings

    def wanted_deck(self) -> WantedDeck:
        """The deck, and whom to ask by it."""
        return WantedDeck(self.options.path, self.settings.target, self.settings.threshold)

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        path, judges = self.options.path, submission.judges
        judge = None if judges is None else judges.judge(path, self.settings.target)
        if judge is None:
            return self.settings.ungraded(GradeError("not-available", f"nobody is there to judge by {path}"))
        answer = await judge.ask(judge.how.request(sample_of(submission), repeat=submission.trial))
        said = _verdict(answer, judge)
        if isinstance(said, Status):
            return self._without_verdict(said, judge, answer)
        return self._with_verdict(said, judge, answer)

    def _with_verdict(self, verdict: Verdict, judge: Judge, answer: JudgeAnswer) -> Grade:
        value, scale = verdict.value, judge.scale
        why = None if verdict.reason is None else clean_text(verdict.reason)
        # Wherever the verdict is told, so is how far it can be trusted.
        known = f"{value} ({short_trust(judge.calibration)})"
        reason = f"{known}: {why}" if why else f"{known}, without a reason"
        found = {"verdict": value, "reason": why, "repairs": list(verdict.repairs)}
        evidence = {**found, **_about(judge, answer)}
        return self.settings.graded(unit_score(value, scale), reason, evidence, passed=passes(value, scale))

    def _without_verdict(self, status: Status, judge: Judge, answer: JudgeAnswer) -> Grade:
        detail = f": {clean_text(status.detail)}" if status.detail else ""
        error = GradeError(status.kind, f"no verdict of {judge.target} ({status.kind}){detail}")
        raw = status.raw if len(status.raw) <= _LONGEST_RAW else f"{status.raw[:_LONGEST_RAW]}…"
        why = None if status.reason is None else clean_text(status.reason)
        found = {"status": status.kind, "reason": why, "raw": raw}
        return self.settings.ungraded(error, {**found, **_about(judge, answer)})


def sample_of(submission: Submission) -> Sample:
    """The conversation with the answer, in the form in which decks get it. An answer that only calls tools is shown as
    these calls."""
    from ..decks.sample import Sample  # late, like all of decks: runs without judges start sooner

    name = submission.case_id or "answer"
    messages = (*submission.turns, {"role": "assistant", "content": shown_answer(submission)})
    return Sample(name, messages, None, (), None, (), WholeFile(name), ())  # type: ignore[arg-type]


def _verdict(answer: JudgeAnswer, judge: Judge) -> Verdict | Status:
    if answer.failure is not None or answer.text is None:
        return Status(answer.failure or "missing", answer.text or "", answer.detail)
    return parse_verdict(answer.text, judge.scale, finish_reason=answer.finish_reason)


def _about(judge: Judge, answer: JudgeAnswer) -> Mapping[str, Any]:
    """Who judged, how far that can be trusted, and what it took."""
    return {
        "deck": judge.deck,
        "judge": judge.target,
        "model": answer.model,
        "calibration": judge.calibration,
        "usage": None if answer.usage is None else asdict(answer.usage),
        "cost_usd": answer.cost_usd,
        "latency_ms": answer.latency_ms,
        "attempts": answer.attempts,
    }
