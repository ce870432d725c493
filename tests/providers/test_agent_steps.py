"""`setup` and `teardown`: what they do to the outcome of a request, and when they run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_fixtures import asked, provider, request_of
from agent_scripts import cli, gone, outcomes, script
from turnwise.errors import ApplicationError, ProviderError, SetupError
from turnwise.providers.agents import steps
from turnwise.providers.agents.base import AgentProvider
from turnwise.providers.agents.steps import run_step

FAILS = ["sh", "-c", "echo 'it is stuck' >&2; exit 5"]


def marks(path: Path) -> list[str]:
    """A step that leaves a mark."""
    return ["sh", "-c", f"echo done >> {path}"]


def cancel_once_begun(agent: AgentProvider, began: Path) -> None:
    """Ask, and let go of it as soon as the agent has left a sign."""

    async def cancelled() -> None:
        task = asyncio.ensure_future(agent.ask(request_of()))
        while not began.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await agent.close()

    asyncio.run(asyncio.wait_for(cancelled(), 30))


def test_the_agent_s_failure_is_told_and_not_that_of_teardown(tmp_path: Path) -> None:
    """An agent that failed says why, whatever becomes of `teardown`, which is noted beside it."""
    with pytest.raises(ApplicationError, match="ended with exit code 7") as raised:
        asked(provider(tmp_path, "import sys; sys.exit(7)", teardown=FAILS))
    assert raised.value.agent is not None
    assert "`teardown` ended with exit code 5; the end of its stderr: it is stuck" in raised.value.agent["note"]


def test_an_answer_outlives_a_teardown_that_failed(tmp_path: Path) -> None:
    """A good answer stays one; what `teardown` said is in its note."""
    [answer] = asked(provider(tmp_path, "print('yes')", teardown=FAILS))
    assert answer.text == "yes"
    assert answer.agent is not None
    assert "`teardown` ended with exit code 5" in answer.agent.record()["note"]


def test_teardown_runs_after_a_setup_that_failed(tmp_path: Path) -> None:
    """What `setup` began is torn down, and the failure of `setup` is told."""
    with pytest.raises(SetupError, match="`setup` ended with exit code 5"):
        asked(provider(tmp_path, "print(1)", setup=FAILS, teardown=marks(tmp_path / "mark")))
    assert (tmp_path / "mark").read_text() == "done\n"


def test_teardown_runs_when_nobody_waits_any_more(tmp_path: Path) -> None:
    """A request that is cancelled is torn down before it is gone."""
    script_text = f"import time; open({str(tmp_path / 'began')!r}, 'w').close(); time.sleep(60)"
    agent = provider(tmp_path, script_text, teardown=marks(tmp_path / "mark"))

    cancel_once_begun(agent, tmp_path / "began")
    assert (tmp_path / "mark").read_text() == "done\n"


@pytest.mark.parametrize(("code", "found"), [("print('{}')", ProviderError), ("ANSWER", None)])
def test_a_batch_keeps_its_outcome_too(tmp_path: Path, code: str, found: type[Exception] | None) -> None:
    """Each request of a batch is answered, or fails, as without a `teardown`."""
    answer = "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'answer': 'y'}))"
    agent = cli(tmp_path, script(answer if code == "ANSWER" else code), batch=True, teardown=FAILS)
    (outcome,) = outcomes(agent)
    if isinstance(outcome, ProviderError):
        assert found is not None
        assert "teardown" not in str(outcome)
        note: Any = (outcome.agent or {}).get("note")
    else:
        assert outcome.text == "y"
        assert outcome.agent is not None
        note = outcome.agent.record()["note"]
    assert "`teardown` ended with exit code 5" in note


def test_a_step_has_a_time_limit_of_the_target_s(tmp_path: Path) -> None:
    """`step_timeout` ends a `setup` that hangs."""
    with pytest.raises(SetupError, match=r"`setup` was ended after 0\.2 s") as raised:
        asked(provider(tmp_path, "print(1)", setup=["sleep", "60"], step_timeout=0.2))
    assert "step_timeout" in str(raised.value.hint)


def test_a_step_that_does_not_start_is_told(tmp_path: Path) -> None:
    """A program that is not there is named."""
    with pytest.raises(SetupError, match="no program 'no-such-step'"):
        asyncio.run(run_step("setup", ["no-such-step"], tmp_path, {"PATH": "/usr/bin:/bin"}, "a"))


def test_what_setup_left_running_ends_with_the_workspace(tmp_path: Path) -> None:
    """A server that `setup` starts in a session of its own is there for the agent, and gone afterwards."""
    starts = f"setsid sleep 60 & echo $! > {tmp_path / 'pid'}"
    looks = f"import os; os.kill(int(open({str(tmp_path / 'pid')!r}).read()), 0); print('it runs')"
    [answer] = asked(provider(tmp_path, looks, setup=["sh", "-c", starts]))
    assert answer.text == "it runs"
    assert gone(int((tmp_path / "pid").read_text()))


def test_teardown_is_short_when_nobody_waits_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a cancel, `teardown` has less time than it would have otherwise."""
    monkeypatch.setattr(steps, "_SECONDS_AFTER_CANCEL", 0.2)
    script_text = f"import time; open({str(tmp_path / 'began')!r}, 'w').close(); time.sleep(60)"
    agent = provider(tmp_path, script_text, teardown=["sleep", "60"])

    cancel_once_begun(agent, tmp_path / "began")
