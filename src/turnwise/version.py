"""The version, where every room can have it without importing the whole package."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
