"""What an agent sees of this machine: a HOME of its own, and few variables of the environment. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...programs.environment import environment

__all__ = ["agent_environment"]

# How to reach a model from here is no configuration of the agent's.
_NETWORK = (
    "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NODE_EXTRA_CA_CERTS", "NO_PROXY", "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "all_proxy", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip
_CONFIG = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")


def agent_environment(
    target: Any,
    known: Mapping[str, str],
    *,
    home: Path,
    temp: Path,
    variables: Mapping[str, str],
    config_variables: Sequence[str] = (),
) -> dict[str, str]:
    """The variables for an agent: the usual ones, those that the target passes and sets, and `variables`.

    Its HOME is `home`, unless the target lets it see yours.
    """
    own = target.inherit_config is True
    passed = (*_NETWORK, *(target.pass_env or ()), *((*_CONFIG, *config_variables) if own else ()))
    places = {name: str(temp) for name in ("TMPDIR", "TEMP", "TMP")} | ({} if own else {"HOME": str(home)})
    return {**environment({}, passed, known), **places, **variables, **(target.env or {})}
