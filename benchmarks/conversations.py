"""Plain conversations of six messages, each with a text that its answer must contain: the work of a run.

Every tool can express them, and no two of them have a message in common. As a script, it writes a dataset, so that the
process that measures stays small: `python conversations.py FILE COUNT`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generate import sentence

__all__ = ["conversations", "write_conversations"]

_SEED = 40_009
_ROLES = ("system", "user", "assistant", "user", "assistant", "user")
_EXPECTED = ("30 days", "annual plan", "billing desk", "refunded within")


def conversations(count: int) -> Iterator[dict[str, Any]]:
    """So many cases, always the same ones."""
    rng = random.Random(_SEED)
    for number in range(count):
        messages = [{"role": role, "content": _text(rng, number, turn)} for turn, role in enumerate(_ROLES)]
        expected = {"contains": _EXPECTED[number % len(_EXPECTED)]}
        yield {"id": f"case-{number:06d}", "input_messages": messages, "graders": [expected]}


def _text(rng: random.Random, number: int, turn: int) -> str:
    return f"{sentence(rng)} {sentence(rng)} This is about ticket {number}-{turn}."


def write_conversations(path: Path, count: int) -> None:
    """Write a dataset (`.jsonl`), or a suite (`.yaml`) that holds the cases."""
    with open(path, "w", encoding="utf-8") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in conversations(count))
        else:
            file.write("cases:\n")
            file.writelines(_yaml_case(case) for case in conversations(count))


def _yaml_case(case: dict[str, Any]) -> str:
    lines = [f"  - id: {case['id']}", "    input_messages:"]
    for message in case["input_messages"]:
        lines += [f"      - role: {message['role']}", f"        content: {_quoted(message['content'])}"]
    lines += ["    graders:", *(f"      - {kind}: {_quoted(text)}" for kind, text in case["graders"][0].items())]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    write_conversations(Path(sys.argv[1]), int(sys.argv[2]))
