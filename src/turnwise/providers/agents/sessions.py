"""Recorded sessions of agents, one file for each case: they are graded without running the agent."""

from __future__ import annotations

from contextlib import suppress
from glob import escape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ...errors import ApplicationError, BadRequestError, NotFoundError, ProtocolError
from ...programs.words import clean_text
from ..base import Preview, ProviderRequest, ProviderResponse
from .kind import Task
from .logs import ENDED, TRIAL, complaint_of, log_name, plain_name
from .session import Session, event_lines

if TYPE_CHECKING:
    from .session_formats import SessionFormat

__all__ = ["SessionsProvider", "file_names", "read_session", "readable_sessions"]

_ENDINGS = (".jsonl", ".log")
_LARGEST = 256 * 1024 * 1024
_LONGEST_SHOWN = 600
_LONGEST_BEGINNING = 80
_MOST_SHOWN = 3
_MOST_COMPARED = 2000
_MOST_READ = 20
_EMPTY_HINT = "it holds no .jsonl or .log file: copy the session there, with the name of its case"
_FOLDER_HINT = "`sessions` is relative to the project root"


class SessionsProvider:
    """The provider of a `replay` target with `sessions`: answers are found by the names of cases."""

    def __init__(self, sessions: str, root: Path) -> None:
        self._folder = root / Path(sessions).expanduser()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """The recorded answer. Raises `NotFoundError` if there is none, and other errors if it cannot be read."""
        from asyncio import to_thread

        return await to_thread(self._answer, request)

    def preview(self, request: ProviderRequest) -> Preview:
        """The question of the case; nothing is sent anywhere."""
        return Preview(messages=[{"role": "user", "content": request.question}], rewrites=(), request=None)

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, request: ProviderRequest) -> ProviderResponse:
        file = _file(self._folder, request)
        session = read_session(file, request)
        assert session.text is not None
        return ProviderResponse(
            text=session.text,
            messages=session.messages or [{"role": "assistant", "content": session.text}],
            usage=session.usage,
            cost_usd=None,  # agents reckon it by their vendor's prices, and no session tells whose server it was
            model=session.model,
            response_id=session.session_id,
            sent=[{"role": "user", "content": request.question}],
        )


def file_names(request: ProviderRequest) -> list[str]:
    """The names that the session of a request may have, the best first. Odd characters of an id are `-` in a name that
    a person gives, and our own logs have further ones, which no other id has.

    >>> file_names(ProviderRequest(question="", case_id="a"))
    ['a.jsonl', 'a.log', 'a@1.jsonl', 'a@1.log']
    >>> file_names(ProviderRequest(question="", case_id="a/b c", attempt=2))
    ['a-b-c@2.jsonl', 'a-b-c-0af99a@2.log']
    """
    given = plain_name(request)
    first = [f"{given}.jsonl", f"{given}.log"] if request.attempt == 1 else []
    return [*first, f"{given}{TRIAL}{request.attempt}.jsonl", f"{log_name(request)}.log"]


def _file(folder: Path, request: ProviderRequest) -> Path:
    if request.case_id is None:
        message = "the request belongs to no case, and sessions are looked up by case"
        raise BadRequestError(message, hint="ask a case of a suite: give its file and --case ID")
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}", hint=_FOLDER_HINT)
    names = file_names(request)
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is not None and (others := sorted(folder.glob(f"{escape(log_name(request))}{TRIAL}*.log"))):
        # Two suites may have a case of one id, and a case may have been asked again.
        message = f"several sessions may be the one of case {request.case_id!r}: {found.name}, {others[0].name}"
        raise BadRequestError(message, hint=f"rename the right one to {names[0]}, and remove the others")
    if found is None:
        trial = f"trial {request.attempt} of " if request.attempt > 1 else ""
        message = f"no session for {trial}case {request.case_id!r} in {folder}: there is no {' or '.join(names)}"
        raise NotFoundError(message, retryable=False, hint=_instead(folder, names[0]))
    return found


