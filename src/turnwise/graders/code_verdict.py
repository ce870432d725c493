"""From what a program did to what that says: a judgement, or the reason why there is none."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .base import GradeError
from .code_environment import without_hidden
from .protocol import Judgement, bad_output, clean_text, judgement
from .verdict_text import JsonObject, strict_json

if TYPE_CHECKING:
    from .program import Program, Ran

__all__ = ["verdict_of"]

_LAST_LINES = 5
_LONGEST_TAIL = 500
_LONGEST_SHOWN = 80


def verdict_of(ran: Ran, program: Program, hidden: Mapping[str, str]) -> Judgement | GradeError:
    """What the program says of the answer. Values of `hidden` are in no text of it."""
    if ran.unstarted is not None:
        return _unstarted(ran.unstarted, program)
    said = _tail(without_hidden(ran.complaint.decode("utf-8", "replace"), hidden))
    if ran.ended == "timeout":
        message = f"the grader was ended after {program.seconds:g} s, which is its `timeout`{said}"
        return GradeError("timeout", message)
    if ran.ended == "too-much-output":
        message = f"the grader was ended: it wrote more than {program.most_bytes:,} bytes, its `max_output_bytes`{said}"
        return GradeError("too-much-output", message)
    if ran.status:
        return GradeError("crash", f"the grader {_how_it_ended(ran.status)}{said}")
    return _read(without_hidden(ran.output.decode("utf-8", "replace"), hidden), said)


def _read(output: str, said: str) -> Judgement | GradeError:
    value = strict_json(output)
    if value is ...:
        shown = clean_text(output, _LONGEST_SHOWN)
        found = f"its output is not JSON: {shown!r}" if shown else "it printed nothing"
        hint = "; only the verdict goes to stdout, anything else to stderr" if shown else ""
        return bad_output(f"{found}{hint}{said}")
    if isinstance(value, JsonObject) and "score" in value.twice:
        return bad_output("there is more than one `score`")
    return judgement(value)


def _how_it_ended(status: int) -> str:
    if status > 0:
        return f"ended with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _unstarted(number: int, program: Program) -> GradeError:
    name = program.command[0]
    found = (program.folder / name).exists()
    if number in (errno.ENOENT, errno.ENOTDIR):
        return GradeError("not-found", f"there is no program {name!r}{_where(name, found, program)}")
    if number in (errno.EACCES, errno.ENOEXEC, errno.EISDIR):
        hint = "make it executable and give it a first line such as `#!/usr/bin/env python3`, or name its interpreter"
        return GradeError("not-executable", f"{name!r} cannot be run: {os.strerror(number)}; {hint}")
    return GradeError("cannot-start", f"{name!r} cannot be started: {os.strerror(number)}")


def _where(name: str, found: bool, program: Program) -> str:
    if "/" not in name:
        hint = f"; there is a file of that name in {program.folder}: write './{name}'" if found else ""
        return f" on the PATH{hint}"
    return ": its file is there, but not what its first line (#!) names" if found else f" in {program.folder}"


def _tail(complaint: str) -> str:
    """The last lines of stderr, as the end of a sentence."""
    lines = [line.strip() for line in clean_text(complaint, len(complaint)).splitlines() if line.strip()]
    words = "; ".join(lines[-_LAST_LINES:])
    words = words if len(words) <= _LONGEST_TAIL else "…" + words[-_LONGEST_TAIL:]
    return f"; the end of its stderr: {words}" if words else ""
