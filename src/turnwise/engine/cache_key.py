"""The name of a request in the cache: equal if, and only if, the same is sent to the same target. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..providers.base import HttpRequest, Preview, ProviderRequest
from ..targets.same_answers import CHANGES_NO_ANSWER

if TYPE_CHECKING:
    from ..targets.settings import TargetBase

__all__ = ["cache_key"]

_KEY_VERSION = 1


def cache_key(preview: Preview, target: TargetBase, trial: int, *, request: ProviderRequest | None = None) -> str:
    """The SHA-256 of what would be sent, as 64 hexadecimal digits; the same in every process.

    `target` is the one that is asked, with its variables filled in: another value of a variable in a header or a body
    is another request, although what is shown of it is the same. Keys and tokens do not count: another key gets the
    same answers. Nothing can be read out of the hash. Where nothing goes over HTTP, what the provider gets are the
    messages and everything else of `request`. Raises `ValueError`, `TypeError`, `RecursionError` or `BadRequestError`
    for a request that has no JSON form: it cannot be sent either.

    >>> from turnwise.targets.stand_ins import MockTarget
    >>> preview = Preview(messages=[{"role": "user", "content": "Hi"}], rewrites=(), request=None)
    >>> mock = MockTarget(name="mock", provider="mock", echo=True)
    >>> cache_key(preview, mock, 1) == cache_key(preview, mock, 1) != cache_key(preview, mock, 2)
    True
    """
    named = {
        "version": _KEY_VERSION,
        "target": _settings(target),
        "trial": trial,
        "sent": _unsent(preview, request) if preview.request is None else _sent(preview.request),
    }
    return sha256(_text(named, sort_keys=True).encode()).hexdigest()


def _settings(target: TargetBase) -> dict[str, Any]:
    # Defaults are left out: a setting that is new in a later version changes no key.
    chosen = target.model_dump(exclude_defaults=True, exclude=set(CHANGES_NO_ANSWER), warnings="none")
    if isinstance(headers := chosen.get("headers"), dict):
        chosen["headers"] = _headers(headers)
    return {**chosen, "name": target.name, "provider": target.provider}


def _sent(http: HttpRequest) -> dict[str, Any]:
    from ..providers.http import body_bytes

    # The very bytes: the order of keys, as in the schema of a tool, reaches the model.
    body = None if http.body is None else sha256(body_bytes(http.body)).hexdigest()
    return {"method": http.method, "url": http.url, "headers": _headers(http.headers), "body": body}


def _headers(headers: Mapping[str, str]) -> dict[str, str | None]:
    """Every name, and the values that are no secrets: another key gets the same answers."""
    from ..targets.sensitive import looks_secret

    return {name.lower(): None if looks_secret(name) else value for name, value in headers.items()}


def _unsent(preview: Preview, request: ProviderRequest | None) -> str:
    """Everything that a function, a script or an agent may look at; the trial is counted by the caller."""
    given = {} if request is None else {each.name: getattr(request, each.name) for each in fields(request)}
    rest = {name: value for name, value in given.items() if name not in ("chat_prompt", "attempt") and value}
    return _text({"messages": list(preview.messages), **rest}, sort_keys=False)


def _text(value: Any, *, sort_keys: bool) -> str:
    return json.dumps(_plain(value), sort_keys=sort_keys, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """JSON data for any value that a file can hold; keys that are no texts have no order, and become texts."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [type(value).__name__, str(value)]
