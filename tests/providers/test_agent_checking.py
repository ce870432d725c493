"""What is said of an agent before it is asked: where it is, its version, and where its key comes from."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from turnwise.providers.agents.checking import AgentState, access_of
from turnwise.providers.checking import CheckOutcome, check_targets
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target

KEY = "sk-secret-0123456789"
EVENTS = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "OK"}},
    {"type": "turn.completed", "usage": {}},
]


def resolved(provider: str, environment: dict[str, str] | None = None, **settings: Any) -> ResolvedTarget:
    """A target of a provider."""
    target = PROVIDERS[provider].model_validate({"name": "a", "provider": provider, **settings})
    return resolve_target(target, environment or {})


def check(target: ResolvedTarget, root: Path, **limits: float) -> CheckOutcome:
    """What comes of checking one target."""
    environment = {"PATH": "/usr/bin:/bin"}
    (outcome,) = asyncio.run(
        check_targets([target], root=root, default_system_prompt=None, environment=environment, **limits)
    )
    return outcome


def program(folder: Path, work: str) -> str:
    """An agent's program that tells its version, and otherwise does the work."""
    path = folder / "agent"
    lines = [f"#!{sys.executable}", "import sys, time", "if '--version' in sys.argv:", "    sys.exit('agent 1.2.3')"]
    path.write_text("\n".join([*lines, work, ""]))
    path.chmod(0o755)
    return str(path)


def answering() -> str:
    """What a program does that answers as Codex does."""
    return "\n".join(f"print({json.dumps(json.dumps(event))})" for event in EVENTS)


def test_an_agent_that_answers_is_described(tmp_path: Path) -> None:
    """The check tells the path, the version and where the key comes from, and has an answer."""
    path = program(tmp_path, answering())
    outcome = check(resolved("codex", {"K": KEY}, executable=path, api_key="${{ K }}"), tmp_path)
    assert outcome.ok
    assert outcome.agent == AgentState(path, "1.2.3", "key from K")
    assert outcome.latency_ms is not None
    assert KEY not in repr(outcome)


def test_a_missing_program_gives_the_install_command(tmp_path: Path) -> None:
    """The hint is a command that can be pasted."""
    outcome = check(resolved("cli", recipe="gemini-cli", executable="no-such-program"), tmp_path)
    assert not outcome.ok
    assert "not installed" in outcome.detail
    assert "npm install -g @google/gemini-cli" in str(outcome.hint)
    assert outcome.agent is None


def test_an_agent_that_fails_is_described_all_the_same(tmp_path: Path) -> None:
    """What was found stays in the outcome, beside why there was no answer."""
    outcome = check(resolved("codex", executable=program(tmp_path, "sys.exit(3)")), tmp_path)
    assert not outcome.ok
    assert "exit code 3" in outcome.detail
    assert outcome.agent is not None
    assert outcome.agent.access == "no key"


@pytest.mark.slow
def test_an_agent_that_never_answers_is_ended(tmp_path: Path) -> None:
    """The check has a time limit of its own for agents. The agent's is shorter, so that its trouble is told."""
    trouble = json.dumps({"type": "error", "message": "Reconnecting... connection refused"})
    path = program(tmp_path, f"print({json.dumps(trouble)}, flush=True)\ntime.sleep(60)")
    outcome = check(resolved("codex", executable=path), tmp_path, agent_timeout=2.0)
    assert not outcome.ok
    assert "no answer within 1.5 s" in outcome.detail
    assert "connection refused" in outcome.detail
    assert "`turnwise ask` waits" in str(outcome.hint)


@pytest.mark.parametrize(
    ("provider", "settings", "access"),
    [
        ("codex", {"api_key": KEY}, "key in the target"),
        ("codex", {"pass_env": ["OPENAI_API_KEY"]}, "key from OPENAI_API_KEY"),
        ("codex", {"pass_env": ["CODEX_API_KEY"]}, "no key"),
        ("claude-code", {"env": {"ANTHROPIC_AUTH_TOKEN": KEY}}, "key from ANTHROPIC_AUTH_TOKEN"),
        ("codex", {"base_url": "http://127.0.0.1:9"}, "no key, for a server of your own"),
        ("cli", {"recipe": "copilot", "env": {"GH_TOKEN": KEY}}, "key from GH_TOKEN"),
        ("cli", {"command": ["cat"]}, None),
        ("vscode", {}, None),
    ],
)
def test_where_a_key_comes_from(provider: str, settings: dict[str, Any], access: str | None) -> None:
    """A key is named by its variable, and only if the agent sees it; a program of one's own may need none."""
    assert access_of(resolved(provider, **settings), {"OPENAI_API_KEY": KEY}) == access


def test_a_sign_in_is_found_in_the_user_s_own_files(tmp_path: Path) -> None:
    """With the user's configuration, the file of a sign-in is looked for; without one, nobody knows."""
    target = resolved("codex", inherit_config=True)
    environment = {"HOME": str(tmp_path)}
    assert str(access_of(target, environment)).startswith("sign-in unknown")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("{}")
    assert access_of(target, environment) == f"signed in by {tmp_path}/.codex/auth.json"


def test_a_sign_in_may_be_elsewhere(tmp_path: Path) -> None:
    """The agent's own variable for its folder is heeded."""
    (tmp_path / "auth.json").write_text("{}")
    found = access_of(resolved("codex", inherit_config=True), {"HOME": "/none", "CODEX_HOME": str(tmp_path)})
    assert found == f"signed in by {tmp_path}/auth.json"
