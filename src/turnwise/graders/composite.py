"""The kind `composite`: several graders that count as one, by a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ..conversation.authored import FormatModel
from ..suite.format import GraderSpec
from .base import Grade, GradeError, Grader, GraderSettings, Submission, grade_record
from .guarded import guarded
from .scoring import left_out_text, mean_score
from .thresholds import reaches

__all__ = ["Composite", "CompositeGrader", "Mode", "combined"]

Mode = Literal["all", "any", "weighted", "threshold"]


class Composite(FormatModel):
    """Graders that count as one."""

    graders: Annotated[list[GraderSpec], Field(min_length=1)] = Field(description="The graders, as a suite has them.")
    mode: Mode = Field("all", description="`all`, `any`, `weighted` or `threshold`.")


@dataclass(frozen=True, slots=True)
class CompositeGrader:
    """Asks every inner grader, and combines what they say."""

    options: Composite
    settings: GraderSettings
    graders: tuple[Grader, ...]

    def held_graders(self) -> Iterable[tuple[Grader, GraderSpec]]:
        """Those inside, each with its spec."""
        return zip(self.graders, self.options.graders, strict=True)

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        grades = [await guarded(grader, submission) for grader in self.graders]
        threshold = 1.0 if self.settings.threshold is None else self.settings.threshold
        score = combined(grades, self.options.mode, threshold)
        evidence = {"mode": self.options.mode, "grades": [grade_record(grade) for grade in grades]}
        if isinstance(score, GradeError):
            return self.settings.ungraded(score, evidence)
        return self.settings.graded(score, _reason(grades, self.options.mode), evidence)


def combined(grades: Sequence[Grade], mode: Mode, threshold: float = 1.0) -> float | GradeError:
    """The score of inner grades. One that has no score makes it unknown, unless it cannot change the outcome.

    >>> passed = GraderSettings(name="a", kind="x").graded(1.0, "")
    >>> broken = GraderSettings(name="b", kind="x").ungraded(GradeError("timeout", "too slow"))
    >>> combined([passed, broken], "any")
    1.0
    >>> combined([passed, broken], "all").message
    'inner graders could not grade: b: too slow'
    """
    counted = [grade for grade in grades if not grade.left_out]
    if not counted:
        return GradeError("nothing-graded", f"no inner grader counts: {left_out_text(grades)}")
    if any(grade.required and grade.passed is False for grade in counted):
        return 0.0
    least, most = (_at(counted, mode, threshold, unknown) for unknown in (0.0, 1.0))
    if least == most and (least == 0 or not any(grade.required and grade.error for grade in counted)):
        return least
    said = "; ".join(f"{grade.name}: {grade.error.message}" for grade in counted if grade.error)
    return GradeError("inner", f"inner graders could not grade: {said}")


def _at(grades: Sequence[Grade], mode: Mode, threshold: float, unknown: float) -> float:
    """The score if every grade that is not known were this one."""
    passed = [bool(unknown) if grade.passed is None else grade.passed for grade in grades]
    match mode:
        case "all":
            return float(all(passed))
        case "any":
            return float(any(passed))
        case "weighted":
            return mean_score(grades, unknown)
        case "threshold":
            return float(reaches(mean_score(grades, unknown), threshold))


def _reason(grades: Sequence[Grade], mode: Mode) -> str:
    """How many of those that count passed, why others did not, and who could not grade or was left out."""
    counted = [grade for grade in grades if not grade.left_out]
    said = [f"{mode}: {sum(grade.passed is True for grade in counted)} of {len(counted)} inner graders passed"]
    said += [f"{grade.name}: {grade.reason}" for grade in counted if grade.passed is False][:3]
    said += [
        f"{grade.name} could not grade ({grade.error.kind}: {grade.error.message})" for grade in counted if grade.error
    ]
    return "; ".join(each for each in (*said, left_out_text(grades)) if each)
