"""Which JSON Schemas OpenAI's strict mode takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_strict_schema"]

_KEYWORDS = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$defs", "$ref",
    "description", "title", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "minLength", "maxLength",
})  # fmt: skip
_KINDS = frozenset({"type", "enum", "const", "anyOf", "$ref"})


def is_strict_schema(schema: Any) -> bool:
    """Whether a JSON Schema keeps to what strict mode takes: an object whose objects name and require all their keys.

    >>> number = {"type": "number"}
    >>> is_strict_schema(
    ...     {"type": "object", "properties": {"a": number}, "required": ["a"], "additionalProperties": False}
    ... )
    True
    >>> is_strict_schema({"type": "object", "properties": {"a": number}})
    False
    """
    is_object = isinstance(schema, Mapping) and schema.get("type") == "object" and "anyOf" not in schema
    return is_object and _is_strict(schema)


def _is_strict(node: Any) -> bool:
    if not isinstance(node, Mapping) or not node.keys() <= _KEYWORDS or _KINDS.isdisjoint(node):
        return False
    if _says(node, "object") and not _is_closed(node):
        return False
    if _says(node, "array") and "items" not in node:
        return False
    return all(_is_strict(inner) for inner in _inner(node))


def _says(node: Mapping[str, Any], kind: str) -> bool:
    """Whether values may be of this kind, by `type` or by a keyword that only such values have."""
    kinds = node.get("type")
    mark = {"object": "properties", "array": "items"}[kind]
    return mark in node or kinds == kind or (isinstance(kinds, list) and kind in kinds)


def _is_closed(node: Mapping[str, Any]) -> bool:
    properties, required = node.get("properties"), node.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    return node.get("additionalProperties") is False and sorted(map(str, required)) == sorted(map(str, properties))


def _inner(node: Mapping[str, Any]) -> list[Any]:
    """The schemas inside a schema; what should hold some and does not is returned itself, and is none."""
    found: list[Any] = [node["items"]] if "items" in node else []
    for keyword in ("properties", "$defs"):
        holder = node.get(keyword, {})
        found += holder.values() if isinstance(holder, Mapping) else [holder]
    choices = node.get("anyOf", [])
    return found + (choices if isinstance(choices, list) else [choices])
