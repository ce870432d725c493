"""The public names: sorted, all there, and nothing else."""

from __future__ import annotations

import inspect
import re

import turnwise
from turnwise import errors


def test_all_is_sorted_and_complete() -> None:
    """`__all__` is sorted, every name in it exists, and `dir` shows just these."""
    assert turnwise.__all__ == sorted(turnwise.__all__)
    for name in turnwise.__all__:
        assert getattr(turnwise, name) is not None
    assert dir(turnwise) == turnwise.__all__


def test_nothing_else_leaks() -> None:
    """A public class or function of the package's own is in `__all__`, or it is not at the top level."""
    for name, value in vars(turnwise).items():
        own = getattr(value, "__module__", "").startswith("turnwise")
        if own and not name.startswith("_"):
            assert name in turnwise.__all__


def test_the_tree_of_errors_is_the_docstring() -> None:
    """Every exception stands in the module's docstring, under its base."""
    tree = errors.__doc__ or ""
    for name in errors.__all__:
        value = getattr(errors, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert re.search(rf"\b{name}\b", tree), name
            assert issubclass(value, errors.TurnwiseError)


def test_the_version_is_the_packages() -> None:
    """`turnwise.__version__` is what is installed."""
    from importlib.metadata import version

    assert turnwise.__version__ == version("turnwise")
