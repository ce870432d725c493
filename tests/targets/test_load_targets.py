"""Loading a targets file: every problem at once, with its place and a hint, and never a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.diagnostics import Diagnostic
from turnwise.errors import TargetsError
from turnwise.targets.load import load_targets, read_targets
from turnwise.targets.models import PROVIDERS
from turnwise.targets.targets_file import Targets

SECRET = "sk-live-hush-0123"


def read(tmp_path: Path, text: str) -> tuple[Targets | None, list[Diagnostic]]:
    """Read a text as a targets file."""
    path = tmp_path / "targets.yaml"
    path.write_text(text, encoding="utf-8")
    return read_targets(path)


def problems(tmp_path: Path, text: str) -> list[Diagnostic]:
    """What is wrong with a text that must be wrong; each problem has all its parts."""
    spec, diagnostics = read(tmp_path, text)
    assert spec is None
    for each in diagnostics:
        assert each.severity == "error"
        assert each.place.line is not None
        assert each.place.column is not None
        assert each.hint, each
        assert SECRET not in repr(each)
    return diagnostics


def test_a_good_file(tmp_path: Path) -> None:
    """A good file gives its targets in order, with variables as they were written."""
    text = """\
$schema: https://example.org/targets.json
targets:
  - name: main
    provider: openai
    model: ${{ MODEL }}
    base_url: https://${{ HOST }}/v1
    timeout: ${{ TIMEOUT }}
    judge_target: judge
  - {name: judge, provider: anthropic, model: m}
"""
    spec, diagnostics = read(tmp_path, text)
    assert diagnostics == []
    assert spec is not None
    assert [target.name for target in spec.targets] == ["main", "judge"]
    assert spec.targets[0].timeout == "${{ TIMEOUT }}"
    assert load_targets(tmp_path / "targets.yaml") == spec


def test_a_json_file_is_read(tmp_path: Path) -> None:
    """JSON is read as well as YAML."""
    spec, _ = read(tmp_path, json.dumps({"targets": [{"name": "a", "provider": "mock"}]}))
    assert spec is not None


def test_load_raises_with_everything(tmp_path: Path) -> None:
    """`load_targets` raises one error that holds every problem."""
    (tmp_path / "t.yaml").write_text("extra: 1\ntargets:\n  - name: a\n  - provider: mock\n")
    with pytest.raises(TargetsError) as caught:
        load_targets(tmp_path / "t.yaml")
    assert {each.code for each in caught.value.diagnostics} == {"unknown-key", "missing-key"}
    assert len(caught.value.diagnostics) == 3


def test_one_bad_target_does_not_hide_another(tmp_path: Path) -> None:
    """Every target is checked on its own, and the file's own keys besides."""
    text = """\
targts: 1
targets:
  - {name: a, provider: opnai}
  - {name: b, provider: openai, model: m, tmeout: 3}
  - just text
  - {name: d, provider: gemini, workers: 0}
  - {name: e}
"""
    found = problems(tmp_path, text)
    assert [(each.place.line, each.code) for each in found] == [
        (1, "unknown-key"),
        (3, "unknown-provider"),
        (4, "unknown-key"),
        (5, "wrong-type"),
        (6, "missing-key"),
        (6, "out-of-range"),
        (7, "missing-key"),
    ]
    assert [each.hint for each in found if each.hint and "did you mean" in each.hint] == [
        "did you mean `targets`?",
        "did you mean `openai`?",
        "did you mean `timeout`?",
    ]


def test_an_unknown_key_is_measured_against_its_provider(tmp_path: Path) -> None:
    """The hint offers only keys that the target's own provider takes."""
    (of_azure,) = problems(tmp_path, "targets:\n  - {name: a, provider: azure, model: m, endpint: e}")
    assert of_azure.hint == "did you mean `endpoint`?"
    (of_mock,) = problems(tmp_path, "targets:\n  - {name: a, provider: mock, endpint: e}")
    assert "endpoint" not in str(of_mock.hint)


def test_places_and_source_lines(tmp_path: Path) -> None:
    """A problem points at the value, or at the key if that is unknown, and shows the line."""
    text = "targets:\n  - name: a\n    provider: openai\n    model: m\n    tmeout: 3\n    workers: many\n"
    at_key, at_value = problems(tmp_path, text)
    assert (at_key.place.line, at_key.place.column, at_key.place.source) == (5, 5, "    tmeout: 3")
    assert (at_value.place.line, at_value.place.column, at_value.place.source) == (6, 14, "    workers: many")
    assert at_value.path == "targets[0].workers"


