"""What graders of the user's own are given, and what they may say: plain data, the same for programs and functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf
from numbers import Real
from typing import Any

from ..programs.words import clean_text
from .base import Grade, GradeError, GraderSettings, Submission

__all__ = ["PROTOCOL", "Judgement", "bad_output", "judged", "judgement", "submission_data"]

PROTOCOL = 1
"""Counts up if a field ever changes its meaning or goes away; new fields do not change it."""

_MOST_SHOWN = 3
_LONGEST_EVIDENCE = 1_000_000
_EXPECTED = 'expected {"score": 0 to 1, "reason": …}, or {"error": …} if it cannot be graded'


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a grader of the user's own says. `passed` is None where the threshold decides."""

    score: float
    passed: bool | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


def submission_data(submission: Submission) -> dict[str, Any]:
    """All that a grader may know, as plain data that is nobody else's. Fields that AgentV calls by other names are
    there under both.

    >>> submission_data(Submission(question="Q?", text="42"))["answer"]
    '42'
    """
    files, guidelines = list(submission.files), list(submission.guideline_paths)
    data = {
        "protocol": PROTOCOL,
        "question": submission.question,
        "answer": submission.text,
        "candidate_answer": submission.text,
        "outcome": submission.outcome,
        "expected_outcome": submission.outcome,
        "reference_answer": submission.reference,
        "input_messages": list(submission.input_messages),
        "output_messages": list(submission.output_messages),
        "expected_messages": list(submission.expected),
        "guideline_paths": guidelines,
        "guideline_files": guidelines,
        "files": files,
        "input_files": files,
        "metadata": dict(submission.metadata),
        "vars": dict(submission.vars),
        "usage": None if submission.usage is None else asdict(submission.usage),
        "latency_ms": submission.latency_ms,
        "cost_usd": submission.cost_usd,
        "case_id": submission.case_id,
        "target": submission.target,
        "variant": submission.variant,
        "trial": submission.trial,
        "workspace": None if submission.workspace is None else str(submission.workspace),
        "diff": submission.diff,
    }
    # Dates of a suite become texts.
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def judgement(said: Any) -> Judgement | GradeError:
    """What a mapping says, if it says it properly.

    >>> judgement({"score": 0.5, "misses": ["no greeting"]})
    Judgement(score=0.5, passed=None, reason='missed: no greeting', evidence={'misses': ['no greeting']})
    """
    if not isinstance(said, Mapping):
        return bad_output(f"found {_named(said)}, not a mapping")
    if said.get("error") is not None:
        return GradeError("cannot-grade", f"the grader says: {clean_text(str(said['error'])) or 'nothing'}")
    passed, score = said.get("passed"), said.get("score")
    if not isinstance(passed, bool | None):
        return bad_output(f"`passed` must be true or false, found {_named(passed)}")
    number = float(passed) if score is None and passed is not None else _number(score)
    if isinstance(number, GradeError):
        return number
    found = _evidence(said)
    if isinstance(found, GradeError):
        return found
    reason = said.get("reason") if said.get("reason") is not None else said.get("reasoning")
    if not isinstance(reason, str | None):
        return bad_output(f"`reason` must be text, found {_named(reason)}")
    return Judgement(number, passed, clean_text(reason or "") or _told(number, found), found)


def judged(settings: GraderSettings, said: Judgement | GradeError) -> Grade:
    """The grade. The grader's own `passed` counts where the suite sets no threshold for it."""
    if isinstance(said, GradeError):
        return settings.ungraded(said)
    grade = settings.graded(said.score, said.reason, said.evidence)
    return grade if said.passed is None or settings.threshold is not None else replace(grade, passed=said.passed)


def bad_output(problem: str) -> GradeError:
    """The error for something that is no judgement."""
    return GradeError("bad-output", f"the grader gave no valid score: {problem}; {_EXPECTED}")


def _number(score: Any) -> float | GradeError:
    if score is None:
        return bad_output("there is no `score`")
    if isinstance(score, bool) or not isinstance(score, Real):
        return bad_output(f"`score` must be a number, found {_named(score)}")
    try:
        number = float(score)
    except OverflowError:
        number = inf
    return number if 0 <= number <= 1 else bad_output(f"`score` must be from 0 to 1, found {number:g}")


def _evidence(said: Mapping[str, Any]) -> dict[str, Any] | GradeError:
    evidence = said.get("evidence")
    if not isinstance(evidence, Mapping | None):
        return bad_output(f"`evidence` must be a mapping, found {_named(evidence)}")
    found = dict(evidence or {})
    for key in ("hits", "misses"):
        listed = said.get(key)
        if listed is None:
            continue
        if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
            return bad_output(f"`{key}` must be a list of texts, found {_named(listed)}")
        found[key] = [clean_text(each) for each in listed]
    try:
        written = json.dumps(found, allow_nan=False)
        plain: dict[str, Any] = json.loads(written)
    except (TypeError, ValueError, RecursionError) as error:
        return bad_output(f"`evidence` must be JSON: {clean_text(str(error), 100)}")
    if len(written) > _LONGEST_EVIDENCE:
        return {"left_out": f"evidence of {len(written):,} characters; at most {_LONGEST_EVIDENCE:,} are kept"}
    return plain


def _told(score: float, evidence: Mapping[str, Any]) -> str:
    """A reason for a grader that gives none."""
    for key, word in (("misses", "missed"), ("hits", "hit")):
        if listed := evidence.get(key):
            more = f" (and {len(listed) - _MOST_SHOWN} more)" if len(listed) > _MOST_SHOWN else ""
            return f"{word}: {'; '.join(listed[:_MOST_SHOWN])}{more}"
    return f"the grader gave {score:g} and no reason"


def _named(value: Any) -> str:
    """A value by its kind, in the words of JSON where there are any."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the text {clean_text(value, 40)!r}"
    names: dict[type, str] = {int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    return names.get(type(value), f"a value of the type `{type(value).__qualname__}`")
