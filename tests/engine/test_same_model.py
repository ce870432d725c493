"""A model that judges itself is known by the server that has it, and by its name there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, plan, project, suite
from turnwise.engine.planned_targets import PlannedTarget
from turnwise.engine.regrading import _target
from turnwise.engine.self_judged import judges_itself
from turnwise.suite.project import load_project

HERE, THERE = "http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"


def target(name: str, provider: str, model: str, address: str) -> dict[str, Any]:
    return {"name": name, "provider": provider, "model": model, "base_url": address}


@pytest.mark.parametrize(
    ("provider", "model", "address", "itself"),
    [
        ("openai", "m", HERE, True),
        ("openai-responses", "m", HERE, True),
        ("ollama", "m", HERE, True),
        ("openai", "m", THERE, False),
        ("openai", "other", HERE, False),
    ],
)
def test_the_server_counts_and_not_the_provider(
    tmp_path: Path, provider: str, model: str, address: str, itself: bool
) -> None:
    """One model of one server is the same under any provider; two servers are not, whatever they call their models."""
    grader = {"type": "llm_judge", "target": "judge"}
    specs = target("echo", "openai", "m", HERE), target("judge", provider, model, address)
    project(tmp_path, *specs, s=suite([case("a")], graders=[grader]))
    assert [each.code for each in plan(tmp_path / "s.yaml").warnings] == (["self-judged"] if itself else [])


def test_a_stand_in_is_known_by_what_it_stands_for(tmp_path: Path) -> None:
    """Where recorded answers are graded again, the model that gave them is still the one that judges itself."""
    specs = target("asked", "openai", "m", HERE), target("judge", "ollama", "m", HERE)
    project(tmp_path, *specs)
    loaded = load_project(tmp_path)
    stand_in, other = _target("asked", loaded), _target("judge", loaded)
    assert other.answered_by is not None
    judge = PlannedTarget("judge", other.answered_by, loaded, {})
    assert stand_in.spec.provider == "replay"
    assert judges_itself(stand_in, judge)