def test_duplicate_names(tmp_path: Path) -> None:
    """A name that is used twice is an error that says where it was first, even if a target is wrong otherwise."""
    text = "targets:\n  - {name: a, provider: mock}\n  - {name: a, provider: nope}\n"
    found = {each.code: each for each in problems(tmp_path, text)}
    assert "first in line 2" in found["duplicate-name"].message
    assert found["duplicate-name"].place.line == 3


def test_judges_must_exist(tmp_path: Path) -> None:
    """A judge that no target of the file is named is an error; a target that is wrong otherwise still counts."""
    text = """\
targets:
  - {name: a, provider: mock, judge_target: jugde}
  - {name: b, provider: mock, judge_target: b}
  - {name: judge, provider: nope}
"""
    judge = next(each for each in problems(tmp_path, text) if each.code == "unknown-target")
    assert (judge.place.line, judge.hint, judge.path) == (2, "did you mean `judge`?", "targets[0].judge_target")


@pytest.mark.parametrize("text", ["${{ }}", "${{ a b }}", "${{ X"])
@pytest.mark.parametrize("key", ["model", "timeout", "stream"])
def test_malformed_variables(tmp_path: Path, key: str, text: str) -> None:
    """A malformed variable is one error, in a text and in a number alike."""
    target = {"name": "a", "provider": "openai", "model": "m", key: text}
    (problem,) = problems(tmp_path, json.dumps({"targets": [target]}))
    assert problem.code.startswith("variable-")
    assert problem.path == f"targets[0].{key}"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "wrong-type"),
        ("# nothing\n", "wrong-type"),
        ("- a\n", "wrong-type"),
        (SECRET, "wrong-type"),
        ("targets: []", "empty"),
        ("targets: {a: b}", "wrong-type"),
        ("name: x", "unknown-key"),
        ("targets:\n  - null", "wrong-type"),
        ("targets:\n  - {name: a, provider: [mock]}", "wrong-type"),
        ("targets: [\n", "bad-yaml"),
        ("targets: 1\ntargets: 2", "duplicate-key"),
    ],
)
def test_files_of_another_shape(tmp_path: Path, text: str, code: str) -> None:
    """Whatever the file holds, the answer is a diagnostic."""
    assert code in [each.code for each in problems(tmp_path, text)]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is a diagnostic."""
    spec, diagnostics = read_targets(tmp_path / "none.yaml")
    assert spec is None
    assert [each.code for each in diagnostics] == ["file-missing"]


@pytest.mark.parametrize(
    "text",
    [
        "targets:\n  - {name: a, provider: openai, model: m, api_key: SECRET, tmeout: 3}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key:SECRET}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key: [SECRET]}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key: {value: SECRET}}",
        "targets:\n  - {name: a, provider: openai, model: m, api_kye: SECRET}",
        "targets:\n  - {name: a, provider: openai, model: m, api_kye: SECRET, tmeout: 3}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key: 'SECRET${{ }}'}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key: '${{ SECRET }}'}",
        "targets:\n  - {name: a, provider: openai, model: m, headers: {X-Auth: [SECRET]}}",
        "targets:\n  - {name: a, provider: openai, model: m, headers: [SECRET]}",
        "targets:\n  - {name: a, provider: openai, model: m, headers: SECRET}",
        "targets:\n  - {name: a, provider: mock, api_key: SECRET}",
        "targets:\n  - {name: a, provider: nope, api_key: SECRET}",
        "targets:\n  - {api_key: SECRET}",
        "targets:\n  - {name: a, provider: openai, model: m, api_key:\n SECRET, tmeout: 3}",
        "targets:\n  - name: a\n    provider: openai\n    bse_url: https://me:SECRET@host",
        "targets:\n  - name: a\n    provider: pi\n    env:\n      A: [SECRET]",
        "targets:\n  - name: a\n    provider: SECRET\n    api_key: SECRET",
        "targets:\n  - SECRET",
        "targets:\n  - api_key: SECRET\n   name: a",
        "targets:\n  - api_key: !!int SECRET",
        "targets:\n  - api_key: *SECRET",
        "targets:\n  - api_key: !SECRET x",
        "targets:\n  - api_key: 'SECRET",
        "targets:\n  - api_key: >\n      a: SECRET\n   b",
        "targets:\n  - {api_key:SECRET, api_key:SECRET}",
        "targets:\n  - {api_key:SECRET: 1, api_key:SECRET: 2}",
        "api_key: SECRET\ntargets: []",
        '{"targets": [{"name": "a", "provider": "openai", "api_key": "SECRET", "x": 1}]}',
        '{"targets": [{"name": "a", "api_key": "SECRET" "x": 1}]}',
    ],
)
def test_secrets_are_never_shown(tmp_path: Path, text: str) -> None:
    """No message, hint, path or source line holds a secret, wherever the mistake is."""
    assert problems(tmp_path, text.replace("SECRET", SECRET))


def test_two_secrets_next_to_each_other(tmp_path: Path) -> None:
    """A secret that is a beginning of another leaves nothing of the longer one behind."""
    text = "targets:\n  - {name: a, provider: hush-1-hush-2, api_key: hush-1, token: hush-1-hush-2}"
    assert all("hush" not in repr(each) for each in problems(tmp_path, text))


keys = st.sampled_from(
    ["name", "provider", "model", "api_key", "timeout", "headers", "stop", "prices", "healthcheck", "x:y"]
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.just(10**400)
    | st.text(max_size=5)
    | st.sampled_from(["${{", "${{ A }}", "${{ }}", *PROVIDERS])
)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6), max_leaves=10
)
targets = st.dictionaries(keys, anything, max_size=8).flatmap(
    lambda target: st.sampled_from(sorted(PROVIDERS)).map(lambda name: {**target, "provider": name})
)


@given(st.fixed_dictionaries({"targets": st.lists(targets | anything, max_size=3)}), st.booleans())
def test_no_file_raises(tmp_path_factory: pytest.TempPathFactory, data: Any, agentv: bool) -> None:
    """Any data at all, ours or AgentV's, gives targets or problems, each with a place."""
    if agentv:
        data = {"$schema": "agentv-targets-v2.2", **data}
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(json.dumps(data))
    spec, diagnostics = read_targets(path)
    assert (spec is None) == bool(diagnostics)
    assert all(each.place.line is not None for each in diagnostics)


