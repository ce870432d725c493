"""From targets to providers: which class answers for which target, what they share, and plugins of other packages."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turnwise.errors import MissingVariablesError, ProviderConnectionError, UsageError
from turnwise.providers import Provider, ProviderRequest, Providers, open_provider
from turnwise.providers.http_endpoint import HttpEndpointProvider
from turnwise.providers.llm import WIRES, LLMProvider
from turnwise.providers.local import LocalProvider
from turnwise.providers.mock import MockProvider
from turnwise.providers.patient import PatientProvider
from turnwise.providers.python_function import PythonFunctionProvider
from turnwise.providers.replay import ReplayProvider
from turnwise.providers.retries import Retry
from turnwise.targets.choose import find_target
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target
from turnwise.targets.stand_ins import MockTarget

PLUGIN = """\
from dataclasses import replace
from typing import Literal
from turnwise.errors import OverloadedError
from turnwise.providers import MockProvider, ProviderResponse
from turnwise.targets.settings import TargetBase

class ParrotTarget(TargetBase):
    provider: Literal["parrot"]
    model: str | None = None

class ParrotProvider:
    def __init__(self, target, providers):
        self.target, self.providers, self.asked, self.closed = target, providers, 0, False
    async def ask(self, request):
        self.asked += 1
        if self.asked == 1:
            raise OverloadedError("still asleep")
        return ProviderResponse(text=f"{self.target.model}: {request.question}")
    def preview(self, request):
        raise NotImplementedError
    async def close(self):
        self.closed = True

class Parrot:
    target_model = ParrotTarget
    @staticmethod
    def open(resolved, providers):
        return ParrotProvider(resolved.target, providers)
"""
HELLO = ProviderRequest(question="Hello")


def resolved(name: str, environment: dict[str, str] | None = None, **settings: Any) -> ResolvedTarget:
    target = find_target(name, None, file="targets.yaml").model_copy(update=settings)
    return resolve_target(target, environment or {})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("openai/m", LLMProvider),
        ("openai-responses/m", LLMProvider),
        ("anthropic/m", LLMProvider),
        ("gemini/m", LLMProvider),
        ("openrouter/m", LLMProvider),
        ("ollama/m", LLMProvider),
        ("local/m.gguf", LocalProvider),
        ("mock/Hi", MockProvider),
        ("replay/runs/1", ReplayProvider),
        ("http/http://127.0.0.1:1/chat", HttpEndpointProvider),
        ("python/app:reply", PythonFunctionProvider),
    ],
)
def test_every_kind_of_target_has_its_provider(name: str, kind: type) -> None:
    """Each is wrapped in patience, and is a provider to whoever asks."""
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
    provider = Providers(environment={}).open(resolved(name, dict.fromkeys(keys, "k")))
    assert isinstance(provider, Provider)
    assert isinstance(provider, PatientProvider)
    assert type(provider.inner) is kind


def test_every_llm_api_has_a_wire() -> None:
    """Whatever target has a model, an address and a key speaks one of the wires."""
    with_key = {name for name, model in PROVIDERS.items() if {"extra_body", "model"} <= set(model.model_fields)}
    assert with_key | {"local"} == set(WIRES)


@pytest.mark.parametrize("provider", ["codex", "claude-code", "pi", "vscode"])
def test_agents_are_opened_before_they_are_installed(provider: str) -> None:
    """Nothing is looked for until an agent is asked: a run of several targets starts, and says who is missing."""
    opened = Providers(environment={"PATH": "", "HOME": "/home/nobody"}).open(resolved(f"{provider}/x"))
    assert [each["content"] for each in opened.preview(ProviderRequest(question="Q?")).messages] == ["Q?"]


@pytest.fixture
def parrot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that announces the provider `parrot`."""
    info = tmp_path / "site" / "parrots-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[turnwise.providers]\nparrot = parrots_to_open:Parrot\n")
    (tmp_path / "site" / "parrots_to_open.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


@pytest.mark.usefixtures("parrot")
def test_a_plugin_is_asked_with_our_patience() -> None:
    """Its failures are retried, its attempts counted, and it is closed with all others."""
    retries: list[tuple[str, int]] = []

    def tell(name: str, retry: Retry) -> None:
        retries.append((name, retry.attempt))

    async def run() -> tuple[str, int, Any]:
        async with Providers(environment={}, on_retry=tell) as providers:
            provider = providers.open(resolved("parrot/grey", retry_initial_delay=0.0))
            assert isinstance(provider, PatientProvider)
            response = await provider.ask(HELLO)
            guarded: Any = provider.inner
            inner: Any = guarded.inner
            assert inner.providers is providers
            assert not inner.closed
            return response.text, response.attempts, inner

    text, attempts, inner = asyncio.run(run())
    assert (text, attempts) == ("grey: Hello", 2)
    assert retries == [("parrot/grey", 2)]
    assert inner.closed


def test_nothing_is_asked_after_close() -> None:
    """The connections are gone: an error that says so, not one of some library."""

    async def run() -> None:
        async with Providers(environment={}) as providers:
            provider = providers.open(resolved("openai/m", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}))
        with pytest.raises(ProviderConnectionError, match="closed already") as caught:
            await provider.ask(HELLO)
        assert caught.value.attempts == 1

    asyncio.run(run())


