"""When a field of structured data is right: one rule a field, `exact` if nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .json_values import same_value
from .text import comparable

__all__ = ["FieldRule", "RuleName", "why_wrong"]

RuleName = Literal["exact", "numeric", "date", "case_insensitive", "ignore"]
_LONGEST_NUMBER = 60
_LONGEST_DATE = 100
_YEARS = ("%Y", "%y", "%G", "%c", "%x", "%D")


def _readable_format(text: str) -> str:
    """The format of a date, if dates can be read with it."""
    known = datetime(2001, 12, 31)
    try:
        read_back = any(year in text for year in _YEARS) and datetime.strptime(known.strftime(text), text)
    except (ValueError, IndexError, KeyError):
        read_back = False
    if not read_back or read_back.date() != known.date():
        rule = "{format} is not the format of a date with year, month and day"
        hint = "write it as Python's strptime does, such as `%d.%m.%Y`"
        raise PydanticCustomError("grader_options", rule, {"format": repr(text[:40]), "hint": hint})
    return text


Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FieldRule(FormatModel):
    """How one field is compared, and how much it counts."""

    rule: RuleName = Field("exact", description="How the field is compared.")
    tolerance: Tolerance | None = Field(None, description="`numeric`: how far the number may be off.")
    relative_tolerance: Tolerance | None = Field(
        None, description="`numeric`: how far it may be off, as a share of the expected number."
    )
    formats: list[Annotated[Word, AfterValidator(_readable_format)]] | None = Field(
        None, description="`date`: how dates may be written, besides ISO 8601."
    )
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(1.0, description="How much the field counts.")

    @model_validator(mode="after")
    def _uses_what_it_has(self) -> Self:
        """Nothing that an author writes is ignored silently."""
        has_tolerance = self.tolerance is not None or self.relative_tolerance is not None
        if has_tolerance and self.rule != "numeric":
            raise PydanticCustomError("grader_options", "only `rule: numeric` has a tolerance", {"hint": "remove it"})
        if self.formats is not None and self.rule != "date":
            raise PydanticCustomError("grader_options", "only `rule: date` has `formats`", {"hint": "remove them"})
        return self


def why_wrong(rule: FieldRule, expected: Any, found: Any) -> str | None:
    """Why a field is not what it should be; None if it is.

    >>> why_wrong(FieldRule(rule="numeric", tolerance=0.1), 1.0, 1.1) is None
    True
    """
    match rule.rule:
        case "numeric":
            return _why_wrong_number(rule, expected, found)
        case "date":
            return _why_wrong_date(rule.formats or (), expected, found)
        case "case_insensitive" if isinstance(expected, str) and isinstance(found, str):
            one, other = (comparable(text, case_sensitive=False, trim=True) for text in (expected, found))
            return None if one == other else "another text"
    if same_value(expected, found):
        return None
    one, other = _type(expected), _type(found)
    return "another value" if one == other else f"{other} instead of {one}"


def _why_wrong_number(rule: FieldRule, expected: Any, found: Any) -> str | None:
    one, other = _number(expected), _number(found)
    if one is None or other is None:
        return "not a number" if other is None else "the expected value is not a number"
    # As decimals, since 1.1 - 1.0 is more than 0.1 for a computer's numbers.
    off = abs(one - other)
    allowed = max(Decimal(str(rule.tolerance or 0)), abs(one) * Decimal(str(rule.relative_tolerance or 0)))
    return None if off <= allowed else f"off by {off:.6g}, at most {allowed:.6g} allowed"


def _number(value: Any) -> Decimal | None:
    """Numbers, and texts that are nothing but a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        text = str(value)
        number = Decimal(text.strip()) if len(text) <= _LONGEST_NUMBER else Decimal("NaN")
    except InvalidOperation:
        return None
    # Far beyond any measure, the arithmetic of decimals would raise.
    return number if number.is_finite() and abs(number.adjusted()) < 400 else None


def _why_wrong_date(formats: Sequence[str], expected: Any, found: Any) -> str | None:
    one, other = _date(formats, expected), _date(formats, found)
    if one is None or other is None:
        return "not a date of a known format" if other is None else "the expected value is not a date"
    return None if one == other else f"{other.isoformat()} instead of {one.isoformat()}"


def _date(formats: Sequence[str], value: Any) -> date | None:
    """The day, as it is written; times and zones make no difference."""
    if not isinstance(value, str) or len(value) > _LONGEST_DATE:
        return None
    written = value.strip()
    for each in (None, *formats):
        try:
            return (datetime.fromisoformat(written) if each is None else datetime.strptime(written, each)).date()
        except ValueError:
            continue
    return None


def _type(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return "nothing (null)" if value is None else names.get(type(value), "a mapping")
