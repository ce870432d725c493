"""One Ctrl-C while something waits to be sent: the request is left out, and what is there already is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import judge_target
from fault_server import answer, serving
from run_fixtures import ECHO, Carried, case, hello, journal, mock, project, suite
from turnwise.engine.options import Execution, PlanOptions
from turnwise.engine.runner import Runner
from turnwise.engine.session import begin
from turnwise.errors import OverloadedError
from turnwise.providers import MockProvider, ProviderRequest, ProviderResponse, Usage

Answers = Callable[[ProviderRequest], Awaitable[ProviderResponse]]
JUDGE = {"type": "llm_judge", "target": "judge"}
SLOW: dict[str, Any] = {"retry_initial_delay": 60, "retry_max_delay": 60}


def after(seconds: float, how: str = "stop") -> Any:
    """Press Ctrl-C then."""

    def control(runner: Runner, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(seconds, getattr(runner, how))

    return control


async def busy(request: ProviderRequest) -> ProviderResponse:
    """A server that has no time."""
    raise OverloadedError("too busy", status=503)


async def well(request: ProviderRequest) -> ProviderResponse:
    """A server that answers after a second."""
    await asyncio.sleep(1)
    return hello(usage=Usage(input_tokens=9, output_tokens=1))


async def well_once(request: ProviderRequest) -> ProviderResponse:
    """A server that answers the first turn alone."""
    replies = [each for each in request.chat_prompt or () if each["role"] == "assistant"]
    return await (busy if replies else well)(request)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say how the mock targets answer, by name."""

    def install(**targets: Answers) -> None:
        async def ask(provider: Any, request: ProviderRequest) -> ProviderResponse:
            return await targets[provider._target.name](request)

        monkeypatch.setattr(MockProvider, "ask", ask)

    return install


def test_an_answer_whose_judge_waits_for_a_retry_is_kept(tmp_path: Path, answering: Any) -> None:
    """It is ungraded by what the judge's last attempt has brought, and the pause is not waited out."""
    answering(echo=well, judge=busy)
    project(tmp_path, ECHO, mock("judge", **SLOW), s=suite(1, graders=[JUDGE]))
    carried = Carried(tmp_path / "s.yaml", control=after(5))
    (record,) = carried.records
    assert (record["status"], record["answer"], record["error"]) == ("ungraded", "hello", None)
    assert record["usage"]["input_tokens"] == 9
    (grade,) = record["grades"]
    assert (grade["error"]["kind"], "too busy" in grade["error"]["message"]) == ("api_error", True)
    assert carried.seconds == pytest.approx(5.0)


def test_an_answer_whose_judge_waits_for_its_turn_is_kept(tmp_path: Path, answering: Any) -> None:
    """One request a minute: the second answer is there, and its judge was not asked yet."""
    said = ProviderResponse(text='{"score": 1}', messages=[{"role": "assistant", "content": '{"score": 1}'}])

    async def verdict(request: ProviderRequest) -> ProviderResponse:
        return said

    answering(echo=well, judge=verdict)
    project(tmp_path, ECHO, mock("judge", requests_per_minute=1), s=suite(2, graders=[JUDGE]))
    carried = Carried(tmp_path / "s.yaml", workers=2, control=after(5))
    assert sorted(each["status"] for each in carried.records) == ["passed", "ungraded"]
    assert [each["answer"] for each in carried.records] == ["hello", "hello"]
    (unsent,) = [each for each in carried.records if each["status"] == "ungraded"]
    assert "the run was stopped" in unsent["grades"][0]["error"]["message"]
    assert unsent["grades"][0]["evidence"]["votes"][0]["attempts"] == 0
    assert carried.seconds == pytest.approx(5.0)


def test_the_second_signal_still_ends_everything(tmp_path: Path, answering: Any) -> None:
    """An abort is no pause that is cut short: nothing is written, and nothing of it is graded."""
    answering(echo=well, judge=busy)
    project(tmp_path, ECHO, mock("judge", **SLOW), s=suite(1, graders=[JUDGE]))
    carried = Carried(tmp_path / "s.yaml", control=after(5, "abort"))
    assert carried.records == []
    assert (carried.ended.left, carried.ended.stopped) == (1, "interrupted")


@pytest.mark.parametrize("cache", [True, False])
def test_a_judge_that_is_asked_through_the_cache_is_no_other(tmp_path: Path, cache: bool) -> None:
    """A request that answers may share is cut short for all that wait for it, and all answers are kept."""
    with serving(lambda _: answer(status=503, headers=[("Retry-After", "30")])) as server:
        judge = judge_target(server.url, max_retries=3)
        project(tmp_path, ECHO, judge, s=suite([case("a"), case("b")], graders=[JUDGE]))
        with begin(PlanOptions(suites=(str(tmp_path / "s.yaml"),)), Execution(cache=cache)) as session:

            async def stopped() -> None:
                runner = session.runner(lambda _: None)
                running = asyncio.create_task(runner.run())
                while not server.received:
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.3)
                runner.stop()
                await running

            asyncio.run(asyncio.wait_for(stopped(), 15))
    records = journal(session.folder.path)
    assert [(each["status"], each["answer"]) for each in records] == [("ungraded", "hello")] * 2
    assert {each["grades"][0]["error"]["kind"] for each in records} == {"api_error"}


def test_a_conversation_in_a_pause_keeps_what_was_said(tmp_path: Path, answering: Any) -> None:
    """The first reply was paid for, and the second waits to be asked for again: an error that keeps the first."""
    answering(echo=well_once)
    project(tmp_path, mock(**SLOW), s=suite([case("a", turns=[{"user": "two"}])]))
    carried = Carried(tmp_path / "s.yaml", control=after(5))
    (record,) = carried.records
    assert (record["status"], record["answer"], record["error"]["kind"]) == ("error", None, "overloaded")
    assert [each["content"] for each in record["output_messages"]] == ["hello", "two"]
    assert (record["usage"]["input_tokens"], record["attempts"], record["live"]["ended"]) == (9, 2, "error")
    assert carried.seconds == pytest.approx(5.0)


def test_a_conversation_whose_user_waits_keeps_what_was_said(tmp_path: Path, answering: Any) -> None:
    """The simulated user is asked like a judge; without its message there is an error, and the reply is kept."""
    answering(echo=well, player=busy)
    user = {"target": "player", "goal": "a refund"}
    project(tmp_path, ECHO, mock("player", **SLOW), s=suite([case("a", user=user)]))
    carried = Carried(tmp_path / "s.yaml", control=after(5))
    (record,) = carried.records
    assert (record["status"], "too busy" in record["error"]["message"]) == ("error", True)
    assert [each["content"] for each in record["output_messages"]] == ["hello"]
    assert carried.seconds == pytest.approx(5.0)


def test_a_conversation_that_has_not_begun_is_left_for_later(tmp_path: Path, answering: Any) -> None:
    """Nothing was said and nothing paid for: as for any other request that waits, there is no line."""
    answering(echo=busy)
    project(tmp_path, mock(**SLOW), s=suite([case("a", turns=[{"user": "two"}])]))
    carried = Carried(tmp_path / "s.yaml", control=after(5))
    assert (carried.records, carried.ended.left) == ([], 1)
