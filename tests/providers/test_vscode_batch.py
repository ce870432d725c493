"""Batches of the VS Code provider: requests that arrive together go out as one chat, and each has its own answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from turnwise.conversation.values import File
from turnwise.errors import ApplicationError, NotAwaitedError, ProviderTimeoutError
from turnwise.providers import ProviderResponse
from turnwise.providers.agents.vscode.provider import VSCodeProvider
from vscode_stage import Stage, quick, request_of


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def outcomes(stage: Stage, count: int, **settings: Any) -> list[ProviderResponse | BaseException]:
    """What becomes of requests that are asked at once."""

    async def run(provider: VSCodeProvider) -> list[ProviderResponse | BaseException]:
        asking = [provider.ask(request_of(f"case {number}", case_id=str(number))) for number in range(count)]
        return await asyncio.gather(*asking, return_exceptions=True)

    return stage.with_provider(run, batch=True, **settings)


def test_a_batch_is_one_chat_that_lists_its_requests(tmp_path: Path) -> None:
    """One orchestrator file names each request on a line of its own; each case gets its own answer."""
    stage = Stage(tmp_path)
    found = outcomes(stage, 3)
    assert [each.text for each in found if isinstance(each, ProviderResponse)] == [
        f"CASE {number}\nagent-1" for number in range(3)
    ]
    (chat,) = stage.chats
    orchestrator = Path(chat[-2])
    stem = str(orchestrator).removesuffix("_orchestrator.md")
    lines = orchestrator.read_text().splitlines()
    assert [line for line in lines if line.startswith("- ")] == [f"- {stem}_{number}_req.md" for number in range(3)]


def test_a_missing_answer_is_an_error_of_its_own_case_only(tmp_path: Path) -> None:
    """The others of the batch keep their answers."""
    found = outcomes(Stage(tmp_path, does="half"), 3, timeout=1.5)
    assert [type(each) for each in found] == [ProviderResponse, ProviderTimeoutError, ProviderResponse]


def test_a_batch_that_cannot_be_handed_over_fails_each_case(tmp_path: Path) -> None:
    """Each case has an error of its own, which says why."""
    found = outcomes(Stage(tmp_path, does="fail"), 2)
    assert [type(each) for each in found] == [ApplicationError, ApplicationError]
    assert found[0] is not found[1]
    assert "exit code 3" in str(found[1])


def test_workers_bound_a_batch(tmp_path: Path) -> None:
    """No more than `workers` go out at once; what is left goes in the next batch."""
    stage = Stage(tmp_path)
    found = outcomes(stage, 3, workers=2)
    assert [isinstance(each, ProviderResponse) for each in found] == [True] * 3
    assert sorted(len(Path(chat[-2]).read_text().split("_req.md")) - 1 for chat in stage.chats) == [1, 2]


def test_one_that_is_cancelled_leaves_the_others(tmp_path: Path) -> None:
    """The rest of a batch is answered, and its folder is free when all that are left have been graded."""
    stage = Stage(tmp_path, seconds="0.2")

    async def run(provider: VSCodeProvider) -> None:
        first, second = (asyncio.ensure_future(provider.ask(request_of(name))) for name in ("one", "two"))
        while not stage.chats:
            await asyncio.sleep(0.01)
        first.cancel()
        response = await second
        assert response.text == "TWO\nagent-1"
        assert response.agent is not None
        await asyncio.sleep(0.2)
        response.agent.release(failed=False)
        again = await provider.ask(request_of("three"))
        assert again.text == "THREE\nagent-1"

    stage.with_provider(run, batch=True)


def test_files_of_a_batch_do_not_mix(tmp_path: Path) -> None:
    """Files of the same name have a folder for each case; changes are told with whose they may be."""
    stage = Stage(tmp_path)

    async def run(provider: VSCodeProvider) -> list[ProviderResponse]:
        files = [File("a.md", "a.md", text, False) for text in ("first", "second")]
        return list(await asyncio.gather(*(provider.ask(request_of("x", [file])) for file in files)))

    responses = stage.with_provider(run, batch=True)
    texts = [(stage.root / "agent-1" / "files" / number / "a.md").read_text() for number in ("0", "1")]
    assert texts == ["first", "second"]
    assert responses[0].agent is not None
    assert "2 cases of a batch shared the folder" in (responses[0].agent.changes.note or "")


def test_a_batch_that_nobody_waits_for(tmp_path: Path) -> None:
    """`dry_run` and `wait: false` hold for each case of a batch."""
    found = outcomes(Stage(tmp_path), 2, dry_run=True)
    assert [type(each) for each in found] == [NotAwaitedError, NotAwaitedError]
    assert str(found[0]) != str(found[1])
