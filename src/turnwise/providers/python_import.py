"""A function of the user's, found by its name `module:function`, and what is said of its failures."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .quick_aiohttp import load_certificates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["find_function", "raised_at", "shown_error"]

_OURS = str(Path(__file__).parent.parent) + os.sep
_LONGEST_MESSAGE = 500


def find_function(
    name: str, folder: Path, *, owner: str = "the target", takes: str = "the request"
) -> Callable[..., Any]:
    """The function `module:function`, imported with `folder` first on the path. Raises `UsageError`.

    In hints, `owner` is who has the setting `path`, and `takes` what the function is given.
    """
    module_name, _, attributes = name.partition(":")
    value: Any = _imported(module_name, folder, owner)
    for attribute in attributes.split("."):
        if not hasattr(value, attribute):
            from ..suite.explain import did_you_mean

            known = [each for each in dir(value) if not each.startswith("_")]
            hint = did_you_mean(attribute, known, "it has") if known else "define it there, or name another function"
            raise UsageError(f"`{module_name}` has no `{attributes}`", hint)
        value = getattr(value, attribute)
    if not callable(value):
        kind = "None" if value is None else f"a value of the type `{type(value).__qualname__}`"
        raise UsageError(f"`{name}` is {kind}, not a function", f"name a function that takes {takes}")
    found: Callable[..., Any] = value
    return found


def _imported(name: str, folder: Path, owner: str) -> ModuleType:
    import importlib

    if not folder.is_dir():
        raise UsageError(f"cannot import `{name}`: there is no folder {folder}", f"check `path` of {owner}")
    _refuse_other_module(name.partition(".")[0], folder)
    load_certificates()
    try:
        with _first_on_path(folder):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            hint = f"searched {folder} and Python's own path; set `path` of {owner} to the folder that holds it"
            raise UsageError(f"there is no module `{name}` to import", hint) from error
        raise _import_error(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_error(name, error) from error


def _refuse_other_module(package: str, folder: Path) -> None:
    """Python imports each name once: the second of two modules of one name would silently be the first."""
    from importlib.machinery import PathFinder

    loaded = sys.modules.get(package)
    here = PathFinder.find_spec(package, [str(folder)])
    if loaded is None or here is None or here.origin is None:
        return
    file = getattr(loaded, "__file__", None)
    if file is None or Path(file).resolve() != Path(here.origin).resolve():
        raise UsageError(
            f"cannot import `{package}` from {here.origin}: another module of that name is loaded, from {file}",
            "rename the module",
        )


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    import importlib

    importlib.invalidate_caches()
    place = str(folder)
    sys.path.insert(0, place)
    try:
        yield
    finally:
        # The module may have changed the path too.
        if place in sys.path:
            sys.path.remove(place)


def _import_error(name: str, error: BaseException) -> UsageError:
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}:{error.lineno}"
    else:
        place = raised_at(error)
    return UsageError(
        f"importing `{name}` failed: {shown_error(error)} ({place})", "correct the module, or what it needs"
    )


def shown_error(error: BaseException) -> str:
    """The type and the message, in one line of bounded length."""
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    try:
        words = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  (an exception whose own text fails; its type is what is left to say)
        words = "its message cannot be shown"
    words = words if len(words) <= _LONGEST_MESSAGE else words[:_LONGEST_MESSAGE] + "…"
    return f"{type(error).__qualname__}: {words}" if words else type(error).__qualname__


def raised_at(error: BaseException) -> str:
    """The file and line that raised it: the last one that is not Turnwise's or the import system's."""
    # Python itself puts an error before some, such as a StopIteration of a coroutine.
    places = [
        f"{frame.f_code.co_filename}:{line}"
        for each in (error.__cause__, error)
        if each is not None
        for frame, line in traceback.walk_tb(each.__traceback__)
        if not frame.f_code.co_filename.startswith((_OURS, "<frozen importlib"))
    ]
    return places[-1] if places else "where is not known"