def test_all_are_closed_even_if_one_fails() -> None:
    """A provider that cannot be closed keeps neither the others nor the connections open; its error is not lost."""

    class Stuck(MockProvider):
        closed = False

        async def close(self) -> None:
            self.closed = True
            raise RuntimeError("stuck")

    async def run() -> list[bool]:
        providers = Providers(environment={})
        stuck = [Stuck(MockTarget(name="m", provider="mock")) for _ in range(2)]
        providers._of_target += [(MockTarget(name=f"m{n}", provider="mock"), each) for n, each in enumerate(stuck)]
        asked = providers.open(resolved("openai/m", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}))
        with pytest.raises(RuntimeError, match="stuck"):
            await providers.close()
        with pytest.raises(ProviderConnectionError, match="closed already"):
            await asked.ask(HELLO)
        return [each.closed for each in stuck]

    assert asyncio.run(run()) == [True, True]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(
        "targets:\n  - {name: fixed, provider: mock, response: '${{ WORD }}'}\n"
        "  - {name: app, provider: python, function: 'app:reply'}\n"
    )
    (tmp_path / ".turnwise" / "config.yaml").write_text("default_system_prompt: You are a clerk.\n")
    (tmp_path / "app.py").write_text("def reply(request):\n    return request.chat_prompt[0]['content']\n")
    (tmp_path / "sub").mkdir()
    return tmp_path


async def answer_of(target: Any, **options: Any) -> str:
    async with open_provider(target, **options) as provider:
        return (await provider.ask(HELLO)).text


def test_open_provider_finds_the_project(project: Path) -> None:
    """Targets, `.env` and the default system prompt are those of the project around the folder."""
    (project / ".env").write_text("WORD=Bonjour\n")
    assert asyncio.run(answer_of("fixed", root=project / "sub")) == "Bonjour"
    assert asyncio.run(answer_of("app", root=project / "sub")) == "You are a clerk."


def test_open_provider_takes_a_target_and_variables(project: Path) -> None:
    """A target of one's own, and an environment that replaces the process's."""
    own = MockTarget(name="own", provider="mock", response="${{ WORD }}")
    assert asyncio.run(answer_of(own, root=project, environment={"WORD": "Hola"})) == "Hola"


def test_open_provider_fails_before_anything_is_sent(project: Path) -> None:
    """A missing variable and an unknown target have their own errors."""
    with pytest.raises(MissingVariablesError, match="WORD"):
        asyncio.run(answer_of("fixed", root=project, environment={}))
    with pytest.raises(UsageError, match="no target is named 'fixd'"):
        asyncio.run(answer_of("fixd", root=project, environment={}))


def test_opening_a_mock_loads_no_http() -> None:
    """Who asks no server does not pay for one."""
    program = (
        "import asyncio, sys\n"
        "from turnwise.providers import ProviderRequest, open_provider\n"
        "async def run():\n"
        "    async with open_provider('mock/Hi') as provider:\n"
        "        return (await provider.ask(ProviderRequest(question='x'))).text\n"
        "print(asyncio.run(run()), 'aiohttp' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Hi False\n"


def test_one_target_has_one_provider() -> None:
    """Opened twice, a target keeps one set of rate limits; another target has its own."""
    providers = Providers(environment={})
    first = providers.open(resolved("mock/Hi", requests_per_minute=60.0))
    assert providers.open(resolved("mock/Hi", requests_per_minute=60.0)) is first
    assert providers.open(resolved("mock/Hi", requests_per_minute=61.0)) is not first
