"""Answers of a run as samples that nobody has labelled yet: the conversation that was sent, and the answer to it.

What graders said of an answer is never part of it: those who label must not see it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..suite.sources import WholeFile
from .sample import Sample, SampleMessage

__all__ = ["Answer", "answers_of", "has_answer", "result_key"]

_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_NO_TEXT = "[no text]"
_Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A sample without labels, where it comes from, and the result that it was made of."""

    sample: Sample
    metadata: dict[str, Any]
    record: _Record


def has_answer(record: _Record) -> bool:
    """Whether there is a text to label."""
    answer = record.get("answer")
    return isinstance(answer, str) and bool(answer.strip())


def result_key(record: _Record) -> tuple[str, ...]:
    """What tells results apart; of two with the same key the later one counts."""
    return tuple(f"{record.get(name) or ''}" for name in ("suite", "case_id", "target", "variant", "trial"))


def answers_of(records: Sequence[_Record], run: str, file: str) -> list[Answer]:
    """A sample for each result, in an order and with ids that do not depend on which result was written first."""
    ordered = sorted(records, key=_sorting)
    cases = Counter((record.get("suite"), record.get("case_id")) for record in ordered)
    has_suites = len({record.get("suite") for record in ordered}) > 1
    taken: set[str] = set()
    made = []
    for record in ordered:
        repeated = cases[record.get("suite"), record.get("case_id")] > 1
        name = record.get("conversation_id") or (record.get("case_id") if repeated else None)
        cluster = None if name is None else f"{record.get('suite')}/{name}" if has_suites else str(name)
        tags = tuple(str(record[key]) for key in ("target", "suite", "variant") if record.get(key))
        sample = Sample(_id(record, taken), _messages(record), None, (), cluster, tags, WholeFile(file), ())
        made.append(Answer(sample, _origin(record, run), record))
    return made


def _sorting(record: _Record) -> tuple[Any, ...]:
    *names, trial = result_key(record)
    return (*names, int(trial) if trial.isdecimal() else 0, trial)


def _origin(record: _Record, run: str) -> dict[str, Any]:
    origin = {"run": record.get("run_id") or run, "case": record.get("case_id")}
    names = ("suite", "target", "variant", "trial")
    return origin | {name: record[name] for name in names if record.get(name) is not None}


def _id(record: _Record, taken: set[str]) -> str:
    parts = (str(record.get("case_id") or "case"), str(record.get("target") or "target"), str(record.get("trial") or 1))
    slug = unique = "-".join(_NOT_IN_A_SLUG.sub("-", part).strip("-") or "x" for part in parts)
    number = 1
    while unique in taken:
        number += 1
        unique = f"{slug}-{number}"
    taken.add(unique)
    return unique


def _messages(record: _Record) -> tuple[SampleMessage, ...]:
    request = record.get("raw_request") or {}
    prompt = request.get("chat_prompt") or []
    turns = [_turn(message) for message in prompt if isinstance(message, dict)]
    if not turns and request.get("question"):
        turns = [{"role": "user", "content": str(request["question"])}]
    return (*turns, {"role": "assistant", "content": str(record["answer"])})


def _turn(message: _Record) -> SampleMessage:
    pieces = [_text(message.get("content"))]
    pieces += [f"[tool call: {json.dumps(call, ensure_ascii=False)}]" for call in message.get("tool_calls") or ()]
    content = "\n".join(piece for piece in pieces if piece) or _NO_TEXT
    turn: SampleMessage = {"role": str(message.get("role") or "user"), "content": content}
    if isinstance(message.get("name"), str):
        turn["name"] = message["name"]
    return turn


def _text(content: Any) -> str:
    """The text of a content; of files and images only the names."""
    if not isinstance(content, list):
        return "" if content is None else str(content)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    """One piece of a content.

    >>> _part({"type": "image", "value": "cat.png", "data": "aGk="})
    '[image: cat.png]'
    """
    if not isinstance(part, dict):
        return str(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    name = next((part[key] for key in ("value", "name", "filename", "path") if isinstance(part.get(key), str)), "")
    kind = part.get("type") or "file"
    return f"[{kind}: {name}]" if name else f"[{kind}]"
