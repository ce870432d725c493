"""Runs with a judge that the tests share: a deck, a server of this machine that judges, and a project around them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fault_server import Fault, Received, answer
from run_fixtures import ECHO, openai, project

__all__ = ["DECK", "KEY", "deck_project", "judge_target", "messages_of", "said", "verdict"]

KEY = "sk-judge-0123456789abcdef"
DECK = """+++
[scale]
kind = "ordinal"
min = 1
max = 5
pass = 4
ungradable = 0
+++

How polite is the last answer? Answer in JSON, with a score from 1 to 5, or 0 if there is nothing to judge.
"""


def said(text: str, finish_reason: str = "stop") -> bytes:
    """A completion of a model that read 1,000 tokens and wrote 100."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return answer({"model": "m-2026", "choices": [choice], "usage": usage})


def verdict(score: Any, reason: str = "because") -> bytes:
    """A completion with a verdict."""
    return said(json.dumps({"reason": reason, "score": score}))


def messages_of(request: Received) -> list[dict[str, Any]]:
    """The messages that the server was sent."""
    messages: list[dict[str, Any]] = json.loads(request.body)["messages"]
    return messages


def judge_target(url: str, **settings: Any) -> dict[str, Any]:
    """The target that judges; it sends nothing again, and costs a dollar for a million tokens."""
    usual = {"name": "judge", "api_key": KEY, "max_retries": 0, "prices": {"input": 1.0, "output": 1.0}}
    return openai(url, **{**usual, **settings})


def deck_project(root: Path, url: str, *, deck: str = DECK, judge: dict[str, Any] | None = None, **suites: Any) -> Path:
    """A project whose target echoes, with a judge at the address and the deck `tone.deck.md`."""
    project(root, ECHO, judge_target(url, **(judge or {})), **suites)
    (root / "tone.deck.md").write_text(deck)
    return root


Reply = Callable[[Received], Fault | bytes]
