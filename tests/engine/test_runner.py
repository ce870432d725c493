"""Carrying out a plan: within its bounds, patient with servers, and told when to end. All in simulated time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import Carried, Server, hello, keys, mock, project, suite
from turnwise.engine.events import Begun, Ended, Notice, ResultDone, Retried, Slowed, Started, Stopping
from turnwise.errors import OverloadedError, RateLimitError
from turnwise.providers import ProviderRequest, ProviderResponse, Usage

USUAL: dict[str, Any] = {"retry_initial_delay": 1.0, "retry_max_delay": 60.0}
"""The pauses of a target that says nothing of them."""


async def slow(server: Server, request: ProviderRequest) -> ProviderResponse:
    """Every answer takes a second."""
    await asyncio.sleep(1.0)
    return hello()


def statuses(carried: Carried) -> dict[str, str]:
    """What became of each case."""
    return {each["case_id"]: each["status"] for each in carried.records}


def test_no_more_at_once_than_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all targets; every case is asked once, and the time is what the bound makes it."""
    server = Server(slow).install(monkeypatch)
    project(tmp_path, mock(), mock("other"), s={**suite(10), "target": None, "targets": ["echo", "other"]})
    carried = Carried(tmp_path / "s.yaml", workers=4)
    assert server.most["all"] == 4
    assert carried.seconds == pytest.approx(5.0)
    assert len(set(keys(carried.records))) == len(carried.records) == 20


def test_a_target_has_a_bound_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `workers` holds whatever all together may do; without --workers, the sum of all is the bound."""
    server = Server(slow).install(monkeypatch)
    specs = mock(workers=2), mock("other", workers=5)
    project(tmp_path, *specs, s={**suite(10), "target": None, "targets": ["echo", "other"]})
    carried = Carried(tmp_path / "s.yaml")
    assert (server.most["echo"], server.most["other"], server.most["all"]) == (2, 5, 7)
    assert carried.told(Started)[0].workers == 7


def test_an_overrun_server_gets_less_and_all_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes four at once: the run slows down to that, speeds up where it can, and every case has its answer."""

    async def four(server: Server, request: ProviderRequest) -> ProviderResponse:
        if server.at_once["all"] > 4:
            raise RateLimitError("too many", status=429)
        return await slow(server, request)

    server = Server(four).install(monkeypatch)
    project(tmp_path, mock(**USUAL), s=suite(60))
    carried = Carried(tmp_path / "s.yaml", workers=32)
    slowed = carried.told(Slowed)
    assert (slowed[0].allowed, slowed[0].most) == (16, 32)
    assert set(statuses(carried).values()) == {"passed"}
    assert len(server.asked) < 4 * 60
    assert sum(each["attempts"] for each in carried.records) == len(server.asked)


