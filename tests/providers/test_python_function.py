"""A Python function is found, called and its result read; whatever it does wrong is told in one line."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turnwise.errors import ApplicationError, ProviderError, ProviderTimeoutError, RateLimitError, UsageError
from turnwise.providers.base import ProviderRequest, ProviderResponse
from turnwise.providers.python_function import PythonFunctionProvider, response_of
from turnwise.targets.applications import PythonTarget

HELLO = ProviderRequest(question="Hello", chat_prompt=[{"role": "user", "content": "Hello"}], case_id="c")
CONTEXT: contextvars.ContextVar[str] = contextvars.ContextVar("CONTEXT", default="none")
Provide = Callable[..., PythonFunctionProvider]


@pytest.fixture
def provide(tmp_path: Path) -> Iterator[Provide]:
    """Writes a module of the given source and makes a provider of its `answer`; forgets the module afterwards."""
    before = set(sys.modules)

    def make(source: str, function: str = "tw_app:answer", **settings: Any) -> PythonFunctionProvider:
        (tmp_path / "tw_app.py").write_text(source, encoding="utf-8")
        target = PythonTarget(name="app", provider="python", function=function, **settings)
        return PythonFunctionProvider(target, tmp_path, "Be kind.")

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("tw_"):
            del sys.modules[name]


def ask(provider: PythonFunctionProvider, request: ProviderRequest = HELLO) -> ProviderResponse:
    return asyncio.run(provider.ask(request))


def fails(provider: PythonFunctionProvider) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(provider)
    return caught.value


@pytest.mark.parametrize(
    "source",
    [
        "def answer(request):\n    return request.question + '!'",
        "async def answer(request):\n    return request.question + '!'",
        "class App:\n    async def __call__(self, request):\n        return request.question + '!'\nanswer = App()",
        "async def later(request):\n    return request.question + '!'\nanswer = lambda request: later(request)",
        "import functools\ndef add(end, request):\n    return request.question + end\n"
        "answer = functools.partial(add, '!')",
    ],
)
def test_functions_of_every_kind_are_called(provide: Provide, source: str) -> None:
    """Sync, async, callable objects, and sync functions that return something to await all answer."""
    answer = ask(provide(source))
    assert answer.text == "Hello!"
    assert answer.messages == [{"role": "assistant", "content": "Hello!"}]
    assert answer.latency_ms is not None
    assert answer.latency_ms >= 0


def test_a_function_may_be_an_attribute(provide: Provide) -> None:
    """`module:Class.method` names a function within a class."""
    source = "class App:\n    @staticmethod\n    def answer(request):\n        return 'static'"
    assert ask(provide(source, "tw_app:App.answer")).text == "static"


def test_the_function_gets_what_is_said_to_be_sent(provide: Provide) -> None:
    """The request's messages are those that `sent` and the preview tell, the default system prompt included."""
    provider = provide("def answer(request):\n    return repr(request.chat_prompt) + request.case_id")
    answer = ask(provider)
    expected = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}]
    assert (answer.sent, answer.text) == (expected, f"{expected!r}c")
    assert provider.preview(HELLO).messages == expected
    assert provider.preview(HELLO).request is None


def test_a_function_cannot_change_the_request(provide: Provide) -> None:
    """What a function does to its messages is not seen by the next attempt, nor in `sent`."""
    provider = provide(
        "def answer(request):\n    last = request.chat_prompt[-1]\n"
        "    last['content'] += '?'\n    return last['content']"
    )
    assert [ask(provider).text for _ in range(2)] == ["Hello?", "Hello?"]
    assert ask(provider).sent[-1]["content"] == "Hello"


def test_sync_functions_run_in_a_thread_with_their_context(provide: Provide) -> None:
    """A sync function does not block the loop, runs beside others, and sees the caller's context variables."""
    provider = provide("")
    both = threading.Barrier(2, timeout=5)

    def answer(request: ProviderRequest) -> str:
        both.wait()
        return f"{CONTEXT.get()} {threading.current_thread() is threading.main_thread()}"

    provider._function = answer

    async def two() -> list[ProviderResponse]:
        CONTEXT.set("mine")
        return list(await asyncio.gather(provider.ask(HELLO), provider.ask(HELLO)))

    assert [each.text for each in asyncio.run(two())] == ["mine False"] * 2


