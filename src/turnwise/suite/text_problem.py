"""Why a text cannot be read as YAML or JSON."""

from __future__ import annotations

__all__ = ["TextProblem"]


class TextProblem(ValueError):  # noqa: N818  (a problem of the text, not of the program)
    """What is wrong, what to do, and the character offset where it was noticed."""

    def __init__(self, code: str, message: str, hint: str | None, offset: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.offset = offset
