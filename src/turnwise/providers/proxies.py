"""Which proxy and which certificates a request uses, by the usual environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import UsageError
from ..targets.addresses import is_loopback

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["is_loopback", "proxy_for", "ssl_context"]

_DEFAULT_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The URL of the proxy for `url`, credentials included; None where the request goes out directly.

    This machine is never asked through a proxy. Raises `UsageError` for a proxy that cannot be used.

    >>> proxy_for("https://api.example.com/v1", {"HTTPS_PROXY": "http://10.0.0.1:3128"})
    'http://10.0.0.1:3128'
    >>> proxy_for("https://api.example.com/v1", {"ALL_PROXY": "10.0.0.1:3128", "NO_PROXY": ".example.com"}) is None
    True
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".").lower()
    found = _configured(parts.scheme, environment)
    if found is None or is_loopback(host):
        return None
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    excluded = environment.get("no_proxy", environment.get("NO_PROXY", ""))
    if any(_excludes(entry, host, port) for entry in excluded.replace(",", " ").split()):
        return None
    return _usable(*found)


def ssl_context(environment: Mapping[str, str]) -> SSLContext:
    """How servers' certificates are checked. Raises `UsageError` where a variable names no certificates."""
    files = tuple(
        (name, environment[name])
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
        if environment.get(name)
    )
    own = tuple(pair for pair in files if pair[0].startswith("SSL_"))
    return _context(own or files[:1])


@lru_cache(maxsize=16)
def _context(trusted: tuple[tuple[str, str], ...]) -> SSLContext:
    import ssl

    if not trusted:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name, path in trusted:
        try:
            folder = Path(path).is_dir()
            context.load_verify_locations(cafile=None if folder else path, capath=path if folder else None)
        except (OSError, ValueError) as error:  # an SSLError, for a file without certificates, is an OSError
            reason = "does not exist" if isinstance(error, FileNotFoundError) else "holds no certificates we can read"
            raise UsageError(
                f"{name} is {path!r}, which {reason}", hint=f"set {name} to a PEM file of certificates, or unset it"
            ) from error
    return context


def _configured(scheme: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    # In a CGI program HTTP_PROXY is a header of the request being served: anybody could set it.
    distrusted = "HTTP_PROXY" if "REQUEST_METHOD" in environment else None
    for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY"):
        if name in environment and name != distrusted:
            value = environment[name].strip()
            return (name, value) if value else None
    return None


def _usable(name: str, value: str) -> str:
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        scheme, host, _ = parts.scheme.lower(), parts.hostname, parts.port
    except ValueError:
        scheme, host = "http", None
    if scheme.startswith("socks"):
        raise UsageError(
            f"{name} names a {scheme} proxy, which Turnwise cannot use",
            hint=f"set {name} to an http:// proxy, or list the host in NO_PROXY",
        )
    if scheme not in _DEFAULT_PORTS or not host:
        raise UsageError(f"{name} is not the URL of a proxy", hint="write it as http://host:port")
    return url


def _excludes(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    name, only_port = _split_port(entry.lower())
    if only_port is not None and only_port != port:
        return False
    address = _address(host)
    if address is not None:
        return _in_network(address, name)
    suffix = name.removeprefix("*").strip(".")
    return bool(suffix) and (host == suffix or host.endswith(f".{suffix}"))


def _split_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, int(rest[1:]) if rest[1:].isdecimal() else None
    name, colon, digits = entry.rpartition(":")
    if colon and ":" not in name and digits.isdecimal():
        return name, int(digits)
    return entry, None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _in_network(address: IPv4Address | IPv6Address, network: str) -> bool:
    try:
        return address in ip_network(network, strict=False)
    except ValueError:
        return False
