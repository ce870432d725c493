"""A Python function as the application under test: found, called, and its result read as an answer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..conversation.chat import ChatMessage
from ..errors import ApplicationError, ProviderError, ProviderTimeoutError
from ..programs.own_thread import in_own_thread
from .base import DEFAULT_TIMEOUT, Preview, ProviderRequest, ProviderResponse
from .prompt import messages_to_send
from .python_import import find_function, raised_at, shown_error
from .recording import content_text

if TYPE_CHECKING:
    from ..targets.applications import PythonTarget

__all__ = ["PythonFunctionProvider", "response_of"]

_RETURN_HINT = (
    "return a text, a message ({'role': 'assistant', 'content': …}), a list of messages or a ProviderResponse"
)

Function = Callable[[ProviderRequest], Any]


class PythonFunctionProvider:
    """The provider of a `python` target. The function gets the request, with the messages to answer as `chat_prompt`.

    Sync functions run in a thread of their own, which cannot be stopped: one that takes longer than the target's
    `timeout` goes on, but nobody waits for it, not even the end of the program.
    """

    def __init__(self, target: PythonTarget, root: Path, default_system_prompt: str | None = None) -> None:
        self._name = target.function
        self._folder = root / target.path if target.path is not None else root
        self._default_system_prompt = default_system_prompt
        self._timeout = DEFAULT_TIMEOUT if target.timeout is None else float(target.timeout)
        self._function: Function | None = None

    def load(self) -> Function:
        """The function; imported when first needed. Raises `UsageError` if that fails."""
        if self._function is None:
            self._function = find_function(self._name, self._folder)
        return self._function

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Call the function. Raises `UsageError` if there is no such function."""
        function = await self._loaded()
        started = perf_counter()
        sent = messages_to_send(request, self._default_system_prompt)
        # Copies: what the function does to them must not reach other trials of the case.
        own = replace(
            request, chat_prompt=deepcopy(sent), vars=deepcopy(request.vars), metadata=deepcopy(request.metadata)
        )
        result = await self._called(function, own)
        response = response_of(result, self._name)
        latency = response.latency_ms if response.latency_ms is not None else (perf_counter() - started) * 1000
        return replace(response, sent=response.sent or sent, latency_ms=latency)

    def preview(self, request: ProviderRequest) -> Preview:
        """The messages that the function would get; it is neither imported nor called."""
        return Preview(messages=messages_to_send(request, self._default_system_prompt), rewrites=(), request=None)

    async def close(self) -> None:
        """Nothing is open."""

    async def _loaded(self) -> Function:
        """Imports may take seconds: others go on meanwhile."""
        import asyncio

        return await asyncio.to_thread(self.load) if self._function is None else self._function

    async def _called(self, function: Function, request: ProviderRequest) -> Any:
        import asyncio

        try:
            async with asyncio.timeout(self._timeout) as limit:
                try:
                    return await _result(function, request, self._name)
                except ProviderError:
                    # A function may turn the cancellation into an error of its own.
                    if limit.expired():
                        raise TimeoutError from None
                    raise
        except TimeoutError as error:
            # A sync function goes on in its thread: asking again would only add another one.
            raise ProviderTimeoutError(
                f"`{self._name}` gave no answer within {self._timeout:g} s",
                retryable=inspect.iscoroutinefunction(function),
                hint="raise the target's `timeout` if the function needs longer",
            ) from error


def response_of(result: Any, name: str) -> ProviderResponse:
    """What a function returned, as a response. Raises `ApplicationError` for what cannot be an answer.

    >>> response_of([{"role": "assistant", "content": "Hi"}], "app:answer").text
    'Hi'
    """
    if isinstance(result, ProviderResponse) and isinstance(result.text, str):
        return result
    if isinstance(result, str):
        return ProviderResponse(text=result, messages=[{"role": "assistant", "content": result}])
    if isinstance(result, Mapping):
        result = [result]
    if not isinstance(result, list | tuple):
        raise ApplicationError(f"`{name}` returned {_kind(result)}, which is no answer", hint=_RETURN_HINT)
    messages = [_message(each, index, name) for index, each in enumerate(result)]
    answer = next((each for each in reversed(messages) if each["role"] == "assistant"), None)
    if answer is None:
        raise ApplicationError(f"`{name}` returned no message of the role `assistant`", hint=_RETURN_HINT)
    asks = bool(answer.get("tool_calls")) and answer is messages[-1]
    text = content_text(answer["content"])
    return ProviderResponse(text=text, messages=messages, finish_reason="tool_calls" if asks else "stop")


def _message(value: Any, index: int, name: str) -> ChatMessage:
    problem = _problem(value)
    if problem is None:
        try:
            # JSON, and no longer the function's own object.
            message: ChatMessage = json.loads(json.dumps({"content": None, **value}))
            return message
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"holds what is not JSON: {error}"
    raise ApplicationError(f"`{name}` returned a list whose item {index} {problem}", hint=_RETURN_HINT)


def _problem(message: Any) -> str | None:
    if not isinstance(message, Mapping):
        return f"is {_kind(message)}, not a message"
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if not isinstance(role, str) or not role:
        return f"has no `role`; its keys: {', '.join(map(str, list(message)[:12])) or 'none'}"
    if content is None and not calls:
        return "has neither `content` nor `tool_calls`"
    if not (content is None or isinstance(content, str) or _are_mappings(content)):
        return f"has {_kind(content)} as `content`"
    return None if calls is None or _are_mappings(calls) else f"has {_kind(calls)} as `tool_calls`"


def _are_mappings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of the type `{type(value).__qualname__}`"


async def _result(function: Function, request: ProviderRequest, name: str) -> Any:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    def call() -> Any:
        return _guarded(lambda: function(request), name)

    # Calling an async function runs nothing of it; a sync one may return what is still to be awaited.
    result = call() if is_async else await in_own_thread(call, "turnwise-python-target")
    return await _awaited(result, name) if inspect.isawaitable(result) else result


async def _awaited(result: Any, name: str) -> Any:
    import asyncio

    try:
        return await result
    except ProviderError:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _application_error(name, error) from error
    except (Exception, SystemExit) as error:
        raise _application_error(name, error) from error


def _guarded(call: Callable[[], Any], name: str) -> Any:
    try:
        return call()
    except ProviderError:
        raise
    except BaseException as error:
        # In a thread that is not the main one, not even KeyboardInterrupt comes from a person.
        raise _application_error(name, error) from error


def _application_error(name: str, error: BaseException) -> ApplicationError:
    return ApplicationError(
        f"`{name}` failed: {shown_error(error)} ({raised_at(error)})", hint="the function is at fault"
    )
