"""A real VS Code carries out chats that are dispatched with the `code` command; see README.md."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vscode_rig.model import ScriptedModel, scripted_model
from vscode_rig.rig import Rig, missing_part, vscode

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing_part() is not None, reason=str(missing_part()))]

_SECONDS = 90


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    """A model that answers “What is X?” with X: so that no answer can be taken for another."""
    with scripted_model(lambda request: request.split("What is ")[1].split("?")[0]) as model:
        yield model


@pytest.fixture(scope="module")
def rig(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One VS Code for all tests of this module."""
    with vscode(model.url, tmp_path_factory.mktemp("vscode") / "rig") as rig:
        yield rig


class Agent:
    """An agent folder with its workspace file, as a dispatcher makes it."""

    def __init__(self, rig: Rig, folder: Path) -> None:
        self.rig, self.folder = rig, folder
        (folder / "messages").mkdir(parents=True)
        self.workspace = folder / f"{folder.name}.code-workspace"
        self.workspace.write_text(json.dumps({"folders": [{"path": "."}]}), encoding="utf-8")

    def mode(self, name: str, instructions: str) -> None:
        """Write a custom mode."""
        folder = self.folder / ".github" / "agents"
        folder.mkdir(parents=True)
        (folder / f"{name}.md").write_text(f"---\ndescription: {name}\n---\n{instructions}\n", encoding="utf-8")

    def request(self, name: str, question: str) -> tuple[Path, Path]:
        """Write a request file; the request and the answer to come."""
        stem = self.folder / "messages" / name
        request, answer = Path(f"{stem}_req.md"), Path(f"{stem}_res.md")
        order = f"Write your whole answer to the file: {stem}_res.tmp.md\nThen rename it to: {answer}\n"
        request.write_text(f"What is {question}?\n\n{order}", encoding="utf-8")
        return request, answer

    def open(self) -> None:
        """Open or focus the window."""
        self.code(str(self.workspace))

    def chat(self, file: Path, mode: str = "agent") -> None:
        """Dispatch a chat."""
        prompt = f"Follow the instructions in [{file.name}]({file.as_uri()})."
        self.code("-r", "chat", "-m", mode, "-a", str(file), prompt)

    def code(self, *arguments: str) -> str:
        """Run the `code` command."""
        command, environment = [str(self.rig.code), *arguments], {**os.environ, **self.rig.environment}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def awaited(self, *answers: Path) -> list[str]:
        """What the answers say, as soon as all are there."""
        end = time.monotonic() + _SECONDS
        while not all(answer.exists() for answer in answers):
            assert time.monotonic() < end, f"no answer after {_SECONDS} s\n{self.rig.logs()}"
            time.sleep(0.1)
        return [answer.read_text(encoding="utf-8") for answer in answers]


def test_chats_and_a_batch_in_one_window(rig: Rig, tmp_path: Path) -> None:
    """Two chats in a row and a batch of two are each answered by a file with its final name, and no other is left."""
    agent = Agent(rig, tmp_path / "agent-1")
    agent.open()
    for name, question in (("1", "6 x 7"), ("2", "2 + 2")):
        request, answer = agent.request(name, question)
        agent.chat(request)
        assert agent.awaited(answer) == [question]
    (first, one), (second, two) = agent.request("3_0", "1 + 1"), agent.request("3_1", "1 + 2")
    orchestrator = agent.folder / "messages" / "3_orchestrator.md"
    orchestrator.write_text(f"Answer each of these requests:\n\n- {first}\n- {second}\n", encoding="utf-8")
    agent.chat(orchestrator)
    assert agent.awaited(one, two) == ["1 + 1", "1 + 2"]
    assert not list(agent.folder.glob("messages/*.tmp.md"))


def test_two_windows_and_a_custom_mode(rig: Rig, model: ScriptedModel, tmp_path: Path) -> None:
    """A second workspace has a window of its own; the first still answers; a custom mode's instructions are sent."""
    left, right = Agent(rig, tmp_path / "agent-left"), Agent(rig, tmp_path / "agent-right")
    right.mode("brisk", "Answer as briskly as a kestrel.")
    for agent, mode in ((left, "agent"), (right, "brisk"), (left, "agent")):
        number = str(len(model.requests))
        request, answer = agent.request(number, f"{number} + 1")
        agent.open()
        agent.chat(request, mode)
        assert agent.awaited(answer) == [f"{number} + 1"]
        sent = [text for text in map(json.dumps, model.requests) if str(answer) in text]
        assert [("kestrel" in text) for text in sent[:2]] == [mode == "brisk"] * 2
    status = left.code("--status")
    assert "agent-left (Workspace)" in status
    assert "agent-right (Workspace)" in status
