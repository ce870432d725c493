"""Runs with judges that need no deck, which the tests share: servers of this machine that judge by prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deck_run_fixtures import judge_target, said
from fault_server import FaultServer
from run_fixtures import ECHO, case, journal, project, run, suite

__all__ = ["PRICE", "graded", "judge_project", "opinion", "ticks"]

PRICE = 1100 / 1_000_000
"""Dollars that one answer of such a judge costs."""


def opinion(score: Any, **more: Any) -> bytes:
    """A completion with what `llm_judge` asks for."""
    return said(json.dumps({"hits": ["polite"], "misses": ["late"], "reason": "because", "score": score, **more}))


def ticks(*verdicts: Any, evidence: str = "words") -> bytes:
    """A completion with a verdict for each line, numbers as scores."""
    keys = ["met" if isinstance(each, bool) else "score" for each in verdicts]
    lines = [
        {"id": str(number), "evidence": evidence, key: value}
        for number, (key, value) in enumerate(zip(keys, verdicts, strict=True), start=1)
    ]
    return said(json.dumps({"lines": lines}))


def judge_project(root: Path, url: str, *graders: Any, others: dict[str, str] | None = None, **fields: Any) -> Path:
    """A suite of one case, which is echoed, with these graders; `judge` and each of `others` judge at an address."""
    more = [judge_target(address, name=name) for name, address in (others or {}).items()]
    cases = fields.pop("cases", [case("a")])
    content = suite(cases, graders=list(graders), **fields)
    project(root, ECHO, judge_target(url, timeout=0.5), *more, s=content)
    return root / "s.yaml"


def graded(root: Path, server: FaultServer, *graders: Any, **fields: Any) -> dict[str, Any]:
    """The line of the one result of such a suite."""
    (line,) = journal(run(judge_project(root, server.url, *graders, **fields)))
    return line
