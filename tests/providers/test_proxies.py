"""Proxies and certificates by environment variables."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from turnwise.errors import UsageError
from turnwise.providers.proxies import is_loopback, proxy_for, ssl_context

PROXY = "http://10.0.0.1:3128"
OTHER = "http://10.0.0.2:3128"
URL = "https://api.example.com/v1/chat"


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        (URL, {}, None),
        (URL, {"HTTPS_PROXY": PROXY}, PROXY),
        (URL, {"https_proxy": PROXY, "HTTPS_PROXY": OTHER}, PROXY),
        (URL, {"HTTP_PROXY": PROXY}, None),
        (URL, {"ALL_PROXY": PROXY}, PROXY),
        (URL, {"all_proxy": PROXY, "HTTPS_PROXY": OTHER}, OTHER),
        (URL, {"https_proxy": "", "HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY}, None),
        (URL, {"HTTPS_PROXY": "10.0.0.1:3128"}, PROXY),
        ("http://api.example.com/", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://api.example.com/", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, None),
        ("http://api.example.com/", {"http_proxy": PROXY, "REQUEST_METHOD": "GET"}, PROXY),
        (URL, {"HTTPS_PROXY": PROXY, "REQUEST_METHOD": "GET"}, PROXY),
    ],
)
def test_variables(url: str, environment: dict[str, str], proxy: str | None) -> None:
    """The scheme's own variable comes first, small letters before capitals; an empty one means no proxy."""
    assert proxy_for(url, environment) == proxy


@pytest.mark.parametrize(
    ("url", "no_proxy", "direct"),
    [
        (URL, "*", True),
        (URL, "example.com", True),
        (URL, ".example.com", True),
        (URL, "*.example.com", True),
        (URL, "API.Example.COM", True),
        (URL, "other.org, example.com", True),
        (URL, "other.org example.com", True),
        (URL, "ample.com", False),
        (URL, "www.example.com", False),
        (URL, "api.example.com:443", True),
        (URL, "api.example.com:8443", False),
        ("https://api.example.com:8443/", "example.com:8443", True),
        ("https://api.example.com./", "example.com", True),
        (URL, "", False),
        (URL, ".", False),
        ("http://10.1.2.3/", "10.0.0.0/8", True),
        ("http://11.1.2.3/", "10.0.0.0/8", False),
        ("http://10.1.2.3/", "10.1.2.3", True),
        ("http://10.1.2.3:81/", "10.1.2.3:80", False),
        ("http://10.1.2.3/", "2.3", False),
        ("http://[fd00::7]/", "fd00::/8", True),
        ("http://[fd00::7]:81/", "[fd00::7]:81", True),
        ("http://[fd00::7]:81/", "[fd00::7]:82", False),
        ("http://10.1.2.3/", "not/a/network", False),
    ],
)
def test_exceptions(url: str, no_proxy: str, direct: bool) -> None:
    """NO_PROXY holds names with all below them, ports, addresses and networks."""
    environment = {"ALL_PROXY": PROXY, "NO_PROXY": no_proxy}
    assert proxy_for(url, environment) == (None if direct else PROXY)


def test_small_no_proxy_comes_first() -> None:
    """Of `no_proxy` and `NO_PROXY` the one in small letters counts."""
    assert proxy_for(URL, {"ALL_PROXY": PROXY, "no_proxy": "other.org", "NO_PROXY": "*"}) == PROXY


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "api.localhost", "127.0.0.1", "127.200.0.9", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_machine_needs_no_proxy(host: str) -> None:
    """No variable sends requests for this machine through a proxy."""
    assert proxy_for(f"http://{host}:8080/v1", {"ALL_PROXY": PROXY, "http_proxy": PROXY}) is None
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "notlocalhost"])
def test_hosts_that_look_like_this_machine(host: str) -> None:
    """A name that only resembles this machine's goes through the proxy."""
    assert proxy_for(f"http://{host}/", {"ALL_PROXY": PROXY}) == PROXY


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("socks5://me:hidden@10.0.0.1:1080", "socks5 proxy"),
        ("ftp://me:hidden@10.0.0.1", "not the URL"),
        ("http://me:hidden@10.0.0.1:x", "not the URL"),
        ("http://", "not the URL"),
    ],
)
def test_proxy_that_cannot_be_used(value: str, said: str) -> None:
    """A proxy of another kind is an error that names the variable, not the password."""
    with pytest.raises(UsageError, match=f"HTTPS_PROXY .*{said}") as caught:
        proxy_for(URL, {"HTTPS_PROXY": value})
    assert "hidden" not in str(caught.value)
    assert caught.value.hint


def test_unusable_proxy_is_no_problem_where_it_is_not_used() -> None:
    """A socks proxy does not matter for hosts that go out directly."""
    assert proxy_for("http://localhost:1/", {"ALL_PROXY": "socks5://10.0.0.1"}) is None
    assert proxy_for(URL, {"ALL_PROXY": "socks5://10.0.0.1", "NO_PROXY": "example.com"}) is None


class TestCertificates:
    def test_default_checks_names_and_certificates(self) -> None:
        """Without variables servers are checked against what this machine trusts; the context is made once."""
        context = ssl_context({})
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
        assert ssl_context({"PATH": "/bin"}) is context

    @pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    def test_missing_file(self, name: str, tmp_path: Path) -> None:
        """A variable that names nothing is an error with the variable and the path."""
        missing = str(tmp_path / "missing.pem")
        with pytest.raises(UsageError, match=name) as caught:
            ssl_context({name: missing})
        assert missing in str(caught.value)

    def test_file_without_certificates(self, tmp_path: Path) -> None:
        """A file that holds no certificate is an error of its own."""
        empty = tmp_path / "empty.pem"
        empty.write_text("nothing\n")
        with pytest.raises(UsageError, match="holds no certificates"):
            ssl_context({"SSL_CERT_FILE": str(empty)})

    def test_folder_still_checks(self, tmp_path: Path) -> None:
        """A folder of certificates replaces what this machine trusts, and names are still checked."""
        context = ssl_context({"SSL_CERT_DIR": str(tmp_path)})
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
        assert context.get_ca_certs() == []

    def test_openssl_variables_come_first(self, tmp_path: Path) -> None:
        """Where OpenSSL's own variables are set, those of other programs do not matter; empty ones are not set."""
        environment = {"SSL_CERT_DIR": str(tmp_path), "REQUESTS_CA_BUNDLE": "/nowhere", "SSL_CERT_FILE": ""}
        assert ssl_context(environment) is ssl_context({"SSL_CERT_DIR": str(tmp_path)})
