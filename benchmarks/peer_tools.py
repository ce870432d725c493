"""The peers: what each is installed from, how it is given the same cases, and how many it says have passed.

Each is used by its own command or API, with its telemetry, update checks and cache off, and with no more output than it
needs to say what passed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversations import conversations
from measure import HERE

__all__ = ["PEERS", "Job", "Peer", "Work"]

_WORKERS = 64
_PROGRAMS = HERE / "peer_programs"


@dataclass(frozen=True)
class Work:
    """What is to be done: so many cases, in a folder of their own, by the tool in `home`."""

    home: Path
    node: Path
    folder: Path
    cases: int
    url: str

    @property
    def dataset(self) -> Path:
        """The cases, for programs that read them themselves."""
        return self.folder / "cases.jsonl"

    def write(self, name: str, value: Any) -> Path:
        """A file of JSON, which is YAML too."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        return path


@dataclass(frozen=True)
class Job:
    """How the work is done: a command, its environment, and a function that counts what passed from its output."""

    command: list[str]
    passed: Callable[[str], int]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """A tool. The first of its packages is the tool itself. `own_client`: the measurement's author wrote the client."""

    name: str
    packages: tuple[str, ...]
    job: Callable[[Work], Job]
    installer: str = "pip"
    workers: int = _WORKERS
    own_client: bool = False

    @property
    def home(self) -> str:
        """The name of its environment."""
        return re.split("[=@]", self.packages[0])[0]

    @property
    def version(self) -> str:
        """The version that is measured."""
        return re.split("[=@]+", self.packages[0])[1]


def _said(log: str) -> int:
    return int(re.findall(r"^passed (\d+)$", log, re.MULTILINE)[-1])


def _program(name: str) -> Callable[[Work], Job]:
    """A program that takes the dataset, the address and how many at once, and prints how many passed."""

    def job(work: Work) -> Job:
        program = work.folder / f"{name}_program.py"
        program.write_bytes((_PROGRAMS / f"{name}.py.txt").read_bytes())
        command = [str(work.home / "bin" / "python"), str(program), str(work.dataset), work.url, str(_WORKERS)]
        return Job(command, _said, {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES"})

    return job


def _inspect(work: Work) -> Job:
    task = work.folder / "task.py"
    task.write_bytes((_PROGRAMS / "inspect_ai.py.txt").read_bytes())
    at_once = ["--max-connections", str(_WORKERS), "--max-samples", str(_WORKERS)]
    model = ["--model", "openai-api/bench/m", "--display", "plain", "--log-dir", "logs"]
    command = [str(work.home / "bin" / "inspect"), "eval", task.name, *model, *at_once]  # it takes no absolute path
    variables = {"PEERS_CASES": str(work.dataset), "BENCH_API_KEY": "k", "BENCH_BASE_URL": work.url}

    def passed(log: str) -> int:
        return round(float(re.findall(r"^accuracy +([\d.]+)", log, re.MULTILINE)[-1]) * work.cases)

    return Job(command, passed, variables)


def _promptfoo(work: Work) -> Job:
    tests = [
        {
            "description": case["id"],
            "vars": {"messages": case["input_messages"]},
            "assert": [{"type": "contains", "value": case["graders"][0]["contains"]}],
        }
        for case in conversations(work.cases)
    ]
    provider = {"id": "openai:chat:m", "config": {"apiBaseUrl": work.url, "apiKey": "k"}}
    config = {"prompts": ["{{ messages | dump | safe }}"], "providers": [provider], "tests": tests}
    path, output = work.write("promptfooconfig.json", config), work.folder / "results.jsonl"
    program = str(work.home / "node_modules" / ".bin" / "promptfoo")
    quiet = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar", "--no-share"]
    command = [str(work.node), program, "eval", "-c", str(path), "-j", str(_WORKERS), *quiet, "-o", str(output)]
    off = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "PROMPTFOO_DISABLE_REMOTE_GENERATION")
    variables = {**dict.fromkeys(off, "1"), "PROMPTFOO_CONFIG_DIR": str(work.folder / "promptfoo")}
    return Job(command, lambda _: _lines(output, lambda line: line["success"] is True), variables)


def _agentv(work: Work) -> Job:
    tests = [
        {
            "id": case["id"],
            "input": case["input_messages"],
            "assertions": [{"type": "contains", "value": case["graders"][0]["contains"]}],
        }
        for case in conversations(work.cases)
    ]
    suite = work.write("peers.eval.yaml", {"description": "peers", "execution": {"target": "bench"}, "tests": tests})
    settings = {"base_url": "${{ BENCH_URL }}", "api_key": "${{ BENCH_KEY }}", "model": "${{ BENCH_MODEL }}"}
    work.write(".agentv/targets.yaml", {"targets": [{"name": "bench", "provider": "openai", **settings}]})
    program, output = str(work.home / "node_modules" / ".bin" / "agentv"), work.folder / "output"
    options = ["--workers", str(_AGENTV_WORKERS), "--no-cache", "--output", str(output)]
    variables = {"AGENTV_HOME": str(work.folder / "agentv"), "AGENTV_NO_UPDATE_CHECK": "1"}
    variables |= {"BENCH_URL": work.url, "BENCH_KEY": "k", "BENCH_MODEL": "m"}
    command = [str(work.node), program, "eval", "run", str(suite), *options]
    return Job(command, lambda _: _lines(output / "index.jsonl", lambda line: line["score"] == 1), variables)


def _lines(path: Path, good: Callable[[dict[str, Any]], bool]) -> int:
    with open(path, encoding="utf-8") as lines:
        return sum(good(json.loads(line)) for line in lines)


_AGENTV_WORKERS = 50
"""The most that it allows."""

_OPENAI = "openai==3.49.0"
_EVALS = "pydantic-evals==2.62.0"

PEERS = (
    Peer("Pydantic Evals, OpenAI client", (_EVALS, _OPENAI, "aiohttp==3.14.5"), _program("pydantic_evals")),
    Peer("Inspect", ("inspect-ai==0.3.285", _OPENAI), _inspect),
    Peer("DeepEval, OpenAI client", ("deepeval==4.3.1", _OPENAI), _program("deepeval")),
    Peer("promptfoo", ("promptfoo@0.123.1",), _promptfoo, installer="npm"),
    Peer("AgentV", ("agentv@4.42.4",), _agentv, installer="npm", workers=_AGENTV_WORKERS),
    Peer(
        "Pydantic Evals, own client of bare aiohttp",
        (_EVALS, _OPENAI, "aiohttp==3.14.5"),
        _program("pydantic_evals_aiohttp"),
        own_client=True,
    ),
)