@given(st.sampled_from(sorted(PROVIDERS)), st.dictionaries(keys, anything, max_size=4), st.booleans())
def test_a_secret_stays_secret_whatever_else_is_wrong(
    tmp_path_factory: pytest.TempPathFactory, provider: str, rest: dict[str, Any], one_line: bool
) -> None:
    """With a secret in the key and in a header, no other mistake makes a diagnostic show it."""
    target = {**rest, "provider": provider, "api_key": SECRET, "headers": {"X": SECRET}}
    path = tmp_path_factory.getbasetemp() / "secret.yaml"
    path.write_text(json.dumps({"targets": [target]}, indent=None if one_line else 2))
    _, diagnostics = read_targets(path)
    assert SECRET not in repr(diagnostics)


@pytest.mark.parametrize(
    ("provider", "key", "elsewhere"),
    [("anthropic", "seed", "openai"), ("openai", "thinking_budget", "anthropic, gemini"), ("mock", "api_key", "azure")],
)
def test_a_setting_of_other_providers_is_named_as_such(tmp_path: Path, provider: str, key: str, elsewhere: str) -> None:
    """A key that is right for other providers is not merely unknown: the message says who takes it."""
    needed = ", model: m" if provider != "mock" else ""
    (problem,) = problems(tmp_path, f"targets:\n  - {{name: a, provider: {provider}{needed}, {key}: 1}}")
    assert (problem.code, problem.message) == ("unknown-key", f"{provider} takes no `{key}`")
    assert elsewhere in str(problem.hint)


def test_a_nested_key_is_not_measured_against_providers(tmp_path: Path) -> None:
    """Only the settings of the target itself are compared with those of others."""
    text = "targets:\n  - {name: a, provider: openai, model: m, prices: {input: 1, output: 1, seed: 1}}"
    (problem,) = problems(tmp_path, text)
    assert problem.message == "unknown key `seed`"


def test_a_target_is_found_by_name(tmp_path: Path) -> None:
    """`target` gives the target of a name, or None."""
    spec, _ = read(tmp_path, "targets:\n  - {name: t, provider: mock}\n")
    assert spec is not None
    assert spec.target("t") is spec.targets[0]
    assert spec.target("u") is None
