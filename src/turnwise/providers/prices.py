"""What models cost: a table of list prices, for targets that name none of their own. `prices.json` holds it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..targets.settings import Prices, TargetBase

__all__ = ["UNPAID", "KnownPrice", "PriceSource", "is_paid", "price_date", "price_of", "prices_of"]

UNPAID = frozenset({"http", "local", "mock", "ollama", "python", "replay"})
"""Providers of what runs on machines of your own, where nobody is paid by the token."""

PriceSource = Literal["target", "table"]

_TABLE = Path(__file__).with_name("prices.json")
_SHARED = {"openai-responses": "openai"}
# A date, three digits or `latest` is a version, and versions have one price. Any other ending is another model.
_VERSION = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)\Z")


@dataclass(frozen=True, slots=True)
class KnownPrice:
    """A list price: of the model that the table names `name`, as stated on the day `as_of`."""

    prices: Prices
    as_of: str
    name: str


def price_of(provider: str, model: str | None) -> KnownPrice | None:
    """The list price of a model, by its name or its name with a version; None if the table does not have it.

    >>> price_of("openai", "gpt-4o-2024-08-06").name
    'gpt-4o'
    >>> price_of("openai", "gpt-4o-audio-preview") is None
    True
    """
    vendor = _SHARED.get(provider, provider)
    models = _table()["usd_per_million_tokens"].get(vendor, {})
    written = (model or "").removeprefix("models/") if vendor == "gemini" else model or ""
    name = written if written in models else _VERSION.sub("", written)
    figures = models.get(name)
    if figures is None:
        return None
    from ..targets.settings import Prices

    return KnownPrice(Prices(**figures), _table()["as_of"][vendor], name)


def prices_of(target: TargetBase) -> tuple[Prices | None, PriceSource | None]:
    """The prices of a resolved target and where they are from: its own before those of the table."""
    if target.prices is not None:
        return target.prices, "target"
    known = _listed(target)
    return (None, None) if known is None else (known.prices, "table")


def price_date(target: TargetBase) -> str | None:
    """The day at which the target's prices were stated, if they are those of the table."""
    known = None if target.prices is not None else _listed(target)
    return None if known is None else known.as_of


def is_paid(target: TargetBase) -> bool:
    """Whether its tokens cost money: unless it runs on a machine of your own, or whenever it has prices."""
    return target.prices is not None or target.provider not in UNPAID


def _listed(target: TargetBase) -> KnownPrice | None:
    # A gateway, or a server of one's own, has prices of its own, whatever its models are called.
    return price_of(target.provider, getattr(target, "model", None)) if _is_at_the_vendor(target) else None


def _is_at_the_vendor(target: TargetBase) -> bool:
    from ..targets.addresses import VENDOR_ADDRESSES, host_of

    address, usual = getattr(target, "base_url", None), VENDOR_ADDRESSES.get(target.provider)
    return address is None or (usual is not None and host_of(address) == host_of(usual))


@lru_cache(maxsize=1)
def _table() -> Any:
    return json.loads(_TABLE.read_text(encoding="utf-8"))
