"""Every exception that Turnwise raises on purpose.

TurnwiseError                   anything below; `str()` is a message for people
├── UsageError                  the call itself is wrong: a path that does not exist, an id that no case has
├── InputError                  a file is wrong; holds `diagnostics` with file, line and column
│   ├── SuiteError              a suite, or one of its datasets
│   ├── ConfigError             .turnwise/config.yaml or .env
│   ├── TargetsError            targets.yaml
│   └── DeckError               a deck or its samples
├── PatternError                a glob pattern that cannot be read
├── FileReferenceError          a file segment that cannot be read; says why and lists the places tried
└── ResolutionError             a case whose conversation cannot be made; holds every `problem` found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .diagnostics import Diagnostic

__all__ = [
    "ConfigError",
    "DeckError",
    "FileProblem",
    "FileReferenceError",
    "InputError",
    "PatternError",
    "Problem",
    "ResolutionError",
    "SuiteError",
    "TargetsError",
    "TurnwiseError",
    "UsageError",
]


class TurnwiseError(Exception):
    """Base of all; raised only as one of its subclasses."""


class UsageError(TurnwiseError):
    """The call is wrong, whatever the files hold. `hint` says what to do instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InputError(TurnwiseError):
    """One or more problems of the files that were read. `diagnostics` holds all of them, warnings too."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        super().__init__("\n".join(str(d) + (f" ({d.hint})" if d.hint else "") for d in errors))


class SuiteError(InputError):
    """A suite or one of its datasets is not well formed; nothing of it can be used."""


class ConfigError(InputError):
    """The project's configuration is not well formed."""


class TargetsError(InputError):
    """The targets file is not well formed."""


class DeckError(InputError):
    """A deck, a file that it includes, or its samples are not well formed."""


class PatternError(TurnwiseError, ValueError):
    """A glob pattern that cannot be read; the message says why."""


FileProblem = Literal["missing", "folder", "special", "outside", "too-large", "binary", "unreadable", "bad-path"]


class FileReferenceError(TurnwiseError):
    """A file that a message refers to cannot be used. `kind` is stable, `tried` the places looked at."""

    def __init__(self, kind: FileProblem, written: str, reason: str, hint: str, tried: Sequence[str] = ()) -> None:
        self.kind = kind
        self.written = written
        self.reason = reason
        self.hint = hint
        self.tried = tuple(tried)
        places = f"; tried: {', '.join(self.tried)}" if self.tried else ""
        super().__init__(f"{reason}{places}")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one spot of a case cannot be resolved: `path` leads to it from the case."""

    path: tuple[str | int, ...]
    code: str
    message: str
    hint: str | None = None


class ResolutionError(TurnwiseError):
    """A case's conversation cannot be made: files are missing or variables unknown. The other cases are unharmed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))
