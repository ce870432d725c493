"""The kind `fields`: the answer is structured data, and so many of its fields are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ..conversation.authored import FormatModel, Word
from .base import Grade, GradeError, GraderSettings, Submission
from .field_accuracy import FieldResult, accuracy, compare_fields
from .field_rules import FieldRule, RuleName
from .json_in_text import json_texts
from .json_values import NotJson, read_json
from .reference import no_reference

__all__ = ["Fields", "FieldsGrader"]

_MOST_SHOWN = 200


def _long_form(rule: Any) -> Any:
    return {"rule": rule} if isinstance(rule, str) else rule


_Rule = Annotated[FieldRule, BeforeValidator(_long_form, json_schema_input_type=RuleName | FieldRule)]


class Fields(FormatModel):
    """The fields of the answer's JSON are those of this value."""

    value: dict[str, Any] | list[Any] | None = Field(
        None, description="The expected data; the reference answer, read as JSON, if absent."
    )
    rules: dict[Word, _Rule] = Field(
        default_factory=dict,
        description="How fields are compared, by path: `total`, `address.city`, `items[0].price`, `items[*].price`.",
    )
    extra: Literal["wrong", "ignore"] = Field("wrong", description="Whether fields that were not expected count.")
    anywhere: bool = Field(False, description="Whether the JSON may stand among words or in a Markdown fence.")


@dataclass(frozen=True, slots=True)
class FieldsGrader:
    """The share of right fields, by weight."""

    options: Fields
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        try:
            expected, found = self._expected(submission), self._found(submission.text)
            for value in (expected, found):
                if isinstance(value, GradeError):
                    return self.settings.ungraded(value)
            results = list(self._compared(expected, found))
        except NotJson as why:
            return self.settings.graded(0.0, f"the answer is not JSON: {why}", {"fields": []})
        except RecursionError:
            return self.settings.ungraded(GradeError("too-deep", "the data is nested too deeply to be compared"))
        if not results:
            message = "every field is ignored, so there is nothing to count: take `ignore` from one of `rules`"
            return self.settings.ungraded(GradeError("no-fields", message))
        return self.settings.graded(accuracy(results), _reason(results), _evidence(results))

    def _expected(self, submission: Submission) -> Any:
        if self.options.value is not None:
            return self.options.value
        if submission.reference is None:
            return no_reference("fields")
        try:
            return read_json(submission.reference)
        except NotJson as why:
            return GradeError("bad-reference", f"the reference answer is not JSON: {why}; give the grader a `value`")

    def _found(self, text: str) -> Any:
        if not self.options.anywhere:
            return read_json(text)
        first = next(json_texts(text), None)
        if first is None:
            raise NotJson("there is no object or list in it")
        return first if isinstance(first, GradeError) else read_json(first)

    def _compared(self, expected: Any, found: Any) -> Any:
        return compare_fields(expected, found, self.options.rules, extra_is_wrong=self.options.extra == "wrong")


def _reason(results: list[FieldResult]) -> str:
    wrong = [result for result in results if result.why is not None]
    shown = ", ".join(f"{result.path[:60]} ({result.why})" for result in wrong[:3])
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    share = f"{len(results) - len(wrong)} of {len(results)} fields are right"
    return f"{share}; wrong: {shown}{more}" if wrong else share


def _evidence(results: list[FieldResult]) -> dict[str, Any]:
    """Wrong fields first, since they are what somebody looks for."""
    ordered = sorted(results, key=lambda result: result.why is None)
    shown = [result.as_evidence() for result in ordered[:_MOST_SHOWN]]
    return {"fields": shown, **({"fields_in_all": len(results)} if len(results) > _MOST_SHOWN else {})}
