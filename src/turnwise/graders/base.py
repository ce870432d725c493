"""What every grader takes and gives: the submission, the grade, and the protocol between them. Plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from .thresholds import reaches

if TYPE_CHECKING:
    from pathlib import Path

    from ..conversation.chat import ChatContent, ChatMessage
    from ..decks.sample import SampleMessage
    from ..providers.base import Usage
    from .judges import Judges

__all__ = [
    "NOT_APPLICABLE", "Grade", "GradeError", "Grader", "GraderSettings", "OnError", "Submission", "grade_record",
    "reference_text",
]  # fmt: skip

_SURELY = 1.0
"""The score from which a grader passes where it sets no threshold."""

NOT_APPLICABLE = "not-applicable"
"""The kind of error of a grader that is not meant for an answer: it did not fail."""

OnError = Literal["ungraded", "skip"]
"""What an error of a grader does to its case: leave it ungraded, or leave the grader out."""


# Not frozen, although nothing changes them: there is one for every answer.
@dataclass(slots=True, kw_only=True)
class Submission:
    """One answer, with what a grader may know about its case.

    `text` is the answer's text, `output_messages` are all that was added to the conversation. `reference` is the text
    of a good answer, if the case has one; `reference_text` finds it. None of the measures is known for every target.
    `input_messages` are what was asked before all of these; `files` and `guideline_paths` are the files that it refers
    to, as full paths. `folder` is the suite's, and `root` its project's: what a grader calls by a relative path is
    there. `trial` is which repeat of the case it answers. For kinds that ask a model, `judges` knows whom to ask, and
    `turns` are what was said before the answer. `replies` are those of a live conversation, one for each turn, as
    submissions of their own. `workspace` is the folder that an agent worked in, and `diff` what it changed there. If
    `is_case_gone`, only the record of the answer is left: `tags` and `metadata` are empty because nobody knows them.
    """

    question: str
    text: str
    output_messages: Sequence[ChatMessage] = ()
    expected: Sequence[ChatMessage] = ()
    reference: str | None = None
    outcome: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    case_id: str | None = None
    tags: Sequence[str] = ()
    is_case_gone: bool = False
    target: str | None = None
    variant: str | None = None
    trial: int = 1
    input_messages: Sequence[ChatMessage] = ()
    guideline_paths: Sequence[str] = ()
    files: Sequence[str] = ()
    vars: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    root: Path | None = None
    turns: Sequence[SampleMessage] = ()
    replies: Sequence[Submission] = ()
    judges: Judges | None = None
    workspace: Path | None = None
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class GradeError:
    """Why there is no score. `kind` is stable and short, `message` is for people."""

    kind: str
    message: str


@dataclass(slots=True, kw_only=True)
class Grade:
    """What one grader says about one answer: a score from 0 to 1, or else an error, and never both.

    `passed` is None beside an error. `evidence` is what the score rests on, as plain JSON data. A grade without a score
    that is `left_out` does not count for its case: the grader does not apply, or its `on_error` says so.
    """

    name: str
    kind: str
    score: float | None
    passed: bool | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    required: bool = False
    threshold: float | None = None
    error: GradeError | None = None
    left_out: bool = False

    def __post_init__(self) -> None:
        if (self.score is None) == (self.error is None):
            raise ValueError("a grade has a score or an error, and only one of them")
        if (self.passed is None) != (self.score is None):
            raise ValueError("a grade passes or fails if it has a score, and only then")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"the score of a grade is from 0 to 1, found {self.score}")
        if self.left_out and self.error is None:
            raise ValueError("a grade with a score counts: only one with an error is left out")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSettings:
    """What every grader has, whatever its kind. `target` is the one that judges, for kinds that ask a model."""

    name: str
    kind: str
    weight: float = 1.0
    threshold: float | None = None
    required: bool = False
    target: str | None = None
    on_error: OnError = "ungraded"

    def graded(
        self, score: float, reason: str, evidence: Mapping[str, Any] | None = None, *, passed: bool | None = None
    ) -> Grade:
        """A grade with a score, which passes from the threshold on, unless `passed` says whether it does.

        >>> GraderSettings(name="polite", kind="deck", threshold=0.7).graded(0.8, "four of five").passed
        True
        """
        if passed is None:
            passed = reaches(score, _SURELY if self.threshold is None else self.threshold)
        return self._grade(score, passed, reason, evidence, None)

    def ungraded(self, error: GradeError, evidence: Mapping[str, Any] | None = None) -> Grade:
        """A grade without a score: the grader could not do its work, which says nothing about the answer."""
        skipped = self.on_error == "skip"
        if skipped:
            evidence = {**(evidence or {}), "left_out": "on_error: skip"}
        return self._grade(None, None, error.message, evidence, error, left_out=skipped)

    def not_applicable(self, why: str) -> Grade:
        """A grade of a grader that is not meant for this answer: it is listed, and never counted."""
        return self._grade(None, None, why, {"left_out": "when"}, GradeError(NOT_APPLICABLE, why), left_out=True)

    def _grade(
        self,
        score: float | None,
        passed: bool | None,
        reason: str,
        evidence: Mapping[str, Any] | None,
        error: GradeError | None,
        left_out: bool = False,
    ) -> Grade:
        return Grade(
            name=self.name,
            kind=self.kind,
            score=score,
            passed=passed,
            reason=reason,
            evidence=evidence or {},
            weight=self.weight,
            required=self.required,
            threshold=self.threshold,
            error=error,
            left_out=left_out,
        )


def grade_record(grade: Grade) -> dict[str, Any]:
    """A grade as plain data: in a result, and as evidence of the grade of a grader that holds others."""
    error = grade.error
    return {
        "name": grade.name,
        "kind": grade.kind,
        "score": grade.score,
        "passed": grade.passed,
        "reason": grade.reason,
        "evidence": dict(grade.evidence),
        "weight": grade.weight,
        "required": grade.required,
        "error": None if error is None else {"kind": error.kind, "message": error.message},
    }


@runtime_checkable
class Grader(Protocol):
    """Made for one line of a suite's `graders`; safe for many submissions at once."""

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer. What keeps the grader from judging is in the grade's `error`: nothing is raised."""
        ...


def reference_text(expected: Sequence[ChatMessage]) -> str | None:
    """The text of the last expected message of the assistant; None if there is no such text.

    >>> reference_text([{"role": "assistant", "content": "Hm."}, {"role": "assistant", "content": "42"}])
    '42'
    """
    for message in reversed(expected):
        if message["role"] == "assistant":
            return _text(message["content"]) or None
    return None


def _text(content: ChatContent) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if isinstance(part.get("text"), str))
