"""Addresses of APIs: the vendors' own, the short forms that people write, and what is wrong with one."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

__all__ = [
    "AWS_REGION",
    "AZURE_RESOURCE",
    "VENDOR_ADDRESSES",
    "address_problem",
    "bedrock_address",
    "host_of",
    "is_loopback",
    "is_on_this_machine",
    "whole_address",
]

VENDOR_ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
"""Where each provider's API is if nobody says otherwise. Those of Azure and Bedrock depend on the account."""

AZURE_RESOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
AWS_REGION = re.compile(r"[a-z0-9-]+")
_OLLAMA = re.compile(r"(?P<host>\[[^\]]*\]|[^:/\s]*)(?::(?P<port>[0-9]+))?(?P<path>/\S*)?")
_EVERY_INTERFACE = re.compile(r"(?<=://)(?:0\.0\.0\.0|\[::\])(?=[:/]|$)")
_NO_PATH = re.compile(r"https?://[^/]+")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")
_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f]")


def bedrock_address(region: str) -> str:
    """The address of Bedrock's runtime in a region.

    >>> bedrock_address("eu-west-1")
    'https://bedrock-runtime.eu-west-1.amazonaws.com'
    """
    return f"https://bedrock-runtime.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def whole_address(provider: str, text: str) -> str:
    """The address that a short form stands for, without a slash at its end; other texts as they are.

    >>> whole_address("azure", "my-resource"), whole_address("ollama", "0.0.0.0")
    ('https://my-resource.openai.azure.com', 'http://127.0.0.1:11434/v1')
    """
    text = text.strip().rstrip("/")
    if provider == "azure" and AZURE_RESOURCE.fullmatch(text):
        return f"https://{text}.openai.azure.com"
    return _ollama_address(text) if provider == "ollama" else text


def _ollama_address(text: str) -> str:
    """`OLLAMA_HOST` is a host, with a port or without, or an address; the Chat Completions API is below /v1 there."""
    if "://" not in text and (short := _OLLAMA.fullmatch(text)):
        text = f"http://{short['host'] or '127.0.0.1'}:{short['port'] or 11434}{short['path'] or ''}"
    # The address that a server listens on is not one that can be asked everywhere.
    text = _EVERY_INTERFACE.sub("127.0.0.1", text)
    return f"{text}/v1" if _NO_PATH.fullmatch(text) else text


def address_problem(text: str, *, template: bool = False) -> str | None:
    """What is wrong with an address, or None; nothing of it is quoted, for it may hold a password.

    With `template`, it may hold `{{ … }}` and a query, as the address of a single request may.

    >>> address_problem("ftp://host"), address_problem("https://host/v1")
    ('must start with http:// or https://', None)
    """
    if template:
        text = _PLACEHOLDER.sub("x", text)
    if _UNPRINTABLE.search(text):
        return "must not hold spaces or line breaks"
    parts = _split(text)
    if parts is None:
        return "is not an address: its host or port cannot be read"
    if parts.scheme not in ("http", "https") or "://" not in text:
        return "must start with http:// or https://"
    if not parts.hostname:
        return "has no host"
    if (parts.query or parts.fragment) and not template:
        return "must end before `?` and `#`: paths are added to it"
    return None


def host_of(text: str) -> str | None:
    """The host of an address, in lower case; None if there is none.

    >>> host_of("https://me:secret@Example.org:8080/v1")
    'example.org'
    """
    parts = _split(text)
    return parts.hostname if parts else None


def is_on_this_machine(text: str) -> bool:
    """Whether an address leads to this machine.

    >>> is_on_this_machine("http://127.0.0.1:8000/v1"), is_on_this_machine("https://api.openai.com/v1")
    (True, False)
    """
    host = host_of(text)
    return host is not None and is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine.

    >>> [is_loopback(host) for host in ("localhost", "api.localhost", "127.9.9.9", "::1", "127.example.com")]
    [True, True, True, True, False]
    """
    host = host.strip("[]").rstrip(".").lower()
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port  # read only now, and only now found to be wrong
    except ValueError:
        return None
    return parts