def test_after_a_moment_of_rate_limits_it_goes_as_fast_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound grows back to what it was."""
    busy: list[int] = []

    async def at_first(server: Server, request: ProviderRequest) -> ProviderResponse:
        if len(server.asked) <= 8:
            raise RateLimitError("too many", status=429)
        busy.append(server.at_once["all"])
        return await slow(server, request)

    Server(at_first).install(monkeypatch)
    project(tmp_path, mock(**USUAL), s=suite(150))
    carried = Carried(tmp_path / "s.yaml", workers=8)
    assert min(each.allowed for each in carried.told(Slowed)) < 8
    assert max(busy[-20:]) == 8


def test_a_server_that_is_down_is_not_asked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The retries of a target are a reserve: when it is used up, cases fail at once, and that is said once."""

    async def down(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise OverloadedError("down", status=500)

    server = Server(down).install(monkeypatch)
    project(tmp_path, mock(**USUAL), s=suite(100))
    carried = Carried(tmp_path / "s.yaml", workers=4)
    assert set(statuses(carried).values()) == {"error"}
    assert len(server.asked) == 100 + 20
    assert [each.message for each in carried.told(Notice) if "too many requests fail" in each.message] == [
        "echo: too many requests fail; until more succeed, those that fail are not sent again"
    ]
    assert (carried.verdict.exit_code, carried.ended.left) == (3, 0)


def test_what_a_rate_limit_refused_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all its retries, a case is tried again after a rest; its attempts are counted through."""

    async def refusing(server: Server, request: ProviderRequest) -> ProviderResponse:
        if server.asked.count("c1") <= 9 and request.case_id == "c1":
            raise RateLimitError("too many", status=429)
        return hello()

    Server(refusing).install(monkeypatch)
    project(tmp_path, mock(**USUAL, max_retries=3), s=suite(3))
    carried = Carried(tmp_path / "s.yaml", workers=1)
    assert {each["case_id"]: each["attempts"] for each in carried.records} == {"c0": 1, "c1": 10, "c2": 1}
    assert statuses(carried)["c1"] == "passed"
    assert len(carried.told(ResultDone)) == 3
    # Twice three pauses of 1, 2 and 4 s, a rest of 5 and one of 10, and one more pause.
    assert carried.seconds == pytest.approx(7 + 5 + 7 + 10 + 1, rel=0.25)


def test_a_rate_limit_without_end_becomes_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience has an end: a quota that is used up does not keep a run alive for ever."""

    async def never(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise RateLimitError("quota", status=429)

    server = Server(never).install(monkeypatch)
    project(tmp_path, mock(**USUAL, max_retries=3), s=suite(1))
    carried = Carried(tmp_path / "s.yaml")
    (record,) = carried.records
    assert (record["error"]["kind"], record["attempts"], len(server.asked)) == ("rate_limit", 44, 44)
    assert carried.seconds < 700


def test_a_rate_limit_that_will_not_pass_is_an_error_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that says so is believed."""

    async def final(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise RateLimitError("no credit", status=429, retryable=False)

    server = Server(final).install(monkeypatch)
    project(tmp_path, s=suite(1))
    carried = Carried(tmp_path / "s.yaml")
    assert (len(server.asked), statuses(carried)) == (1, {"c0": "error"})


def test_a_result_may_take_so_long_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries and their pauses included; it is an error of its own, and the others are unharmed."""

    async def one_hangs(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(1000.0 if request.case_id == "c1" else 1.0)
        return hello()

    Server(one_hangs).install(monkeypatch)
    project(tmp_path, s=suite(3))
    carried = Carried(tmp_path / "s.yaml", timeout=5.0)
    assert statuses(carried) == {"c0": "passed", "c1": "error", "c2": "passed"}
    (error,) = [each["error"] for each in carried.records if each["error"]]
    assert (error["kind"], "5 s" in error["message"], error["retryable"]) == ("timeout", True, True)
    assert carried.seconds == pytest.approx(5.0)


def costly(input_tokens: int | None = 1000) -> Server:
    """Answers of a thousand tokens each."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(1.0)
        return hello(usage=Usage(input_tokens=input_tokens, output_tokens=0))

    return Server(reply)


@pytest.mark.parametrize(
    ("bound", "more"),
    [({"budget_usd": 10.0}, {"budget_usd": 50.0}), ({"max_tokens_total": 10_000}, {"max_tokens_total": 50_000})],
)
def test_a_budget_stops_the_run_and_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: dict[str, Any], more: dict[str, Any]
) -> None:
    """A dollar, or a thousand tokens, for each answer: ten fit, and never more; the rest is done when resumed."""
    server = costly().install(monkeypatch)
    project(tmp_path, mock(prices={"input": 1000, "output": 0}), s=suite(30))
    first = Carried(tmp_path / "s.yaml", workers=8, **bound)
    assert (first.ended.stopped, first.ended.left, len(server.asked)) == ("budget", 20, 10)
    assert (first.verdict.exit_code, "budget" in first.verdict.text) == (3, True)
    assert [each.reason for each in first.told(Stopping)] == ["budget"]
    assert any("is reached" in each.message for each in first.told(Notice))
    again = Carried(first.folder, resume=True)
    assert (again.ended.left, len(server.asked)) == (20, 10)
    last = Carried(first.folder, resume=True, **more)
    assert (last.ended.left, last.verdict.exit_code, len(server.asked)) == (0, 0, 30)
    assert len(set(keys(last.records))) == len(last.records) == 30


def test_tokens_that_nobody_counted_are_estimated_for_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown is not nothing: the budget is reached all the same."""
    costly(None).install(monkeypatch)
    project(tmp_path, mock(prices={"input": 100_000, "output": 100_000}), s=suite(50))
    carried = Carried(tmp_path / "s.yaml", workers=4, budget_usd=2.0)
    assert carried.ended.stopped == "budget"
    assert 0 < len(carried.records) < 50


def test_stopping_finishes_what_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing more is started; what is missing can be done later."""
    server = Server(slow).install(monkeypatch)
    project(tmp_path, s=suite(20))

    def control(runner: Any, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(2.5, runner.stop)

    first = Carried(tmp_path / "s.yaml", workers=4, control=control)
    assert (len(first.records), first.ended.left, first.ended.stopped) == (12, 8, "interrupted")
    assert first.seconds == pytest.approx(3.0)
    assert first.verdict.exit_code == 130
    assert [(each.reason, each.in_flight) for each in first.told(Stopping)] == [("interrupted", 4)]
    last = Carried(first.folder, resume=True)
    assert (last.ended.left, last.verdict.exit_code, len(server.asked)) == (0, 0, 20)


def test_aborting_finishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is under way is not written, and is asked again when the run is resumed."""
    server = Server(slow).install(monkeypatch)
    project(tmp_path, s=suite(20))

    def control(runner: Any, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(2.5, runner.abort)

    first = Carried(tmp_path / "s.yaml", workers=4, control=control)
    assert (len(first.records), first.ended.left) == (8, 12)
    assert first.seconds == pytest.approx(2.5)
    assert first.verdict.exit_code == 130
    last = Carried(first.folder, resume=True)
    assert (len(last.records), len(server.asked), last.verdict.exit_code) == (20, 24, 0)


def test_what_waits_to_be_sent_again_does_not_hold_up_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left for later, without a result: it was not a failure yet."""

    async def busy(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise OverloadedError("busy", status=503, retry_after=100.0)

    Server(busy).install(monkeypatch)
    project(tmp_path, s=suite(3))

    def control(runner: Any, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(1.0, runner.stop)

    carried = Carried(tmp_path / "s.yaml", control=control)
    assert (carried.records, carried.ended.left) == ([], 3)
    assert carried.seconds == pytest.approx(1.0)


def test_nothing_is_sent_again_while_stopping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails after the stop is an error, which is tried again when the run is resumed."""

    async def fails_late(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(5.0)
        raise OverloadedError("broken", status=500)

    server = Server(fails_late).install(monkeypatch)
    project(tmp_path, mock(**USUAL), s=suite(2))

    def control(runner: Any, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(1.0, runner.stop)

    carried = Carried(tmp_path / "s.yaml", control=control)
    assert (len(server.asked), statuses(carried)) == (2, {"c0": "error", "c1": "error"})
    assert carried.told(Retried) == []
    assert carried.seconds == pytest.approx(5.0)


def test_a_stop_when_all_is_done_is_no_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last answers were under way: the run is whole, and its verdict is that of its results."""
    Server(slow).install(monkeypatch)
    project(tmp_path, s=suite(2))

    def control(runner: Any, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(0.5, runner.stop)

    carried = Carried(tmp_path / "s.yaml", control=control)
    assert (carried.ended.left, carried.ended.stopped, carried.verdict.exit_code) == (0, None, 0)


def test_an_answer_that_json_cannot_hold_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program under test may answer anything; the run goes on, and the journal can be read."""

    async def odd(server: Server, request: ProviderRequest) -> ProviderResponse:
        extra: Any = {"role": "assistant", "content": "hello", "score": float("nan")}
        return ProviderResponse(text="hello", messages=[extra]) if request.case_id == "c1" else hello()

    Server(odd).install(monkeypatch)
    project(tmp_path, s=suite(3))
    carried = Carried(tmp_path / "s.yaml")
    assert statuses(carried) == {"c0": "passed", "c1": "error", "c2": "passed"}
    (error,) = [each["error"] for each in carried.records if each["error"]]
    assert (error["kind"], "JSON" in error["message"]) == ("application", True)


def test_events_come_in_order(tmp_path: Path) -> None:
    """The start first, the end last, and a result for each line of the journal, in the same order."""
    project(tmp_path, s=suite(5))
    carried = Carried(tmp_path / "s.yaml", workers=2)
    assert isinstance(carried.events[0], Started)
    assert isinstance(carried.events[-1], Ended)
    assert [dict(each.record) for each in carried.told(ResultDone)] == carried.records
    assert all(0 <= each.in_flight < 2 for each in carried.told(ResultDone))


def test_an_unknown_price_is_said_once(tmp_path: Path) -> None:
    """Not for every answer; a target that nobody is paid for has none to be known."""
    unpriced = {"name": "echo", "provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    project(tmp_path, {**unpriced, "api_key": "some-key", "max_retries": 0}, mock("free"), s=suite(3))
    carried = Carried(tmp_path / "s.yaml")
    assert [each.message for each in carried.told(Notice)] == [
        "echo: no price is known, so its cost is not counted; give the target `prices`"
    ]


@pytest.mark.parametrize(
    ("latency_ms", "order"),
    [(50.0, [Begun, Begun, ResultDone, ResultDone]), (1.0, [Begun, ResultDone, Begun, ResultDone])],
)
def test_a_slow_server_is_asked_again_before_its_answer_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, latency_ms: float, order: list[type]
) -> None:
    """Its place is free when the answer is there, and never two requests are with it; a quick one gains nothing."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(latency_ms / 1000)
        return hello(latency_ms=latency_ms)

    server = Server(reply).install(monkeypatch)
    project(tmp_path, s=suite(2))
    carried = Carried(tmp_path / "s.yaml", workers=1)
    assert [type(each) for each in carried.events[1:-1]] == order
    assert server.most["all"] == 1
    assert len(carried.records) == 2


def test_a_result_that_runs_out_of_time_says_what_went_wrong_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time was spent on retries: why they were needed is what a person has to mend."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise OverloadedError("nobody is at home", status=500)

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(retry_initial_delay=60, retry_max_delay=60), s=suite(1))
    (record,) = Carried(tmp_path / "s.yaml", timeout=4).records
    assert record["error"]["kind"] == "timeout"
    assert record["error"]["message"].endswith("; the last attempt failed, overloaded: nobody is at home")
