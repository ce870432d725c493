"""Every command in a project of AgentV's, again and again."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import run_turnwise

SUITE = {
    "$schema": "agentv-eval-v2",
    "target": "echo",
    "evalcases": [{"id": "a", "outcome": "It greets.", "input_messages": [{"role": "user", "content": "hello"}]}],
}
JUDGE = {"name": "judge", "provider": "mock", "response": '{"hits": [], "misses": [], "reason": "fine", "score": 1}'}
TARGETS = {"targets": [{"name": "echo", "provider": "mock", "echo": True, "judge_target": "judge"}, JUDGE]}


def test_an_agentv_project_works_more_than_once(tmp_path: Path) -> None:
    """The results of the first run do not keep later commands from reading `.agentv/`."""
    (tmp_path / ".agentv").mkdir()
    (tmp_path / ".agentv" / "targets.yaml").write_text(json.dumps(TARGETS))
    (tmp_path / "s.yaml").write_text(json.dumps(SUITE))
    for arguments in (("run", "s.yaml"), ("run", "s.yaml"), ("grade",), ("validate", "."), ("targets",)):
        named = (*arguments, _last_run(tmp_path)) if arguments == ("grade",) else arguments
        done = run_turnwise(*named, cwd=tmp_path)
        assert (done.returncode, arguments, done.stderr if done.returncode else "") == (0, arguments, "")
    assert "judge" in done.stdout


def _last_run(root: Path) -> str:
    return max(each.name for each in (root / ".turnwise" / "runs").iterdir())
