"""`{{ name }}` in the texts of an `http` target: what is filled in from the request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["PLACEHOLDER", "PLACEHOLDERS", "placeholders"]

# Not `${{ NAME }}`, which is a variable of the environment.
PLACEHOLDER = re.compile(r"(?<!\$)\{\{([^{}]*)\}\}")
PLACEHOLDERS = ("question", "messages", "vars", "case_id", "system")
"""What a placeholder may name; `vars` is followed by `.NAME`."""


def placeholders(value: Any) -> Iterator[str]:
    """What stands in the placeholders of a value's texts.

    >>> list(placeholders({"q": "Say {{ question }}", "n": ["{{ vars.n }}", "${{ KEY }}"]}))
    ['question', 'vars.n']
    """
    if isinstance(value, str):
        yield from (match[1].strip() for match in PLACEHOLDER.finditer(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from placeholders(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from placeholders(item)
