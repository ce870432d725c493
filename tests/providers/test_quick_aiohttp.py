"""aiohttp without its certificates at first, and with them as soon as code of others runs."""

from __future__ import annotations

import subprocess
import sys

_COUNT = """
from aiohttp.connector import _SSL_CONTEXT_VERIFIED as context
print(context.cert_store_stats()["x509_ca"])
"""


def certificates(before: str) -> int:
    """How many certificates the context of aiohttp trusts after some code has run in a process of its own."""
    code = f"from turnwise.providers.quick_aiohttp import *\n{before}\n{_COUNT}"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def test_certificates_wait_and_come() -> None:
    """They are not loaded by the import, but by whatever may need them: then they are those of a plain import."""
    plain = certificates("import aiohttp")
    assert certificates("import_aiohttp()") == 0
    assert certificates("import_aiohttp(); load_certificates()") == plain


def test_a_function_of_a_user_finds_certificates() -> None:
    """Whatever is imported for a `python` target sees aiohttp as it always is."""
    used = (
        "import_aiohttp()\nfrom pathlib import Path\n"
        "from turnwise.providers.python_import import find_function\nfind_function('json:dumps', Path('.'))"
    )
    assert certificates(used) == certificates("import aiohttp")


def test_ssl_is_left_as_it_was() -> None:
    """Nothing stays replaced, and a second import is none."""
    same = "import ssl; before = ssl.SSLContext.load_default_certs; import_aiohttp(); import_aiohttp()\n"
    assert certificates(f"{same}assert ssl.SSLContext.load_default_certs is before") == 0
