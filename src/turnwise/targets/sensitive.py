"""Which texts of a target are secret, and what stands in their place where people look.

Secret are keys and tokens, whatever a name like `X-Api-Key` holds, headers, bodies and environment variables that are
filled from a variable, every variable with such a name, and what stands before the `@` or behind the `?` of an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ..suite.paths import DataPath
from .variables import Reference, is_whole_reference, references, substitute

__all__ = [
    "in_shell",
    "looks_secret",
    "redacted",
    "redactions",
    "secret_literals",
    "secret_values",
    "secret_variables",
]

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_SECRET_WORDS = {
    "auth", "authorization", "bearer", "cookie", "credential", "credentials", "keys", "passphrase", "pat", "pwd", "sas",
    "sig", "signature",
}  # fmt: skip
_FOLDERS = ("PWD", "OLDPWD")
_SECRET_ENDINGS = ("key", "token", "secret", "secrets", "password", "passwd")
_PRIVATE_MAPPINGS = ("headers", "env", "body", "extra_body")
_MARK = "\x00"
_LOGIN = re.compile(r"(?<=://)(?:\[redacted: [^\]]*\]|[^/?#\s])+(?=@)")
_QUERY = re.compile(r"(?<=[?&])([^=&#\s]+)=((?:\[redacted: [^\]]*\]|[^&#\s])+)")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# A shorter text stands in too many others to be looked for in them; as a secret it would be none.
_SHORTEST = 4


def redacted(name: str) -> str:
    """What people see instead of a secret.

    >>> redacted("OPENAI_API_KEY")
    '[redacted: OPENAI_API_KEY]'
    """
    return f"[redacted: {name}]"


def in_shell(name: str) -> str:
    """The variable that a shell fills in for the secret of that name.

    >>> in_shell("OPENAI_API_KEY"), in_shell("X-Api-Key"), in_shell("api_key")
    ('OPENAI_API_KEY', 'X_API_KEY', 'API_KEY')
    """
    return re.sub(r"\W", "_", name).upper() if not name.isidentifier() or name.islower() else name


def looks_secret(name: str) -> bool:
    """Whether a value of that name must not be shown.

    >>> looks_secret("OPENAI_API_KEY"), looks_secret("X-Auth-Token"), looks_secret("max_tokens")
    (True, True, False)
    """
    if name in _FOLDERS:
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    return words[-1:] == ["pass"] or any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS) for word in words)


def secret_variables(settings: Mapping[str, Any]) -> set[str]:
    """The variables of a target whose values are secret, by their names or by where they stand."""
    used = references(dict(settings))
    addresses = [text for path, text in texts(settings) if path[0] in ("base_url", "endpoint", "url")]
    logins = {name for text in addresses for name in (*_names_in_login(text), *_names_in_query(text))}
    return logins | {use.name for use in used if _is_secret_use(use)}


def secret_literals(settings: Mapping[str, Any]) -> list[DataPath]:
    """Where a target holds a secret that is written out."""
    # A `{{ placeholder }}` is filled with something of the case, which is no secret.
    written = ((path, text) for path, text in texts(settings) if "{{" not in text.replace("${{", ""))
    return [path for path, text in written if _is_secret_path(path) and not references(text)]


def redactions(settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[DataPath, str]:
    """The texts of a target that hold secrets, filled in, with labels for the secrets."""
    secret = secret_variables(settings)
    known = {**environment, **{name: redacted(name) for name in secret}}
    literals = set(secret_literals(settings))
    found = {}
    for path, text in texts(settings):
        setting = _setting(path)
        name = references(text)[0].name if is_whole_reference(text) else setting
        shown = redacted(setting) if path in literals else substitute(text, known)[0]
        shown = _without_logins(shown, name, {redacted(each) for each in secret})
        if shown != substitute(text, environment)[0]:
            found[path] = shown
    return found


def secret_values(settings: Mapping[str, Any], environment: Mapping[str, str]) -> frozenset[str]:
    """Every secret of a target as it may turn up in an answer or a message, and the passwords of proxies."""
    named = {name: environment.get(name, "") for name in secret_variables(settings)}
    found = {value for name, value in named.items() if not _is_word(name, value, settings)}
    literals = set(secret_literals(settings))
    for path, text in texts(settings):
        filled = substitute(text, environment)[0]
        if path in literals:
            found |= {filled, *filled.split()[-1:]}
        found |= _secrets_of_address(filled)
    for name in _PROXIES:
        for value in (environment.get(name), environment.get(name.lower())):
            found |= _secrets_of_address(value) if value else set()
    return frozenset(text for value in found if len(text := value.strip()) >= _SHORTEST)


def _is_word(name: str, value: str, settings: Mapping[str, Any]) -> bool:
    """Whether a value is a plain word, such as `staging`, that is taken for a secret only for where it stands: to take
    it out of answers would change what they say."""
    uses = [use for use in references(dict(settings)) if use.name == name]
    only_set = all(use.path[0] == "env" and not _is_secret_path(use.path) for use in uses)
    return value.isalpha() and only_set and not looks_secret(name)


def texts(value: Any, path: DataPath = ()) -> Iterator[tuple[DataPath, str]]:
    """Every text in a value, with the path to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, (*path, index))


def _is_secret_path(path: DataPath) -> bool:
    return any(isinstance(step, str) and looks_secret(step) for step in path)


def _is_secret_use(use: Reference) -> bool:
    return looks_secret(use.name) or use.path[0] in _PRIVATE_MAPPINGS or _is_secret_path(use.path)


def _names_in_query(text: str) -> list[str]:
    """Variables after the `?` of an address: what an application calls its key there is anybody's guess."""
    address, _, query = text.partition("?")
    return [use.name for use in references(query)] if "://" in address or "${{" in address else []


def _names_in_login(text: str) -> list[str]:
    names = [use.name for use in references(text)]
    marked = substitute(text, {name: f"{_MARK}{name}{_MARK}" for name in names})[0]
    return [name for login in _LOGIN.findall(marked) for name in names if f"{_MARK}{name}{_MARK}" in login]


def _setting(path: DataPath) -> str:
    return str(next(step for step in reversed(path) if isinstance(step, str)))


def _without_logins(text: str, name: str, labels: set[str]) -> str:
    """The text without what stands before the `@` of an address, or after `key=` in it, labels aside."""

    def hidden(secret: str) -> str:
        rest = secret
        for known in labels:
            rest = rest.replace(known, "")
        return redacted(name) if rest.strip(":") and "{{" not in rest else secret

    def in_query(match: re.Match[str]) -> str:
        return f"{match[1]}={hidden(match[2])}" if looks_secret(match[1]) else match[0]

    if "://" not in text:
        return text
    return _QUERY.sub(in_query, _LOGIN.sub(lambda match: hidden(match[0]), text))


def _secrets_of_address(text: str) -> set[str]:
    """Logins and keys of the addresses in a text, each as written and decoded."""
    if "://" not in text:
        return set()
    logins = _LOGIN.findall(text)
    found = {*logins, *(login.partition(":")[2] for login in logins)}
    found |= {value for name, value in _QUERY.findall(text) if looks_secret(name)}
    return found | {unquote(each) for each in found}
