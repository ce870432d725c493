"""Texts of a target that follow a rule of their own: JSON pointers, names of functions, regular expressions.

A text with a variable in it is checked when the variable is known.
"""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import Word
from .addresses import AWS_REGION, AZURE_RESOURCE, address_problem

__all__ = [
    "Address",
    "Endpoint",
    "ExtraBody",
    "FunctionName",
    "Headers",
    "JsonPointer",
    "ModelName",
    "Pattern",
    "Region",
    "RequestAddress",
    "VariableName",
]

_POINTER: JsonDict = {"pattern": r"^(/|\$\{\{|$)"}
# Python's names are of any script, which `\w` is not in every editor: so this says what is not in a name.
_DOTTED = r"[^\s\d.:][^\s.:]*(\.[^\s\d.:][^\s.:]*)*"
_ADDED = ("/chat/completions", "/responses", "/messages")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_NAMES: JsonDict = {"propertyNames": {"pattern": r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"}}
# What a request is made of: replaced here, it would be another request than the one that is shown and recorded.
_OURS = frozenset({"messages", "input", "instructions", "contents", "system", "systemInstruction", "stream", "model"})
_NOT_OURS: JsonDict = {"propertyNames": {"not": {"enum": [*sorted(_OURS)]}}}
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


def _address(text: str, *, template: bool = False) -> str:
    problem = None if "${{" in text else address_problem(text, template=template)
    if problem is None and not template and text.rstrip("/").endswith(_ADDED):
        problem = "must end before the path of the API, such as /chat/completions, which is added to it"
    if problem is not None:
        raise PydanticCustomError(
            "bad_address", "the address {problem}", {"problem": problem, "hint": "such as https://api.example.com/v1"}
        )
    return text


def _request_address(text: str) -> str:
    return _address(text, template=True)


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if re.search(r"[\r\n\0]", value):
            raise PydanticCustomError("bad_header", "the value of a header is one line", {"hint": "write one line"})
        if _HEADER_NAME.fullmatch(name) is None:
            # The name is not quoted: `{X-Key:sk-1}`, without a space, would be one.
            rule = "the name of a header has letters, digits and `-`, and neither spaces nor colons"
            raise PydanticCustomError("bad_header", rule, {"hint": "write `Name: value`"})
    return headers


def _extra_body(fields: dict[str, Any]) -> dict[str, Any]:
    ours = sorted(_OURS & set(fields))
    if ours:
        raise PydanticCustomError(
            "extra_body",
            "`extra_body` cannot hold `{field}`: the conversation, the model and streaming are not its business",
            {"field": ours[0], "hint": "use the target's own settings, and the suite's messages"},
        )
    return fields


def _endpoint(text: str) -> str:
    return text if AZURE_RESOURCE.fullmatch(text) else _address(text)


def _region(text: str) -> str:
    if "${{" not in text and AWS_REGION.fullmatch(text) is None:
        rule = "a region has small letters, digits and `-`"
        raise PydanticCustomError("bad_region", rule, {"hint": "such as eu-west-1"})
    return text


def _variable_name(text: str) -> str:
    if "${{" not in text and _VARIABLE_NAME.fullmatch(text) is None:
        # It is not quoted: after the `=` may stand a secret.
        rule = "this is a list of names of variables, which have letters, digits and `_`"
        raise PydanticCustomError("variable_name", rule, {"hint": "set a value by `env: {NAME: value}`"})
    return text


def _model_name(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank_model", "the name of a model cannot be blank", {"hint": "fill it in"})
    return text


VariableName = Annotated[
    Word, AfterValidator(_variable_name), Field(json_schema_extra={"pattern": r"^[A-Za-z_][A-Za-z0-9_]*$|\$\{\{"})
]
Endpoint = Annotated[Word, AfterValidator(_endpoint)]
Region = Annotated[Word, AfterValidator(_region), Field(json_schema_extra={"pattern": r"^([a-z0-9-]+|.*\$\{\{.*)$"})]
ModelName = Annotated[Word, AfterValidator(_model_name), Field(json_schema_extra={"pattern": r"\S"})]
Address = Annotated[Word, AfterValidator(_address)]
RequestAddress = Annotated[Word, AfterValidator(_request_address)]
Headers = Annotated[dict[str, str], AfterValidator(_headers), Field(json_schema_extra=_HEADER_NAMES)]
ExtraBody = Annotated[dict[str, Any], AfterValidator(_extra_body), Field(json_schema_extra=_NOT_OURS)]
JsonPointer = Annotated[str, AfterValidator(_pointer), Field(json_schema_extra=_POINTER)]
FunctionName = Annotated[Word, AfterValidator(_function), Field(json_schema_extra=_FUNCTION)]
Pattern = Annotated[Word, AfterValidator(_regex)]
