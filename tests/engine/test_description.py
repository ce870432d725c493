"""`run.json`: all that a run was started with, and no secret."""

from __future__ import annotations

import asyncio
import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer, answer
from run_fixtures import case, journal, mock, openai, project, run, suite
from turnwise import RunOutcome
from turnwise.engine import api

KEY, HEADER = "sk-live-0123456789abcdefghijkl", "header-0123456789-secret"


def described(outcome: RunOutcome) -> dict[str, Any]:
    """What is in `run.json`."""
    read: dict[str, Any] = json.loads((outcome.folder / "run.json").read_text("utf-8"))
    return read


def test_a_run_says_what_it_was_started_with(tmp_path: Path) -> None:
    """Options, counts, versions and targets; paths lead from the project, not from the current folder."""
    project(tmp_path, s=suite(2, threshold=0.7, min_pass_rate=0.5))
    outcome = run(tmp_path / "s.yaml", trials=2, workers=3, cases=["c*"])
    read = described(outcome)
    assert (read["cases"], read["results"], read["run_id"]) == (2, 4, outcome.run_id)
    assert (read["options"]["trials"], read["options"]["selection"]["cases"]) == (2, ["c*"])
    assert (read["execution"]["workers"], read["execution"]["cache"]) == (3, False)
    (one,) = read["suites"]
    assert (one["file"], one["threshold"], one["min_pass_rate"], one["cases"]) == ("s.yaml", 0.7, 0.5, 2)
    assert (outcome.folder / read["root"]).resolve() == tmp_path.resolve()
    assert [each["name"] for each in read["targets"]] == ["echo"]
    assert read["git_commit"] is None


def test_inputs_are_hashed_and_copied(tmp_path: Path) -> None:
    """The suite, its dataset, a system prompt: each with its hash, and a copy to compare with later."""
    rows = "".join(json.dumps(case(f"r{number}")) + "\n" for number in range(3))
    (tmp_path / "rows.jsonl").write_text(rows)
    (tmp_path / "p.md").write_text("Be it.")
    project(tmp_path, s=suite("rows.jsonl"))
    outcome = run(tmp_path / "s.yaml", system_prompts=[tmp_path / "p.md"])
    inputs = described(outcome)["inputs"]
    assert [(each["kind"], each["file"]) for each in inputs] == [
        ("suite", "s.yaml"), ("dataset", "rows.jsonl"), ("system_prompt", "p.md")
    ]  # fmt: skip
    for each in inputs:
        content = (tmp_path / each["file"]).read_bytes()
        assert (each["sha256"], each["bytes"]) == (sha256(content).hexdigest(), len(content))
        assert (outcome.folder / each["copy"]).read_bytes() == content


def test_a_large_dataset_is_hashed_but_not_copied(tmp_path: Path) -> None:
    """A copy of every dataset in every run would fill the disk."""
    (tmp_path / "rows.jsonl").write_text(json.dumps(case("r", "hello" + "x" * 1_100_000)) + "\n")
    project(tmp_path, s=suite("rows.jsonl"))
    dataset = described(run(tmp_path / "s.yaml"))["inputs"][1]
    assert (dataset["copy"], len(dataset["sha256"])) == (None, 64)


def test_what_messages_refer_to_is_hashed(tmp_path: Path) -> None:
    """Attachments by their path from the project and what they hold."""
    (tmp_path / "note.txt").write_text("hello")
    parts = [{"type": "file", "value": "note.txt"}]
    project(tmp_path, s=suite([{"id": "a", "input_messages": [{"role": "user", "content": parts}]}]))
    assert described(run(tmp_path / "s.yaml"))["files"] == {"note.txt": sha256(b"hello").hexdigest()}


def test_the_commit_is_kept(tmp_path: Path) -> None:
    """That of the project's repository."""
    project(tmp_path)
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True)
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert described(run(tmp_path / "s.yaml"))["git_commit"] == said.stdout.strip()


def test_no_secret_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of `.env`, secrets in headers, and those that an endpoint repeats in its answer or its error."""
    monkeypatch.delenv("THE_KEY", raising=False)
    secrets = {"api_key": "${{ THE_KEY }}", "headers": {"X-Auth-Token": "${{ THE_HEADER }}"}, "max_retries": 0}
    (tmp_path / ".env").write_text(f"THE_KEY={KEY}\nTHE_HEADER={HEADER}\n")
    said = {"choices": [{"message": {"role": "assistant", "content": f"hello {KEY} {HEADER}"}}]}
    events: list[Any] = []

    async def both() -> RunOutcome:
        script = [answer(said), answer({"error": {"message": f"bad key {KEY}"}}, 401)]
        async with FaultServer(script) as server:
            project(tmp_path, openai(server.url, **secrets), s=suite(2))
            return await api.run(tmp_path / "s.yaml", "gpt", on_event=events.append, workers=1)

    outcome = asyncio.run(both())
    first, second = journal(outcome)
    assert first["answer"] == "hello [redacted] [redacted]"
    assert (second["status"], second["error"]["kind"]) == ("error", "authentication")
    written = [each.read_text("utf-8") for each in outcome.folder.rglob("*") if each.is_file()]
    assert len(written) >= 3
    for text in (*written, repr(events), repr(outcome)):
        assert KEY not in text
        assert HEADER not in text
    assert described(outcome)["targets"][0]["settings"][""]["api_key"] == "[redacted: THE_KEY]"


def test_settings_of_variants_are_kept(tmp_path: Path) -> None:
    """By suite and variant, beside the target as it is."""
    project(tmp_path, mock(), s=suite(1, variants={"x": {"settings": {"delay": 0.001}}}))
    (target,) = described(run(tmp_path / "s.yaml"))["targets"]
    assert set(target["settings"]) == {"", "s.yaml: x"}
    assert target["settings"]["s.yaml: x"]["delay"] == 0.001
