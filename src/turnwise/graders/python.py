"""The kind `python`: a function of the user's judges the answer, in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

from pydantic import Field

from ..conversation.authored import FormatModel, Word
from ..errors import UsageError
from ..programs.own_thread import in_own_thread
from ..providers.python_import import find_function, raised_at, shown_error
from ..targets.texts import FunctionName
from .base import Grade, GradeError, GraderSettings, Submission
from .protocol import Judgement, judged, judgement, submission_data

__all__ = ["PythonGrader", "PythonOptions"]

_LONGEST_TIMEOUT = 86_400
_THREAD = "turnwise-python-grader"

Function = Callable[[dict[str, Any]], Any]


class PythonOptions(FormatModel):
    """A Python function that takes the answer and its case, and gives a score."""

    function: FunctionName = Field(description="The function, as `module:function`.")
    path: Word | None = Field(
        None, description="A folder to import from, relative to the suite's; that folder or the project root if absent."
    )
    timeout: float = Field(60, gt=0, le=_LONGEST_TIMEOUT, description="Seconds that it may take.")


@dataclass(frozen=True, slots=True)
class PythonGrader:
    """Calls the function: an async one in the event loop, any other in a thread of its own."""

    options: PythonOptions
    settings: GraderSettings
    _found: dict[Path, Function] = field(default_factory=dict, compare=False, repr=False)

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        import asyncio

        try:
            async with asyncio.timeout(self.options.timeout):
                said = await self._said(submission)
        except TimeoutError:
            message = f"`{self.options.function}` gave no score within {self.options.timeout:g} s, its `timeout`"
            said = GradeError("timeout", message)
        return judged(self.settings, said)

    async def _said(self, submission: Submission) -> Judgement | GradeError:
        try:
            function = await self._function(submission)
        except UsageError as unknown:
            return GradeError("not-found", f"{unknown}; {unknown.hint}" if unknown.hint else str(unknown))
        result, error = await _called(function, submission_data(submission))
        if error is not None:
            return GradeError("crash", f"`{self.options.function}` failed: {shown_error(error)} ({raised_at(error)})")
        return _judgement(result)

    async def _function(self, submission: Submission) -> Function:
        """The function; imported when it is first needed, while others go on."""
        here = submission.folder or Path.cwd()
        if here not in self._found:
            self._found[here] = await in_own_thread(lambda: self._imported(submission, here), _THREAD)
        return self._found[here]

    def _imported(self, submission: Submission, here: Path) -> Function:
        name, path = self.options.function, self.options.path
        folder = here if path is None else here / Path(path).expanduser()
        if path is None and not _holds(here, name):
            folder = submission.root or here
        return find_function(name, folder, owner="the grader", takes="the answer and its case")


def _holds(folder: Path, name: str) -> bool:
    from importlib.machinery import PathFinder

    return PathFinder.find_spec(name.partition(":")[0].partition(".")[0], [str(folder)]) is not None


async def _called(function: Function, data: dict[str, Any]) -> tuple[Any, BaseException | None]:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    def call() -> tuple[Any, BaseException | None]:
        try:
            return function(data), None
        except BaseException as error:  # noqa: BLE001  (in a thread, not even KeyboardInterrupt comes from a person)
            return None, error

    # Calling an async function runs nothing of it; a sync one may return what is still to be awaited.
    result, error = call() if is_async else await in_own_thread(call, _THREAD)
    return await _awaited(result) if error is None and inspect.isawaitable(result) else (result, error)


async def _awaited(result: Any) -> tuple[Any, BaseException | None]:
    import asyncio

    try:
        return await result, None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the user's function raises is its failure)
        return None, error


def _judgement(result: Any) -> Judgement | GradeError:
    """What a function may return: a number, a truth value, a grade, or a mapping as programs print it."""
    if type(result).__module__ == "numpy" and getattr(result, "ndim", None) == 0:
        result = result.item()
    if isinstance(result, bool):
        return judgement({"score": float(result)})
    if isinstance(result, Real):
        return judgement({"score": result})
    if isinstance(result, Grade):
        if result.error is not None:
            return result.error
        shown = {name: getattr(result, name) for name in ("score", "passed", "reason", "evidence")}
        return judgement(shown)
    return judgement(result)
