"""Plain values as YAML text, exactly: texts are always quoted, so that none of them is taken for something else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .toml_text import escaped, hides_something

__all__ = ["yaml_samples", "yaml_value"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"null", "true", "false"})


def yaml_value(value: Any) -> str:
    """A value on one line.

    >>> yaml_value({"score": 1, "reason": "no"})
    '{score: 1, reason: "no"}'
    """
    if isinstance(value, str):
        return f'"{escaped(value)}"'
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(str(name))}: {yaml_value(item)}' for name, item in value.items())}}}"
    return f"[{', '.join(map(yaml_value, value))}]"


def yaml_samples(records: Sequence[Mapping[str, Any]]) -> str:
    """A file with the samples as a list."""
    return "samples:\n" + "\n".join(_sample(record) for record in records)


def _sample(record: Mapping[str, Any]) -> str:
    text = ""
    for name, value in record.items():
        is_list = name in ("messages", "labels") and value
        text += f"{'    ' if text else '  - '}{_key(name)}:"
        text += "\n" + "".join(map(_item, value)) if is_list else f" {yaml_value(value)}\n"
    return text


def _item(fields: Mapping[str, Any]) -> str:
    text = ""
    for name, value in fields.items():
        text += f"{'        ' if text else '      - '}{_key(name)}: {_lines(value)}\n"
    return text


def _lines(value: Any) -> str:
    """A text keeps its lines, for those who read the file, where that is safe."""
    if not isinstance(value, str) or "\n" not in value or not _is_block(value):
        return yaml_value(value)
    body = value.removesuffix("\n").replace("\n", "\n" + " " * 10)
    bar = "|" if value.endswith("\n") else "|-"
    return f"{bar}\n{' ' * 10}{body}"


def _is_block(text: str) -> bool:
    lines = text.removesuffix("\n").split("\n")
    return lines[0][:1].isalnum() and all(line and line == line.strip() and not hides_something(line) for line in lines)


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _WORDS else f'"{escaped(name)}"'
