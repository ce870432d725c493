"""Names of graders that other tools have, and what to write here instead: nothing that is only nearly the same."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FOREIGN_KINDS"]

_RUBRIC = "write the text alone, as a line of a rubric, or `type: llm_judge` with the text as its `prompt`"
_JUDGE = "write `type: llm_judge` with a `prompt`"
_PROGRAM = "write `type: code` with the `command` to run, or `python: module:function`"
_BOUND = "there is no lower bound; compare runs instead"

FOREIGN_KINDS: Mapping[str, str] = {
    "answer-relevance": _JUDGE,
    "context-faithfulness": _JUDGE,
    "context-recall": _JUDGE,
    "context-relevance": _JUDGE,
    "factuality": _JUDGE,
    "g-eval": _RUBRIC,
    "javascript": _PROGRAM,
    "llm-rubric": _RUBRIC,
    "model-graded-closedqa": _RUBRIC,
    "not-cost": _BOUND,
    "not-latency": _BOUND,
    "not-llm-rubric": "write the line the other way round: `The answer does not …`",
    "not-word-count": "write `not-length: {min: N, max: N, unit: words}`",
    "select-best": "write `type: pairwise` with a `baseline`",
    "webhook": _PROGRAM,
    "word-count": "write `length: {max: N, unit: words}`, with `min` if there is a least",
}
"""The hint for each of them."""
