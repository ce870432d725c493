"""System prompts in files of their own, each tried as a variant: `--system-prompt FILE`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..errors import ResolutionError, UsageError
from ..suite.variants import Variant, has_system_message, with_variant

if TYPE_CHECKING:
    from ..suite.case import Case

__all__ = ["PromptVariant", "read_prompt"]


@dataclass
class PromptVariant:
    """The variant of a file, and how many cases it says nothing to."""

    file: str
    variant: Variant
    without_effect: int = 0

    def look_at(self, case: Case) -> None:
        """Raises `UsageError` if the prompt has a variable that the case does not have."""
        if has_system_message(case):
            self.without_effect += 1
        if case.has_vars:
            try:
                with_variant(case, self.variant)
            except ResolutionError as error:
                problem = error.problems[0]
                message = f"--system-prompt {self.file}: {problem.message} in the case {case.id!r}"
                raise UsageError(message, problem.hint) from error

    def warnings(self) -> Iterator[Diagnostic]:
        """What to say when all cases have been looked at."""
        if self.without_effect:
            cases = "1 case" if self.without_effect == 1 else f"{self.without_effect:,} cases"
            message = f"the system prompt has no effect on {cases}: explicit system messages replace it"
            hint = "put the text of the system message into `system_prompt` of the case or suite"
            yield Diagnostic("warning", "variant-no-effect", message, self.file, hint=hint)


def read_prompt(file: str) -> PromptVariant:
    """The variant of a file, named after it. Raises `UsageError` if it holds no text."""
    try:
        text = Path(file).read_text(encoding="utf-8").removeprefix("\ufeff").strip()
    except OSError as error:
        raise UsageError(f"--system-prompt {file}: {error.strerror or error}", "name a file with a text") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--system-prompt {file}: the file is not UTF-8", "convert it, such as with iconv") from error
    if not text:
        raise UsageError(f"--system-prompt {file}: the file is empty", "write the system prompt into it")
    return PromptVariant(file, Variant(Path(file).stem, text))
