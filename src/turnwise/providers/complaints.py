"""What the body of a failed request complains of, in whichever form an API says it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Complaint", "code_of", "read_complaint"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a body says about an error: every code in it, the sentence, and how long to wait."""

    codes: tuple[str, ...] = ()
    sentence: str = ""
    status: int | None = None
    retry_after: float | None = None


def read_complaint(data: Any) -> Complaint:
    """The complaint in JSON of any API's form."""
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return Complaint(sentence=data if isinstance(data, str) else "")
    error = data.get("error")
    inner = error if isinstance(error, dict) else data
    details = [each for each in _listed(inner.get("details")) if isinstance(each, dict)]
    number = inner.get("code")
    return Complaint(
        tuple(code_of(word) for word in _words(data, inner, details)),
        error if isinstance(error, str) else _sentence(inner),
        number if isinstance(number, int) and not isinstance(number, bool) and 400 <= number <= 599 else None,
        next((wait for each in details if (wait := _delay_in(each)) is not None), None),
    )


def _words(data: dict[str, Any], inner: dict[str, Any], details: list[dict[str, Any]]) -> Iterator[str]:
    sources: list[Any] = [inner, inner.get("innererror"), inner.get("inner_error"), *details]
    values = [source.get(key) for source in sources if isinstance(source, dict) for key in ("code", "type", "status")]
    values += [each.get("reason") for each in details]
    values.append(data.get("__type"))
    yield from (value.rpartition("#")[2] for value in values if isinstance(value, str) and value)


def _sentence(inner: dict[str, Any]) -> str:
    for key in ("message", "Message", "detail", "error_description", "title"):
        value = inner.get(key)
        if isinstance(value, str) and value:
            return value
        if value:
            return json.dumps(value, ensure_ascii=False)[:10_000]
    return ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _delay_in(detail: dict[str, Any]) -> float | None:
    """Google says in the body how long to wait, such as `{"retryDelay": "34.07s"}`."""
    delay = detail.get("retryDelay")
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", delay, re.ASCII) if isinstance(delay, str) else None
    return float(found.group(1)) if found else None


def code_of(word: str) -> str:
    """A code without case, punctuation and endings: `rate_limit_error` is `ratelimit`."""
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    return letters.removesuffix("exception").removesuffix("error") or letters
