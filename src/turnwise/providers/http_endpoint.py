"""Any HTTP endpoint: an application under test, asked by a request that its target's author has written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ..conversation.chat import ChatMessage, ChatPrompt
from ..errors import AuthenticationError, NotFoundError, PromptError, ProtocolError
from ..targets.placeholders import PLACEHOLDER
from .base import DEFAULT_TIMEOUT, HttpRequest, Preview, ProviderRequest, ProviderResponse
from .pointer import PointerError, resolve_pointer
from .prompt import messages_to_send
from .recording import content_text

if TYPE_CHECKING:
    from ..targets.applications import HttpTarget
    from .http import HttpAnswer, Transport

__all__ = ["HttpEndpointProvider", "endpoint_request", "fill_template"]

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_BAD_IN_HEADER = re.compile(r"[\r\n\0]")
_WITHOUT_BODY = ("GET", "HEAD")


class HttpEndpointProvider:
    """The provider of an `http` target. `shown` is the target without its secrets, which are `secrets`."""

    def __init__(
        self,
        target: HttpTarget,
        shown: HttpTarget,
        transport: Transport,
        default_system_prompt: str | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._target = target
        self._shown = shown
        self._transport = transport
        self._default_system_prompt = default_system_prompt
        self._secrets = secrets
        self._timeout = DEFAULT_TIMEOUT if target.timeout is None else float(target.timeout)

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Send the request and read the answer out of the response."""
        started = perf_counter()
        sent = messages_to_send(request, self._default_system_prompt)
        made = endpoint_request(self._target, request, sent)
        answer = await self._transport.send(made, timeout=self._timeout)
        text, raw = self._read(answer, _host(made.url))
        latency = (perf_counter() - started) * 1000
        said: ChatMessage = {"role": "assistant", "content": text}
        return ProviderResponse(text=text, messages=[said], sent=sent, latency_ms=latency, raw=raw)

    def preview(self, request: ProviderRequest) -> Preview:
        """The HTTP request, without secrets."""
        sent = messages_to_send(request, self._default_system_prompt)
        return Preview(messages=sent, rewrites=(), request=endpoint_request(self._shown, request, sent))

    async def close(self) -> None:
        """Nothing of its own: the connections belong to the transport."""

    def _read(self, answer: HttpAnswer, host: str) -> tuple[str, Any]:
        from .status import json_body, status_error

        statuses = [int(status) for status in self._target.retry_statuses]
        if not 200 <= answer.status < 300:
            error = status_error(answer, api=host, retry_statuses=statuses, secrets=self._secrets)
            if isinstance(error, AuthenticationError | NotFoundError):
                error.hint = f"check `{'url' if isinstance(error, NotFoundError) else 'headers'}` of the target"
            raise error
        pointer = self._target.answer_pointer
        if pointer is None:
            return _whole_answer(_decoded(answer, host)), None
        raw = json_body(answer, api=host, retry_statuses=statuses, secrets=self._secrets)
        return _pointed_answer(raw, pointer, host), raw


def endpoint_request(target: HttpTarget, request: ProviderRequest, sent: ChatPrompt) -> HttpRequest:
    """The HTTP request that a target's templates make of a request. Raises `PromptError`."""
    names = _names(request, sent)
    body = target.body
    if body is None and target.method not in _WITHOUT_BODY:
        body = {"question": "{{ question }}", "messages": "{{ messages }}"}
    return HttpRequest(
        method=target.method,
        url=_filled_text(target.url, names, "url", _percent_encoded),
        headers=_headers(target.headers or {}, names, with_body=body is not None),
        body=fill_template(body, names),
    )


def fill_template(template: Any, names: Mapping[str, Any], where: str = "body") -> Any:
    """JSON data with its placeholders filled in. What is filled in is never searched again. Raises `PromptError`.

    A text that is one placeholder becomes the value itself; within other text, a value becomes text.

    >>> fill_template({"chat": "{{ messages }}", "n": "No. {{ vars.n }}"}, {"messages": ["Hi"], "vars": {"n": 7}})
    {'chat': ['Hi'], 'n': 'No. 7'}
    """
    if isinstance(template, str):
        if (whole := PLACEHOLDER.fullmatch(template)) is not None:
            return _json_value(whole[1].strip(), names, where)
        return _filled_text(template, names, where)
    if isinstance(template, Mapping):
        return {key: fill_template(item, names, f"{where}.{key}") for key, item in template.items()}
    if isinstance(template, list):
        return [fill_template(item, names, f"{where}[{index}]") for index, item in enumerate(template)]
    return template


