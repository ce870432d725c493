"""From what a program did to what that says: a judgement, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..programs.environment import without_hidden
from ..programs.words import clean_text, how_it_ended, stderr_tail, why_unstarted
from .base import GradeError
from .protocol import Judgement, bad_output, judgement
from .verdict_text import JsonObject, strict_json

if TYPE_CHECKING:
    from ..programs.program import Program, Ran

__all__ = ["verdict_of"]

_LONGEST_SHOWN = 80


def verdict_of(ran: Ran, program: Program, hidden: Mapping[str, str]) -> Judgement | GradeError:
    """What the program says of the answer. Values of `hidden` are in no text of it."""
    if ran.unstarted is not None:
        return _unstarted(ran.unstarted, program)
    said = stderr_tail(without_hidden(ran.complaint.decode("utf-8", "replace"), hidden))
    if ran.ended == "timeout":
        message = f"the grader was ended after {program.seconds:g} s, which is its `timeout`{said}"
        return GradeError("timeout", message)
    if ran.ended == "too-much-output":
        message = f"the grader was ended: it wrote more than {program.most_bytes:,} bytes, its `max_output_bytes`{said}"
        return GradeError("too-much-output", message)
    if ran.status:
        return GradeError("crash", f"the grader {how_it_ended(ran.status)}{said}")
    return _read(ran.output.decode("utf-8", "replace"), said, hidden)


def _read(output: str, said: str, hidden: Mapping[str, str]) -> Judgement | GradeError:
    value = strict_json(output)
    if value is ...:
        shown = clean_text(without_hidden(output, hidden), _LONGEST_SHOWN)
        nothing = "it printed nothing" if not output.strip() else "it printed nothing that can be shown"
        found = f"its output is not JSON: {shown!r}" if shown else nothing
        hint = "; only the verdict goes to stdout, anything else to stderr" if shown else ""
        return bad_output(f"{found}{hint}{said}")
    if isinstance(value, JsonObject) and "score" in value.twice:
        return bad_output("there is more than one `score`")
    return judgement(without_hidden(value, hidden))  # JSON may have spelled a key in another way


def _unstarted(number: int, program: Program) -> GradeError:
    return GradeError(*why_unstarted(number, program.command[0], program.folder))
