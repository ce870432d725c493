"""What an agent wrote, kept beside the results; keys are taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...programs.program import Ran
    from ..base import ProviderRequest
    from .base import Surroundings

__all__ = ["AgentLogs", "log_name"]

_ODD = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 100
_REDACTED = b"[redacted]"


class AgentLogs:
    """Writes one log for each request, where the target or the run wants them."""

    def __init__(self, target: Any, around: Surroundings, secrets: Iterable[str]) -> None:
        own = target.log_dir
        self._folder = around.logs if own is None else (around.root / Path(own).expanduser()).resolve()
        self._target = target.name
        self._secrets = [secret.encode() for secret in secrets]
        self._used: set[Path] = set()

    def write(self, request: ProviderRequest, ran: Ran) -> Path | None:
        """Keep what the program wrote; the file that its output is in. A log that cannot be written is no failure of
        the agent's: there is none then."""
        if self._folder is None:
            return None
        path = self._free(self._folder / _ODD.sub("-", self._target), log_name(request))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.clean(ran.output))
            if ran.complaint:
                path.with_suffix(".stderr.txt").write_bytes(self.clean(ran.complaint))
        except OSError:
            return None
        return path

    def _free(self, folder: Path, name: str) -> Path:
        """A name of its own for each attempt."""
        path, number = folder / f"{name}.log", 2
        while path in self._used or path.exists():
            path, number = folder / f"{name}-{number}.log", number + 1
        self._used.add(path)
        return path

    def clean(self, data: bytes) -> bytes:
        """What was written, without secrets."""
        for secret in self._secrets:
            data = data.replace(secret, _REDACTED)
        return data

    def clean_end(self, data: bytes) -> bytes:
        """The same for the end of something longer, which may begin in the middle of a secret."""
        for secret in self._secrets:
            cut = next((size for size in range(len(secret) - 1, 3, -1) if data.startswith(secret[-size:])), 0)
            data = _REDACTED + data[cut:] if cut else data
        return self.clean(data)


def log_name(request: ProviderRequest) -> str:
    """A file name for a request: its case and trial.

    >>> from turnwise.providers.base import ProviderRequest
    >>> log_name(ProviderRequest(question="", case_id="a/b c", attempt=2))
    'a-b-c-2'
    """
    case = _ODD.sub("-", request.case_id or "request").strip("-.") or "request"
    return f"{case[:_LONGEST_NAME]}-{request.attempt}"