@pytest.mark.parametrize(
    ("returned", "text", "finish"),
    [
        ({"role": "assistant", "content": "one"}, "one", "stop"),
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], "b", "stop"),
        (({"role": "assistant", "content": [{"type": "text", "text": "part"}]},), "part", "stop"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "", "tool_calls"),
        (
            [
                {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
                {"role": "tool", "content": "42", "tool_call_id": "1"},
            ],
            "",
            "stop",
        ),
    ],
)
def test_messages_are_read(returned: Any, text: str, finish: str) -> None:
    """The answer's text is that of the last assistant message; all messages are kept."""
    answer = response_of(returned, "m:f")
    assert (answer.text, answer.finish_reason) == (text, finish)
    assert len(answer.messages) == (1 if isinstance(returned, dict) else len(returned))


def test_messages_are_copies() -> None:
    """A function that goes on using its messages does not change the answer."""
    mine = {"role": "assistant", "content": [{"type": "text", "text": "now"}]}
    answer = response_of(mine, "m:f")
    mine["content"] = "later"
    assert answer.messages == [{"role": "assistant", "content": [{"type": "text", "text": "now"}]}]


def test_a_provider_response_is_taken_as_it_is(provide: Provide) -> None:
    """A function may say everything itself; only what it leaves out is filled in."""
    answer = ask(
        provide(
            "from turnwise.providers.base import ProviderResponse, Usage\n"
            "def answer(request):\n"
            "    return ProviderResponse(text='x', model='mine', latency_ms=7.0, usage=Usage(input_tokens=3))"
        )
    )
    assert (answer.text, answer.model, answer.latency_ms, answer.usage.input_tokens) == ("x", "mine", 7.0, 3)
    assert [message["role"] for message in answer.sent] == ["system", "user"]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "returned None"),
        (3, "a value of the type `int`"),
        (b"text", "a value of the type `bytes`"),
        ([], "no message of the role `assistant`"),
        ([{"role": "user", "content": "x"}], "no message of the role `assistant`"),
        (["text"], "item 0 is a value of the type `str`"),
        ({"answer": "x"}, "has no `role`; its keys: answer"),
        ({"role": "assistant"}, "has neither `content` nor `tool_calls`"),
        ({"role": "assistant", "content": 3}, "has a value of the type `int` as `content`"),
        ({"role": "assistant", "content": "x", "tool_calls": "y"}, "as `tool_calls`"),
        ({"role": "assistant", "content": "x", "at": object()}, "holds what is not JSON"),
    ],
)
def test_what_cannot_be_an_answer_is_an_error(returned: Any, words: str) -> None:
    """The error names the function and what it returned, and the hint what it may return."""
    with pytest.raises(ApplicationError, match="`m:f` returned") as caught:
        response_of(returned, "m:f")
    assert words in str(caught.value)
    assert "return a text" in str(caught.value.hint)


FAILURES = [
    ("raise ValueError('bad\\n  luck')", "ValueError: bad luck"),
    ("raise KeyError", "KeyError"),
    ("raise StopIteration", "StopIteration"),
    ("raise TimeoutError('own')", "TimeoutError: own"),
    ("import sys; sys.exit(3)", "it called sys.exit(3)"),
    ("raise RuntimeError('y' * 10_000)", "yyy…"),
    ("raise asyncio.CancelledError", "CancelledError"),
]


@pytest.mark.parametrize(("statement", "words"), FAILURES)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_that_fails_is_told_with_its_place(
    provide: Provide, tmp_path: Path, kind: str, statement: str, words: str
) -> None:
    """The error names the function, the exception, its message and the line that raised it, in one line."""
    error = fails(provide(f"import asyncio\n{kind} answer(request):\n    {statement}"))
    assert isinstance(error, ApplicationError)
    assert not error.retryable
    assert str(error).startswith("`tw_app:answer` failed: ")
    assert words in str(error)
    assert f"({tmp_path / 'tw_app.py'}:3)" in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 800


def test_a_function_of_other_parameters_is_an_error(provide: Provide) -> None:
    """A function that does not take the request fails like any other, sync or async."""
    for kind in ("def", "async def"):
        sys.modules.pop("tw_app", None)
        error = fails(provide(f"{kind} answer():\n    return 'x'  # {kind}\n"))
        assert isinstance(error, ApplicationError)
        assert "TypeError" in str(error)


def test_an_exception_that_cannot_be_shown(provide: Provide) -> None:
    """An exception whose own text fails is named by its type."""
    source = (
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\ndef answer(request):\n    raise Odd"
    )
    assert "Odd: its message cannot be shown" in str(fails(provide(source)))


