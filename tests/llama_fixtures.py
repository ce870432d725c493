"""Real llama.cpp servers with a tiny model, for test modules that say `pytest_plugins = ["llama_fixtures"]`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tiny_gguf import write_tiny_gguf
from turnwise.providers.llama_process import LlamaOptions, LlamaServers


class LlamaAddresses(NamedTuple):
    """Two real llama.cpp servers, as `http://127.0.0.1:PORT`; the second refuses requests without `api_key`."""

    open: str
    locked: str
    api_key: str


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of half a megabyte, `tiny.gguf`."""
    pytest.importorskip("gguf")
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_tiny_gguf(path)
    return path


@pytest.fixture(scope="session")
def llama_server(tiny_model: Path) -> Iterator[LlamaAddresses]:
    """Two real llama.cpp servers with the tiny model, one of them with a key."""
    pytest.importorskip("xllamacpp")
    servers, key = LlamaServers(), "sk-local-test-key"

    async def start(key: str | None) -> str:
        return (await servers.address(LlamaOptions(tiny_model, 4096, api_key=key))).removesuffix("/v1")

    try:
        yield LlamaAddresses(asyncio.run(start(None)), asyncio.run(start(key)), key)
    finally:
        asyncio.run(servers.close())
