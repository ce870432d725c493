"""The JSON Schema of graders: a branch for each kind of ours, made from the model of its options, and an open one for
kinds of other packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..graders.registry import KINDS, GraderKind

__all__ = ["with_grader_kinds"]

Schema = dict[str, Any]

_OURS = "#/$defs/LongGrader"
_ANY_GRADER = "Grader"
_LINE: Schema = {"type": "string", "minLength": 1, "description": "A line of a rubric: a model says whether it is met."}
_NO_MAPPING: Schema = {"not": {"type": "object"}}  # a mapping below a kind holds settings, and never its value


def with_grader_kinds(schema: Schema) -> Schema:
    """The schema with every grader in it described by its kind."""
    definitions: Schema = dict(schema["$defs"])
    for kinds in _alike():
        options = KINDS[kinds[0]].options_model.model_json_schema(by_alias=True)
        definitions |= options.pop("$defs", {})
        definitions[_name(kinds)] = _long_form(kinds, options, definitions["LongGrader"])
        definitions[f"{_name(kinds)}, short"] = _short_form(kinds, options, definitions["LongGrader"])
    definitions[_ANY_GRADER] = _any_grader()
    # Not `LongGrader` itself, which stands for kinds of other packages now.
    return {**_referring(schema), "$defs": {name: _referring(each) for name, each in definitions.items()}}


def _alike() -> list[list[str]]:
    """Kinds with the same options stand together: `contains` and `not-contains`."""
    groups: dict[tuple[type, str], list[str]] = {}
    for name, kind in KINDS.items():
        groups.setdefault((kind.options_model, kind.main), []).append(name)
    return list(groups.values())


def _name(kinds: Iterable[str]) -> str:
    return f"Grader {', '.join(kinds)}"


def _reference(name: str) -> Schema:
    escaped = name.replace("%", "%25").replace(" ", "%20").replace(",", "%2C")
    return {"$ref": f"#/$defs/{escaped}"}


def _settings(kind: GraderKind, options: Schema, common: Schema) -> Schema:
    """All that may stand beside `type`, or below a kind."""
    left_out = {"type"} if kind.asks_model else {"type", "target"}
    shared = {name: each for name, each in common["properties"].items() if name not in left_out}
    needed = [*options.get("required", []), *(["target"] if kind.needs_target else [])]
    return {
        "type": "object",
        "properties": {**options["properties"], **shared},
        "required": needed,
        "additionalProperties": False,
    }


def _long_form(kinds: list[str], options: Schema, common: Schema) -> Schema:
    settings = _settings(KINDS[kinds[0]], options, common)
    described = {"enum": kinds, "description": options.get("description", "")}
    return {
        **settings,
        "description": options.get("description", ""),
        "properties": {"type": described, **settings["properties"]},
        "required": ["type", *settings["required"]],
    }


def _short_form(kinds: list[str], options: Schema, common: Schema) -> Schema:
    """What may stand after `kind:`."""
    kind = KINDS[kinds[0]]
    settings = _settings(kind, options, common)
    forms: list[Schema] = [settings]
    main = options["properties"].get(kind.main)
    if main is not None and set(settings["required"]) <= {kind.main}:
        forms.append({"allOf": [_NO_MAPPING, main]})
    if not settings["required"]:
        forms.append({"type": "null"})
        if main is None:
            forms.append({"const": True})
    return {"anyOf": forms, "description": options.get("description", "")}


def _any_grader() -> Schema:
    names = list(KINDS)
    short = {name: _reference(f"{_name(kinds)}, short") for kinds in _alike() for name in kinds}
    one_pair = {"type": "object", "minProperties": 1, "maxProperties": 1, "not": {"required": ["type"]}}
    of_others = {"properties": {"type": {"not": {"enum": names}}}}
    return {
        "description": "A line of a rubric, `kind: value`, or a mapping with `type`.",
        "anyOf": [
            _LINE,
            {**one_pair, "properties": short},
            *(_reference(_name(kinds)) for kinds in _alike()),
            {"allOf": [{"$ref": _OURS}, of_others]},
        ],
    }


def _referring(schema: Any) -> Any:
    """The same with a reference in every place where a grader may stand."""
    if isinstance(schema, list):
        return [_referring(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    if {"$ref": _OURS} in (schema.get("oneOf") or ()):
        return _reference(_ANY_GRADER)
    return {key: _referring(each) for key, each in schema.items()}
