"""`turnwise prompt --target`: the exact request, every rewrite, no secret."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from helpers import run_turnwise

SUITE = """
cases:
  - id: tools
    input_messages:
      - {role: user, content: What is the weather in Oslo?}
      - role: assistant
        tool_calls: [{id: c1, function: {name: get_weather, arguments: '{"city": "Oslo"}'}}]
      - {role: tool, tool_call_id: c1, content: rain}
      - {role: user, content: "Do I need an umbrella? It's \\"wet\\" & $HOME `x`"}
"""
TARGETS = """
targets:
  - name: gpt
    provider: openai
    model: gpt-x
    api_key: ${{ MY_KEY }}
    system_prompt: You are terse.
    headers: {X-Team: evals, X-Auth-Token: "${{ TEAM_TOKEN }}"}
  - {name: claude, provider: anthropic, model: c, system_prompt: You are terse.}
  - {name: fixed, provider: mock, response: Yes.}
  - {name: elsewhere, provider: openai, model: m, base_url: "${{ HOST }}/v1", api_key: "${{ MY_KEY }}"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def shown(project: Path, *arguments: str, **variables: str) -> list[dict[str, Any]]:
    done = run_turnwise("prompt", "suite.yaml", "--format", "json", *arguments, cwd=project, stdin=None, **variables)
    assert done.returncode == 0, done.stderr
    records: list[dict[str, Any]] = json.loads(done.stdout)
    return records


def test_a_request_is_shown_with_every_rewrite(project: Path) -> None:
    """JSON has the method, the address, the headers, the exact body, and what the API's rules changed."""
    (record,) = shown(project, "--target", "claude")
    request = record["request"]
    assert (request["method"], request["url"]) == ("POST", "https://api.anthropic.com/v1/messages")
    assert request["body"]["system"] == "You are terse."
    assert [message["role"] for message in request["body"]["messages"]] == ["user", "assistant", "user", "user"]
    assert record["messages"][0] == {"role": "system", "content": "You are terse."}
    assert record["target"] == "claude"
    kinds = {rewrite["kind"]: rewrite for rewrite in record["rewrites"]}
    assert kinds["system-hoisted"]["message_index"] == 0
    assert set(kinds["max-tokens-added"]) == {"kind", "message_index", "what", "why"}


def test_the_target_gives_the_last_system_prompt(project: Path) -> None:
    """A target's system prompt is used where neither case nor suite nor messages have one."""
    (record,) = shown(project, "--target", "gpt")
    assert record["chat_prompt"][0] == {"role": "system", "content": "You are terse."}
    (record,) = shown(project)
    assert record["messages"][0]["content"] == "You are a careful assistant."


def test_no_secret_is_shown(project: Path) -> None:
    """Keys are named by their variables, whether or not these are set."""
    for variables in ({"MY_KEY": "sk-very-secret", "TEAM_TOKEN": "tt-very-secret"}, {}):
        (record,) = shown(project, "--target", "gpt", **variables)
        headers = record["request"]["headers"]
        assert headers["Authorization"] == "Bearer [redacted: MY_KEY]"
        assert headers["X-Auth-Token"] == "[redacted: TEAM_TOKEN]"
        assert headers["X-Team"] == "evals"
        assert "very-secret" not in json.dumps(record)


def test_a_missing_variable_that_is_no_secret_is_an_error(project: Path) -> None:
    """Without its address a request cannot be shown: the variable is named."""
    done = run_turnwise("prompt", "suite.yaml", "--target", "elsewhere", cwd=project)
    assert done.returncode == 2
    assert "HOST" in done.stderr
    assert "MY_KEY" not in done.stderr


def test_provider_and_model_need_no_file(tmp_path: Path) -> None:
    """`provider/model` is a target without a targets file."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    (record,) = shown(tmp_path, "--target", "gemini/gemini-x")
    assert record["request"]["url"].endswith("/v1/models/gemini-x:generateContent")


def test_text_shows_the_request_and_the_rewrites(project: Path) -> None:
    """For people: the request line, the headers, the body, and a line for each rewrite."""
    done = run_turnwise("prompt", "suite.yaml", "--target", "claude", cwd=project)
    assert "POST https://api.anthropic.com/v1/messages" in done.stdout
    assert '"role": "user"' in done.stdout
    assert "rewrite: message 1: the system message went to `system`" in done.stdout


def test_a_conversation_that_cannot_be_sent_says_which_rule(tmp_path: Path) -> None:
    """No user turn: an error of that case, with its place and what to do; the other case is shown."""
    suite = (
        "cases:\n  - id: alone\n    input_messages: [{role: system, content: Be kind.}]\n" + SUITE.split("cases:\n")[1]
    )
    (tmp_path / "suite.yaml").write_text(suite)
    done = run_turnwise("prompt", "suite.yaml", "--target", "anthropic/c", "--format", "json", cwd=tmp_path)
    assert done.returncode == 2
    refused, fine = json.loads(done.stdout)
    assert "needs one" in refused["error"]
    assert refused["diagnostics"][0]["code"] == "cannot-send"
    assert refused["diagnostics"][0]["line"] == 2
    assert "add a user message" in refused["diagnostics"][0]["hint"]
    assert fine["request"]["body"]["messages"]


def test_curl_prints_a_command_that_a_shell_understands(project: Path) -> None:
    """The command, run by a real shell with a stand-in for curl, sends the very body, and the key from a variable."""
    done = run_turnwise("prompt", "suite.yaml", "--target", "gpt", "--curl", cwd=project)
    assert done.returncode == 0, done.stderr
    (project / "curl").write_text('#!/bin/sh\nfor each in "$@"; do printf "%s\\0" "$each"; done; cat\n')
    (project / "curl").chmod(0o755)
    environment = {"PATH": f"{project}:/usr/bin:/bin", "MY_KEY": "sk-1 '\"", "TEAM_TOKEN": "t"}
    sent = subprocess.run(["sh", "-c", done.stdout], env=environment, capture_output=True, text=True, check=True)
    arguments = sent.stdout.split("\0")
    assert "Authorization: Bearer sk-1 '\"" in arguments
    assert arguments[-3:-1] == ["--data-binary", "@-"]
    body = json.loads(arguments[-1])
    (record,) = shown(project, "--target", "gpt")
    assert body == record["request"]["body"]


def test_curl_needs_a_target_over_http(project: Path) -> None:
    """There is no command for a mock, nor without a target, nor as JSON."""
    done = run_turnwise("prompt", "suite.yaml", "--target", "fixed", "--curl", cwd=project)
    assert (done.returncode, "nothing goes over HTTP" in done.stderr) == (2, True)
    done = run_turnwise("prompt", "suite.yaml", "--curl", cwd=project)
    assert (done.returncode, "needs --target" in done.stderr) == (2, True)


def test_an_unknown_target_is_named_with_those_there_are(project: Path) -> None:
    """A misspelt target gets a suggestion."""
    done = run_turnwise("prompt", "suite.yaml", "--target", "cloude", cwd=project)
    assert done.returncode == 2
    assert "cloude" in done.stderr
    assert "claude" in done.stderr


def test_a_mock_sends_nothing(project: Path) -> None:
    """A target without HTTP has messages, and no request."""
    (record,) = shown(project, "--target", "fixed")
    assert record["request"] is None
    assert record["messages"][0]["role"] == "system"


def test_a_secret_in_a_system_prompt_is_named_too(project: Path) -> None:
    """The target's system prompt is shown without the secret that it is filled with."""
    targets = "targets: [{name: t, provider: openai, model: m, system_prompt: 'Token: ${{ APP_TOKEN }}'}]"
    (project / ".turnwise" / "targets.yaml").write_text(targets)
    (record,) = shown(project, "--target", "t", APP_TOKEN="tok-supersecret")
    assert record["messages"][0]["content"] == "Token: [redacted: APP_TOKEN]"
    assert "supersecret" not in json.dumps(record)


def test_each_project_has_its_own_target(tmp_path: Path) -> None:
    """Suites of two projects in one command: each case is sent to the target of its own project."""
    for name in ("a", "b"):
        folder = tmp_path / name
        (folder / ".turnwise").mkdir(parents=True)
        target = f"{{name: t, provider: openai, model: {name}, system_prompt: prompt of {name}}}"
        (folder / ".turnwise" / "targets.yaml").write_text(f"targets: [{target}]")
        for suite in ("1.yaml", "2.yaml"):
            (folder / suite).write_text(SUITE)
    done = run_turnwise(
        "prompt", "a/1.yaml", "b/1.yaml", "a/2.yaml", "--target", "t", "--format", "json", cwd=tmp_path
    )  # fmt: skip
    bodies = [record["request"]["body"] for record in json.loads(done.stdout)]
    assert [body["model"] for body in bodies] == ["a", "b", "a"]
    assert [body["messages"][0]["content"] for body in bodies] == ["prompt of a", "prompt of b", "prompt of a"]


def test_a_refusal_points_at_the_message(tmp_path: Path) -> None:
    """The place is that of the message in the file, not that of the case."""
    suite = """cases:
  - id: pictures
    input_messages:
      - {role: user, content: Look}
      - role: assistant
        tool_calls: [{id: c, function: {name: f, arguments: not JSON}}]
      - {role: tool, tool_call_id: c, content: x}
"""
    (tmp_path / "suite.yaml").write_text(suite)
    done = run_turnwise("prompt", "suite.yaml", "--target", "anthropic/c", "--format", "json", cwd=tmp_path)
    (record,) = json.loads(done.stdout)
    assert record["diagnostics"][-1]["code"] == "cannot-send"
    assert record["diagnostics"][-1]["line"] == 5


def test_an_address_with_a_login_is_shown_without_it(project: Path) -> None:
    """What stands for the login is no part of a URL, and must not be read as one."""
    targets = "targets: [{name: t, provider: openai, model: m, base_url: 'http://me:passw0rd@127.0.0.1:9/v1'}]"
    (project / ".turnwise" / "targets.yaml").write_text(targets)
    (record,) = shown(project, "--target", "t")
    assert record["request"]["url"] == "http://[redacted: base_url]@127.0.0.1:9/v1/chat/completions"


def test_arguments_that_json_cannot_hold_are_an_error_of_their_case(tmp_path: Path) -> None:
    """The other cases are shown all the same."""
    bad = SUITE.replace('Oslo"}', 'Oslo", "n": NaN}').replace("id: tools", "id: bad")
    assert "NaN" in bad
    (tmp_path / "suite.yaml").write_text(bad + SUITE.split("cases:\n")[1])
    done = run_turnwise("prompt", "suite.yaml", "--target", "anthropic/c", "--format", "json", cwd=tmp_path)
    assert done.returncode == 2
    refused, fine = json.loads(done.stdout)
    assert refused["diagnostics"][-1]["code"] == "cannot-send"
    assert fine["request"]["body"]["messages"]
