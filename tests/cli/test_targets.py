"""`turnwise targets`: what it lists, what it checks, and what it never shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from helpers import run_turnwise
from turnwise.cli import ExitCode, cli

SECRET = "sk-hush-0123456789"
TARGETS = """\
targets:
  - {name: gpt, provider: openai, model: "${{ MODEL }}"}
  - {name: claude, provider: anthropic, model: c-1, api_key: "${{ MY_KEY }}"}
  - {name: far, provider: http, url: "https://me:hush-login@example.org/chat"}
"""


@dataclass(frozen=True)
class Outcome:
    """What came of asking one target."""

    name: str
    ok: bool
    detail: str
    hint: str | None
    latency_ms: float | None
    agent: None = None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three targets, as the current folder, where no variable is set."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS)
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "FORCE_COLOR")):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for asking: every target answers but `claude`. Holds the names that each call asked."""
    asked: list[list[str]] = []

    async def check_targets(resolved: list[Any], **_: object) -> list[Outcome]:
        asked.append([each.target.name for each in resolved])
        return [
            Outcome(each.target.name, False, "401: wrong key", "look at MY_KEY", None)
            if each.target.name == "claude"
            else Outcome(each.target.name, True, "answered", None, 1234.5)
            for each in resolved
        ]

    module = ModuleType("turnwise.providers.checking")
    vars(module).update(CheckOutcome=Outcome, check_targets=check_targets)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return asked


def run(*arguments: str, **environment: str) -> Result:
    """Run the verb in this process."""
    return CliRunner().invoke(cli, ["targets", *arguments], env=environment)


def records(result: Result) -> dict[str, dict[str, Any]]:
    """The JSON output by name."""
    return {record["name"]: record for record in json.loads(result.stdout)}


def test_the_list(project: Path) -> None:
    """A line a target: name, provider, model, address, and which variables are missing, the usual ones included."""
    result = run(MODEL="gpt-x", MY_KEY=SECRET)
    assert result.exit_code == ExitCode.OK
    gpt, claude, far = (line.split() for line in result.stdout.splitlines())
    assert gpt == ["gpt", "openai", "gpt-x", "https://api.openai.com/v1", "not", "set:", "OPENAI_API_KEY"]
    assert claude == ["claude", "anthropic", "c-1", "https://api.anthropic.com", "ready"]
    assert far == ["far", "http", "—", "https://[redacted:", "url]@example.org/chat", "ready"]
    assert "hush" not in result.output


def test_json(project: Path) -> None:
    """The same for programs, with what each setting came from."""
    result = run("--format", "json", "gpt", "claude", MODEL="gpt-x", OPENAI_API_KEY=SECRET)
    found = records(result)
    assert (found["gpt"]["ready"], found["gpt"]["missing"]) == (True, [])
    assert found["gpt"]["variables"] == {"model": "MODEL", "api_key": "OPENAI_API_KEY"}
    assert (found["claude"]["ready"], found["claude"]["missing"]) == (False, ["MY_KEY"])
    assert found["claude"]["check"] is None
    assert SECRET not in result.output


def test_the_projects_env_file_is_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables may be in `.turnwise/.env`; the project is found from a folder in it."""
    (project / ".turnwise" / ".env").write_text(f"MODEL=from-file\nOPENAI_API_KEY={SECRET}\n")
    (project / "evals").mkdir()
    monkeypatch.chdir(project / "evals")
    gpt = records(run("--format", "json"))["gpt"]
    assert (gpt["model"], gpt["ready"]) == ("from-file", True)


def test_targets_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file there is nothing to list, but a provider and its model can be named."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert records(run("--format", "json", "mock"))["mock"]["ready"]
    done = run_turnwise("targets", cwd=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "there is no .turnwise/targets.yaml" in done.stderr
    assert "turnwise init" in done.stderr


def test_a_bad_file_and_an_unknown_name(project: Path) -> None:
    """Both end in exit code 2, a message and a hint."""
    done = run_turnwise("targets", "gtp", cwd=project)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "did you mean `gpt`?" in done.stderr
    (project / ".turnwise" / "targets.yaml").write_text(
        "targets:\n  - {name: a, provider: anthropic, model: m, seed: 1}\n"
    )
    done = run_turnwise("targets", cwd=project)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "targets.yaml:2:" in done.stderr
    assert "anthropic takes no `seed`" in done.stderr


def test_a_bad_value_is_shown_with_its_target(project: Path) -> None:
    """A variable that does not fit is a problem of that target; the others are listed, and the exit code is 2."""
    result = run("--format", "json", MODEL="m", OPENAI_API_KEY=SECRET, OPENAI_BASE_URL="nowhere", MY_KEY=SECRET)
    assert result.exit_code == ExitCode.BAD_INPUT
    found = records(result)
    assert "(from the variable OPENAI_BASE_URL)" in found["gpt"]["problem"]
    assert found["claude"]["ready"]
    text = run(MODEL="m", OPENAI_API_KEY=SECRET, OPENAI_BASE_URL="nowhere", MY_KEY=SECRET).stdout
    assert "must start with http://" in text
    assert "hint:" in text


def test_a_key_in_the_file_is_warned_of(project: Path) -> None:
    """The warning goes to standard error, without the key."""
    text = f"targets:\n  - {{name: a, provider: ollama, model: m, api_key: {SECRET}}}\n"
    (project / ".turnwise" / "targets.yaml").write_text(text)
    result = run()
    assert result.exit_code == ExitCode.OK
    assert "warning: target 'a': `api_key` is written out" in result.stderr
    assert SECRET not in result.output


def test_check_shows_who_answers(project: Path, answers: list[list[str]]) -> None:
    """✓ and the time, or ✗, the reason and a hint; one that does not answer makes the exit code 1."""
    result = run("--check", MODEL="gpt-x", OPENAI_API_KEY=SECRET, MY_KEY=SECRET)
    assert result.exit_code == ExitCode.FAILED
    assert answers == [["gpt", "claude", "far"]]
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["✓", "gpt", "openai", "gpt-x", "1,234", "ms"]
    assert lines[1].split() == ["✗", "claude", "anthropic", "c-1", "401:", "wrong", "key"]
    assert lines[2].strip() == "hint: look at MY_KEY"
    assert run("--check", "far").exit_code == ExitCode.OK


def test_check_asks_only_those_that_can_be_asked(project: Path, answers: list[list[str]]) -> None:
    """A target whose variables are missing has failed without a request."""
    result = run("--check", "--format", "json", "gpt", "far", MODEL="gpt-x")
    assert result.exit_code == ExitCode.FAILED
    assert answers == [["far"]]
    found = records(result)
    assert found["gpt"]["check"]["ok"] is False
    assert found["gpt"]["check"]["detail"] == "not set: OPENAI_API_KEY"
    assert found["far"]["check"] == {"ok": True, "detail": "answered", "hint": None, "latency_ms": 1234.5}


def test_listing_imports_nothing_of_the_network(project: Path) -> None:
    """Without --check neither aiohttp nor asyncio is imported: the list is there at once."""
    program = (
        "import sys\nfrom turnwise.cli import main\nsys.argv = ['turnwise', 'targets']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\nMODULES', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gpt")
    assert not {"aiohttp", "asyncio", "ssl", "numpy"} & set(done.stdout.rsplit("MODULES ", 1)[1].split())