def _names(request: ProviderRequest, sent: ChatPrompt) -> dict[str, Any]:
    """What placeholders may name."""
    return {
        "question": request.question,
        "messages": sent,
        "vars": request.vars,
        "case_id": request.case_id or "",
        "system": "\n\n".join(content_text(each["content"]) for each in sent if each["role"] == "system"),
    }


def _filled_text(
    text: str, names: Mapping[str, Any], where: str, encode: Callable[[str, str], str] = lambda value, _: value
) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match[1].strip()
        return encode(_as_text(_json_value(name, names, where)), name)

    return PLACEHOLDER.sub(fill, text)


def _json_value(name: str, names: Mapping[str, Any], where: str) -> Any:
    value = _lookup(name, names, where)
    if name.startswith("vars") and not isinstance(value, str):
        value = dict(value) if isinstance(value, Mapping) else value
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            hint = "use texts, numbers, true, false, null, lists and mappings in `vars`"
            raise PromptError("template", f"`{name}` in {where} is not JSON: {error}", hint=hint) from error
    return value


def _lookup(name: str, names: Mapping[str, Any], where: str) -> Any:
    value: Any = names
    for step in name.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            raise _unknown(name, step, value, where)
    return value


def _unknown(name: str, step: str, holder: Any, where: str) -> PromptError:
    from ..suite.explain import did_you_mean

    named = f"unknown name `{name}`" if name else "`{{ }}` names nothing"
    if isinstance(holder, list):
        hint = f"`{step}` is not an item of the list, which has {len(holder)}, counted from 0"
    elif isinstance(holder, Mapping):
        known = [str(key) for key in holder]
        there = f"there are: {', '.join(sorted(known)[:20])}" if known else "there are none: the case has no `vars`"
        near = did_you_mean(step, known) if known else ""
        hint = f"{near} {there}" if near.startswith("did you mean") else there
    else:
        hint = f"`{step}` is looked for in a value that has no parts"
    return PromptError("template", f"{named} in {where}", hint=hint)


def _headers(templates: Mapping[str, str], names: Mapping[str, Any], *, with_body: bool) -> dict[str, str]:
    headers = {name: _header(name, template, names) for name, template in templates.items()}
    if with_body and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return headers


def _header(name: str, template: str, names: Mapping[str, Any]) -> str:
    where = f"headers.{name}"
    text = _filled_text(template, names, where)
    if _BAD_IN_HEADER.search(text):
        hint = "put texts of several lines into the body"
        raise PromptError("header", f"{where} would hold a line break, which no HTTP header can", hint=hint)
    return text


def _percent_encoded(text: str, name: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as error:
        message = f"`{name}` cannot be put into the URL: it holds half of a surrogate pair"
        raise PromptError("url", message, hint="put it into the body") from error


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _host(url: str) -> str:
    """The place in messages: without the login, the path and the query."""
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"


def _decoded(answer: HttpAnswer, host: str) -> str:
    named = _CHARSET.search(answer.headers.get("Content-Type", ""))
    charset = named[1] if named else "utf-8"
    try:
        return answer.body.decode("utf-8-sig" if charset.lower() in ("utf-8", "utf8") else charset)
    except LookupError as error:
        raise ProtocolError(f"{host}: the response is in an unknown character set, {charset!r}") from error
    except UnicodeDecodeError as error:
        message = f"{host}: the response is not text in {charset}: byte {error.start} of {len(answer.body)} is wrong"
        raise ProtocolError(message, hint="the endpoint should answer in UTF-8 or name its charset") from error


def _whole_answer(text: str) -> str:
    """The text of a response; a JSON string is the text that it stands for."""
    if not text.lstrip().startswith('"'):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _pointed_answer(data: Any, pointer: str, host: str) -> str:
    try:
        value = resolve_pointer(data, pointer)
    except PointerError as error:
        hint = f"`answer_pointer` is {pointer!r}: point it to the answer's text"
        raise ProtocolError(f"{host}: no answer in the response: {error}", hint=hint) from error
    if value is None:
        message = f"{host}: no answer in the response: `{pointer}` is null"
        raise ProtocolError(message, hint="check `answer_pointer`, and what the endpoint answers")
    return _as_text(value)
