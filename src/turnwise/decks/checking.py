"""Data against a typed model, with the problems said in the words of the file's own format."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from ..conversation.authored import FormatModel
from ..diagnostics import Diagnostic
from ..suite.explain import explain
from ..suite.paths import DataPath
from ..suite.sources import Source
from .toml_source import TomlSource

__all__ = ["validated"]

_Model = TypeVar("_Model", bound=FormatModel)
_YAML_PAIR = re.compile(r"`([^`:]+): …`")


def validated(
    model: type[_Model], data: dict[str, Any], source: Source, prefix: DataPath = (), sample_id: str | None = None
) -> tuple[_Model | None, list[Diagnostic]]:
    """The typed value of a mapping, or every reason why there is none. `prefix` leads to it in the file."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        found = explain(error, data=data, model=model, source=source, prefix=prefix, case_id=sample_id)
    return None, [_in_toml(diagnostic) for diagnostic in found] if isinstance(source, TomlSource) else found


def _in_toml(diagnostic: Diagnostic) -> Diagnostic:
    """Hints are made for YAML; who writes TOML must not be told to use a colon."""
    if diagnostic.hint is None:
        return diagnostic
    return replace(diagnostic, hint=_YAML_PAIR.sub(r"`\1 = …`", diagnostic.hint))
