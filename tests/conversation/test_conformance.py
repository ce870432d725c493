"""The conversion rules as data: each entry must come out byte for byte, through the API and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import turnwise
from turnwise.conversation import with_system

ENTRIES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("data").joinpath("conformance.yaml").read_text(encoding="utf-8")
)


def write_project(entry: dict[str, Any], root: Path) -> Path:
    """Lay out the files, the config and the one-case suite of an entry."""
    (root / ".turnwise").mkdir(parents=True)
    if "config" in entry:
        (root / ".turnwise" / "config.yaml").write_text(json.dumps(entry["config"]), encoding="utf-8")
    for name, content in entry.get("files", {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8"))
    suite: Path = root / entry.get("eval_dir", ".") / "suite.yaml"
    suite.parent.mkdir(parents=True, exist_ok=True)
    case = {"id": "case", **entry["case"]}
    suite.write_text(json.dumps({**entry.get("suite", {}), "cases": [case]}), encoding="utf-8")
    return suite


def essence(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"role": message["role"], "content": message["content"]} for message in messages]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_entry_through_the_api(entry: dict[str, Any], tmp_path: Path) -> None:
    """Chat prompt, question, guidelines and messages are what the conversion rules say."""
    suite = turnwise.load_suite(write_project(entry, tmp_path))
    conversation = suite.cases[0].conversation
    default = suite.project.config.default_system_prompt
    chat_prompt: Any = conversation.chat_prompt(default_system_prompt=default)
    expect = entry["expect"]
    assert essence(chat_prompt) == expect["chat_prompt"]
    assert conversation.transcript() == expect["question"]
    assert conversation.guidelines == expect["guidelines"]
    messages: Any = with_system(chat_prompt, default)
    assert essence(messages) == expect["messages"]


def test_all_entries_through_the_command_line(tmp_path: Path) -> None:
    """`turnwise prompt --format json` shows the same, for all entries in one call; tool fields pass through."""
    suites = [write_project(entry, tmp_path / f"{index:03}") for index, entry in enumerate(ENTRIES)]
    command = [sys.executable, "-m", "turnwise", "prompt", "--format", "json", *map(str, suites)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert len(records) == len(ENTRIES)
    for entry, record in zip(ENTRIES, records, strict=True):
        expect = entry["expect"]
        assert essence(record["chat_prompt"]) == expect["chat_prompt"], entry["name"]
        assert essence(record["messages"]) == expect["messages"], entry["name"]
        assert record["question"] == expect["question"], entry["name"]
        assert record["guidelines"] == expect["guidelines"], entry["name"]
        authored = [m for m in entry["case"]["input_messages"] if "tool_calls" in m or "tool_call_id" in m]
        sent = [m for m in record["chat_prompt"] if "tool_calls" in m or "tool_call_id" in m]
        for before, after in zip(authored, sent, strict=True):
            assert after.get("tool_calls") == before.get("tool_calls"), entry["name"]
            assert after.get("tool_call_id") == before.get("tool_call_id"), entry["name"]
