"""`turnwise targets --check` of recorded sessions: they belong to cases, so they are read and nothing is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from helpers import ROOT
from turnwise.providers.checking import CheckOutcome, check_targets
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import resolve_target

RECORDED = ROOT / "tests" / "data" / "agents" / "codex" / "tool.jsonl"


def check(root: Path) -> CheckOutcome:
    """What comes of checking the sessions in a folder of the project."""
    target = PROVIDERS["replay"].model_validate({"name": "a", "provider": "replay", "sessions": "kept"})
    (outcome,) = asyncio.run(check_targets([resolve_target(target, {})], root=root, default_system_prompt=None))
    return outcome


def keep(root: Path, name: str, content: bytes) -> None:
    """A file among the sessions."""
    (root / "kept").mkdir(exist_ok=True)
    (root / "kept" / name).write_bytes(content)


def test_sessions_that_can_be_read_are_fine(tmp_path: Path) -> None:
    """Their cases are none of the check's business; other files are no sessions."""
    keep(tmp_path, "refund.jsonl", RECORDED.read_bytes())
    keep(tmp_path, "order-2.log", RECORDED.read_bytes())
    keep(tmp_path, "order-2.stderr.txt", b"a warning")
    outcome = check(tmp_path)
    assert (outcome.ok, outcome.detail) == (True, f"2 sessions in {tmp_path / 'kept'}")


def test_a_session_of_an_agent_that_failed_can_be_read(tmp_path: Path) -> None:
    """It is a recorded failure, and no fault of the target."""
    events = b'{"type": "thread.started", "thread_id": "t"}\n{"type": "turn.failed", "error": {"message": "no"}}\n'
    keep(tmp_path, "a.jsonl", events)
    assert check(tmp_path).ok


def test_no_folder_and_no_sessions_are_told_apart(tmp_path: Path) -> None:
    """Both say what to do."""
    gone = check(tmp_path)
    (tmp_path / "kept").mkdir()
    empty = check(tmp_path)
    assert not gone.ok
    assert gone.detail == f"there is no folder {tmp_path / 'kept'}"
    assert "relative to the project root" in str(gone.hint)
    assert not empty.ok
    assert empty.detail == f"there is no session in {tmp_path / 'kept'}"
    assert "with the name of its case" in str(empty.hint)


def test_what_is_no_session_is_shown(tmp_path: Path) -> None:
    """The message says how the file begins, and the hint names every form that is known."""
    keep(tmp_path, "a.jsonl", b'{"foo": 1}\n\x1b[2J')
    outcome = check(tmp_path)
    assert not outcome.ok
    assert '{"foo": 1}' in outcome.detail
    assert "\x1b" not in outcome.detail
    for form in ("codex exec", "claude -p", "copilot", "pi", "gemini", "opencode", "Aider"):
        assert form in str(outcome.hint)


def test_many_sessions_are_not_all_read(tmp_path: Path) -> None:
    """A check is quick: it reads the first few, and says so."""
    for number in range(25):
        keep(tmp_path, f"c{number:02}.jsonl", RECORDED.read_bytes() if number < 20 else b"{}")
    outcome = check(tmp_path)
    assert outcome.ok
    assert outcome.detail.endswith("the first 20 of them readable")
