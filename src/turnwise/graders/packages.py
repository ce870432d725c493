"""Packages that only some kinds need: their absence is a problem of the suite, said before anything is asked."""

from __future__ import annotations

from importlib.util import find_spec

from pydantic_core import PydanticCustomError

__all__ = ["require_package"]


def require_package(kind: str, package: str, extra: str = "text-metrics") -> None:
    """Refuse the options of a kind whose package is not installed."""
    if find_spec(package) is None:
        raise PydanticCustomError(
            "missing_package",
            "`{kind}` needs the package {package}, which is not installed",
            {"kind": kind, "package": package, "hint": f"pip install 'turnwise[{extra}]'"},
        )
