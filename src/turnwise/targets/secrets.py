"""Diagnostics of a file that may hold secrets: what they say and show must not give one away.

Nobody should write a key into a targets file, but people do, and a diagnostic ends up in the log of a build.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..diagnostics import Diagnostic, Place
from ..suite.explain import is_secret_key

__all__ = ["discreet", "discreet_reading", "private_texts"]

# Mappings whose values belong to the user's own systems, whatever their keys are called.
_PRIVATE = re.compile(r"auth|\b(headers|env|cookies?)\b", re.IGNORECASE)
# A misspelt `api_kye` holds a key all the same.
_MISSPELT = ("api_key", "apikey", "entra_token", "token", "secret", "password", "credentials", "headers")
_KEY_FIRST = re.compile(r"""\s*(?:-\s+)*\{?\s*(["']?)[\w$.-]+\1\s*:(?:\s|$)""")
_URL_WITH_LOGIN = re.compile(r"://[^/\s]*@")
_UNKNOWN_KEY = re.compile(r"(unknown key `[\w$.-]*)[^\w$.`-][^`]*")
_TWICE = re.compile(r"(the key '[\w$.<-]*)[^']*")
# Shorter ones are too common to be looked for in sentences.
_SHORTEST_SECRET = 6
# What the readers say with a piece of the file in it, said without.
_READING = {
    "yaml-tag": "a YAML tag that is not supported, or does not fit its value",
    "yaml-alias": "an alias without an anchor before it",
    "bad-key": "a key must be text",
}
_READING_HINTS = {
    "yaml-alias": "quote a text that starts with `*`, or define the anchor first",
    "too-large": "is it a targets file?",
}


def discreet(diagnostic: Diagnostic, secrets: Collection[str]) -> Diagnostic:
    """The same diagnostic without what must not be shown; `secrets` are the `private_texts` of the file."""
    message, hint, path = diagnostic.message, diagnostic.hint, diagnostic.path
    source = diagnostic.place.source
    if _is_private(path) or (source is not None and not _may_be_shown(source, secrets)):
        source = None
    if _is_private(path):
        message = message.partition(", found ")[0]
    # `{api_key:sk-1}`, without a space, is one long key: only its beginning may be named.
    message, cut = _UNKNOWN_KEY.subn(r"\1…", message)
    if cut:
        hint = "put a space after the colon; a key has letters, digits and `_`"
    path = re.sub(r"[^\w$.\[\]-].*", "…", path, flags=re.DOTALL)
    # The longest first: one may be the beginning of another.
    for secret in sorted(secrets, key=len, reverse=True):
        message, path = message.replace(secret, "…"), path.replace(secret, "…")
        hint = hint and hint.replace(secret, "…")
    place = Place(diagnostic.place.line, diagnostic.place.column, source)
    return replace(diagnostic, message=message, hint=hint, path=path, place=place)


def discreet_reading(diagnostic: Diagnostic) -> Diagnostic:
    """A problem of a file that could not be parsed: where nothing is known of its parts, none is shown."""
    message = _TWICE.sub(r"\1", _READING.get(diagnostic.code, diagnostic.message))
    hint = _READING_HINTS.get(diagnostic.code, diagnostic.hint or "check the brackets, quotes and indentation here")
    return replace(diagnostic, message=message, hint=hint, place=Place(diagnostic.place.line, diagnostic.place.column))


def private_texts(value: Any, private: bool = False) -> set[str]:
    """The texts under private keys, line by line, but for short ones and references to variables.

    >>> private_texts({"name": "a", "api_key": "sk-123456", "model": "m"})
    {'sk-123456'}
    """
    if isinstance(value, dict):
        items = ((item, private or _is_private(key)) for key, item in value.items())
        return {text for item, hidden in items for text in private_texts(item, hidden)}
    if isinstance(value, list):
        return {text for item in value for text in private_texts(item, private)}
    if not private or value is None:
        return set()
    lines = (line.strip() for line in str(value).splitlines())
    return {line for line in lines if len(line) >= _SHORTEST_SECRET and not line.startswith("${{")}


def _is_private(words: str) -> bool:
    """Whether a key, a path or a line names something whose value must not be shown."""
    if is_secret_key(words) or _PRIVATE.search(words):
        return True
    return any(difflib.get_close_matches(word, _MISSPELT, n=1, cutoff=0.84) for word in re.findall(r"[\w-]+", words))


def _may_be_shown(line: str, secrets: Collection[str]) -> bool:
    """Only a line that begins with a key, so that it is no piece of a longer value, and that names nothing private."""
    if not _KEY_FIRST.match(line) or _is_private(line) or _URL_WITH_LOGIN.search(line):
        return False
    return not any(secret in line for secret in secrets)