def test_a_function_may_raise_our_errors(provide: Provide) -> None:
    """A provider error of the function keeps its class, so that it can ask for a retry."""
    source = "from turnwise.errors import RateLimitError\ndef answer(request):\n    raise RateLimitError('slow down')"
    error = fails(provide(source))
    assert isinstance(error, RateLimitError)
    assert error.retryable


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio\nasync def answer(request):\n    await asyncio.sleep(9)",
        "import asyncio\nasync def answer(request):\n    try:\n        await asyncio.sleep(9)\n"
        "    except asyncio.CancelledError:\n        raise RuntimeError('stopped') from None",
        "import time\ndef answer(request):\n    time.sleep(0.3)",
    ],
)
def test_the_targets_timeout_holds(provide: Provide, source: str) -> None:
    """A function that takes too long is a timeout, whatever it makes of being stopped."""
    error = fails(provide(source, timeout=0.05))
    assert isinstance(error, ProviderTimeoutError)
    # A thread cannot be stopped: asking again would only start another one.
    assert error.retryable is ("async" in source)
    assert str(error) == "`tw_app:answer` gave no answer within 0.05 s"


def test_being_cancelled_is_no_failure_of_the_function(provide: Provide) -> None:
    """A run that is stopped stops the function; nobody is told that it failed."""
    provider = provide("import asyncio\nasync def answer(request):\n    await asyncio.sleep(9)")

    async def stop() -> None:
        task = asyncio.create_task(provider.ask(HELLO))
        await asyncio.sleep(0.02)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stop())


def test_the_module_is_imported_from_the_targets_path(provide: Provide, tmp_path: Path) -> None:
    """`path` is relative to the project root, first while importing, and gone from Python's path afterwards."""
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "tw_helper.py").write_text("WORD = 'helped'")
    (folder / "tw_main.py").write_text("from tw_helper import WORD\ndef answer(request):\n    return WORD")
    before = list(sys.path)
    assert ask(provide("", "tw_main:answer", path="src")).text == "helped"
    assert sys.path == before


def test_the_module_is_imported_once_and_only_when_asked(provide: Provide) -> None:
    """A preview imports nothing; many requests import once."""
    provider = provide("COUNT = []\nCOUNT.append(1)\ndef answer(request):\n    return str(len(COUNT))")
    provider.preview(HELLO)
    assert "tw_app" not in sys.modules
    assert [ask(provider).text for _ in range(2)] == ["1", "1"]


@pytest.mark.parametrize(
    ("source", "function", "words", "hint"),
    [
        ("", "tw_absent:answer", "there is no module `tw_absent`", "searched"),
        ("", "tw_app.sub:answer", "there is no module `tw_app.sub`", "searched"),
        ("import tw_missing", "tw_app:answer", "No module named 'tw_missing'", "what it needs"),
        ("\n1 / 0", "tw_app:answer", "ZeroDivisionError: division by zero", "correct the module"),
        ("\ndef answer(:", "tw_app:answer", "SyntaxError", "correct the module"),
        ("\nraise SystemExit(2)", "tw_app:answer", "sys.exit(2)", "correct the module"),
        ("def answer(request): ...", "tw_app:anwser", "`tw_app` has no `anwser`", "did you mean `answer`?"),
        ("answer = 'text'", "tw_app:answer", "`str`, not a function", "name a function"),
    ],
)
def test_a_function_that_cannot_be_found(
    provide: Provide, tmp_path: Path, source: str, function: str, words: str, hint: str
) -> None:
    """Import problems are errors of the call: they name the module, what is wrong, where, and what to do."""
    with pytest.raises(UsageError) as caught:
        provide(source, function).load()
    assert words in str(caught.value)
    assert hint in str(caught.value.hint)
    if source.startswith("\n"):
        assert f"{tmp_path / 'tw_app.py'}:2" in str(caught.value)
    if hint == "searched":
        assert str(tmp_path) in str(caught.value.hint)


def test_a_path_that_is_no_folder(provide: Provide, tmp_path: Path) -> None:
    """A missing folder is named before anything is imported."""
    with pytest.raises(UsageError, match="there is no folder") as caught:
        provide("", path="none").load()
    assert str(tmp_path / "none") in str(caught.value)


def test_another_module_of_the_same_name_is_not_taken_for_it(provide: Provide, tmp_path: Path) -> None:
    """Two targets with a module of one name in two folders do not get each other's function."""
    folder = tmp_path / "second"
    folder.mkdir()
    (folder / "tw_app.py").write_text("def answer(request):\n    return 'second'")
    source = "def answer(request):\n    return 'first'"
    assert ask(provide(source)).text == "first"
    assert ask(provide(source)).text == "first"
    with pytest.raises(UsageError, match="another module of that name is loaded"):
        provide(source, path="second").load()
