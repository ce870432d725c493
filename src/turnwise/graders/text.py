"""Kinds that compare texts: `equals`, the forms of `contains`, `starts-with` and `ends-with`.

Texts that Unicode holds to be the same, such as an é of one or of two characters, are the same here.
"""

from __future__ import annotations

from typing import Annotated
from unicodedata import normalize

from pydantic import Field

from ..conversation.authored import FormatModel, Word
from .base import GradeError, Submission
from .check import Verdict, shown
from .reference import no_reference

__all__ = [
    "Contains", "ContainsAll", "ContainsAny", "EndsWith", "Equals", "IContains", "IContainsAll", "IContainsAny",
    "StartsWith", "comparable",
]  # fmt: skip

_VALUE = "The text to look for; the reference answer if absent."
_VALUES = "The texts to look for."
_CASE = "Whether capital and small letters differ."
_TRIM = "Whether white space around the texts is left out of the comparison."

Words = Annotated[list[Word], Field(min_length=1)]


def comparable(text: str, *, case_sensitive: bool = True, trim: bool = False) -> str:
    """The form of a text in which it is compared.

    >>> comparable(" Straße ", case_sensitive=False, trim=True) == comparable("STRASSE", case_sensitive=False)
    True
    """
    text = text.strip() if trim else text
    return normalize("NFC", text if case_sensitive else normalize("NFD", text).casefold())


class Equals(FormatModel):
    """The answer is this text."""

    value: str | None = Field(None, description="The whole answer; the reference answer if absent.")
    case_sensitive: bool = Field(True, description=_CASE)
    trim: bool = Field(True, description=_TRIM)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Compare whole texts."""
        expected = submission.reference if self.value is None else self.value
        if expected is None:
            return no_reference("equals")
        if self._form(submission.text) == self._form(expected):
            return Verdict(True, f"the answer is {shown(expected)}")
        return Verdict(False, f"the answer is {shown(submission.text)}, not {shown(expected)}")

    def _form(self, text: str) -> str:
        return comparable(text, case_sensitive=self.case_sensitive, trim=self.trim)


class Contains(FormatModel):
    """The answer contains this text."""

    value: Word | None = Field(None, description=_VALUE)
    case_sensitive: bool = Field(True, description=_CASE)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for the text."""
        return _contains("contains", self.value, submission, self.case_sensitive)


class IContains(FormatModel):
    """The answer contains this text, in capital or small letters."""

    value: Word | None = Field(None, description=_VALUE)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for the text."""
        return _contains("icontains", self.value, submission, case_sensitive=False)


class ContainsAll(FormatModel):
    """The answer contains each of these texts."""

    value: Words = Field(description=_VALUES)
    case_sensitive: bool = Field(True, description=_CASE)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for every text."""
        found, missing = _sorted_out(self.value, submission.text, self.case_sensitive)
        reason = f"the answer does not contain {_listed(missing)}" if missing else "the answer contains all of them"
        return Verdict(not missing, reason, {"found": found, "missing": missing})


class ContainsAny(FormatModel):
    """The answer contains one of these texts, or several."""

    value: Words = Field(description=_VALUES)
    case_sensitive: bool = Field(True, description=_CASE)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for any text."""
        found, missing = _sorted_out(self.value, submission.text, self.case_sensitive)
        reason = f"the answer contains {_listed(found)}" if found else f"the answer contains none of {_listed(missing)}"
        return Verdict(bool(found), reason, {"found": found, "missing": missing})


class IContainsAll(FormatModel):
    """The answer contains each of these texts, in capital or small letters."""

    value: Words = Field(description=_VALUES)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for every text."""
        return await ContainsAll(value=self.value, case_sensitive=False).check(submission)


class IContainsAny(FormatModel):
    """The answer contains one of these texts, or several, in capital or small letters."""

    value: Words = Field(description=_VALUES)

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for any text."""
        return await ContainsAny(value=self.value, case_sensitive=False).check(submission)


class StartsWith(FormatModel):
    """The answer starts with this text."""

    value: Word = Field(description="The text that the answer starts with.")
    case_sensitive: bool = Field(True, description=_CASE)
    trim: bool = Field(True, description="Whether white space before the answer is left out of the comparison.")

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Compare the first words."""
        text = submission.text.lstrip() if self.trim else submission.text
        start = comparable(self.value.lstrip() if self.trim else self.value, case_sensitive=self.case_sensitive)
        if comparable(text, case_sensitive=self.case_sensitive).startswith(start):
            return Verdict(True, f"the answer starts with {shown(self.value)}")
        return Verdict(False, f"the answer starts with {shown(text[: len(self.value)])}, not {shown(self.value)}")


class EndsWith(FormatModel):
    """The answer ends with this text."""

    value: Word = Field(description="The text that the answer ends with.")
    case_sensitive: bool = Field(True, description=_CASE)
    trim: bool = Field(True, description="Whether white space after the answer is left out of the comparison.")

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Compare the last words."""
        text = submission.text.rstrip() if self.trim else submission.text
        end = comparable(self.value.rstrip() if self.trim else self.value, case_sensitive=self.case_sensitive)
        if comparable(text, case_sensitive=self.case_sensitive).endswith(end):
            return Verdict(True, f"the answer ends with {shown(self.value)}")
        return Verdict(False, f"the answer ends with {shown(text[-len(self.value) :])}, not {shown(self.value)}")


def _contains(kind: str, value: str | None, submission: Submission, case_sensitive: bool) -> Verdict | GradeError:
    wanted = submission.reference if value is None else value
    if not wanted:
        return no_reference(kind)  # every text contains an empty one: that would say nothing
    found, _ = _sorted_out([wanted], submission.text, case_sensitive)
    verb = "contains" if found else "does not contain"
    return Verdict(bool(found), f"the answer {verb} {shown(wanted)}")


def _sorted_out(values: list[str], text: str, case_sensitive: bool) -> tuple[list[str], list[str]]:
    """Those that the text contains, and those that it does not."""
    whole = comparable(text, case_sensitive=case_sensitive)
    found = [value for value in values if comparable(value, case_sensitive=case_sensitive) in whole]
    return found, [value for value in values if value not in found]


def _listed(values: list[str]) -> str:
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return ", ".join(shown(value) for value in values[:5]) + more
