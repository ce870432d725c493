"""Evaluate LLMs and agents over conversations, with graders whose own accuracy is measured.

Load a suite and look at what a model would be sent:

>>> import turnwise
>>> suite = turnwise.load_suite("examples/support/suite.yaml")
>>> case = suite.cases[0]
>>> case.conversation.chat_prompt()[0]["role"]
'system'
"""

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .calibration.api import calibrate, calibrate_recorded
    from .calibration.report import Calibration
    from .conversation import Conversation, File, Image, Message, Text
    from .diagnostics import Diagnostic
    from .engine.api import run, stream
    from .engine.grade_api import grade
    from .engine.result import Result, RunOutcome
    from .errors import (
        ConfigError,
        DeckError,
        InputError,
        MissingVariablesError,
        PatternError,
        ProviderError,
        ResolutionError,
        RunError,
        SuiteError,
        TargetsError,
        TurnwiseError,
        UsageError,
    )
    from .suite.case import Case
    from .suite.suite import Suite, load_suite

__all__ = [
    "Calibration",
    "Case",
    "ConfigError",
    "Conversation",
    "DeckError",
    "Diagnostic",
    "File",
    "Image",
    "InputError",
    "Message",
    "MissingVariablesError",
    "PatternError",
    "ProviderError",
    "ResolutionError",
    "Result",
    "RunError",
    "RunOutcome",
    "Suite",
    "SuiteError",
    "TargetsError",
    "Text",
    "TurnwiseError",
    "UsageError",
    "__version__",
    "calibrate",
    "calibrate_recorded",
    "grade",
    "load_suite",
    "run",
    "stream",
]


# Where each name lives; imported when it is first asked for, so that `import turnwise` costs nothing.
_HOMES = {
    "calibration.api": ("calibrate", "calibrate_recorded"),
    "calibration.report": ("Calibration",),
    "conversation": ("Conversation", "File", "Image", "Message", "Text"),
    "diagnostics": ("Diagnostic",),
    "engine.api": ("run", "stream"),
    "engine.grade_api": ("grade",),
    "engine.result": ("Result", "RunOutcome"),
    "errors": (
        "ConfigError",
        "DeckError",
        "InputError",
        "MissingVariablesError",
        "PatternError",
        "ProviderError",
        "ResolutionError",
        "RunError",
        "SuiteError",
        "TargetsError",
        "TurnwiseError",
        "UsageError",
    ),
    "suite.case": ("Case",),
    "suite.suite": ("Suite", "load_suite"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
