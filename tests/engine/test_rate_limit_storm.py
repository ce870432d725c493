"""Two minutes of nothing but rate limits, in simulated time: no case is lost, and none is asked for in vain too often.

`virtual_time` makes the minutes pass at once.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from run_fixtures import Carried, Server, hello, keys, mock, project, suite
from turnwise.engine.events import ResultDone, Slowed
from turnwise.errors import RateLimitError
from turnwise.providers import ProviderRequest, ProviderResponse

CASES, WORKERS, STORM = 200, 64, 120.0


def stormy(retry_after: float | None) -> Server:
    """Refuses everything for two minutes; afterwards an answer takes half a second."""
    began: list[float] = []

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        now = asyncio.get_running_loop().time()
        began.append(now)
        if now - began[0] < STORM:
            raise RateLimitError("too many", status=429, retry_after=retry_after)
        await asyncio.sleep(0.5)
        return hello()

    return Server(reply)


def test_every_case_has_its_answer_after_the_storm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All good, each in the journal once, with few attempts in vain, and not long after the storm is over."""
    server = stormy(None).install(monkeypatch)
    project(tmp_path, mock(retry_initial_delay=1.0, retry_max_delay=60.0), s=suite(CASES))
    carried = Carried(tmp_path / "s.yaml", workers=WORKERS)
    assert [each["status"] for each in carried.records] == ["passed"] * CASES
    assert len(set(keys(carried.records))) == len(carried.told(ResultDone)) == CASES
    assert (carried.ended.left, carried.ended.stopped, carried.verdict.exit_code) == (0, None, 0)
    assert sum(each["attempts"] for each in carried.records) == len(server.asked)
    # Each of the first 64 is sent four times before the run is down to one at a time.
    in_vain = len(server.asked) - CASES
    assert in_vain <= 4 * WORKERS + 40
    assert min(each.allowed for each in carried.told(Slowed)) == 1
    assert STORM < carried.seconds < 300.0


@pytest.mark.parametrize("retry_after", [10.0, 110.0])
def test_a_server_that_says_when_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retry_after: float
) -> None:
    """Whoever is told how long to wait does so, and all cases have their answers."""
    server = stormy(retry_after).install(monkeypatch)
    project(tmp_path, mock(), s=suite(20))
    carried = Carried(tmp_path / "s.yaml", workers=8)
    assert [each["status"] for each in carried.records] == ["passed"] * 20
    assert sum(each["attempts"] for each in carried.records) == len(server.asked)
