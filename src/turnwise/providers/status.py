"""What an answer that is no success means: one typed error, whichever API it came from.

The APIs agree on little: an error may be an object, a list, a text or a page for people, and its class may be in the
status, in a code, or only in a sentence.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from ..errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextLengthError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from .complaints import Complaint, code_of, read_complaint
from .http import HttpAnswer
from .retries import parse_retry_after

__all__ = ["json_body", "reported_error", "status_error"]

_LONGEST_QUOTE = 500
_DEEPEST = 200

# Codes are compared without case and punctuation, so that `ExpiredTokenException` and `expired_token` are alike.
_BY_CODE: dict[str, tuple[type[ProviderError], int]] = {
    code: (kind, status)
    for kind, status, codes in (
        (AuthenticationError, 401, "invalidapikey apikeyinvalid unrecognizedclient expiredtoken authentication"),
        (AuthenticationError, 401, "unauthenticated invalidsignature incompletesignature missingauthenticationtoken"),
        (AuthenticationError, 401, "invalidclienttokenid tokenrefreshrequired invalidsecuritytoken"),
        (ContextLengthError, 400, "contextlengthexceeded exceedcontextsize requesttoolarge"),
        (ContentFilterError, 400, "contentfilter contentpolicyviolation responsibleaipolicyviolation"),
        (ContentFilterError, 400, "invalidprompt moderationblocked"),
        (PermissionDeniedError, 403, "permission permissiondenied accessdenied"),
        (NotFoundError, 404, "notfound modelnotfound resourcenotfound deploymentnotfound"),
        (RateLimitError, 429, "ratelimit ratelimitexceeded resourceexhausted throttling servicequotaexceeded"),
        (ProviderTimeoutError, 504, "timeout deadlineexceeded modeltimeout"),
        (OverloadedError, 529, "overloaded"),
        (OverloadedError, 503, "unavailable serviceunavailable modelnotready"),
        (OverloadedError, 500, "api internal internalserver server model modelstream"),
        (BadRequestError, 400, "invalidrequest invalidargument validation badrequest failedprecondition"),
    )
    for code in codes.split()
}
_BY_STATUS: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    408: ProviderTimeoutError,
    413: ContextLengthError,
    429: RateLimitError,
    504: ProviderTimeoutError,
}
_QUOTA_CODES = {"insufficientquota", "billing", "billingnotactive", "billinghardlimitreached"}
# These are believed whatever the status: 400 and 403 are used for many things.
_STRONG = (AuthenticationError, ContextLengthError, ContentFilterError)
_BY_SENTENCE: tuple[tuple[type[ProviderError], re.Pattern[str]], ...] = (
    (
        AuthenticationError,
        re.compile(r"api key not valid|api key expired|incorrect api key|invalid x-api-key", re.IGNORECASE),
    ),
    (
        ContextLengthError,
        re.compile(
            r"maximum context length|prompt is too long|input is too long|input length and `?max_tokens`? exceed"
            r"|input token count.{0,80}exceeds|exceeds? the (available |model'?s? )?context"
            r"|context (length|window) exceed|too many input tokens",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        ContentFilterError,
        re.compile(r"content (management|filtering) policy|blocked by .{0,40}content filter", re.IGNORECASE),
    ),
)
_QUOTA_SENTENCE = re.compile(r"credit balance is too low|insufficient (credits|balance|quota)", re.IGNORECASE)
_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{8,}|(?<=Bearer )[\w.~+/=-]{8,}"
)
_TITLE = re.compile(rb"<title[^>]{0,200}>(.{0,300}?)</title", re.IGNORECASE | re.DOTALL)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Context:
    """What is known of the request that failed."""

    api: str
    retry_statuses: Collection[int]
    credential: str | None
    secrets: Collection[str]


def status_error(
    answer: HttpAnswer,
    *,
    api: str,
    retry_statuses: Collection[int],
    credential: str | None = None,
    secrets: Collection[str] = (),
    now: float | None = None,
) -> ProviderError:
    """The error for an answer that is no success.

    `api` names the server in messages, usually by its host; `credential` is the variable that the key came from;
    `secrets` are values that must not be shown, should the server repeat them.
    """
    waits = parse_retry_after(answer.headers, time.time() if now is None else now, status=answer.status)
    return _typed_error(
        _complaint(answer),
        answer.status,
        _Context(api, retry_statuses, credential, secrets),
        shown=answer.status,
        retry_after=waits,
    )


def reported_error(
    data: Any,
    *,
    api: str,
    retry_statuses: Collection[int],
    credential: str | None = None,
    secrets: Collection[str] = (),
) -> ProviderError:
    """The error for JSON that reports one although the status is a success: in a stream, or behind a gateway.

    Its code says which status it would have had; without a code that is known it is a bad request.
    """
    complaint = read_complaint(data)
    known = (_BY_CODE[code][1] for code in complaint.codes if code in _BY_CODE)
    status = complaint.status or next(known, 400)
    return _typed_error(
        complaint, status, _Context(api, retry_statuses, credential, secrets), shown=complaint.status, retry_after=None
    )


def json_body(
    answer: HttpAnswer,
    *,
    api: str,
    retry_statuses: Collection[int] = (),
    credential: str | None = None,
    secrets: Collection[str] = (),
) -> Any:
    """The JSON data of a success. Raises `ProtocolError` for anything else, and what an `error` in it means."""
    text = _text(answer, api, secrets)
    try:
        data = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(text, error, answer, api, secrets) from error
    if (text.count("[") + text.count("{")) > _DEEPEST and _is_deep(data):
        raise ProtocolError(f"the answer of {api} is nested too deeply", status=answer.status)
    report = _report(data)
    if report is not None:
        raise reported_error(report, api=api, retry_statuses=retry_statuses, credential=credential, secrets=secrets)
    return data


def _report(data: Any) -> Any:
    """What reports a failure in the JSON of a success: an `error` of its own, or one of its first choice."""
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("error"), dict) and data["error"]:
        return data
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("error"), dict) and first["error"] else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _text(answer: HttpAnswer, api: str, secrets: Collection[str]) -> str:
    if not answer.body.strip():
        raise ProtocolError(f"the answer of {api} is empty", status=answer.status, retryable=True)
    if _is_page(answer):
        raise ProtocolError(
            f"{api} answered with {_quoted(_page(answer), secrets)}",
            status=answer.status,
            hint="check the address in the target: it may lead to a website, a login page or a proxy",
        )
    try:
        return answer.body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProtocolError(
            f"the answer of {api} is not UTF-8 text (byte {error.start})", status=answer.status, retryable=True
        ) from error


def _not_json(text: str, error: Exception, answer: HttpAnswer, api: str, secrets: Collection[str]) -> ProtocolError:
    if isinstance(error, RecursionError):
        return ProtocolError(f"the answer of {api} is nested too deeply", status=answer.status)
    stripped = text.strip()
    ended = isinstance(error, json.JSONDecodeError) and (
        error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    )
    if stripped[:1] in ("{", "[") and (ended or stripped[-1] not in "}]"):
        return ProtocolError(
            f"the JSON of {api} ends too early, after {len(answer.body)} bytes", status=answer.status, retryable=True
        )
    return ProtocolError(
        f"{api} answered with something else than JSON: {_quoted(str(error))}, in “{_quoted(text, secrets, 80)}”",
        status=answer.status,
        hint="check the address in the target",
    )


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(_DEEPEST):
        level = [
            child
            for each in level
            if isinstance(each, (dict, list))
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _is_page(answer: HttpAnswer) -> bool:
    start = answer.body[:200].lstrip().lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml"))


def _page(answer: HttpAnswer) -> str:
    title = _TITLE.search(answer.body[:20_000])
    said = f", titled “{_quoted(title.group(1).decode(errors='replace'))}”" if title else ""
    return f"an HTML page instead of JSON{said}"


def _complaint(answer: HttpAnswer) -> Complaint:
    if _is_page(answer):
        return Complaint(sentence=_page(answer))
    text = answer.body.decode("utf-8-sig", errors="replace")
    try:
        complaint = read_complaint(json.loads(text))
    except (ValueError, RecursionError):
        complaint = Complaint(sentence=text[:10_000])
    aws = answer.headers.get("x-amzn-errortype", "").partition(":")[0]
    return Complaint(
        (*complaint.codes, *([code_of(aws)] if aws else [])),
        complaint.sentence,
        complaint.status,
        complaint.retry_after,
    )


def _kind(status: int, complaint: Complaint) -> type[ProviderError]:
    known = [_BY_CODE[code][0] for code in complaint.codes if code in _BY_CODE]
    strong = next((kind for kind in known if kind in _STRONG), None)
    if strong is not None:
        return strong
    if 400 <= status < 500 and status != 429:
        for kind, pattern in _BY_SENTENCE:
            if pattern.search(complaint.sentence[:10_000]):
                return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return OverloadedError
    return known[0] if known else BadRequestError


def _typed_error(
    complaint: Complaint, status: int, context: _Context, *, shown: int | None, retry_after: float | None
) -> ProviderError:
    used_up = _is_used_up(status, complaint)
    kind = RateLimitError if used_up else _kind(status, complaint)
    what = f"the quota or credit at {context.api} is used up" if used_up else _what(kind, context)
    said = _quoted(complaint.sentence, context.secrets)
    return kind(
        what + (f" (status {shown})" if shown else "") + (f": {said}" if said else ""),
        status=shown,
        retryable=status in context.retry_statuses and not used_up,
        hint=_hint(kind, context.credential, used_up=used_up),
        retry_after=complaint.retry_after if retry_after is None else retry_after,
    )


def _is_used_up(status: int, complaint: Complaint) -> bool:
    by_code = status == 402 or not _QUOTA_CODES.isdisjoint(complaint.codes)
    return by_code or _QUOTA_SENTENCE.search(complaint.sentence[:10_000]) is not None


def _what(kind: type[ProviderError], context: _Context) -> str:
    api = context.api
    key = f"the key from {context.credential}" if context.credential else "the key"
    return {
        AuthenticationError: f"{key} was refused by {api}",
        PermissionDeniedError: f"{key} is not allowed to do this at {api}",
        NotFoundError: f"{api} has no such model or path",
        RateLimitError: f"{api} asks for fewer requests",
        OverloadedError: f"{api} has a problem of its own",
        ContextLengthError: f"the conversation is too long for the model at {api}",
        ContentFilterError: f"the content filter of {api} refused the conversation",
        ProviderTimeoutError: f"{api} took longer than its own limit",
    }.get(kind, f"{api} refused the request")


def _hint(kind: type[ProviderError], credential: str | None, *, used_up: bool) -> str | None:
    if used_up:
        return "check the plan and the billing of the account; waiting does not help"
    if kind is AuthenticationError:
        return f"check the value of {credential}" if credential else "check `api_key` in the target"
    return {
        PermissionDeniedError: "check what the key's account or role may use",
        NotFoundError: "check `model` and the address in the target",
        RateLimitError: "set `requests_per_minute`, `tokens_per_minute` or fewer `workers` in the target",
        ContextLengthError: "shorten the conversation, or use a model with a longer context",
    }.get(kind)


def _quoted(text: str, secrets: Collection[str] = (), longest: int = _LONGEST_QUOTE) -> str:
    """The text on one line, bounded, without secrets and without characters that change the terminal."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    line = _SPACES.sub(" ", _KEY.sub("***", text[:10_000])).strip()[: longest + 1]
    line = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
