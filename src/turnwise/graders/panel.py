"""Several judges of one answer: what their votes come to, and how far they agree. Pure, apart from the asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import fsum
from statistics import median
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .asking import why_nobody
from .base import GradeError, GraderSettings, Submission
from .judges import Asker
from .thresholds import reaches
from .verdict import Status

__all__ = [
    "THRESHOLD", "Combine", "PanelOptions", "Vote", "agreement", "ask_panel", "combined_score", "judged_settings",
    "panel_evidence", "without_verdict",
]  # fmt: skip

Combine = Literal["mean", "median", "majority", "min"]
THRESHOLD = 0.5
"""The score from which judges that give shares pass where the grader sets no threshold, as it is for cases."""


def _several(targets: list[str]) -> list[str]:
    if len(targets) < 2:
        hint = f"write `target: {targets[0]}`" if targets else "write `target: NAME` for one"
        rule = "`targets` must name at least two judges, found {number}"
        raise PydanticCustomError("grader_options", rule, {"number": len(targets), "hint": hint})
    return targets


class PanelOptions(FormatModel):
    """The options of graders that may ask several judges."""

    targets: Annotated[list[Word], AfterValidator(_several), Field(json_schema_extra={"minItems": 2})] | None = Field(
        None, description="Several targets that judge, instead of `target`."
    )
    combine: Combine | None = Field(
        None, description="What their scores come to: `mean`, `median`, `majority` or `min`; `mean` if absent."
    )
    least: int | None = Field(
        None, ge=1, description="How many of `targets` must give a verdict; all of them if absent."
    )

    @model_validator(mode="after")
    def _is_a_panel(self) -> Self:
        judges = self.targets or []
        if not judges and (self.combine is not None or self.least is not None):
            message = "`combine` and `least` are for several judges, and `targets` names none"
            raise PydanticCustomError("grader_options", message, {"hint": "name `targets`, or remove them"})
        if len(set(judges)) < len(judges):
            raise PydanticCustomError("grader_options", "`targets` names a judge twice", {"hint": "name each once"})
        if self.least is not None and self.least > len(judges):
            message = "`least` is more than there are judges in `targets`"
            raise PydanticCustomError("grader_options", message, {"hint": "lower it, or name more judges"})
        return self

    def judges(self, target: str | None) -> tuple[str | None, ...]:
        """All that are asked, in their order."""
        return tuple(self.targets) if self.targets else (target,)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge says: a score from 0 to 1 and whether that passes, or a status. `said` is what else it wrote,
    `lines` are the scores of single lines, if there are any, and `call` is what asking it took."""

    judge: str
    said: Mapping[str, Any]
    score: float | None = None
    passed: bool | None = None
    status: Status | None = None
    reason: str | None = None
    lines: tuple[float, ...] = ()
    call: Mapping[str, Any] = field(default_factory=dict)

    def as_record(self) -> dict[str, Any]:
        """The vote as evidence."""
        found = {"score": self.score, "passed": self.passed, "reason": self.reason, **self.said}
        if self.status is not None:
            found |= {"status": self.status.kind, "detail": self.status.detail, "raw": self.status.raw}
        return {**self.call, **found}


def judged_settings(settings: GraderSettings) -> GraderSettings:
    """The settings with the threshold that is usual for scores of judges."""
    return settings if settings.threshold is not None else replace(settings, threshold=THRESHOLD)


async def ask_panel(
    targets: Sequence[str | None],
    model: str | None,
    submission: Submission,
    ask: Callable[[Asker], Awaitable[Vote]],
) -> list[Vote] | GradeError:
    """The votes of all judges, who are asked at the same time."""
    askers: list[Asker] = []
    for target in targets:
        asker = None if submission.judges is None else submission.judges.asker(target, model)
        if asker is None:
            return why_nobody(target)
        askers.append(asker)
    if len(askers) == 1:
        return [await ask(askers[0])]
    from asyncio import gather

    return list(await gather(*(ask(asker) for asker in askers)))


def without_verdict(votes: Sequence[Vote], least: int | None) -> GradeError | None:
    """Why there is no score: fewer judges than needed gave a verdict. None if there are enough."""
    lost = [vote for vote in votes if vote.status is not None]
    needed = len(votes) if least is None else least
    if len(votes) - len(lost) >= needed:
        return None
    said = "; ".join(_lost(vote) for vote in lost)
    kinds = {vote.status.kind for vote in lost if vote.status is not None}
    kind = next(iter(kinds)) if len(kinds) == 1 else "panel"
    if len(votes) == 1:
        return GradeError(kind, f"no verdict of {said}")
    message = f"{len(votes) - len(lost)} of {len(votes)} judges gave a verdict, and {needed} are needed; none of {said}"
    return GradeError(kind, message)


def combined_score(scores: Sequence[float], rule: Combine, threshold: float = THRESHOLD) -> float:
    """What the scores of several judges come to. `majority` is 1 if more than half of them pass, else 0.

    >>> combined_score([1.0, 0.25, 1.0], "mean"), combined_score([1.0, 0.25, 1.0], "majority")
    (0.75, 1.0)
    """
    match rule:
        case "mean":
            return fsum(scores) / len(scores)
        case "median":
            return median(scores)
        case "min":
            return min(scores)
        case "majority":
            return float(2 * sum(reaches(score, threshold) for score in scores) > len(scores))


def agreement(verdicts: Sequence[Sequence[bool]]) -> float | None:
    """How often pairs of judges agree, as a share; None without a pair. A judge has a verdict on the answer, or one on
    each line.

    >>> agreement([[True], [True], [False]]), agreement([[True]]), agreement([[True, False], [False, True]])
    (0.3333333333333333, None, 0.0)
    """
    same = [one == other for pair in combinations(verdicts, 2) for one, other in zip(*pair, strict=True)]
    return sum(same) / len(same) if same else None


def panel_evidence(votes: Sequence[Vote], rule: Combine | None) -> dict[str, Any]:
    """Every vote; of several judges also the rule, how many gave a verdict, and how far these agree."""
    records = {"votes": [vote.as_record() for vote in votes]}
    if len(votes) == 1:
        return records
    verdicts = [found for vote in votes if (found := _verdicts(vote))]
    return {"combine": rule or "mean", "valid": len(verdicts), "agreement": agreement(verdicts), **records}


def _verdicts(vote: Vote) -> list[bool]:
    """Whether each line is met, or else whether the answer passes; nothing without a verdict."""
    if vote.passed is None:
        return []
    return [reaches(score, THRESHOLD) for score in vote.lines] or [vote.passed]


def _lost(vote: Vote) -> str:
    assert vote.status is not None
    detail = f": {vote.status.detail}" if vote.status.detail else ""
    return f"{vote.judge} ({vote.status.kind}){detail}"
