"""References inside of a JSON Schema: nothing is downloaded, so that all of them must lead to a part of the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referencing import Resource
    from referencing._core import Resolver

__all__ = ["unresolved_reference"]


def unresolved_reference(schema: dict[str, Any]) -> str | None:
    """The first `$ref` that leads nowhere, of a schema that is well formed; None if there is none.

    >>> unresolved_reference({"$ref": "#/$defs/team", "$defs": {"team": {"type": "string"}}})
    >>> unresolved_reference({"properties": {"team": {"$ref": "#/nope"}}})
    '#/nope'
    """
    from referencing import Resource
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    whole = Resource.from_contents(schema, default_specification=DRAFT202012)
    start = whole.id() or ""
    return _first_nowhere(whole, EMPTY_REGISTRY.with_resource(start, whole).resolver(start))


def _first_nowhere(resource: Resource[Any], resolver: Resolver[Any]) -> str | None:
    from referencing.exceptions import Unresolvable

    contents = resource.contents
    reference = contents.get("$ref") if isinstance(contents, dict) else None
    if isinstance(reference, str):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            return reference
    inner = (_first_nowhere(each, resolver.in_subresource(each)) for each in resource.subresources())
    return next((each for each in inner if each is not None), None)
