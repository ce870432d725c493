"""`turnwise prompt --variant`: what a variant sends, and to which target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import run_turnwise

SUITE = """
system_prompt: You are {{ tone }}.
vars: {tone: warm}
variants:
  as-written:
  terse: {system_prompt: "Be brief and {{ tone }}.", vars: {tone: cold}, settings: {temperature: 0.25, model: other}}
  typo: {settings: {temprature: 0}}
cases:
  - {id: oslo, input_messages: [{role: user, content: Weather?}]}
"""
OTHER = "cases: [{id: rome, input_messages: [{role: user, content: Weather?}]}]\n"
TARGETS = "targets: [{name: gpt, provider: openai, model: m, api_key: '${{ MY_KEY }}'}]\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "other.yaml").write_text(OTHER)
    return tmp_path


def shown(project: Path, *arguments: str) -> list[dict[str, Any]]:
    done = run_turnwise("prompt", "--format", "json", *arguments, cwd=project)
    assert done.returncode == 0, done.stderr
    records: list[dict[str, Any]] = json.loads(done.stdout)
    return records


def system_text(record: dict[str, Any]) -> object:
    return record["messages"][0]["content"]


def test_a_variant_shows_what_it_sends(project: Path) -> None:
    """The record names the variant; without one the suite is shown as it is written."""
    (terse,) = shown(project, "suite.yaml", "--variant", "terse")
    assert (terse["variant"], system_text(terse)) == ("terse", "Be brief and cold.")
    (base,) = shown(project, "suite.yaml", "--variant", "as-written")
    assert (base["variant"], system_text(base)) == ("as-written", "You are warm.")
    (alone,) = shown(project, "suite.yaml")
    assert "variant" not in alone
    assert system_text(alone) == "You are warm."


def test_text_names_the_variant(project: Path) -> None:
    """It stands beside the id of the case."""
    done = run_turnwise("prompt", "suite.yaml", "--variant", "terse", cwd=project)
    assert done.stdout.startswith("── oslo [terse]  suite.yaml:9\n[system]\n  Be brief and cold.\n")


def test_settings_of_a_variant_are_in_the_request(project: Path) -> None:
    """Those of the target that it does not name stay; --curl has them, too."""
    (record,) = shown(project, "suite.yaml", "--variant", "terse", "--target", "gpt")
    body = record["request"]["body"]
    assert (body["model"], body["temperature"]) == ("other", 0.25)
    assert body["messages"][0]["content"] == "Be brief and cold."
    (base,) = shown(project, "suite.yaml", "--variant", "as-written", "--target", "gpt")
    assert base["request"]["body"]["model"] == "m"
    curl = run_turnwise("prompt", "suite.yaml", "--variant", "terse", "--target", "gpt", "--curl", cwd=project)
    assert "0.25" in curl.stdout
    assert "MY_KEY" in curl.stdout


def test_a_setting_that_the_target_does_not_take_is_refused(project: Path) -> None:
    """The message names the variant, its file, the target and the nearest setting."""
    done = run_turnwise("prompt", "suite.yaml", "--variant", "typo", "--target", "gpt", cwd=project)
    assert done.returncode == 2
    assert "the variant 'typo' of suite.yaml cannot be used with the target 'gpt'" in done.stderr
    assert "did you mean `temperature`?" in done.stderr
    assert "Traceback" not in done.stderr


def test_suites_without_the_variant_are_passed_over(project: Path) -> None:
    """It is enough that one suite has it."""
    records = shown(project, "suite.yaml", "other.yaml", "--variant", "terse")
    assert [record["id"] for record in records] == ["oslo"]


def test_a_variant_that_no_suite_has_is_an_error(project: Path) -> None:
    """With the nearest one, or what to do if there are none at all."""
    done = run_turnwise("prompt", "suite.yaml", "other.yaml", "--variant", "tersse", cwd=project)
    assert done.returncode == 2
    assert "no variant is named 'tersse'" in done.stderr
    assert "did you mean `terse`?" in done.stderr
    none = run_turnwise("prompt", "other.yaml", "--variant", "terse", cwd=project)
    assert none.returncode == 2
    assert "write `variants:` in the suite" in none.stderr


def test_problems_of_variants_are_told_instead_of_a_prompt(project: Path) -> None:
    """A variant with an unknown variable is not shown half filled."""
    (project / "suite.yaml").write_text(SUITE.replace("and {{ tone }}", "and {{ tine }}"))
    done = run_turnwise("prompt", "suite.yaml", "--variant", "terse", cwd=project)
    assert (done.returncode, done.stdout.strip()) == (2, "")
    assert "suite.yaml:6:26: error: unknown variable `tine`" in done.stderr
