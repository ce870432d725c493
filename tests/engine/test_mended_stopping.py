"""Stopping a run: the person has the last word, and what was not sent is neither waited for nor counted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import Carried, Server, hello, mock, project, suite
from turnwise.engine.events import Slowed, Stopping
from turnwise.engine.runner import Runner
from turnwise.errors import BadRequestError, OverloadedError, RateLimitError
from turnwise.providers import ProviderRequest, ProviderResponse, Usage


def stop_after(seconds: float) -> Any:
    """Press Ctrl-C then."""

    def control(runner: Runner, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(seconds, runner.stop)

    return control


def test_a_person_who_stops_a_run_that_drains_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is used up, and one request waits a minute to be sent again: the pause is cut short."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        if request.case_id == "c1":
            raise OverloadedError("busy", status=500)
        await asyncio.sleep(1)
        return hello(usage=Usage(input_tokens=900, output_tokens=100))

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(retry_initial_delay=60, retry_max_delay=60), s=suite(9))
    carried = Carried(tmp_path / "s.yaml", workers=2, max_tokens_total=1500, control=stop_after(5))
    assert [each.reason for each in carried.told(Stopping)] == ["budget", "interrupted"]
    assert (carried.ended.stopped, carried.verdict.exit_code) == ("interrupted", 130)
    assert carried.seconds == pytest.approx(5.0)
    assert [each["case_id"] for each in carried.records] == ["c0"]


def test_what_waits_to_be_sent_again_is_not_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three requests one is with the server; the two others wait for their retry."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        if request.case_id != "c0":
            raise OverloadedError("busy", status=500)
        await asyncio.sleep(10)
        return hello()

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(retry_initial_delay=60, retry_max_delay=60), s=suite(3))
    carried = Carried(tmp_path / "s.yaml", workers=3, control=stop_after(5))
    assert [each.in_flight for each in carried.told(Stopping)] == [1]
    assert [each["case_id"] for each in carried.records] == ["c0"]
    assert carried.seconds == pytest.approx(10.0)


def test_what_waits_for_its_turn_is_not_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six requests a minute: after five seconds the first is with the server, and nothing else was sent."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(8)
        return hello()

    server = Server(reply).install(monkeypatch)
    project(tmp_path, mock(requests_per_minute=6), s=suite(9))
    carried = Carried(tmp_path / "s.yaml", workers=4, control=stop_after(5))
    assert [each.in_flight for each in carried.told(Stopping)] == [1]
    assert len(server.asked) == len(carried.records) == 1
    assert carried.seconds == pytest.approx(8.0)


def test_full_speed_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was told that a target is slowed is told when it is not any more."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(1)
        if len(server.asked) <= 8:
            raise RateLimitError("too many", status=429)
        return hello()

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(workers=8), s=suite(80))
    carried = Carried(tmp_path / "s.yaml")
    told = [(each.allowed, each.most) for each in carried.told(Slowed)]
    assert told[0] == (4, 8)
    assert told[-1] == (8, 8)
    assert carried.ended.left == 0


def test_a_run_that_is_never_slowed_is_not_told_of_speed(tmp_path: Path) -> None:
    """Full speed is news only after something else."""
    project(tmp_path, mock(workers=2), s=suite(10))
    assert Carried(tmp_path / "s.yaml").told(Slowed) == []


@pytest.mark.parametrize(("timeout", "sent"), [(5.0, 1), (70.0, 2), (130.0, 3)])
def test_attempts_after_a_timeout_are_those_that_were_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout: float, sent: int
) -> None:
    """A minute lies between two attempts, each fails at once: one that was not sent does not count."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise OverloadedError("busy", status=500, retry_after=60)

    server = Server(reply).install(monkeypatch)
    project(tmp_path, mock(max_retries=5), s=suite(1))
    carried = Carried(tmp_path / "s.yaml", timeout=timeout)
    (record,) = carried.records
    assert record["error"]["kind"] == "timeout"
    assert record["attempts"] == len(server.asked) == sent


def test_attempts_of_a_request_that_hangs_count_those_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one under way was sent, too."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        if len(server.asked) < 3:
            raise OverloadedError("busy", status=500)
        await asyncio.sleep(1000)
        return hello()

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(), s=suite(1))
    (record,) = Carried(tmp_path / "s.yaml", timeout=5.0).records
    assert (record["error"]["kind"], record["attempts"]) == ("timeout", 3)


@pytest.mark.parametrize("ends_well", [True, False])
def test_attempts_before_a_put_back_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends_well: bool) -> None:
    """Twice refused by a rate limit, put back, and then answered or refused for good: three attempts."""

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        if len(server.asked) <= 2:
            raise RateLimitError("too many", status=429)
        if not ends_well:
            raise BadRequestError("no", status=400)
        return hello()

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(max_retries=1), s=suite(1))
    (record,) = Carried(tmp_path / "s.yaml").records
    assert (record["status"], record["attempts"]) == ("passed" if ends_well else "error", 3)
