"""Secrets of targets, taken out of whatever is kept."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["redacted"]

# A local server's key may be any word, such as `token`: it must not garble the format.
_ROLES = frozenset({"assistant", "developer", "system", "tool", "user"})
_LONGEST_NAME = 24


def redacted(value: Any, secrets: Collection[str]) -> Any:
    """Plain JSON data without the secrets in its texts; names of fields stay what they are, unless they are long.

    >>> redacted({"role": "user", "content": "my key is k-1234"}, ["k-1234", "user"])
    {'role': 'user', 'content': 'my key is [redacted]'}
    """
    if isinstance(value, dict):
        long = [secret for secret in secrets if len(secret) > _LONGEST_NAME]
        return {redacted(key, long): redacted(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [redacted(each, secrets) for each in value]
    if isinstance(value, str) and value not in _ROLES:
        for secret in secrets:
            value = value.replace(secret, "[redacted]")
    return value
