"""`turnwise run` against a real VS Code: two cases, each in a chat of its own, and a batch; see README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import run_turnwise
from vscode_rig.model import scripted_model
from vscode_rig.rig import Rig, missing_part, vscode

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing_part() is not None, reason=str(missing_part()))]

_WAKE_UP = "Show that you are ready"


def _answer(request: str) -> str:
    """“What is X?” is answered with X: no answer can be taken for another."""
    return "ready" if _WAKE_UP in request else request.split("What is ")[1].split("?")[0]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One VS Code for all tests of this module."""
    with scripted_model(_answer) as model, vscode(model.url, tmp_path_factory.mktemp("vscode") / "rig") as rig:
        yield rig


def results(rig: Rig, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    """The results of a run of two cases."""
    (folder / ".turnwise").mkdir()
    target = {
        "name": "vscode",
        "provider": "vscode",
        "executable": str(rig.code),
        "agent_root": "agents",
        "timeout": 90,
        **settings,
    }
    (folder / ".turnwise" / "targets.yaml").write_text(json.dumps({"targets": [target]}), encoding="utf-8")
    (folder / "rule.md").write_text("Be brief.\n", encoding="utf-8")
    (folder / "s.yaml").write_text(json.dumps({"cases": [_case("6 x 7"), _case("2 + 2")]}), encoding="utf-8")
    done = run_turnwise("run", "s.yaml", "--target", "vscode", cwd=folder, VSCODE_RIG=rig.environment["VSCODE_RIG"])
    assert done.returncode == 0, done.stdout + done.stderr + rig.logs()
    (journal,) = folder.glob(".turnwise/runs/*/results.jsonl")
    return [json.loads(line) for line in journal.read_text("utf-8").splitlines()]


def _case(sum_: str) -> dict[str, Any]:
    content = [{"type": "text", "value": f"What is {sum_}?"}, {"type": "file", "value": "rule.md"}]
    messages = [{"role": "user", "content": content}]
    return {"id": sum_, "input_messages": messages, "graders": [{"equals": sum_}]}


def test_two_cases_are_answered_and_graded(rig: Rig, tmp_path: Path) -> None:
    """Each case is a chat of its own in a window that is woken up first; the answers are those to its own question."""
    found = results(rig, tmp_path, workers=1)
    assert {each["case_id"]: each["answer"] for each in found} == {"6 x 7": "6 x 7", "2 + 2": "2 + 2"}
    assert [each["agent"]["agent"] for each in found] == ["VS Code"] * 2
    assert [each["agent"]["changes"] for each in found] == [[], []]
    assert sorted(path.name for path in (tmp_path / "agents").glob("agent-*")) == ["agent-1"]


def test_a_batch_is_one_chat(rig: Rig, tmp_path: Path) -> None:
    """Two cases go out as one orchestrator request, and each gets its own answer."""
    found = results(rig, tmp_path, batch=True, workers=2)
    assert {each["case_id"]: each["answer"] for each in found} == {"6 x 7": "6 x 7", "2 + 2": "2 + 2"}
    assert len(list((tmp_path / "agents").glob("agent-1/messages/*_orchestrator.md"))) == 1
