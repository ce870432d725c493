"""Texts of a target that follow a rule of their own: JSON pointers, names of functions, regular expressions.

A text with a variable in it is checked when the variable is known.
"""

from __future__ import annotations

import re
import warnings
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import Word

__all__ = ["FunctionName", "JsonPointer", "Pattern"]

_POINTER: JsonDict = {"pattern": r"^(/|\$\{\{|$)"}
# Python's names are of any script, which `\w` is not in every editor: so this says what is not in a name.
_DOTTED = r"[^\s\d.:][^\s.:]*(\.[^\s\d.:][^\s.:]*)*"
_FUNCTION: JsonDict = {"pattern": rf"\$\{{\{{|^{_DOTTED}:{_DOTTED}$"}


def _pointer(text: str) -> str:
    if text and not text.startswith(("/", "${{")):
        raise PydanticCustomError(
            "json_pointer", "a JSON pointer starts with `/`", {"hint": "such as /choices/0/message/content"}
        )
    return text


def _function(text: str) -> str:
    module, colon, function = text.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if "${{" not in text and not (colon and all(part.isidentifier() for part in parts)):
        raise PydanticCustomError(
            "function", "`function` must be `module:function`", {"hint": "such as my_app.chat:answer"}
        )
    return text


def _regex(text: str) -> str:
    if "${{" in text:
        return text
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PydanticCustomError(
            "bad_pattern",
            "not a regular expression: {reason}",
            {"reason": str(error), "hint": "a literal bracket is written \\( or \\["},
        ) from error
    return text


JsonPointer = Annotated[str, AfterValidator(_pointer), Field(json_schema_extra=_POINTER)]
FunctionName = Annotated[Word, AfterValidator(_function), Field(json_schema_extra=_FUNCTION)]
Pattern = Annotated[Word, AfterValidator(_regex)]
