"""JSON Schemas, made from the models that load the files, so that editor and loader never disagree."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

__all__ = ["FORMATS", "json_schema", "plain_schema", "schema_text"]

FORMATS = ("suite", "case", "config", "targets", "result")
_WITH_GRADERS = ("suite", "case")


def json_schema(name: str) -> dict[str, Any]:
    """The schema of one file format (draft 2020-12); `result` is a line of a run's `results.jsonl`."""
    schema = plain_schema(name)
    if name in _WITH_GRADERS:
        from .grader_schemas import with_grader_kinds

        return with_grader_kinds(schema)
    return schema


def plain_schema(name: str) -> dict[str, Any]:
    """The same without the kinds of graders, which have pages of their own."""
    schema = _model(name).model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text(name: str) -> str:
    """The same as indented JSON."""
    return json.dumps(json_schema(name), ensure_ascii=False, indent=2)


def _model(name: str) -> type[BaseModel]:
    if name == "suite":
        from ..suite.format import SuiteSpec

        return SuiteSpec
    if name == "case":
        from ..suite.format import CaseSpec

        return CaseSpec
    if name == "config":
        from ..suite.project import ConfigSpec

        return ConfigSpec
    if name == "result":
        from ..engine.result_format import ResultSpec

        return ResultSpec
    from ..targets.format import TargetsSpec

    return TargetsSpec
