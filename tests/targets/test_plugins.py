"""Providers of other packages: found by entry point, validated by their own model, and never fatal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.diagnostics import Diagnostic
from turnwise.errors import UsageError
from turnwise.targets.choose import find_target
from turnwise.targets.load import read_targets
from turnwise.targets.plugins import find_plugin, plugin_names
from turnwise.targets.resolve import resolve_target
from turnwise.targets.targets_file import Targets

GOOD = """\
from typing import Literal
from turnwise.targets.settings import Switch, TargetBase

class ParrotTarget(TargetBase):
    provider: Literal["parrot"]
    model: str | None = None
    loud: Switch = False
    feather_token: str | None = None

class Parrot:
    target_model = ParrotTarget
    @staticmethod
    def open(resolved, providers): ...
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a package that announces the provider `parrot`, out of the text of its module."""

    def installed(text: str, name: str) -> None:
        info = tmp_path / "site" / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[turnwise.providers]\nparrot = {name}:Parrot\n")
        (tmp_path / "site" / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return installed


def read(tmp_path: Path, target: str) -> tuple[Targets | None, list[Diagnostic]]:
    """Read a file with one target."""
    path = tmp_path / "targets.yaml"
    path.write_text(f"targets:\n  - {target}\n")
    return read_targets(path)


def test_a_plugins_target_is_validated_by_its_own_model(tmp_path: Path, install: Any) -> None:
    """A provider that is not ours is looked up, and its settings are its own."""
    install(GOOD, "parrot_good")
    spec, diagnostics = read(tmp_path, "{name: polly, provider: parrot, loud: true}")
    assert diagnostics == []
    assert spec is not None
    found: Any = spec.targets[0]
    assert (found.provider, found.loud) == ("parrot", True)
    _, (problem,) = read(tmp_path, "{name: polly, provider: parrot, luod: true}")
    assert (problem.code, problem.hint) == ("unknown-key", "did you mean `loud`?")


def test_a_plugins_target_is_resolved_and_chosen_like_ours(tmp_path: Path, install: Any) -> None:
    """Variables, secrets and `provider/model` work for other packages' providers."""
    install(GOOD, "parrot_same")
    spec, _ = read(tmp_path, "{name: p, provider: parrot, loud: '${{ L }}', feather_token: '${{ T }}'}")
    assert spec is not None
    each = resolve_target(spec.targets[0], {"L": "true", "T": "hush-1"})
    target: Any = each.target
    shown: Any = each.shown
    assert (target.loud, target.feather_token, shown.feather_token) == (True, "hush-1", "[redacted: T]")
    chosen: Any = find_target("parrot/grey", None, file="targets.yaml")
    assert (chosen.provider, chosen.model) == ("parrot", "grey")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("parrot_import", "import no_such_module_anywhere", "ModuleNotFoundError: No module named"),
        ("parrot_raises", "raise RuntimeError('no\\nfeathers')", "RuntimeError: no feathers"),
        ("parrot_empty", "", "AttributeError"),
        ("parrot_model", "class Parrot:\n    target_model = int", "no `target_model`"),
        ("parrot_open", GOOD.replace("def open", "def close"), "no function `open`"),
    ],
)
def test_a_plugin_that_does_not_work(tmp_path: Path, install: Any, name: str, text: str, reason: str) -> None:
    """A package that cannot be used is a diagnostic that names it and says why; the rest of the file is read."""
    install(text, name)
    _, (problem,) = read(tmp_path, "{name: polly, provider: parrot}")
    assert (problem.code, problem.place.line) == ("bad-plugin", 2)
    assert f"of the package '{name}'" in problem.message.replace("-", "_")
    assert reason in problem.message
    assert problem.hint
    with pytest.raises(UsageError):
        find_plugin("parrot")


def test_names_of_plugins_are_suggested(tmp_path: Path, install: Any) -> None:
    """A misspelt provider of another package gets its hint, too; an unknown one stays unknown."""
    install(GOOD, "parrot_named")
    assert "parrot" in plugin_names()
    assert find_plugin("nobody") is None
    _, (problem,) = read(tmp_path, "{name: polly, provider: parot}")
    assert (problem.code, problem.hint) == ("unknown-provider", "did you mean `parrot`?")
