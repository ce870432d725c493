"""What is kept of an agent's work: logs, counts and files, and what is said where some of it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_fixtures import asked, provider, request_of
from agent_kinds import task, written
from agent_scripts import answers, cli, failure, script
from turnwise.conversation.values import File
from turnwise.errors import ProtocolError, SetupError
from turnwise.providers import Usage
from turnwise.providers.agents import cli as cli_module
from turnwise.providers.agents.codex import Codex
from turnwise.providers.agents.counts import credible
from turnwise.providers.agents.disk import writing
from turnwise.providers.agents.logs import MOST_COMPLAINT
from turnwise.providers.agents.session import Session


def test_a_long_complaint_is_kept(tmp_path: Path) -> None:
    """The log holds far more of stderr than an error shows, and nothing is said to be missing."""
    code = "import sys; sys.stderr.write('first\\n' + 'x' * 500_000); print('yes')"
    [answer] = asked(provider(tmp_path, code, logs=tmp_path / "logs"))
    [log] = (tmp_path / "logs").rglob("*.stderr.txt")
    assert len(log.read_bytes()) == 500_006
    assert answer.agent is not None
    assert answer.agent.record()["note"] is None


def test_a_complaint_that_is_too_long_is_noted(tmp_path: Path) -> None:
    """Of more than a log keeps of stderr, the end is kept, and that is said."""
    code = f"import sys; sys.stderr.write('x' * {MOST_COMPLAINT + 1}); print('yes')"
    [answer] = asked(provider(tmp_path, code, logs=tmp_path / "logs"))
    assert answer.agent is not None
    assert answer.agent.record()["note"] == "the log holds only the last 1,048,576 bytes of stderr"


def test_a_log_that_cannot_be_written_is_noted(tmp_path: Path) -> None:
    """An answer without a log says why it has none."""
    (tmp_path / "logs").write_text("a file")
    [answer] = asked(provider(tmp_path, "print('yes')", logs=tmp_path / "logs"))
    assert answer.agent is not None
    record = answer.agent.record()
    assert record["log"] is None
    assert str(record["note"]).startswith(f"the log cannot be written: {tmp_path / 'logs'}")


def test_a_file_that_cannot_be_written_is_named() -> None:
    """A full disk is a problem of this machine, told with the file and advice."""
    found = r"a file for X cannot be written: /w/a: No space left"
    with pytest.raises(SetupError, match=found) as raised, writing("a file for X", Path("/w")):
        raise OSError(28, "No space left on device", "/w/a")
    assert "room on the disk" in str(raised.value.hint)


def test_a_mirror_that_cannot_be_written_is_a_setup_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose files do not fit on the disk ends with an error that names one of them."""

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device", "/w/rule.md")

    monkeypatch.setattr("turnwise.providers.agents.base.mirror", full)
    with pytest.raises(SetupError, match=r"/w/rule\.md: No space left"):
        asked(provider(tmp_path, "print(1)"), request_of(files=[File("rule.md", "rule.md", "R")]))


def test_an_answer_that_is_too_long_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with more than is read is an error, not the beginning of an answer."""
    monkeypatch.setattr(cli_module, "_LONGEST_ANSWER", 1000)
    code = "import sys; open(sys.argv[1], 'w').write('x' * int(sys.argv[2]))"
    given: dict[str, Any] = {"prompt_by": "stdin", "answer_from": "file"}
    error = failure(cli(tmp_path, [*script(code), "{OUTPUT_FILE}", "1001"], **given))
    assert isinstance(error, ProtocolError)
    assert "left more than 1,000 bytes" in str(error)
    assert answers(cli(tmp_path, [*script(code), "{OUTPUT_FILE}", "1000"], **given)) == ["x" * 1000]


def test_a_folder_in_the_place_of_an_answer_is_no_answer(tmp_path: Path) -> None:
    """A program that makes a folder of the answer's name left no answer."""
    command = [*script("import os, sys; os.mkdir(sys.argv[1])"), "{OUTPUT_FILE}"]
    error = failure(cli(tmp_path, command, prompt_by="stdin", answer_from="file"))
    assert "left no answer in the file" in str(error)


def test_what_a_failed_agent_said_and_used_is_kept(tmp_path: Path) -> None:
    """An error holds the messages, tokens and cost of the agent's work until then."""
    used = {"type": "turn.completed", "usage": {"input_tokens": 1500, "output_tokens": 500}}
    said = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "yes"}}
    session = Codex().read(written(said, used), task("codex"))
    spent = session.spent()
    assert spent["output_messages"] == [{"role": "assistant", "content": "yes"}]
    assert (spent["usage"]["input_tokens"], spent["usage"]["output_tokens"]) == (1500, 500)
    error = failure(cli(tmp_path, script("import sys; print('so far'); sys.exit(1)"), prompt_by="stdin"))
    assert error.spent == {"output_messages": [], "usage": None, "cost_usd": None}


def test_numbers_that_cannot_be_true_are_not_counted() -> None:
    """A cost of billions would use up a budget: it is left out, and that is noted; what can be true stays."""
    session = Session(usage=Usage(input_tokens=10**14, output_tokens=7), cost_usd=1e14)
    assert len(credible(session)) == 2
    assert (session.usage, session.cost_usd) == (Usage(output_tokens=7), None)
    honest = Session(usage=Usage(input_tokens=10**9), cost_usd=50.0)
    assert credible(honest) == []
    assert (honest.usage.input_tokens, honest.cost_usd) == (10**9, 50.0)


def test_an_answer_beside_no_messages_is_an_answer(tmp_path: Path) -> None:
    """A program of a batch may write an empty list of messages with its answer."""
    code = "import json, sys\nfor line in sys.stdin:\n    d = json.loads(line)\n    "
    code += "print(json.dumps({'id': d['id'], 'answer': 'ok', 'messages': []}))"
    assert answers(cli(tmp_path, script(code), batch=True)) == ["ok"]


def test_ids_that_nobody_asked_for_are_in_the_error(tmp_path: Path) -> None:
    """A batch that answers under other ids is told which, where it answers none."""
    error = failure(cli(tmp_path, script('print(\'{"id": "mine", "answer": "x"}\')'), batch=True))
    assert "no answer for the id 'a#1'; 1 line has an id that no request has: 'mine'" in str(error)
