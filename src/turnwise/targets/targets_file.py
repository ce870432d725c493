"""A targets file: its own keys, and what it is when it has been read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ..conversation.authored import FormatModel

if TYPE_CHECKING:
    from .format import Target

__all__ = ["Targets", "TargetsHeader"]


class TargetsHeader(FormatModel):
    """The file's own keys; its targets are validated one by one."""

    schema_: str | None = Field(
        None, alias="$schema", description="Where editors find this schema; not used otherwise."
    )
    targets: Annotated[list[Any], Field(min_length=1)]


@dataclass(frozen=True)
class Targets:
    """The targets of a project, in the order of their file."""

    targets: Sequence[Target]

    def target(self, name: str) -> Target | None:
        """The target of that name, if there is one."""
        return next((target for target in self.targets if target.name == name), None)
