"""Secrets, taken out of what an agent wrote before any of it is cut: half a key is no longer recognized. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...programs.words import clean_text

if TYPE_CHECKING:
    from ...errors import ProviderError
    from .session import Session

__all__ = ["Hidden"]

_REDACTED = "[redacted]"
_SHORTEST_END = 4
# Far more than is ever shown: what is cut here is cut again.
_MOST_SHOWN = 100_000


class Hidden:
    """The secrets of a target, in each form in which they may be written."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))  # one may hold another

    def text(self, text: str) -> str:
        """A text without secrets.

        >>> Hidden(["k-1234"]).text("my key is k-1234")
        'my key is [redacted]'
        """
        for form in self._forms:
            text = text.replace(form, _REDACTED)
        return text

    def words(self, text: str) -> str:
        """A foreign text that can be shown, and cut: control characters go first, for they could part a secret."""
        return self.text(clean_text(self.text(text), len(text)))

    def data(self, data: bytes) -> bytes:
        """Bytes without secrets."""
        for form in self._forms:
            data = data.replace(form.encode("utf-8", "surrogatepass"), _REDACTED.encode())
        return data

    def end(self, data: bytes) -> bytes:
        """The end of something longer, which may begin in the middle of a secret."""
        for form in self._forms:
            known = form.encode("utf-8", "surrogatepass")
            sizes = range(len(known) - 1, _SHORTEST_END - 1, -1)
            cut = next((size for size in sizes if data.startswith(known[-size:])), 0)
            data = _REDACTED.encode() + data[cut:] if cut else data
        return self.data(data)

    def complaint(self, data: bytes) -> str:
        """The end of stderr as a text that can be shown, and cut."""
        return self.words(self.end(data)[-_MOST_SHOWN:].decode("utf-8", "replace"))

    def session(self, session: Session) -> None:
        """Take secrets out of what a session says of failures, of which only the beginning is shown."""
        for name in ("failure", "malformed", "misfit", "trouble"):
            if (said := getattr(session, name)) is not None:
                setattr(session, name, self.words(self.text(said)[:_MOST_SHOWN]))

    def error(self, error: ProviderError) -> None:
        """Take secrets out of what an error says."""
        error.args = tuple(self.text(each) if isinstance(each, str) else each for each in error.args)


def _forms(secret: str) -> set[str]:
    """As it is, and as it stands in JSON and in a text that is shown in quotes."""
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
