"""The hash of a deck: what tells whether a judge is asked as it was when it was calibrated."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .deck import Deck

__all__ = ["deck_hash"]


def deck_hash(deck: Deck) -> str:
    """The hash of all that reaches the judge, and of the scale by which its answers are read."""
    front = deck.front_matter
    contexts = [[each.name, each.question, each.default, each.has_default] for each in deck.contexts]
    scale = None if front.scale is None else front.scale.model_dump(by_alias=True, exclude_none=True)
    options = {name: value for name, value in front.model_options.items() if name != "model"}
    whole = [deck.text, contexts, front.tools, options, scale]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
