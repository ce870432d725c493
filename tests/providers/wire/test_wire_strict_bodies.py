"""Every body that we make is one that the vendor's own types allow."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from importlib import import_module
from typing import Any

import pytest

from shapes import all_shapes, shape
from strict_vendor import CHECKS
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.wire.base import WireRequest

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TOOLS = [Tool("find", "Finds.", SCHEMA), Tool("bare")]
# Newer versions of Anthropic's types have no temperature and no top_p; the other APIs' have.
VALUES = {
    "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 4096, "seed": 7, "stop": ("END",), "reasoning_effort": "low",
    "thinking_budget": 2048,
}  # fmt: skip


def settings_for(wire: str) -> Settings:
    taken = import_module(f"turnwise.providers.wire.{wire}").SETTINGS
    if wire == "anthropic":
        taken = taken - {"temperature", "top_p"}
    if wire == "gemini":  # which takes a budget or an effort
        taken = taken - {"thinking_budget"}
    return Settings(**{name: value for name, value in VALUES.items() if name in taken})  # type: ignore[arg-type]


def variants(wire: str) -> list[dict[str, Any]]:
    return [
        {},
        {"settings": settings_for(wire), "tools": TOOLS, "output_schema": SCHEMA, "stream": True},
        {"tools": TOOLS[:1], "system_role": "developer"},
        {"output_schema": {"type": "object"}},
    ]


def body_of(wire: str, name: str, **fields: Any) -> Any:
    encode = import_module(f"turnwise.providers.wire.{wire}").encode
    return encode(WireRequest(model="m", messages=shape(name), **fields)).body


# Further keys that somebody wrote into a tool call go to OpenAI's API as they are: servers have keys of their own.
OPEN = ("openai", "16 direct, further keys")
REFUSED = {
    *((wire, "08 system only") for wire in ("anthropic", "gemini", "bedrock")),
    *((wire, "13 direct, empty alone") for wire in ("anthropic", "gemini", "bedrock")),
    *((wire, "16 direct, arguments that are no object") for wire in ("anthropic", "gemini", "bedrock")),
    *((wire, "23 direct, image in an assistant turn") for wire in CHECKS if wire != "gemini"),
    *((wire, "23 direct, image in a system turn") for wire in CHECKS),
    ("bedrock", "09 assistant first"),
}
PAIRS = [(wire, each.name) for wire in CHECKS for each in all_shapes() if (wire, each.name) != OPEN]


@pytest.mark.parametrize(("wire", "name"), PAIRS)
def test_every_body_is_one_that_the_vendors_types_allow(wire: str, name: str) -> None:
    """Whatever the conversation, the settings, the tools and the schema: the body validates, or nothing is sent."""
    checked = 0
    for fields in variants(wire):
        with suppress(PromptError):
            CHECKS[wire](json.loads(json.dumps(body_of(wire, name, **fields))))
            checked += 1
    assert checked == (0 if (wire, name) in REFUSED else len(variants(wire)))


def _messages(body: Any) -> list[Any]:
    found = body.get("messages") or body.get("input") or body.get("contents")
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("wire", CHECKS)
def test_a_bad_role_is_found(wire: str) -> None:
    """The checks look inside the messages: a role that the vendor does not know fails."""
    body = deepcopy(body_of(wire, "02 system, user"))
    _messages(body)[-1]["role"] = "wizard"
    with pytest.raises(ValueError, match=r"role|wizard|literal"):
        CHECKS[wire](body)


@pytest.mark.parametrize("wire", CHECKS)
@pytest.mark.parametrize("depth", ["body", "message"])
def test_an_unknown_key_is_found(wire: str, depth: str) -> None:
    """A key that the vendor does not know fails, wherever it stands."""
    body = deepcopy(body_of(wire, "02 system, user"))
    (body if depth == "body" else _messages(body)[-1])["surprise"] = 1
    with pytest.raises(ValueError, match="surprise"):
        CHECKS[wire](body)


@pytest.mark.parametrize("wire", CHECKS)
def test_a_wrong_type_is_found(wire: str) -> None:
    """A text that is a number fails."""
    body = deepcopy(body_of(wire, "02 system, user"))
    last = _messages(body)[-1]
    last["parts" if "parts" in last else "content"] = 7
    with pytest.raises(ValueError, match=r"valid|type"):
        CHECKS[wire](body)
