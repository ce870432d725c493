"""Where to look further at a result that did not pass: the hint of its error, and what is kept of an agent's work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["NO_TRACES", "FailureTraces", "failure_traces"]

_LONGEST_HINT = 400
_LONGEST_PATH = 4096


class FailureTraces(NamedTuple):
    """What can be done about an error, the log of an agent, and its workspace if it was kept; None for what is not
    there."""

    hint: str | None = None
    log: str | None = None
    workspace: str | None = None


NO_TRACES = FailureTraces()


def failure_traces(record: Mapping[str, Any]) -> FailureTraces:
    """What a line of results tells, whoever wrote it.

    >>> failure_traces({"error": {"hint": "wait"}, "agent": {"log": "a-1.log", "workspace": None}})
    FailureTraces(hint='wait', log='a-1.log', workspace=None)
    """
    hint = _text(record.get("error"), "hint")
    if hint is not None and len(hint) > _LONGEST_HINT:
        hint = hint[: _LONGEST_HINT - 1] + "…"
    agent = record.get("agent")
    return FailureTraces(hint, _path(agent, "log"), _path(agent, "workspace"))


def _path(found: Any, key: str) -> str | None:
    path = _text(found, key)
    return path if path is not None and len(path) <= _LONGEST_PATH else None


def _text(found: Any, key: str) -> str | None:
    value = found.get(key) if isinstance(found, Mapping) else None
    return value if isinstance(value, str) and value else None
