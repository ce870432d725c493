"""AgentV's `targets.yaml`, translated to ours before it is validated. Their names are known here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..suite.paths import DataPath
from .models import PROVIDERS
from .settings import TargetBase

__all__ = ["PROVIDER_ALIASES", "in_snake_case", "is_agentv_targets", "translate_target"]

PROVIDER_ALIASES = {
    "azure-openai": "azure",
    "google": "gemini",
    "google-gemini": "gemini",
    "codex-cli": "codex",
}

_KEYS = {
    "timeout_seconds": "timeout",
    "retry_initial_delay_ms": "retry_initial_delay",
    "retry_max_delay_ms": "retry_max_delay",
    "retry_backoff_factor": "retry_factor",
    "retry_status_codes": "retry_statuses",
    "max_tokens": "max_output_tokens",
}
_PROVIDER_KEYS = {
    "azure": {
        "resource": "endpoint",
        "resource_name": "endpoint",
        "deployment": "model",
        "deployment_name": "model",
        "version": "api_version",
    },
    "codex": {"command": "executable", "binary": "executable", "arguments": "args", "log_directory": "log_dir"},
    "cli": {"command_template": "command", "attachments_format": "files_format"},
    "mock": {"delay_ms": "delay"},
    "vscode": {"vscode_cmd": "executable", "subagent_root": "agent_root", "provider_batching": "batch"},
}
_PROVIDER_KEYS["vscode-insiders"] = _PROVIDER_KEYS["vscode"]
_HEALTHCHECK_KEYS = {"command_template": "command", "timeout_seconds": "timeout"}
_HEALTHCHECK_KNOWN = {"type", "command", "url", "cwd", "timeout"}
_NUMBERS = {
    "timeout", "retry_initial_delay", "retry_max_delay", "retry_factor", "max_output_tokens", "delay",
    "temperature", "max_retries", "thinking_budget", "workers",
}  # fmt: skip
_SWITCHES = {"wait", "dry_run", "batch"}

Authored = Callable[[DataPath], DataPath]


def is_agentv_targets(raw: Any, path: Path) -> bool:
    """Whether a targets file is AgentV's: it says so, or it lies in their folder."""
    schema = raw.get("$schema") if isinstance(raw, dict) else None
    return path.parent.name == ".agentv" or (isinstance(schema, str) and schema.startswith("agentv-targets"))


def translate_target(raw: dict[str, Any]) -> tuple[dict[str, Any], Authored]:
    """The same target in our words, and the way from a path in it back to the path in the file.

    What is not understood is left as it is, for the validator to name.

    >>> target, authored = translate_target({"name": "a", "provider": "google", "maxOutputTokens": 9})
    >>> target, authored(("max_output_tokens",))
    ({'name': 'a', 'provider': 'gemini', 'max_output_tokens': 9}, ('maxOutputTokens',))
    """
    provider = raw.get("provider")
    provider = PROVIDER_ALIASES.get(provider, provider) if isinstance(provider, str) else None
    known = PROVIDERS.get(provider or "", TargetBase).model_fields
    target, written = _renamed(raw, _KEYS | _PROVIDER_KEYS.get(provider or "", {}), set(known))
    if provider is not None:
        target["provider"] = provider
    if provider not in ("vscode", "vscode-insiders"):
        # Theirs too does nothing where the provider cannot batch.
        target.pop("provider_batching", None)
        target.pop("providerBatching", None)
    for key in ("log_format", "logFormat") if provider == "codex" else ():
        target.pop(key, None)  # a log of ours holds every event
    inner: dict[str, str] = {}
    if provider == "cli":
        inner = _translate_cli(target)

    def authored(path: DataPath) -> DataPath:
        match path:
            case ("healthcheck", str() as key, *rest):
                return (written.get("healthcheck", "healthcheck"), inner.get(key, key), *rest)
            case (str() as key, *rest):
                return (written.get(key, key), *rest)
        return path

    return target, authored


def in_snake_case(key: str) -> str:
    """The spelling of a key that we use; AgentV has two.

    >>> in_snake_case("maxOutputTokens")
    'max_output_tokens'
    """
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()


def _translate_cli(target: dict[str, Any]) -> dict[str, str]:
    """Their commands are templates for a shell, and name the case otherwise. Returns the health check's own keys."""
    if isinstance(target.get("command"), str):
        target["command"] = target["command"].replace("{EVAL_ID}", "{CASE_ID}")
        target.setdefault("shell", True)
        if target.get("workspace_template") is None:
            target.setdefault("cwd", ".")  # theirs start in the project
        if "{OUTPUT_FILE}" in target["command"]:
            target.setdefault("answer_from", "file")
    healthcheck = target.get("healthcheck")
    if not isinstance(healthcheck, dict):
        return {}
    target["healthcheck"], written = _renamed(healthcheck, _HEALTHCHECK_KEYS, _HEALTHCHECK_KNOWN)
    if isinstance(check := target["healthcheck"].get("command"), str):
        target["healthcheck"]["command"] = check.replace("{EVAL_ID}", "{CASE_ID}")
    return written


def _renamed(raw: dict[str, Any], names: dict[str, str], known: set[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The mapping under our keys, and for each of them the key in the file."""
    renamed: dict[str, Any] = {}
    written: dict[str, str] = {}
    for key, value in raw.items():
        snake = in_snake_case(key)
        ours = names.get(snake, snake)
        if snake.endswith("_ms"):
            value, ours = _in_seconds(value, ours, key)
        # Of two spellings of one setting the second stays as it is: the validator does not know it, and says so.
        if ours not in known or ours in renamed or (ours != key and ours in raw):
            ours = key
        renamed[ours] = _plain(ours, value)
        written[ours] = key
    return renamed, written


def _plain(key: str, value: Any) -> Any:
    """Their loader takes numbers and switches as text, too."""
    if isinstance(value, str):
        if key in _NUMBERS:
            return _number(value, value)
        if key in _SWITCHES:
            return {"true": True, "false": False}.get(value.lower(), value)
    return value


def _in_seconds(milliseconds: Any, ours: str, key: str) -> tuple[Any, str]:
    """The value in seconds under our key; as it was if it is no number: the unit of a variable cannot be changed."""
    number = _number(milliseconds, None) if isinstance(milliseconds, str) else milliseconds
    if isinstance(number, int | float) and not isinstance(number, bool):
        return number / 1000, ours
    return milliseconds, key


def _number(text: str, otherwise: Any) -> Any:
    if re.fullmatch(r"[0-9]{1,15}", text.strip()):
        return int(text)
    return float(text) if re.fullmatch(r"[0-9]{0,15}\.[0-9]{1,15}", text.strip()) else otherwise
