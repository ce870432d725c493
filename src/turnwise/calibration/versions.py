"""The versions of what made the figures, so that they can be made again."""

from __future__ import annotations

import sys

from ..version import __version__

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """The names and versions.

    >>> sorted(versions())
    ['numpy', 'python', 'turnwise']
    """
    import numpy

    return {"turnwise": __version__, "python": ".".join(map(str, sys.version_info[:3])), "numpy": numpy.__version__}