def _instead(folder: Path, name: str) -> str:
    from difflib import get_close_matches

    there = [file.name for file in _sessions_in(folder)[:_MOST_COMPARED]]
    if not there:
        return _EMPTY_HINT
    shown = get_close_matches(name, there, n=_MOST_SHOWN) or there[:_MOST_SHOWN]
    return f"name the file after its case; it holds {', '.join(shown)}{', …' if len(there) > len(shown) else ''}"


def _sessions_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix in _ENDINGS)


def readable_sessions(sessions: str, root: Path) -> str:
    """How many sessions a folder holds, in words. Raises `NotFoundError` if there are none, and `ProtocolError` if one
    of the first few cannot be read; one of an agent that failed can."""
    folder = root / Path(sessions).expanduser()
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}", hint=_FOLDER_HINT)
    files = _sessions_in(folder)
    if not files:
        raise NotFoundError(f"there is no session in {folder}", hint=_EMPTY_HINT)
    for file in files[:_MOST_READ]:
        with suppress(ApplicationError):
            read_session(file, ProviderRequest(question="", case_id=file.stem))
    looked = "" if len(files) <= _MOST_READ else f", the first {_MOST_READ} of them readable"
    return f"{len(files):,} session{'' if len(files) == 1 else 's'} in {folder}{looked}"


def read_session(file: Path, request: ProviderRequest) -> Session:
    """The session of a file. Raises `ProtocolError` if it is none, or torn, and `ApplicationError` if it failed."""
    from .session_formats import KNOWN, format_of

    output, noted = _bytes(file), Session()
    events = list(event_lines(output, noted))
    found = format_of(output, events)
    if found is None:
        begins = clean_text(output[:_LONGEST_BEGINNING].decode("utf-8", "replace"), _LONGEST_BEGINNING)
        message = f"{file} is no session of an agent that is known: it begins with {begins!r}"
        raise ProtocolError(message, hint=f"known are: {KNOWN}")
    if noted.malformed is not None:
        shown = clean_text(noted.malformed, _LONGEST_SHOWN)
        message = f"{file} ({found.title}) is torn: this line should be JSON, and is not: {shown!r}"
        raise ProtocolError(message, hint="record it again: what is lost may have been a tool call")
    session = found.read(output, events, _task(file, request))
    _check(file, found, events, session)
    return session


def _check(file: Path, found: SessionFormat, events: list[dict[str, Any]], session: Session) -> None:
    where = f"{file} ({found.title})"
    if session.failure is not None:
        failure = clean_text(session.failure, _LONGEST_SHOWN)
        raise ApplicationError(f"{where}: the session failed: {failure}", retryable=False, hint="record it again")
    if (end := _bad_end(file)) is not None:
        raise ApplicationError(f"{where}: the program {end}", retryable=False, hint="record it again")
    if not found.is_whole(events, session):
        raise ProtocolError(f"{where} is torn: it does not go to the end of the session", hint="record it again")
    if session.text is None or not session.text.strip():
        raise ProtocolError(f"{where} holds no answer", hint="record it again")


def _bad_end(file: Path) -> str | None:
    """How the program of one of our own logs ended, if that was not well."""
    beside = complaint_of(file)
    if file.suffix != ".log" or not beside.is_file():
        return None
    last = beside.read_bytes()[-_LONGEST_BEGINNING:].decode("utf-8", "replace").rstrip().rpartition("\n")[2]
    return last.removeprefix(ENDED) if last.startswith(ENDED) else None


def _bytes(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LARGEST:
            raise ProtocolError(f"{file} is larger than {_LARGEST:,} bytes", hint="is it a session?")
        return file.read_bytes()
    except OSError as error:
        message = f"the session {file} cannot be read: {error.strerror}"
        raise NotFoundError(message, retryable=False, hint="check its rights") from error


def _task(file: Path, request: ProviderRequest) -> Task:
    """Agents are read together with their task; of this one only the file is left."""
    folder, unknown = file.parent, SimpleNamespace(base_url=None)
    return Task(
        prompt=request.question, folder=folder, home=folder, scratch=folder, target=unknown, request=request
    )  # fmt: skip
