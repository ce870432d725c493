"""From how an agent ended to the error that says so; an agent that answered gives none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import (
    ApplicationError,
    AuthenticationError,
    ContextLengthError,
    ProtocolError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
    SetupError,
)
from ...programs.words import clean_text, how_it_ended, stderr_tail, why_unstarted

if TYPE_CHECKING:
    from ...programs.program import Program, Ran
    from .kind import AgentKind
    from .session import Session

__all__ = ["failure_of", "not_installed", "unstarted"]

_LONGEST = 600
_SEE_LOG = "what it wrote is in its log, in the folder of the run or in the target's `log_dir`"
_SIGN_IN = r"\b401\b|\b403\b|unauthori[sz]ed|api[ _-]?key|log ?in\b|sign(ed)? in|credential|authentication ?error"
# Programs name files, lines and settings on stderr: there, only words that can mean nothing else count.
_SIGN_IN_STDERR = (
    r"\b40[13] (unauthori[sz]ed|forbidden)|(invalid|incorrect|missing) (x-)?api[ _-]?key|not (logged|signed) in"
    r"|please (run|use) \S*( \S+)? ?/?log ?in\b|please (log|sign) ?in\b"
)
_UNREACHED = r"ECONNREFUSED|ECONNRESET|ENOTFOUND|connection ?(refused|error|reset)|stream disconnected"
# The narrower meaning first: what is said of a limit often names the key.
_WORDS: tuple[tuple[type[ProviderError], str], ...] = (
    (RateLimitError, r"\b429\b|rate.?limit|too many requests|quota"),
    (ContextLengthError, r"context (length|window)|prompt is too long|too many tokens"),
    (AuthenticationError, _SIGN_IN),
    (ProviderConnectionError, _UNREACHED),
)
_STDERR_WORDS: tuple[tuple[type[ProviderError], str], ...] = (
    (RateLimitError, r"\b429 too many requests|rate.?limit (exceeded|reached)|(quota|usage limit) (exceeded|reached)"),
    (ContextLengthError, r"context (length|window) (exceeded|is too small)|prompt is too long"),
    (AuthenticationError, _SIGN_IN_STDERR),
    (ProviderConnectionError, _UNREACHED),
)


def failure_of(kind: AgentKind, ran: Ran, session: Session, program: Program) -> ProviderError | None:
    """Why there is no answer; None if there is one."""
    said = stderr_tail(ran.complaint.decode("utf-8", "replace"))
    if ran.unstarted is not None:
        return unstarted(kind, ran.unstarted, program)
    if ran.ended == "timeout":
        why = session.trouble or session.failure
        trouble = "" if why is None else f"; before, it had trouble: {clean_text(why, _LONGEST)}"
        message = f"{kind.title} gave no answer within {program.seconds:g} s and was ended{trouble}{said}"
        return ProviderTimeoutError(message, retryable=False, hint="raise the target's `timeout` if it needs longer")
    if ran.ended == "too-much-output":
        message = f"{kind.title} was ended: it wrote more than {program.most_bytes:,} bytes{said}"
        return ApplicationError(message, hint=f"is it caught in a loop? {_SEE_LOG}")
    if session.failure is not None:
        return _by_words(kind, session.failure, said)
    if ran.status:
        return _by_words(kind, f"{kind.title} {how_it_ended(ran.status)}", said)
    return _no_answer(kind, session, said)


def unstarted(kind: AgentKind, number: int, program: Program) -> SetupError:
    """The error for a program that the system did not start."""
    reason, message = why_unstarted(number, program.command[0], program.folder)
    return not_installed(kind, program.command[0]) if reason == "not-found" else SetupError(message)


def not_installed(kind: AgentKind, program: str) -> SetupError:
    """The error for a program that is not there: it says how to get it."""
    where = f"no program {program!r}" + ("" if "/" in program else " on the PATH")
    if not kind.install:
        return SetupError(f"{kind.title} cannot be started: there is {where}", hint="correct the target's `command`")
    return SetupError(
        f"{kind.title} is not installed: there is {where}",
        hint=f"install it with `{kind.install}`, or name it in the target's `executable`",
    )


def _by_words(kind: AgentKind, message: str, said: str) -> ProviderError:
    """An agent tells only in words what went wrong. It has tried again by itself where that helps."""
    text = f"{clean_text(message, _LONGEST)}{said}"
    # The words of a program that is not known may mean anything.
    looked_for = ((_WORDS, message), (_STDERR_WORDS, said)) if kind.signs_in else ()
    known = [(error, words, where) for each, where in looked_for for error, words in each]
    found = next((error for error, words, where in known if re.search(words, where, re.IGNORECASE)), ApplicationError)
    if found is AuthenticationError:
        return AuthenticationError(f"{kind.title} could not sign in: {text}", hint=kind.signs_in)
    shown = text if text.startswith(kind.title) else f"{kind.title} failed: {text}"
    return found(shown, retryable=False)


def _no_answer(kind: AgentKind, session: Session, said: str) -> ProviderError | None:
    if session.malformed is not None:
        shown = clean_text(session.malformed, _LONGEST)
        message = f"{kind.title} wrote a line that should be JSON, and is not: {shown!r}{said}"
        return ProtocolError(message, hint=f"is this version of the program known to Turnwise? {_SEE_LOG}")
    if session.is_torn:
        message = f"{kind.title} ended, and its stream broke off: there is no event that says how it came out{said}"
        return ProtocolError(message, hint=f"is this version known to Turnwise? {_SEE_LOG}")
    if session.misfit is not None:
        hint = f"the target's settings say where the answer is; {_SEE_LOG}"
        return ProtocolError(f"{kind.title} {clean_text(session.misfit, _LONGEST)}{said}", hint=hint)
    if session.text is None or not session.text.strip():
        did = f" after {len(session.messages)} messages" if session.messages else ""
        return ProtocolError(f"{kind.title} ended without an answer{did}{said}", hint=_SEE_LOG)
    return None
