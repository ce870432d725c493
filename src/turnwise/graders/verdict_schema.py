"""The form of a verdict as a JSON Schema, for model APIs that can be held to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .verdict_scale import Scale

__all__ = ["verdict_schema"]


def verdict_schema(scale: Scale) -> dict[str, Any]:
    """An object with `reason` and `score`, or `label` where the scale has words. The reason comes first: what a model
    has written so far is what it decides by.

    Bounds of numbers are left to the parser, since not every API takes them.

    >>> from .verdict_scale import Scale
    >>> list(verdict_schema(Scale("ordinal", min=1, max=5))["properties"])
    ['reason', 'score']
    """
    name, value = _value(scale)
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, name: value},
        "required": ["reason", name],
        "additionalProperties": False,
    }


def _value(scale: Scale) -> tuple[str, dict[str, Any]]:
    if scale.has_words:
        words = [*scale.labels, *([str(scale.ungradable)] if scale.ungradable is not None else [])]
        return "label", {"type": "string", **({"enum": words} if scale.labels else {})}
    whole = all(float(value).is_integer() for value in scale.values) if scale.values else scale.kind != "continuous"
    return "score", {"type": "integer" if whole else "number"}
