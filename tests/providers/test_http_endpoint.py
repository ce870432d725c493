"""Any HTTP endpoint is asked by templates, and its answer found by a pointer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import (
    AuthenticationError,
    OverloadedError,
    PromptError,
    ProtocolError,
    ProviderError,
    ProviderTimeoutError,
)
from turnwise.providers.base import HttpRequest, ProviderRequest, ProviderResponse
from turnwise.providers.http import Transport
from turnwise.providers.http_endpoint import HttpEndpointProvider, endpoint_request, fill_template
from turnwise.providers.prompt import messages_to_send
from turnwise.targets.applications import HttpTarget

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
NAMES: dict[str, Any] = {
    "question": "Why?",
    "messages": [{"role": "user", "content": "Why?"}],
    "vars": {"n": 3, "user": {"name": "Zoë", "tags": ["a", "b"]}, "none": None, "yes": True},
}


def target(url: str = "http://127.0.0.1/", **settings: Any) -> HttpTarget:
    return HttpTarget(name="app", provider="http", url=url, **settings)


def made(request: ProviderRequest, **settings: Any) -> HttpRequest:
    return endpoint_request(target(**settings), request, messages_to_send(request, None))


def asked(handler: Handler, request: ProviderRequest, path: str = "/", **settings: Any) -> ProviderResponse:
    """Ask an endpoint on a free port, with a server that lives as long as the question."""

    async def run() -> ProviderResponse:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        secrets = ["s3cret-value"]
        try:
            async with Transport({}) as transport:
                spec = target(f"http://127.0.0.1:{port}{path}", **settings)
                provider = HttpEndpointProvider(spec, spec, transport, "Be kind.", secrets)
                answer = await provider.ask(request)
                await provider.close()
                return answer
        finally:
            await runner.cleanup()

    return asyncio.run(run())


def fails(handler: Handler, **settings: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(handler, ProviderRequest(question="Why?"), **settings)
    return caught.value


def answering(body: bytes, status: int = 200, content_type: str = "application/json") -> Handler:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body, status=status, headers={"Content-Type": content_type})

    return handler


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{ messages }}", [{"role": "user", "content": "Why?"}]),
        ("{{question}}", "Why?"),
        ("{{ vars.n }}", 3),
        ("{{ vars.yes }}", True),
        ("{{ vars.none }}", None),
        ("{{ vars.user.tags.1 }}", "b"),
        ("{{ messages.0.content }}", "Why?"),
        (" {{ vars.n }}", " 3"),
        ("{{ vars.n }}{{ vars.yes }}", "3true"),
        ("Q: {{ question }} {{ messages }}", 'Q: Why? [{"role":"user","content":"Why?"}]'),
        ("{{ vars.user }}!", '{"name":"Zoë","tags":["a","b"]}!'),
        ("${{ question }}", "${{ question }}"),
        ("{ question } {{ {", "{ question } {{ {"),
        ({"a": ["{{ vars.n }}", 7, None, 1.5], "{{ question }}": "x"}, {"a": [3, 7, None, 1.5], "{{ question }}": "x"}),
        (12, 12),
    ],
)
def test_templates_are_filled(template: Any, filled: Any) -> None:
    """A whole placeholder becomes the value, one within text becomes text; keys and the rest stay."""
    assert fill_template(template, NAMES) == filled


@given(st.text(), st.text())
def test_what_is_filled_in_is_never_searched(before: str, value: str) -> None:
    """A value that looks like a template stays as it is."""
    value = f"{{{{ question }}}}{value}{{{{ vars.other }}}}"
    filled = fill_template("<{{ vars.value }}>", {"vars": {"value": value, "other": before}, "question": before})
    assert filled == f"<{value}>"


@pytest.mark.parametrize(
    ("template", "message", "hint"),
    [
        ("{{ qestion }}", "unknown name `qestion` in body", "did you mean `question`?"),
        ("{{ prompt }}", "unknown name `prompt` in body", "there are: messages, question, vars"),
        ({"a": ["x", "{{ vars.m }}"]}, "unknown name `vars.m` in body.a[1]", "there are: n, none, user, yes"),
        ("{{ vars.user.nmae }}", "unknown name `vars.user.nmae`", "did you mean `name`?"),
        ("{{ vars.user.tags.2 }}", "unknown name `vars.user.tags.2`", "which has 2"),
        ("{{ question.x }}", "unknown name `question.x`", "no parts"),
        ("{{ }}", "names nothing", "there are: messages, question, vars"),
        ("{{ question | upper }}", "unknown name `question | upper`", "there are"),
    ],
)
def test_an_unknown_name_is_an_error_before_anything_is_sent(template: Any, message: str, hint: str) -> None:
    """The error names what was written and where, and tells what there is, the nearest first."""
    with pytest.raises(PromptError) as caught:
        fill_template(template, NAMES)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)
    assert caught.value.attempts == 0


@pytest.mark.parametrize("value", [float("nan"), object(), [float("inf")]])
def test_vars_that_are_not_json_are_an_error(value: Any) -> None:
    """What JSON has no form for is told before it is sent."""
    with pytest.raises(PromptError, match=r"`vars.x` in body is not JSON"):
        fill_template("{{ vars.x }}", {"vars": {"x": value}})


def test_without_a_body_question_and_messages_are_posted() -> None:
    """The usual body holds the transcript and the messages; GET sends none."""
    request = ProviderRequest(question="Why?")
    assert made(request).body == {"question": "Why?", "messages": [{"role": "user", "content": "Why?"}]}
    assert made(request).method == "POST"
    get = made(request, method="GET")
    assert (get.body, get.headers) == (None, {})


def test_case_and_system_can_be_named() -> None:
    """`case_id` and `system` are texts, empty where there is none."""
    body = {"id": "{{ case_id }}", "system": "{{ system }}"}
    request = ProviderRequest(question="Why?", case_id="c", metadata={"system_prompt": "Be kind."})
    assert made(request, body=body).body == {"id": "c", "system": "Be kind."}
    assert made(ProviderRequest(question="Why?"), body=body).body == {"id": "", "system": ""}


def test_a_header_cannot_be_broken_by_a_value() -> None:
    """Values in headers become text; one with a line break is refused, and the header named."""
    request = ProviderRequest(question="a\r\nX-Admin: yes", vars={"id": [1]})
    assert made(request, headers={"X-Id": "no. {{ vars.id }}"}).headers["X-Id"] == "no. [1]"
    with pytest.raises(PromptError, match=r"headers\.X-Q would hold a line break"):
        made(request, headers={"X-Q": "{{ question }}"})


def test_a_url_cannot_be_broken_by_a_value() -> None:
    """Values in the URL are percent-encoded, the URL's own text is not."""
    request = ProviderRequest(question="a/b?c=d&e#f é%", vars={"n": 7})
    url = made(request, url="http://127.0.0.1/x/{{ vars.n }}?q={{ question }}&r=1").url
    assert url == "http://127.0.0.1/x/7?q=a%2Fb%3Fc%3Dd%26e%23f%20%C3%A9%25&r=1"
    with pytest.raises(PromptError, match="surrogate"):
        made(ProviderRequest(question="\ud800"), url="http://127.0.0.1/{{ question }}")


