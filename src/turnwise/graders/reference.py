"""The text that an answer is compared with: the grader's own, or else the case's reference answer."""

from __future__ import annotations

from .base import GradeError, Submission

__all__ = ["LONGEST_TEXT", "no_reference", "texts_to_compare"]

LONGEST_TEXT = 100_000
"""Characters of a text that is measured against another. A longer one is not cut: the end of it may decide."""


def texts_to_compare(kind: str, value: str | None, submission: Submission) -> tuple[str, str] | GradeError:
    """The answer, and the text that it is measured against."""
    wanted = submission.reference if value is None else value
    if wanted is None:
        return no_reference(kind)
    for name, text in (("answer", submission.text), ("reference", wanted)):
        if len(text) > LONGEST_TEXT:
            message = f"the {name} has {len(text):,} characters, and `{kind}` compares at most {LONGEST_TEXT:,}"
            return GradeError("too-long", message)
    return submission.text, wanted


def no_reference(kind: str, option: str = "value") -> GradeError:
    """There is nothing to compare with; `option` of the grader would say it."""
    return GradeError(
        "no-reference",
        f"`{kind}` has no `{option}`, and there is no reference answer for this reply: give the grader a `{option}`, "
        "the case `expected_messages` with a text of the assistant, which are for its final reply, or a turn of its "
        "script an `expected`",
    )
