"""How the settings of agents go together, besides those of a command: models, keys and folders. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import SetupError

__all__ = ["check_at", "check_copilot", "check_folders", "check_model_of_server", "check_owner_of_key", "check_pi"]

_SHORTEST_KEY = 8


def check_at(setting: str, check: Callable[[Any], None], target: Any) -> None:
    """Make a check part of a model's validation: what it raises is said of that setting."""
    from pydantic_core import PydanticCustomError

    try:
        check(target)
    except SetupError as error:
        context = {"rule": str(error), "hint": error.hint or "correct it", "at": setting}
        raise PydanticCustomError("agent_setting", "{rule}", context) from error


def check_folders(target: Any) -> None:
    """Raise `SetupError` for folders that contradict each other."""
    other = "workspace_template" if target.workspace_template is not None else "workspace_revision"
    if target.cwd is not None and getattr(target, other) is not None:
        raise SetupError(
            f"`{other}` is for a fresh workspace, and `cwd` says to work in a folder of your own",
            hint="remove one of them",
        )
    if target.workspace_revision is not None and target.workspace_template is None:
        message = "`workspace_revision` needs `workspace_template`, the repository"
        raise SetupError(message, hint="add `workspace_template: PATH`")


def check_pi(target: Any) -> None:
    """Raise `SetupError` for settings that pi cannot have together."""
    if target.inherit_config is True and (target.base_url or target.api_key):
        raise SetupError(
            "pi takes addresses and keys from its own configuration where the target says `inherit_config: true`",
            hint="put them into ~/.pi/agent/models.json, or leave `inherit_config` out",
        )
    if target.base_url and not target.model:
        raise SetupError("pi must be told the model of the server at `base_url`", hint="set the target's `model`")
    if target.api_key and not target.base_url and not _names_vendor(target.model):
        raise SetupError(
            "pi has many providers, and nothing says whose key `api_key` is",
            hint="write `model: PROVIDER/MODEL`, such as anthropic/claude-sonnet-5",
        )


def check_owner_of_key(target: Any, title: str) -> None:
    """Raise `SetupError` for a key without a vendor, of a program that has many."""
    if target.api_key and not target.base_url and not _names_vendor(target.model):
        found = "no model" if not target.model else f"the model {target.model!r}"
        message = f"nothing tells {title} whose key `api_key` is: the target names {found}"
        raise SetupError(message, hint="write the vendor before the model: anthropic/MODEL")


def check_copilot(target: Any) -> None:
    """Raise `SetupError` for a key that the Copilot CLI cannot work with, and for a server without a model."""
    check_model_of_server(target, "Copilot CLI")
    key = target.api_key
    if target.base_url and key and "${{" not in key and len(key) < _SHORTEST_KEY:
        # The program masks its key wherever the letters of it stand, in its events too.
        message = f"a key of less than {_SHORTEST_KEY} characters does not work with the Copilot CLI"
        raise SetupError(message, hint="it masks the key in its own output; use a longer one")


def check_model_of_server(target: Any, title: str) -> None:
    """Raise `SetupError` for a server without a model."""
    if target.base_url and not target.model:
        raise SetupError(f"`base_url` needs a `model` beside it, for {title}", hint="name a model of that server")


def _names_vendor(model: str | None) -> bool:
    return model is not None and ("/" in model or "${{" in model)