def test_the_server_receives_what_the_templates_say() -> None:
    """Method, path, query, headers and body arrive as written, with the values as they were."""
    seen: dict[str, Any] = {}

    async def handler(request: web.Request) -> web.Response:
        seen.update(method=request.method, path=request.raw_path, query=dict(request.query))
        seen.update(key=request.headers["X-Key"], kind=request.content_type, body=await request.json())
        return web.json_response({"choices": [{"text": "Because."}]})

    question = "50% of a+b & c/d? “é”"
    answer = asked(
        handler,
        ProviderRequest(question=question, vars={"id": "../x"}, case_id="c1"),
        path="/chat/{{ vars.id }}?q={{ question }}",
        method="PUT",
        headers={"X-Key": "s3cret-value {{ case_id }}"},
        body={"turns": "{{ messages }}", "text": "Q: {{ question }}"},
        answer_pointer="/choices/0/text",
    )
    turns = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": question}]
    assert seen.pop("path").startswith("/chat/..%2Fx?q=50%25")
    assert seen == {
        "method": "PUT",
        "query": {"q": question},
        "key": "s3cret-value c1",
        "kind": "application/json",
        "body": {"turns": turns, "text": f"Q: {question}"},
    }
    assert (answer.text, answer.sent, answer.raw) == ("Because.", turns, {"choices": [{"text": "Because."}]})
    assert answer.messages == [{"role": "assistant", "content": "Because."}]
    assert answer.latency_ms is not None
    assert answer.latency_ms > 0


