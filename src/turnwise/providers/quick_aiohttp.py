"""Importing aiohttp without the certificates of the machine, which take a third of the time that it takes.

aiohttp makes a TLS context for everybody when it is imported, and fills it with every certificate that the machine
trusts. Our transport makes its own for https, and has no use for that one. Where nothing but our own code runs, its
certificates can wait; `load_certificates` brings them before any other code could miss them. Without them, a
connection would be refused, never trusted.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssl import Purpose, SSLContext

__all__ = ["import_aiohttp", "load_certificates"]

_postponed: list[tuple[SSLContext, Purpose]] = []


def import_aiohttp() -> None:
    """Import aiohttp, and let the certificates of its own context wait. For a program that is ours alone."""
    if "aiohttp" in sys.modules:
        return
    import ssl

    def postpone(context: SSLContext, purpose: Purpose = ssl.Purpose.SERVER_AUTH) -> None:
        _postponed.append((context, purpose))

    context_class: Any = ssl.SSLContext
    loads = context_class.load_default_certs
    context_class.load_default_certs = postpone
    try:
        import aiohttp  # noqa: F401
    finally:
        context_class.load_default_certs = loads


def load_certificates() -> None:
    """What was postponed: for code of others, which may use aiohttp, too."""
    while _postponed:
        context, purpose = _postponed.pop()
        context.load_default_certs(purpose)
