"""The vendors' own request types as validators that refuse an unknown role, key or type at any depth.

Each check takes the body of a request and raises `ValueError` for one that its vendor's types do not allow.
"""

from __future__ import annotations

import base64
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

__all__ = ["CHECKS"]


def _forbid_unknown_keys(package: str) -> None:
    """Make every typed dictionary of a package strict; those that the vendor leaves open stay open."""
    from pydantic import ConfigDict
    from typing_extensions import is_typeddict

    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        for value in vars(importlib.import_module(module.name)).values():
            if is_typeddict(value) and not hasattr(value, "__pydantic_config__"):
                value.__pydantic_config__ = ConfigDict(extra="forbid")


def _walked(value: Any) -> Any:
    """Pydantic looks at the items of an `Iterable` only when they are asked for: ask for all of them."""
    if isinstance(value, Mapping):
        return {key: _walked(each) for key, each in value.items()}
    if isinstance(value, list | tuple) or type(value).__name__ == "ValidatorIterator":
        return [_walked(each) for each in value]
    return value


@cache
def _adapter(package: str, module: str, name: str) -> Any:
    from pydantic import TypeAdapter

    _forbid_unknown_keys(package)
    return TypeAdapter(getattr(importlib.import_module(f"{package}.{module}"), name))


def _typed(package: str, module: str, whole: str, streamed: str) -> Callable[[Any], None]:
    def check(body: Any) -> None:
        _walked(_adapter(package, module, streamed if body.get("stream") else whole).validate_python(body, strict=True))

    return check


def _check_gemini(body: Any) -> None:
    """Google has no type for the whole body: each field is checked by its own."""
    from google.genai import types
    from pydantic import TypeAdapter

    fields: dict[str, Any] = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "generationConfig": types.GenerationConfig,
        "tools": list[types.Tool],
    }
    if unknown := set(body) - set(fields):
        raise ValueError(f"unknown fields {unknown}")
    for name, value in body.items():
        TypeAdapter(fields[name]).validate_python(value)
    for content in body["contents"]:
        if content["role"] not in ("user", "model"):
            raise ValueError(f"unknown role {content['role']!r}")


@cache
def _converse_input() -> Any:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    described = Loader(include_default_search_paths=True).load_service_model("bedrock-runtime", "service-2")
    return ServiceModel(described).operation_model("Converse").input_shape


def _check_bedrock(body: Any) -> None:
    """Botocore checks names, types and least lengths; the values of enumerations are checked here."""
    from botocore.validate import ParamValidator

    shape = _converse_input()
    report = ParamValidator().validate({"modelId": "m", **_with_bytes(body)}, shape)
    if report.has_errors():
        raise ValueError(report.generate_report())
    _check_enumerations(body, shape)


def _with_bytes(value: Any) -> Any:
    """Images are base64 on the wire and bytes in the service's model."""
    if isinstance(value, Mapping):
        return {
            key: base64.b64decode(each, validate=True) if key == "bytes" else _with_bytes(each)
            for key, each in value.items()
        }
    return [_with_bytes(each) for each in value] if isinstance(value, list) else value


def _check_enumerations(value: Any, shape: Any) -> None:
    if shape.type_name == "structure" and not shape.is_document_type:
        for key, each in value.items():
            _check_enumerations(each, shape.members[key])
    elif shape.type_name == "list":
        for each in value:
            _check_enumerations(each, shape.member)
    elif shape.type_name == "string" and shape.enum and value not in shape.enum:
        raise ValueError(f"{value!r} is none of {shape.enum}")


CHECKS: dict[str, Callable[[Any], None]] = {
    "openai": _typed(
        "openai.types",
        "chat.completion_create_params",
        "CompletionCreateParamsNonStreaming",
        "CompletionCreateParamsStreaming",
    ),
    "responses": _typed(
        "openai.types",
        "responses.response_create_params",
        "ResponseCreateParamsNonStreaming",
        "ResponseCreateParamsStreaming",
    ),
    "anthropic": _typed(
        "anthropic.types", "message_create_params", "MessageCreateParamsNonStreaming", "MessageCreateParamsStreaming"
    ),
    "gemini": _check_gemini,
    "bedrock": _check_bedrock,
}
"""By the names of the wire modules."""