@pytest.mark.parametrize(
    ("value", "text"),
    [("plain", "plain"), (3, "3"), (False, "false"), ({"b": ["é"]}, '{"b":["é"]}'), ([1], "[1]"), ("", "")],
)
def test_what_the_pointer_leads_to_is_the_answer(value: Any, text: str) -> None:
    """A text is the answer itself, any other value its JSON."""
    handler = answering(json.dumps({"a": value}).encode())
    assert asked(handler, ProviderRequest(question="Why?"), answer_pointer="/a").text == text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"Just text.", "text/plain", "Just text."),
        (b'"a JSON\\n text"', "application/json", "a JSON\n text"),
        (b'"Quoted" he said', "text/plain", '"Quoted" he said'),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        ("Zoë".encode("latin-1"), "text/plain; charset=ISO-8859-1", "Zoë"),
        ("\ufeffZoë".encode(), "text/plain; charset=utf-8", "Zoë"),
        (b"", "text/plain", ""),
    ],
)
def test_without_a_pointer_the_whole_response_is_the_answer(body: bytes, content_type: str, text: str) -> None:
    """The response's text is the answer, in the charset that it names; a JSON string is the text it stands for."""
    assert asked(answering(body, content_type=content_type), ProviderRequest(question="Why?")).text == text


@pytest.mark.parametrize(
    ("body", "settings", "words"),
    [
        (b'{"reply": "x"}', {"answer_pointer": "/answer"}, ["there is no `answer`", "`reply`"]),
        (b'{"answer": null}', {"answer_pointer": "/answer"}, ["`/answer` is null"]),
        (b"<html><title>Log in</title></html>", {"answer_pointer": "/answer"}, ["HTML page", "Log in"]),
        (b"\xff\xfe\xfa", {}, ["is not text in utf-8"]),
    ],
)
def test_a_response_without_an_answer_is_an_error(body: bytes, settings: dict[str, Any], words: list[str]) -> None:
    """The error names the host and says what came instead of the answer."""
    error = fails(answering(body), **settings)
    assert isinstance(error, ProtocolError)
    assert all(word in str(error) for word in ["127.0.0.1", *words])


def test_an_unknown_charset_is_an_error() -> None:
    """A response in a charset that nobody knows is not guessed at."""
    assert "'x-none'" in str(fails(answering(b"x", content_type="text/plain; charset=x-none")))


def test_other_statuses_are_typed_errors() -> None:
    """A status is an error of its class, retryable if the target says so, and repeats no secret."""
    refused = fails(answering(b'{"error": {"message": "bad key s3cret-value"}}', status=401))
    assert isinstance(refused, AuthenticationError)
    assert "s3cret-value" not in str(refused) + str(refused.hint)
    assert (refused.status, refused.retryable) == (401, False)
    busy = fails(answering(b"busy", status=503), retry_statuses=[500])
    assert isinstance(busy, OverloadedError)
    assert not busy.retryable
    assert fails(answering(b"busy", status=503)).retryable


def test_the_targets_timeout_holds() -> None:
    """An endpoint that does not answer in time is a timeout."""

    async def handler(_: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    assert isinstance(fails(handler, timeout=0.05), ProviderTimeoutError)


def test_a_preview_shows_the_request_without_secrets() -> None:
    """The preview is made of the target whose secrets are names, and its placeholders are filled all the same."""
    headers = {"Authorization": "Bearer s3cret-value"}
    shown = target("http://127.0.0.1/{{ vars.n }}", headers={"Authorization": "Bearer [redacted: APP_KEY]"})
    real = target("http://127.0.0.1/{{ vars.n }}", headers=headers)
    request = ProviderRequest(question="Why?", vars={"n": 1})
    preview = HttpEndpointProvider(real, shown, Transport({}), "Be kind.", ["s3cret-value"]).preview(request)
    assert preview.request is not None
    assert preview.request.url == "http://127.0.0.1/1"
    assert preview.request.headers["Authorization"] == "Bearer [redacted: APP_KEY]"
    assert preview.request.body["messages"] == preview.messages
    assert "s3cret-value" not in repr(preview)
