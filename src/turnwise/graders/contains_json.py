"""The kind `contains-json`: somewhere in the answer there is JSON, and it follows a JSON Schema if there is one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ..conversation.authored import FormatModel
from .base import GradeError, Submission
from .bounded import bounded
from .check import Verdict, shown
from .is_json import SCHEMA_SECONDS, checked_schema
from .json_in_text import json_texts

__all__ = ["ContainsJson"]

_MOST_VALUES = 20


class ContainsJson(FormatModel):
    """A JSON object or list stands somewhere in the answer, or the whole answer is JSON."""

    schema_: Annotated[dict[str, Any], AfterValidator(checked_schema)] | None = Field(
        None, alias="schema", description="A JSON Schema that one of the values follows; any will do if absent."
    )

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Look for values, until one is as it should be."""
        count, problem = 0, ""
        for found in json_texts(submission.text):
            if isinstance(found, GradeError):
                return found
            if count == _MOST_VALUES:
                return GradeError("too-long", f"none of the first {_MOST_VALUES} JSON values follows the schema")
            count += 1
            wrong = await self._problem(found)
            if isinstance(wrong, GradeError):
                return wrong
            if wrong is None:
                return Verdict(True, f"the answer contains the JSON {shown(found)}", {"json": found[:200]})
            problem = problem or wrong
        if not count:
            return Verdict(False, "the answer contains no JSON object or list")
        return Verdict(False, f"no JSON in the answer follows the schema: {problem}", {"values": count})

    async def _problem(self, text: str) -> str | GradeError | None:
        """Why a value does not follow the schema."""
        if self.schema_ is None:
            return None
        answer = await bounded({"do": "schema", "schema": self.schema_, "text": text}, SCHEMA_SECONDS)
        if isinstance(answer, GradeError):
            return answer
        return ": ".join(answer["errors"][0]) if answer["errors"] else None
