"""Answers that were recorded before, found again by their request or by their case."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args

from ..errors import BadRequestError, NotFoundError, ProviderError
from .agents.work import AgentWork
from .base import RESULTS, FinishReason, Preview, ProviderRequest, ProviderResponse, Usage
from .prompt import messages_to_send
from .recording import check_answer, is_failure, malformed, messages_key, read_record, request_key

if TYPE_CHECKING:
    from ..targets.stand_ins import ReplayTarget

__all__ = ["ReplayProvider", "recorded_response", "recorded_usage"]

_LONGEST_LINE = 64 * 1024 * 1024
_MOST_IDS_COMPARED = 2000
_FINISH_REASONS = frozenset(get_args(FinishReason))


class _Place(NamedTuple):
    """Where one recorded answer is. Answers themselves stay on disk: a recording may be larger than memory."""

    case_id: str | None
    attempt: int | None
    offset: int


_Index = dict[str, list[_Place]]


class ReplayProvider:
    """The provider of a `replay` target; the recording is read when the first answer is asked for."""

    def __init__(self, target: ReplayTarget, root: Path, default_system_prompt: str | None = None) -> None:
        self._path = root / (target.path or "")
        self._by_case = target.match_by == "case"
        self._default_system_prompt = default_system_prompt
        self._index: _Index | ProviderError | None = None
        self._reading = threading.Lock()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """The recorded answer. Raises `NotFoundError` if there is none."""
        from asyncio import to_thread

        return await to_thread(self._answer, request)

    def preview(self, request: ProviderRequest) -> Preview:
        """The messages that are looked up; nothing is sent anywhere."""
        return Preview(messages=messages_to_send(request, self._default_system_prompt), rewrites=(), request=None)

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, request: ProviderRequest) -> ProviderResponse:
        started = perf_counter()
        index = self._read_index()
        file = _recording_file(self._path)
        found = next((index[key] for key in self._keys(request) if key in index), None)
        if found is None:
            raise self._not_found(request, index, file)
        record = _record_at(file, _offset(found, request, file))
        sent = messages_to_send(request, self._default_system_prompt)
        return recorded_response(record, sent, (perf_counter() - started) * 1000)

    def _read_index(self) -> _Index:
        with self._reading:
            if self._index is None:
                try:
                    self._index = _index_of(_recording_file(self._path), self._by_case)
                except ProviderError as error:
                    self._index = error
        if isinstance(self._index, ProviderError):
            # A copy: each request that fails has an error of its own.
            raise copy(self._index)
        return self._index

    def _keys(self, request: ProviderRequest) -> list[str]:
        if not self._by_case:
            messages = messages_to_send(request, self._default_system_prompt)
            return [request_key(request, self._default_system_prompt), f"messages {messages_key(messages)}"]
        if request.case_id is None:
            raise BadRequestError(
                "the request belongs to no case, and answers are looked up by case",
                hint="use `match_by: request` for this target",
            )
        return [request.case_id]

    def _not_found(self, request: ProviderRequest, index: _Index, file: Path) -> NotFoundError:
        places = [place for found in index.values() for place in found]
        case = "this request" if request.case_id is None else f"case {request.case_id!r}"
        what = case if self._by_case or request.case_id is None else f"the request of {case}"
        return NotFoundError(
            f"no recorded answer for {what} in {file}, which holds {_answers(len(places))}",
            retryable=False,
            hint=self._hint(request.case_id, places),
        )

    def _hint(self, case_id: str | None, places: Sequence[_Place]) -> str:
        ids = list(dict.fromkeys(place.case_id for place in places if place.case_id is not None))
        if case_id in ids:
            return "the case is there with another request: record it again, or use `match_by: case`"
        if near := _near(case_id or "", ids):
            return f"near ids in it: {', '.join(near)}"
        if ids:
            return f"its cases are: {', '.join(ids[:3])}{', …' if len(ids) > 3 else ''}"
        return (
            "record some first"
            if self._by_case
            else "no line tells what was asked: record again, or set `match_by: case`"
        )


def _recording_file(path: Path) -> Path:
    file = path / RESULTS if path.is_dir() else path
    if file.is_file():
        return file
    if path.is_dir():
        raise NotFoundError(f"the folder {path} holds no {RESULTS}", hint="name a run's folder or a JSONL file")
    raise NotFoundError(f"there is no recording {path}", hint="`path` is relative to the project root")


def _index_of(file: Path, by_case: bool) -> _Index:
    index: _Index = {}
    for number, offset, line in _lines(file):
        record = read_record(line, f"{file}:{number}")
        key = _case_key(record) if by_case else _asked_key(record)
        if key is not None and not is_failure(record):
            check_answer(record, f"{file}:{number}")
            attempt = record.get("attempt", record.get("trial"))
            case_id = record.get("case_id")
            place = _Place(
                case_id if isinstance(case_id, str) else None, attempt if isinstance(attempt, int) else None, offset
            )
            index.setdefault(key, []).append(place)
    return index


def _lines(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """The lines that are not blank, with their numbers and offsets."""
    number = offset = 0
    with _opened(file) as stream:
        while line := stream.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise malformed(f"{file}:{number}", f"a line of more than {_LONGEST_LINE} bytes")
            if not line.isspace():
                yield number, offset, line
            offset += len(line)


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise NotFoundError(
            f"the recording {file} cannot be read: {error.strerror}", hint="check its rights"
        ) from error


def _record_at(file: Path, offset: int) -> dict[str, Any]:
    with _opened(file) as stream:
        stream.seek(offset)
        where = f"{file}, which has changed since it was first read"
        record = read_record(stream.readline(_LONGEST_LINE + 1), where)
    check_answer(record, where)
    return record


def _case_key(record: dict[str, Any]) -> str | None:
    case_id = record.get("case_id")
    return case_id if isinstance(case_id, str) else None


def _asked_key(record: dict[str, Any]) -> str | None:
    """A recording knows the key of its request, a run only the messages."""
    if isinstance(record.get("request"), str):
        return str(record["request"])
    asked = record.get("raw_request")
    messages = asked.get("messages") if isinstance(asked, dict) else None
    return None if messages is None else f"messages {messages_key(messages)}"


def _offset(places: Sequence[_Place], request: ProviderRequest, file: Path) -> int:
    """The attempt-th answer: of the same case, if it has any; of answers to one attempt, the newest."""
    own = [place for place in places if place.case_id == request.case_id] or places
    by_attempt: dict[int, int] = {}
    for place in own:
        attempt = max(by_attempt, default=0) + 1 if place.attempt is None else place.attempt
        by_attempt[attempt] = place.offset
    if request.attempt > len(by_attempt):
        raise NotFoundError(
            f"attempt {request.attempt} of case {request.case_id!r} has no recorded answer: "
            f"{file} holds {_answers(len(by_attempt))} for it",
            retryable=False,
            hint="run fewer trials, or record more",
        )
    return by_attempt[sorted(by_attempt)[request.attempt - 1]]


def recorded_response(record: dict[str, Any], sent: Sequence[Any], latency_ms: float | None) -> ProviderResponse:
    """The answer of a line that `check_answer` has found to hold one."""
    text = record["answer"]
    reason = record.get("finish_reason")
    return ProviderResponse(
        text=text,
        messages=record.get("output_messages") or [{"role": "assistant", "content": text}],
        finish_reason=reason if isinstance(reason, str) and reason in _FINISH_REASONS else "stop",  # type: ignore[arg-type]
        raw_finish_reason=_text(record, "raw_finish_reason"),
        usage=recorded_usage(record.get("usage")),
        reasoning=_text(record, "reasoning"),
        refusal=_text(record, "refusal"),
        model=_text(record, "model"),
        sent=sent,
        latency_ms=latency_ms,
        agent=AgentWork.of_record(record.get("agent")),
    )


def _text(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) else None


def recorded_usage(recorded: Any) -> Usage:
    """The tokens of a record; none are known of what is no record of them."""
    if not isinstance(recorded, dict):
        return Usage()
    counts = {each.name: recorded.get(each.name) for each in fields(Usage)}
    return Usage(**{name: count for name, count in counts.items() if isinstance(count, int)})


def _near(case_id: str, ids: list[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(case_id, ids[:_MOST_IDS_COMPARED], n=3)


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"
