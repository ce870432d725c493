"""Contexts: what a deck asks for, each as a question that the assistant puts and the user answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ..conversation.authored import FormatModel
from ..diagnostics import Diagnostic, Place
from ..suite.explain import described
from ..suite.paths import DataPath, shown_path
from ..suite.sources import Source
from .checking import validated

__all__ = ["Context", "ContextSpec", "contexts_from_data"]


class ContextSpec(FormatModel):
    """One `[contexts.name]` table."""

    assistantQuestion: Annotated[str, Field(min_length=1)] = Field(  # noqa: N815  (the name in the file)
        description="The question that the assistant asks; the value is the user's answer."
    )
    default: Any = Field(None, description="The value where none is given.")
    type: str | None = Field(None, description="What kind of value it is; for people.")
    description: str | None = Field(None, description="What the value is; for people.")
    example: Any = Field(None, description="What a value looks like; for people.")


@dataclass(frozen=True, slots=True)
class Context:
    """A named question of a deck. `has_default` tells a default of null from none at all."""

    name: str
    question: str
    default: Any
    has_default: bool
    type: str | None
    description: str | None
    file: str
    place: Place


def contexts_from_data(
    value: Any, source: Source, prefix: DataPath = ("contexts",)
) -> tuple[list[Context], list[Diagnostic]]:
    """The contexts of parsed data, in the order in which they are defined."""
    if value is None:
        return [], []
    if not isinstance(value, dict):
        message = f"`contexts` must be a mapping from names to contexts, found {described(value)}"
        return [], [_wrong_type(message, source, prefix)]
    contexts: list[Context] = []
    problems: list[Diagnostic] = []
    for name, fields in value.items():
        path = (*prefix, name)
        if not isinstance(fields, dict):
            message = f"the context `{name}` must be a table with `assistantQuestion`, found {described(fields)}"
            problems.append(_wrong_type(message, source, path))
            continue
        spec, found = validated(ContextSpec, fields, source, path)
        problems += found
        if spec is not None:
            contexts.append(_context(name, spec, source, path))
    return contexts, problems


def _context(name: str, spec: ContextSpec, source: Source, path: DataPath) -> Context:
    has_default = "default" in spec.model_fields_set
    place = source.place(path, key=True)
    return Context(
        name, spec.assistantQuestion, spec.default, has_default, spec.type, spec.description, source.file, place
    )


def _wrong_type(message: str, source: Source, path: DataPath) -> Diagnostic:
    hint = "write `[contexts.name]` with `assistantQuestion = …`"
    return Diagnostic("error", "wrong-type", message, source.file, source.place(path, key=True), hint, shown_path(path))
