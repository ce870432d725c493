"""The kind `is-json`: the whole answer is JSON, and follows a JSON Schema if there is one."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel
from .base import GradeError, Submission
from .bounded import bounded
from .check import Verdict
from .json_values import why_not_json
from .schema_references import unresolved_reference

__all__ = ["SCHEMA_SECONDS", "IsJson", "checked_schema"]

SCHEMA_SECONDS = 10.0  # the schema's package is loaded in this time, too


def checked_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, if it is one."""
    if find_spec("jsonschema") is None:
        rule = "`schema` needs the package jsonschema, which is not installed"
        raise PydanticCustomError("missing_package", rule, {"hint": "pip install 'turnwise[json-schema]'"})
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        json.dumps(schema)
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except (SchemaError, RecursionError, TypeError, ValueError) as error:
        reason = f"{error.json_path}: {error.message}" if isinstance(error, SchemaError) else str(error)
        raise PydanticCustomError(
            "bad_schema",
            "`schema` is not a JSON Schema: {reason}",
            {"reason": reason[:300], "hint": "see json-schema.org; `{type: object}` is a small one"},
        ) from error
    if (nowhere := unresolved_reference(schema)) is not None:
        rule, hint = (
            "`schema` refers to {reference}, which it does not hold",
            "nothing is downloaded: put it into `$defs`",
        )
        raise PydanticCustomError("bad_schema", rule, {"reference": repr(nowhere[:100]), "hint": hint})
    return schema


class IsJson(FormatModel):
    """The answer is JSON and nothing else: no words around it, no Markdown fence."""

    schema_: Annotated[dict[str, Any], AfterValidator(checked_schema)] | None = Field(
        None, alias="schema", description="A JSON Schema that the answer follows; any JSON will do if absent."
    )

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Read the answer, and hold it against the schema."""
        why_not = why_not_json(submission.text)
        if isinstance(why_not, GradeError):
            return why_not
        if why_not is not None:
            return Verdict(False, f"the answer is not JSON: {why_not}")
        if self.schema_ is None:
            return Verdict(True, "the answer is JSON")
        answer = await bounded({"do": "schema", "schema": self.schema_, "text": submission.text}, SCHEMA_SECONDS)
        return answer if isinstance(answer, GradeError) else _verdict(answer["errors"])


def _verdict(errors: list[tuple[str, str]]) -> Verdict:
    if not errors:
        return Verdict(True, "the answer is JSON and follows the schema")
    path, message = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    evidence = {"errors": [{"path": each, "message": text} for each, text in errors]}
    return Verdict(False, f"the answer is JSON, but does not follow the schema: {path}: {message}{more}", evidence)
