"""The public names: sorted, all there, and nothing else."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

import turnwise
import turnwise.providers
from turnwise import errors

PUBLIC = [turnwise, turnwise.providers]


@pytest.mark.parametrize("module", PUBLIC)
def test_all_is_sorted_and_complete(module: ModuleType) -> None:
    """`__all__` is sorted, every name in it exists, and `dir` shows just these."""
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert dir(module) == module.__all__


@pytest.mark.parametrize("module", PUBLIC)
def test_nothing_else_leaks(module: ModuleType) -> None:
    """A public class or function of the package's own is in `__all__`, or it is not at the top level."""
    for name, value in vars(module).items():
        own = getattr(value, "__module__", "").startswith("turnwise")
        if own and not name.startswith("_"):
            assert name in module.__all__


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
