"""The kind `pairwise`: a model compares the answer with a baseline, in both orders; if these differ, it is a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ..conversation.authored import FormatModel, Word
from ..programs.words import clean_text
from .asking import about_call, answer_status, judge_request, why_nobody
from .base import Grade, GradeError, GraderSettings, Submission
from .judge_prompt import fence_key, fenced
from .judge_values import judge_value, shown_answer
from .judge_words import PAIRWISE
from .panel import judged_settings
from .reference import no_reference
from .roles import Wanted
from .verdict import Status, Verdict, parse_verdict
from .verdict_scale import Scale
from .verdict_schema import verdict_schema

if TYPE_CHECKING:
    from .judges import Asker

__all__ = ["Outcome", "Pairwise", "PairwiseGrader", "both_orders", "pair_material"]

Outcome = Literal["win", "tie", "loss"]
_SCALE = Scale("categorical", labels=("A", "B", "tie"), tie="tie")
_SCORES: Mapping[Outcome, float] = {"win": 1.0, "tie": 0.5, "loss": 0.0}
# Where the answer stands, and what each label then says about it.
_ORDERS: Mapping[str, Mapping[str, Outcome]] = {
    "A": {"A": "win", "B": "loss", "tie": "tie"},
    "B": {"A": "loss", "B": "win", "tie": "tie"},
}


class Pairwise(FormatModel):
    """A comparison with another answer."""

    baseline: Word | None = Field(
        None, description="The answer to compare with; the case's reference answer if absent."
    )


@dataclass(frozen=True, slots=True)
class PairwiseGrader:
    """Asks twice, with the answer first and with the answer last."""

    options: Pairwise
    settings: GraderSettings

    def wanted(self) -> Wanted:
        """Whom it asks."""
        return Wanted((self.settings.target,))

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        settings, target = judged_settings(self.settings), self.settings.target
        baseline = self.options.baseline or submission.reference
        if baseline is None:
            return settings.ungraded(no_reference("pairwise", "baseline"))
        asker = None if submission.judges is None else submission.judges.asker(target)
        if asker is None:
            return settings.ungraded(why_nobody(target))
        votes = [await _vote(asker, submission, baseline, place) for place in _ORDERS]
        lost = next((vote for vote in votes if "status" in vote), None)
        if lost is not None:
            message = f"no verdict of {asker.target} with the answer as {lost['answer_as']} ({lost['status']})"
            detail = f": {lost['detail']}" if lost["detail"] else ""
            return settings.ungraded(GradeError(lost["status"], message + detail), {"votes": votes})
        outcome = both_orders([vote["outcome"] for vote in votes])
        evidence = {"outcome": outcome, "orders_agree": votes[0]["outcome"] == votes[1]["outcome"], "votes": votes}
        return settings.graded(_SCORES[outcome], _reason(outcome, votes), evidence)


def both_orders(outcomes: Sequence[Outcome]) -> Outcome:
    """What the two orders say together.

    >>> both_orders(["win", "win"]), both_orders(["win", "loss"]), both_orders(["tie", "win"])
    ('win', 'tie', 'tie')
    """
    return outcomes[0] if len(set(outcomes)) == 1 else "tie"


def pair_material(submission: Submission, baseline: str, place: str) -> str:
    """What the judge is shown; the answer stands as `A` or as `B`. Neither is called the baseline."""
    own = shown_answer(submission)
    answers = (own, baseline) if place == "A" else (baseline, own)
    values = {"question": submission.question, "outcome": judge_value("outcome", submission)}
    shown = {name: value for name, value in values.items() if value or name == "question"}
    # One key for both orders: nothing but the order may differ.
    key = fence_key([*shown.values(), own, baseline])
    blocks = {**shown, "answer A": answers[0], "answer B": answers[1]}
    return "\n\n".join(fenced(name, value, key) for name, value in blocks.items())


async def _vote(asker: Asker, submission: Submission, baseline: str, place: str) -> dict[str, Any]:
    shown = pair_material(submission, baseline, place)
    answer = await asker.ask(judge_request(asker, PAIRWISE, shown, verdict_schema(_SCALE), submission))
    said: Verdict | Status | None = answer_status(answer)
    said = said or parse_verdict(answer.text or "", _SCALE, finish_reason=answer.finish_reason)
    record = {**about_call(asker, answer), "answer_as": place, "reason": said.reason}
    if isinstance(said, Status):
        return {**record, "status": said.kind, "detail": said.detail, "raw": said.raw}
    label = str(said.value)
    return {**record, "label": label, "outcome": _ORDERS[place][label], "repairs": list(said.repairs)}


def _reason(outcome: Outcome, votes: Sequence[Mapping[str, Any]]) -> str:
    words = {"win": "better than the baseline", "tie": "as good as the baseline", "loss": "worse than the baseline"}
    if votes[0]["outcome"] != votes[1]["outcome"]:
        return f"a tie: as A it is a {votes[0]['outcome']}, as B a {votes[1]['outcome']}"
    why = clean_text(votes[0]["reason"] or "", 500)
    return f"{words[outcome]}: {why}" if why else f"{words[outcome]}, in both orders"
