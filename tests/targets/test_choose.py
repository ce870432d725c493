"""A name means a target of the file, or a provider and its main setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.errors import TargetsError, UsageError
from turnwise.suite.project import ConfigSpec, Project
from turnwise.targets.choose import find_target, load_project_targets
from turnwise.targets.stand_ins import MockTarget
from turnwise.targets.targets_file import Targets

FILE = ".turnwise/targets.yaml"
TARGETS = Targets([MockTarget(name=name, provider="mock") for name in ("gpt", "openai/special")])


def found(name: str, targets: Targets | None = TARGETS) -> Any:
    """The target of a name."""
    return find_target(name, targets, file=FILE)


def test_a_target_of_the_file() -> None:
    """A name of the file comes first, even one that looks like a provider and its model."""
    assert found("gpt") is TARGETS.targets[0]
    assert found("openai/special") is TARGETS.targets[1]


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("openai/gpt-x", "model", "gpt-x"),
        ("openrouter/meta/llama", "model", "meta/llama"),
        ("ollama/qwen3:4b", "model", "qwen3:4b"),
        ("local/models/a.gguf", "model", "models/a.gguf"),
        ("http/http://127.0.0.1:8000/chat", "url", "http://127.0.0.1:8000/chat"),
        ("python/my_app.chat:answer", "function", "my_app.chat:answer"),
        ("replay/runs/one.jsonl", "path", "runs/one.jsonl"),
        ("mock/Hello there", "response", "Hello there"),
    ],
)
@pytest.mark.parametrize("targets", [TARGETS, None])
def test_a_provider_and_its_main_setting(name: str, setting: str, value: str, targets: Targets | None) -> None:
    """What comes after the first slash is the provider's main setting; no file is needed."""
    target = found(name, targets)
    assert (target.name, target.provider, getattr(target, setting)) == (name, name.partition("/")[0], value)


def test_bare_providers() -> None:
    """`local` runs its default model, and `mock` echoes."""
    assert found("local").model is None
    assert found("mock").echo is True


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gtp", "did you mean `gpt`?"),
        ("opnai/gpt-x", "did you mean `openai`?"),
        ("openai", "write openai/ and the model after it"),
        ("openai/", "write openai/ and the model after it"),
        ("nothing-like-it", "name one of these, or write provider/model"),
        ("python/not a function", "such as my_app.chat:answer"),
        ("openai/${{ X", "write ${{ NAME }}"),
    ],
)
def test_names_that_mean_nothing(name: str, hint: str) -> None:
    """The error repeats the name, and the hint says what to write."""
    with pytest.raises(UsageError) as caught:
        found(name)
    assert name in str(caught.value)
    assert hint in str(caught.value.hint)


def test_the_targets_of_the_file_are_listed() -> None:
    """Who mistypes a name sees which there are, or that there is no file."""
    with pytest.raises(UsageError, match=r"\.turnwise/targets\.yaml has gpt, openai/special"):
        found("gtp")
    with pytest.raises(UsageError, match=r"there is no \.turnwise/targets\.yaml") as caught:
        found("gtp", None)
    assert "provider/model" in str(caught.value.hint)


def test_targets_are_listed_once_and_their_file_is_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name comes once in all that is said, also one that a provider has; the file is shown from where one is."""
    monkeypatch.chdir(tmp_path)
    targets = Targets([MockTarget(name="mock", provider="mock")])
    with pytest.raises(UsageError) as caught:
        find_target("zzz", targets, file=str(tmp_path / FILE))
    said = f"{caught.value} {caught.value.hint}"
    assert said.count("mock") == 1
    assert f": {FILE} has" in said
    assert str(tmp_path) not in said


def test_the_targets_of_a_project(tmp_path: Path) -> None:
    """A project without the file has no targets; one whose config names a file must have it."""
    project = Project(tmp_path)
    assert load_project_targets(project) is None
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / FILE).write_text("targets: [{name: a, provider: mock}]")
    spec = load_project_targets(project)
    assert spec is not None
    assert [target.name for target in spec.targets] == ["a"]
    with pytest.raises(TargetsError):
        load_project_targets(Project(tmp_path, ConfigSpec(targets="elsewhere.yaml")))
