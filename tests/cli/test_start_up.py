"""Start-up is a feature: what a command does not need, it does not import."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from helpers import ROOT

HEAVY = {"pydantic", "yaml", "wcmatch", "rich", "aiohttp", "numpy", "scipy", "asyncio", "difflib"}

# What only other runs need: with other kinds of graders, with judges or agents, or of answers that are there already.
NOT_FOR_PLAIN_GRADERS = {
    "turnwise.decks",
    "turnwise.engine.embedding_asking",
    "turnwise.engine.grade_changes",
    "turnwise.engine.judge_trust",
    "turnwise.engine.planned_judges",
    "turnwise.engine.recorded_run",
    "turnwise.engine.regrade_plan",
    "turnwise.engine.talk",
    "turnwise.engine.tool_replies",
    "turnwise.graders.bounded",
    "turnwise.graders.calibrated",
    "turnwise.graders.code",
    "turnwise.graders.composite",
    "turnwise.graders.deck",
    "turnwise.graders.deck_files",
    "turnwise.graders.deck_request",
    "turnwise.graders.embedding",
    "turnwise.graders.fields",
    "turnwise.graders.is_json",
    "turnwise.graders.judge_files",
    "turnwise.graders.judge_prompt",
    "turnwise.graders.llm_judge",
    "turnwise.graders.measures",
    "turnwise.graders.pairwise",
    "turnwise.graders.panel",
    "turnwise.graders.python",
    "turnwise.graders.regex",
    "turnwise.graders.rouge",
    "turnwise.graders.rubric",
    "turnwise.graders.similar",
    "turnwise.graders.tool_calls",
    "turnwise.graders.verdict",
    "turnwise.providers.agents.work",
    "turnwise.providers.replay",
}


def modules_after(arguments: list[str], folder: Path = ROOT) -> set[str]:
    program = (
        f"import sys\nfrom turnwise.cli import main\nsys.argv = ['turnwise', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\nMODULES', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=True)
    return set(done.stdout.rsplit("MODULES ", 1)[1].split())


def test_help_imports_nothing_heavy() -> None:
    """`turnwise --help` and `--version` need click and nothing else of weight."""
    assert not HEAVY & modules_after(["--help"])
    assert not HEAVY & modules_after(["--version"])
    assert not HEAVY & modules_after(["prompt", "--help"])


def test_prompt_imports_only_what_reading_and_showing_needs() -> None:
    """`turnwise prompt` reads YAML and validates it; it needs no network, no statistics, no terminal library."""
    loaded = modules_after(["prompt", "examples/support/suite.yaml"])
    assert HEAVY & loaded == {"pydantic", "yaml"}


def project(folder: Path, grader: dict[str, object]) -> Path:
    """A suite of one case whose answer `mock` gives."""
    (folder / ".turnwise").mkdir()
    target = {"name": "default", "provider": "mock", "response": "the answer"}
    (folder / ".turnwise" / "targets.yaml").write_text(json.dumps({"targets": [target]}), encoding="utf-8")
    case = {"id": "one", "input_messages": [{"role": "user", "content": "hi"}], "graders": [grader]}
    (folder / "plain.yaml").write_text(json.dumps({"target": "default", "cases": [case]}), encoding="utf-8")
    return folder


def test_a_run_imports_only_the_graders_that_it_has(tmp_path: Path) -> None:
    """A run with one `contains` imports no other kind, nothing of judges, and nothing of grading again."""
    loaded = modules_after(["run", "plain.yaml"], project(tmp_path, {"contains": "answer"}))
    assert "turnwise.graders.text" in loaded
    assert NOT_FOR_PLAIN_GRADERS & loaded == set()


def test_what_a_run_leaves_out_is_there() -> None:
    """The modules that a plain run must not import exist, so that a new name of one is not taken for its absence."""
    missing = [name for name in sorted(NOT_FOR_PLAIN_GRADERS) if find_spec(name) is None]
    assert missing == []


def test_importing_the_package_costs_nothing() -> None:
    """`import turnwise` alone imports none of its rooms, only the version."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, turnwise; print(*[m for m in sys.modules if m.startswith('turnwise')])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["turnwise.version", "turnwise"]
