"""Which schemas are sent as strict: those only that OpenAI takes so."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.providers.wire.strict_schema import is_strict_schema

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


STRICT: list[Any] = [
    closed(),
    closed(a=TEXT, b={"type": ["number", "null"], "minimum": 0}),
    closed(a={"enum": ["x", "y"]}, b={"const": 1}),
    closed(a=closed(b={"type": "array", "items": closed(c=TEXT), "minItems": 1, "maxItems": 3})),
    closed(a={"anyOf": [TEXT, closed(b=TEXT), {"type": "null"}]}),
    {**closed(a={"$ref": "#/$defs/node"}), "$defs": {"node": closed(b=TEXT)}},
    {**closed(a={**TEXT, "description": "d", "title": "t", "format": "date", "pattern": "^x"}), "title": "T"},
    closed(a={**TEXT, "minLength": 1, "maxLength": 3}, b={"type": "integer", "multipleOf": 2, "exclusiveMinimum": 0}),
    # Names of properties are no keywords.
    closed(allOf=TEXT, default=TEXT),
]
LOOSE: list[Any] = [
    True,
    [],
    TEXT,
    {},
    {"type": "object"},
    {"type": "object", "additionalProperties": False},
    {"type": "array", "items": TEXT},
    {"anyOf": [closed(a=TEXT)]},
    {**closed(a=TEXT), "anyOf": [closed(a=TEXT)]},
    {**closed(a=TEXT), "required": []},
    {**closed(a=TEXT), "required": ["a", "b"]},
    {**closed(a=TEXT), "required": 5},
    {**closed(a=TEXT), "required": [["a"]]},
    {**closed(a=TEXT), "additionalProperties": True},
    {**closed(a=TEXT), "properties": 5},
    {**closed(a=TEXT), "$defs": 5},
    {**closed(a=TEXT), "$defs": {"node": {"type": "object"}}},
    closed(a={}),
    closed(a={"description": "anything"}),
    closed(a=True),
    closed(a={"type": ["object", "null"]}),
    closed(a={"type": "array"}),
    closed(a={"type": "array", "items": True}),
    closed(a={"type": "array", "items": {"type": "object"}}),
    closed(a={"anyOf": 5}),
    closed(a={"anyOf": [TEXT, {"type": "object"}]}),
    *(closed(a={**TEXT, word: [TEXT]}) for word in ("allOf", "oneOf")),
    *(closed(a={**TEXT, word: TEXT}) for word in ("not", "if", "then", "else", "dependentSchemas")),
    closed(a={**closed(), "patternProperties": {"^x": TEXT}}),
    closed(a={**TEXT, "default": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("schema", STRICT, ids=str)
def test_a_schema_whose_objects_name_and_require_all_keys_is_strict(schema: Any) -> None:
    """An object at the root, closed objects at any depth, and keywords of strict mode alone."""
    assert is_strict_schema(schema)


@pytest.mark.parametrize("schema", LOOSE, ids=str)
def test_any_other_schema_is_not_strict(schema: Any) -> None:
    """OpenAI would refuse it; without `strict` it is still a wish."""
    assert not is_strict_schema(schema)
