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
├── ResolutionError             a case whose conversation cannot be made; holds every `problem` found
├── RunError                    a run cannot be written, read or continued; says why, and what to do
├── MissingVariablesError       targets use variables that are not set; names all of them
└── ProviderError               a request that brought no answer; `kind` names the class, `retryable` says the rest
    ├── SetupError              the target cannot be used on this machine; nothing was sent
    ├── PromptError             the API has no form for this conversation; nothing was sent
    ├── AuthenticationError     no key, or a wrong one
    ├── PermissionDeniedError   the key is not allowed to do this
    ├── NotFoundError           no such model, deployment or path
    ├── RateLimitError          too many requests or tokens; passes
    ├── OverloadedError         the server has a problem of its own; passes
    ├── ContextLengthError      the conversation is longer than the model can read
    ├── ContentFilterError      the provider refused the conversation or withheld the answer
    ├── BadRequestError         the API refused the request for another reason
    ├── ProviderTimeoutError    no whole answer in time
    ├── ProviderConnectionError no connection, or one that broke
    ├── ProtocolError           an answer that is not what the API promises
    ├── ApplicationError        the program or function under test failed
    └── NotAwaitedError         the request was handed over, or only prepared, and nobody waits for an answer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .diagnostics import Diagnostic

__all__ = [
    "ApplicationError",
    "AuthenticationError",
    "BadRequestError",
    "ConfigError",
    "ContentFilterError",
    "ContextLengthError",
    "DeckError",
    "FileProblem",
    "FileReferenceError",
    "InputError",
    "MissingVariablesError",
    "NotAwaitedError",
    "NotFoundError",
    "OverloadedError",
    "PatternError",
    "PermissionDeniedError",
    "Problem",
    "PromptError",
    "ProtocolError",
    "ProviderConnectionError",
    "ProviderError",
    "ProviderTimeoutError",
    "RateLimitError",
    "ResolutionError",
    "RunError",
    "SetupError",
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


class RunError(UsageError):
    """A run that cannot be written, read or continued: its folder, its lock, its journal.

    `details` are further lines, such as what has changed since.
    """

    def __init__(self, message: str, hint: str | None = None, details: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.details = tuple(details)


class MissingVariablesError(TurnwiseError):
    """Variables that targets use are not set. `missing` maps each target's name to the variables' names.

    `hint` says where they can be set.
    """

    def __init__(self, missing: Mapping[str, Sequence[str]], searched: Sequence[str] = ()) -> None:
        self.missing = {target: tuple(names) for target, names in missing.items()}
        each = "; ".join(f"{', '.join(names)} (target {target!r})" for target, names in self.missing.items())
        count = len({name for names in self.missing.values() for name in names})
        places = f" in {', '.join(searched)}" if searched else ""
        super().__init__(f"{'a variable is' if count == 1 else f'{count} variables are'} not set{places}: {each}")
        self.hint = f"set {'it' if count == 1 else 'them'} in the environment, in .turnwise/.env or in .env"


class ProviderError(TurnwiseError):
    """A request that brought no answer.

    `kind` is stable and short, `retryable` says whether the same request may succeed later, `status` is the HTTP
    status, if there was one, and `retry_after` the seconds that the server asked to wait. `attempts` counts how often
    the request was sent, `agent` is what is known of an agent's work, and `spent` what it said and used
    before it failed, as results have it. No message holds a secret.
    """

    kind: ClassVar[str] = "provider"
    passes: ClassVar[bool] = False
    """Whether errors of this class are retryable where nothing else is said."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        hint: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = self.passes if retryable is None else retryable
        self.hint = hint
        self.retry_after = retry_after
        self.attempts = 1
        self.agent: Mapping[str, Any] | None = None
        self.spent: Mapping[str, Any] | None = None


class SetupError(ProviderError):
    """The target cannot be used on this machine as it is configured; nothing was sent. `hint` says what to do."""

    kind = "setup"


class PromptError(ProviderError):
    """The API has no form for this conversation; nothing was sent. `message_index` leads to the message, if one is
    to blame, and `rule` is the API's rule that it breaks."""

    kind = "prompt"

    def __init__(self, rule: str, message: str, *, hint: str, message_index: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.rule = rule
        self.message_index = message_index
        self.attempts = 0


class AuthenticationError(ProviderError):
    """No key, or a wrong one."""

    kind = "authentication"


class PermissionDeniedError(ProviderError):
    """The key is right, but not allowed to do this."""

    kind = "permission"


class NotFoundError(ProviderError):
    """No such model, deployment or path."""

    kind = "not_found"


class RateLimitError(ProviderError):
    """Too many requests or tokens for now, or a quota that is used up."""

    kind = "rate_limit"
    passes = True


class OverloadedError(ProviderError):
    """The server has a problem of its own: it is overloaded, restarting or broken."""

    kind = "overloaded"
    passes = True


class ContextLengthError(ProviderError):
    """The conversation is longer than the model can read."""

    kind = "context_length"


class ContentFilterError(ProviderError):
    """The provider refused the conversation, or withheld the answer, because of what it says."""

    kind = "content_filter"


class BadRequestError(ProviderError):
    """The API refused the request for a reason that has no class of its own."""

    kind = "bad_request"


class ProviderTimeoutError(ProviderError):
    """No whole answer in time."""

    kind = "timeout"
    passes = True


class ProviderConnectionError(ProviderError):
    """No connection, or one that broke before the answer was whole."""

    kind = "connection"
    passes = True


class ProtocolError(ProviderError):
    """An answer that is not what the API promises: no JSON, a page for people, nothing in it."""

    kind = "protocol"


class ApplicationError(ProviderError):
    """The program or function under test failed, or returned what cannot be an answer."""

    kind = "application"


class NotAwaitedError(ProviderError):
    """There is no answer because none was waited for. It is an error, and no answer, so that nothing can be scored."""

    kind = "not_awaited"
