"""What a target does not say, and the environment's usual variables or the vendor's own address do.

A usual variable is written into the target as `${{ NAME }}`: from there on it is a variable like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .addresses import VENDOR_ADDRESSES, bedrock_address, host_of, is_on_this_machine, whole_address
from .variables import substitute

__all__ = ["with_usual_settings"]

_AZURE_API_VERSION = "2024-10-21"
_AZURE_HOSTS = (".azure.com", ".azure.us", ".azure.cn")
# The first one that is set is used; if none is, and one must be, the first is called missing.
_ADDRESS_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "openai-responses": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
_KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
}
_AGENT_KEYS = {"codex": ("CODEX_API_KEY", "OPENAI_API_KEY"), "claude-code": ("ANTHROPIC_API_KEY",)}
_OPENROUTER = host_of(VENDOR_ADDRESSES["openrouter"])

Settings = dict[str, Any]
Environment = Mapping[str, str]


def with_usual_settings(settings: Settings, environment: Environment) -> Settings:
    """The settings of a target, and those that it leaves to the usual variables and addresses.

    A variable that must be set and is not stands there as well, for the caller to name.

    >>> with_usual_settings({"provider": "openai"}, {})
    {'provider': 'openai', 'base_url': 'https://api.openai.com/v1', 'api_key': '${{ OPENAI_API_KEY }}'}
    """
    match settings["provider"]:
        case "azure":
            return _azure(settings, environment)
        case "bedrock":
            return _bedrock(settings, environment)
        case provider if provider in _AGENT_KEYS:
            return _agent(settings, environment)
        case provider if provider in VENDOR_ADDRESSES:
            return _vendor(settings, environment)
    return settings


def _vendor(settings: Settings, environment: Environment) -> Settings:
    provider = settings["provider"]
    usual = _first_set((_ADDRESS_VARIABLES.get(provider, ""),), environment)
    filled = {**settings, "base_url": settings.get("base_url", usual or VENDOR_ADDRESSES[provider])}
    if "api_key" in filled:
        return filled
    address = whole_address(provider, substitute(filled["base_url"], environment)[0])
    host = host_of(address)
    openrouter = provider == "openai" and host == _OPENROUTER
    names = _KEY_VARIABLES["openrouter"] if openrouter else _KEY_VARIABLES.get(provider, ())
    key = _first_set(names, environment)
    # Not in the clear: on the way, anybody could read a key over plain HTTP.
    is_vendors = address.startswith("https:") and (openrouter or host == host_of(VENDOR_ADDRESSES[provider]))
    if names and is_vendors:
        return {**filled, "api_key": key or _reference(names[0])}
    # A key goes to no host that it was not made for because somebody wrote another address into a file.
    if key and ("base_url" not in settings or is_on_this_machine(address)):
        return {**filled, "api_key": key}
    return filled


def _agent(settings: Settings, environment: Environment) -> Settings:
    """An agent that does not see your configuration is not signed in; as above, a key goes to no host that somebody
    wrote into a file."""
    key = _first_set(_AGENT_KEYS[settings["provider"]], environment)
    address = substitute(settings.get("base_url", ""), environment)[0]
    if "api_key" in settings or key is None or settings.get("inherit_config") is True:
        return settings
    return {**settings, "api_key": key} if not address or is_on_this_machine(address) else settings


def _azure(settings: Settings, environment: Environment) -> Settings:
    filled = {"endpoint": _reference("AZURE_OPENAI_ENDPOINT"), **settings}
    address = whole_address("azure", substitute(filled["endpoint"], environment)[0])
    version = _first_set(("OPENAI_API_VERSION",), environment) or _AZURE_API_VERSION
    filled.setdefault("api_version", "v1" if address.endswith("/openai/v1") else version)
    if "api_key" in filled or "entra_token" in filled or not _is_azures("endpoint" in settings, address):
        return filled
    token = _first_set(("AZURE_OPENAI_AD_TOKEN",), environment)
    if token and not environment.get("AZURE_OPENAI_API_KEY"):
        return {**filled, "entra_token": token}
    return {**filled, "api_key": _reference("AZURE_OPENAI_API_KEY")}


def _is_azures(is_written: bool, address: str) -> bool:
    """Whether Azure's key may go there: as above, to no other host that somebody wrote into a file."""
    host = host_of(address) or ""
    is_azures = address.startswith("https:") and host.endswith(_AZURE_HOSTS)
    return not is_written or "${{" in address or is_on_this_machine(address) or is_azures


def _bedrock(settings: Settings, environment: Environment) -> Settings:
    region = _first_set(("AWS_REGION", "AWS_DEFAULT_REGION"), environment)
    token = _first_set(("AWS_BEARER_TOKEN_BEDROCK",), environment)
    filled = dict(settings)
    if "api_key" not in filled and token and "base_url" not in filled:
        filled["api_key"] = token
    # A request that is signed is signed for a region.
    if "region" not in filled and (region or "base_url" not in filled or "api_key" not in filled):
        filled["region"] = region or _reference("AWS_REGION")
    if "base_url" not in filled:
        filled["base_url"] = bedrock_address(substitute(filled["region"], environment)[0])
    return filled


def _first_set(names: tuple[str, ...], environment: Environment) -> str | None:
    """A reference to the first variable that is set, and not empty."""
    return next((_reference(name) for name in names if environment.get(name)), None)


def _reference(name: str) -> str:
    return f"${{{{ {name} }}}}"
