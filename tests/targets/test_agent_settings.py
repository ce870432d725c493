"""Mistakes in the settings of agents are found when the targets file is read, each at the setting that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from turnwise.diagnostics import Diagnostic
from turnwise.errors import UsageError
from turnwise.targets.format import TargetsSpec
from turnwise.targets.load import load_targets, read_targets
from turnwise.targets.resolve import resolve_target

SCHEMA = jsonschema.Draft202012Validator(TargetsSpec.model_json_schema())
KEY = "sk-0123456789"


def cli(command: Any, **settings: Any) -> dict[str, Any]:
    return {"provider": "cli", "command": command, **settings}


def recipe(name: str, **settings: Any) -> dict[str, Any]:
    return {"provider": "cli", "recipe": name, **settings}


def problem(folder: Path, target: dict[str, Any]) -> Diagnostic:
    """The one thing that is wrong with a target."""
    path = folder / "targets.yaml"
    path.write_text(yaml.safe_dump({"targets": [{"name": "t", **target}]}, sort_keys=False), encoding="utf-8")
    spec, (found,) = read_targets(path)
    assert spec is None
    return found


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    (cli(["echo", "{PROMT}"]), "command", "{PROMT}"),
    (cli(["echo"], prompt_by="file"), "command", "{PROMPT_FILE}"),
    (cli(["echo", "{PROMPT}"], answer_from="file"), "command", "{OUTPUT_FILE}"),
    (cli("echo hi", shell=True), "command", "no place for the prompt"),
    (cli('echo "{PROMPT}"', shell=True), "command", "within quotes"),
    (cli(["echo", "{PROMPT}"], shell=True), "command", "one text"),
    (cli("echo 'hi"), "command", "cannot be split"),
    (cli("echo hi && date"), "command", "without a shell"),
    (cli("echo {PROMPT} | tr a b"), "command", "without a shell"),
    (cli(["cat", "{PROMPT}"], batch=True), "command", "batch: true"),
    (cli(["echo", "{PROMPT}"], prompt_by="stdin"), "command", "twice"),
    (cli(["echo", "{FILES}"], files_format="--file"), "files_format", "{path}"),
    (cli("cat {FILES} {PROMPT}", shell=True, files_format="'{path}'"), "files_format", "within quotes"),
    (cli(["a"], healthcheck={"type": "command", "command": "a | b"}), "healthcheck.command", "without a shell"),
    (cli(["a"], healthcheck={"type": "command", "command": ["{NAME}"]}), "healthcheck.command", "{NAME}"),
    (cli(["a"], model="m"), "model", "goes with `recipe`"),
    (recipe("aider", command=["a"]), "recipe", "only one of them"),
    (recipe("aider", batch=True), "batch", "goes with `command`"),
    (recipe("aider", api_key=KEY), "api_key", "whose key"),
    (recipe("copilot", base_url="http://127.0.0.1:9/v1", model="m", api_key="abc"), "api_key", "8 characters"),
    (recipe("copilot", base_url="http://127.0.0.1:9/v1"), "base_url", "needs a `model`"),
    (recipe("opencode", base_url="http://127.0.0.1:9/v1"), "base_url", "needs a `model`"),
    (cli(["a"], workspace_revision="HEAD"), "workspace_revision", "needs `workspace_template`"),
    ({"provider": "codex", "cwd": ".", "workspace_template": "a"}, "cwd", "`workspace_template` is for a fresh"),
    ({"provider": "codex", "cwd": ".", "workspace_revision": "a"}, "cwd", "`workspace_revision` is for a fresh"),
    ({"provider": "codex", "base_url": "127.0.0.1:8080"}, "base_url", "http://"),
    ({"provider": "codex", "pass_env": ["A=b"]}, "pass_env[0]", "names of variables"),
    ({"provider": "pi", "api_key": KEY}, "api_key", "whose key"),
    ({"provider": "pi", "inherit_config": True, "base_url": "http://127.0.0.1:9/v1"}, "base_url", "its own conf"),
    ({"provider": "replay", "sessions": "s", "match_by": "case"}, "match_by", "goes with `path`"),
    ({"provider": "replay", "sessions": "s", "path": "p"}, "sessions", "only one of them"),
]


@pytest.mark.parametrize(("target", "setting", "words"), MISTAKES)
def test_a_mistake_is_told_at_its_setting(tmp_path: Path, target: dict[str, Any], setting: str, words: str) -> None:
    """The problem has the line of the setting, says what is wrong, and what to do; no key is shown."""
    found = problem(tmp_path, target)
    assert found.path == f"targets[0].{setting}"
    assert words in found.message
    assert found.hint
    lines = (tmp_path / "targets.yaml").read_text().splitlines()
    written = lines[(found.place.line or 0) - 1]
    assert "A=b" in written if setting == "pass_env[0]" else setting.rpartition(".")[2] in written
    assert KEY not in repr(found)


@pytest.mark.parametrize(
    "target",
    [
        cli(["echo", "${{ WHAT }}"], prompt_by="file"),
        cli("${{ WHAT }}", shell=True),
        cli("grep '&&' {PROMPT}"),
        cli("find . -name {PROMPT} -exec cat {} \\;"),
        cli("echo {PROMPT} | tr a b", shell=True),
        cli(["sh", "-c", "a && b"]),
        cli(["a"], healthcheck={"type": "command", "command": "a | b"}, shell="${{ SHELL_OR_NOT }}"),
        recipe("copilot", base_url="${{ URL }}", model="m", api_key="${{ K }}"),
        {"provider": "pi", "api_key": "${{ K }}", "model": "${{ MODEL }}"},
        {"provider": "codex", "pass_env": ["${{ NAME }}", "_A1"], "cwd": None, "workspace_template": "a"},
        {"provider": "codex", "setup": "touch a && touch b", "teardown": "rm a; rm b"},
        {"provider": "replay", "sessions": "s", "match_by": "request"},
    ],
)
def test_what_is_right_or_not_yet_known_is_no_mistake(tmp_path: Path, target: dict[str, Any]) -> None:
    """Variables are not judged before they are known, nor is what only looks like a mistake."""
    path = tmp_path / "targets.yaml"
    path.write_text(yaml.safe_dump({"targets": [{"name": "t", **target}]}), encoding="utf-8")
    assert load_targets(path).target("t") is not None
    assert SCHEMA.is_valid({"targets": [{"name": "t", **target}]})


@pytest.mark.parametrize(
    ("target", "value", "words"),
    [
        (cli(["echo", "${{ X }}"]), "{PROMT}", "{PROMT}"),
        (cli(["echo"], prompt_by="${{ X }}"), "file", "{PROMPT_FILE}"),
        (recipe("copilot", base_url="http://127.0.0.1:9/v1", model="m", api_key="${{ X }}"), "abc", "8 characters"),
        ({"provider": "pi", "api_key": KEY, "model": "${{ X }}"}, "m", "whose key"),
    ],
)
def test_a_mistake_of_a_variable_is_told_before_anything_is_asked(
    tmp_path: Path, target: dict[str, Any], value: str, words: str
) -> None:
    """Once the variable is known, the same rules hold."""
    path = tmp_path / "targets.yaml"
    path.write_text(yaml.safe_dump({"targets": [{"name": "t", **target}]}), encoding="utf-8")
    (spec,) = load_targets(path).targets
    with pytest.raises(UsageError, match="target 't': ") as raised:
        resolve_target(spec, {"X": value})
    assert words in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize(
    "target",
    [
        {"provider": "codex", "cwd": ".", "workspace_template": "a"},
        {"provider": "codex", "workspace_revision": "a"},
        {"provider": "codex", "pass_env": ["A=b"]},
        cli(["a"], cwd=".", workspace_template="a"),
        {"provider": "replay", "sessions": "s", "match_by": "case"},
    ],
)
def test_editors_know_the_simple_rules(target: dict[str, Any]) -> None:
    """The schema refuses what the validator refuses."""
    assert not SCHEMA.is_valid({"targets": [{"name": "t", **target}]})


def test_a_recipe_is_guessed_from_the_name_of_its_program(tmp_path: Path) -> None:
    """A near miss of a value has the right one as its hint."""
    assert problem(tmp_path, recipe("gemini")).hint == "did you mean `gemini-cli`?"
