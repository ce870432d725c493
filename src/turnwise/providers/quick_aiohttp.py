"""Importing aiohttp without the certificates of the machine, which take a third of the time that it takes.

aiohttp makes TLS contexts for everybody when it is imported, and fills them with every certificate that the machine
trusts. Our transport makes its own for https, and has no use for those. Where nothing but our own code runs, their
certificates can wait; `load_certificates` brings them before any other code could miss them. Without them, a
connection would be refused, never trusted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["import_aiohttp", "load_certificates"]

_LOADERS = ("load_default_certs", "set_default_verify_paths")
_postponed: list[Callable[[], None]] = []


def import_aiohttp() -> None:
    """Import aiohttp, and let the certificates of its own contexts wait. For a program that is ours alone."""
    if "aiohttp" not in sys.modules:
        with _postponing():
            import aiohttp  # noqa: F401


def load_certificates() -> None:
    """What was postponed: for code of others, which may use aiohttp, too."""
    while _postponed:
        _postponed.pop()()


@contextmanager
def _postponing() -> Iterator[None]:
    """Contexts that are made meanwhile load no certificates, but remember that they should."""
    import ssl

    context_class: Any = ssl.SSLContext
    own = {name: context_class.__dict__[name] for name in _LOADERS if name in context_class.__dict__}
    for name in _LOADERS:
        setattr(context_class, name, _postponer(getattr(context_class, name)))
    try:
        yield
    finally:
        for name in _LOADERS:
            if name in own:
                setattr(context_class, name, own[name])
            else:
                delattr(context_class, name)  # it is inherited again


def _postponer(loads: Callable[..., None]) -> Callable[..., None]:
    def postpone(context: Any, *arguments: Any) -> None:
        _postponed.append(partial(loads, context, *arguments))

    return postpone
