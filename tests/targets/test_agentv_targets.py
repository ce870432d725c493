"""AgentV's targets files load unchanged, and what is wrong with them is said in their own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.diagnostics import Diagnostic
from turnwise.targets.agentv import translate_target
from turnwise.targets.format import Target
from turnwise.targets.load import load_targets, read_targets

REAL = Path(__file__).parent / "data" / "agentv-simple" / ".agentv" / "targets.yaml"


def translated(**raw: Any) -> dict[str, Any]:
    """A target in our words."""
    return translate_target({"name": "t", **raw})[0]


def problems(tmp_path: Path, target: str) -> list[Diagnostic]:
    """What is said about an AgentV file with one target, given as lines."""
    path = tmp_path / "targets.yaml"
    lines = "".join(f"    {line}\n" for line in target.splitlines())
    path.write_text(f"$schema: agentv-targets-v2.2\ntargets:\n  - name: t\n{lines}")
    return read_targets(path)[1]


def test_a_real_file_loads_unchanged() -> None:
    """The file of a real project loads without a word, and its settings arrive under our names."""
    spec, diagnostics = read_targets(REAL)
    assert diagnostics == []
    assert spec is not None
    by_name = {target.name: target for target in spec.targets}
    assert [target.provider for target in spec.targets] == [
        "azure", "vscode", "codex", "vscode", "vscode-insiders", "azure", "cli"
    ]  # fmt: skip
    assert settings(by_name["default"]) == {
        "endpoint": "${{ AZURE_OPENAI_ENDPOINT }}",
        "api_key": "${{ AZURE_OPENAI_API_KEY }}",
        "model": "${{ AZURE_DEPLOYMENT_NAME }}",
    }
    assert settings(by_name["codex"]) == {
        "judge_target": "azure_base",
        "timeout": 180,
        "cwd": "${{ CODEX_WORKSPACE_DIR }}",
        "log_dir": "${{ CODEX_LOG_DIR }}",
    }
    assert settings(by_name["local_cli"])["healthcheck"] == {
        "type": "command",
        "command": "uv run ./mock_cli.py --healthcheck",
    }
    assert settings(by_name["vscode_projectx"]) == {
        "judge_target": "azure_base",
        "workspace_template": "${{ PROJECTX_WORKSPACE_PATH }}",
    }


def settings(target: Target) -> dict[str, Any]:
    """What a target sets, but for name and provider."""
    return target.model_dump(exclude_defaults=True, exclude={"name", "provider"})


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("azure-openai", "azure"), ("google", "gemini"), ("google-gemini", "gemini"), ("codex-cli", "codex")],
)
def test_provider_aliases(theirs: str, ours: str) -> None:
    """Their other names for providers are understood."""
    assert translated(provider=theirs)["provider"] == ours


@pytest.mark.parametrize(
    ("provider", "theirs", "value", "ours", "expected"),
    [
        ("azure", "resource", "r", "endpoint", "r"),
        ("azure", "deployment", "d", "model", "d"),
        ("azure", "deploymentName", "d", "model", "d"),
        ("azure", "version", "v", "api_version", "v"),
        ("azure", "apiVersion", "v", "api_version", "v"),
        ("azure", "apiKey", "k", "api_key", "k"),
        ("anthropic", "thinkingBudget", 5, "thinking_budget", 5),
        ("gemini", "maxOutputTokens", 5, "max_output_tokens", 5),
        ("gemini", "temperature", "0.5", "temperature", 0.5),
        ("gemini", "max_retries", "2", "max_retries", 2),
        ("gemini", "retry_initial_delay_ms", 1500, "retry_initial_delay", 1.5),
        ("gemini", "retryMaxDelayMs", "250", "retry_max_delay", 0.25),
        ("gemini", "retry_backoff_factor", 3, "retry_factor", 3),
        ("gemini", "retryStatusCodes", [500], "retry_statuses", [500]),
        ("codex", "timeoutSeconds", 9, "timeout", 9),
        ("vscode", "vscode_cmd", "code", "executable", "code"),
        ("vscode", "subagentRoot", "x", "agent_root", "x"),
        ("vscode", "provider_batching", True, "batch", True),
        ("vscode-insiders", "dryRun", "true", "dry_run", True),
        ("cli", "filesFormat", "{path}", "files_format", "{path}"),
        ("cli", "commandTemplate", "run {EVAL_ID}", "command", "run {CASE_ID}"),
        ("mock", "delayMs", 20, "delay", 0.02),
    ],
)
def test_settings_are_translated(provider: str, theirs: str, value: Any, ours: str, expected: Any) -> None:
    """Their names, in either spelling, become ours; milliseconds become seconds; and the way back is known."""
    target, authored = translate_target({"name": "t", "provider": provider, theirs: value})
    assert target[ours] == expected
    assert theirs == ours or theirs not in target
    assert authored((ours, 0)) == (theirs, 0)


def test_their_commands_run_in_a_shell() -> None:
    """Their command templates are for a shell, so they get one; health checks are translated with them."""
    target, authored = translate_target(
        {
            "name": "t",
            "provider": "cli",
            "commandTemplate": "a | b {PROMPT}",
            "healthcheck": {"type": "http", "url": "http://localhost", "timeoutSeconds": 3},
        }
    )
    assert target["shell"] is True
    assert target["healthcheck"] == {"type": "http", "url": "http://localhost", "timeout": 3}
    assert authored(("healthcheck", "timeout")) == ("healthcheck", "timeoutSeconds")


def test_batching_is_dropped_where_it_means_nothing() -> None:
    """`provider_batching` does nothing for providers that cannot batch, as it does in AgentV."""
    assert "provider_batching" not in translated(provider="azure", provider_batching=True)


def test_headers_and_variables_keep_their_spelling() -> None:
    """Only the keys of settings are translated, not the user's own names below them."""
    assert translated(provider="cli", env={"myVar": "x"})["env"] == {"myVar": "x"}


def test_a_file_in_their_folder_needs_no_schema(tmp_path: Path) -> None:
    """A file in `.agentv/` is theirs even if it does not say so; the same file elsewhere is ours."""
    text = "targets:\n  - {name: t, provider: azure-openai, deployment: d}\n"
    for folder in (".agentv", ".turnwise"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "targets.yaml").write_text(text)
    (target,) = load_targets(tmp_path / ".agentv" / "targets.yaml").targets
    assert settings(target) == {"model": "d"}
    _, diagnostics = read_targets(tmp_path / ".turnwise" / "targets.yaml")
    assert [(each.code, each.hint) for each in diagnostics] == [("unknown-provider", "did you mean `azure`?")]


def test_problems_stand_where_the_author_wrote(tmp_path: Path) -> None:
    """A wrong value is reported at the author's own key, line and column."""
    (problem,) = problems(tmp_path, "provider: gemini\nmodel: m\nretryMaxDelayMs: -5")
    assert (problem.code, problem.path) == ("out-of-range", "targets[0].retryMaxDelayMs")
    assert (problem.place.line, problem.place.column) == (6, 22)


def test_problems_of_a_health_check_stand_where_the_author_wrote(tmp_path: Path) -> None:
    """The way back leads into nested settings, too."""
    (problem,) = problems(
        tmp_path, "provider: cli\ncommand_template: x\nhealthcheck:\n  type: command\n  command_template: 5"
    )
    assert problem.path == "targets[0].healthcheck.command_template"
    assert problem.place.line == 8


@pytest.mark.parametrize(
    ("lines", "unknown"),
    [
        ("endpoint: a\nresource: b", "resource"),
        ("resource: a\nendpoint: b", "resource"),
        ("endpoint: a\nfooBar: b", "fooBar"),
        ("endpoint: a\nretry_max_delay_ms: ${{ MS }}", "retry_max_delay_ms"),
    ],
)
def test_what_is_not_understood_is_named_as_written(tmp_path: Path, lines: str, unknown: str) -> None:
    """A second spelling of one setting, an unknown key and milliseconds in a variable are errors, not lost."""
    (problem,) = problems(tmp_path, f"provider: azure\nmodel: m\n{lines}")
    assert (problem.code, problem.message) == ("unknown-key", f"unknown key `{unknown}`")


@pytest.mark.parametrize("value", [None, 5, [], {}, True])
@pytest.mark.parametrize(
    "key", ["provider", "timeout_seconds", "retry_max_delay_ms", "healthcheck", "command_template"]
)
def test_values_of_any_type_are_passed_on(key: str, value: Any) -> None:
    """The translation never fails: wrong values are left for the validator."""
    translate_target({"name": "t", "provider": "cli", key: value})


def test_a_setting_that_the_provider_cannot_take_is_named_as_written(tmp_path: Path) -> None:
    """Their `thinkingBudget` is for anthropic: elsewhere it is an error in their own spelling, not lost."""
    (problem,) = problems(tmp_path, "provider: azure\nmodel: m\nthinkingBudget: 5")
    assert (problem.code, problem.message) == ("unknown-key", "azure takes no `thinkingBudget`")
    assert problems(tmp_path, "provider: anthropic\nmodel: m\nthinkingBudget: 5") == []
