"""The target that a name means: one of the project's file, or a `provider/model` that needs no file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from ..errors import UsageError
from .models import PROVIDERS
from .plugins import find_plugin, plugin_names
from .settings import TargetBase
from .variables import malformed

if TYPE_CHECKING:
    from ..suite.project import Project
    from .format import Target
    from .targets_file import Targets

__all__ = ["find_target", "load_project_targets"]

# The one setting that comes after the slash, where it is not `model`.
_MAIN_SETTINGS = {
    "http": "url",
    "python": "function",
    "replay": "path",
    "mock": "response",
    "cli": "command",
    "vscode": "workspace_template",
    "vscode-insiders": "workspace_template",
}
# What a bare provider's name means, for those that need nothing else.
_BARE: dict[str, dict[str, Any]] = {"local": {}, "mock": {"echo": True}}


def find_target(name: str, targets: Targets | None, *, file: str) -> Target:
    """The target of that name, or the one that `provider/model` describes. Raises `UsageError` if there is neither.

    `file` is the name of the targets file in messages.

    >>> find_target("ollama/qwen3:4b", None, file="targets.yaml").model
    'qwen3:4b'
    """
    found = targets.target(name) if targets is not None else None
    if found is not None:
        return found
    if name in _BARE:
        return _made(name, name, _BARE[name])
    provider, slash, main = name.partition("/")
    if slash and _model_of(provider) is not None:
        setting = _MAIN_SETTINGS.get(provider, "model")
        if not main.strip():
            raise UsageError(f"{name!r} names no {setting}", f"write {provider}/ and the {setting} after it")
        return _made(name, provider, {setting: main})
    raise _unknown(name, targets, file)


def load_project_targets(project: Project) -> Targets | None:
    """The targets of a project, or None if it has no targets file. Raises `TargetsError`.

    A file that the config names must be there.
    """
    from .load import load_targets

    if project.config.targets is None and not project.targets_file.exists():
        return None
    return load_targets(project.targets_file)


def _model_of(provider: str) -> type[TargetBase] | None:
    if provider in PROVIDERS:
        return PROVIDERS[provider]
    plugin = find_plugin(provider)
    return plugin.target_model if plugin is not None else None


def _made(name: str, provider: str, settings: dict[str, Any]) -> Target:
    model = _model_of(provider)
    assert model is not None
    if faults := malformed(settings):
        raise UsageError(f"the target {name!r} cannot be used: {faults[0].message}", faults[0].hint)
    try:
        # A target of another package has a model of its own, and is treated like ours from here on.
        return cast("Target", model.model_validate({"name": name, "provider": provider, **settings}))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = f"`{fault['loc'][0]}`: " if fault["loc"] else ""
        hint = str(fault.get("ctx", {}).get("hint") or "define the target in the targets file")
        raise UsageError(f"the target {name!r} cannot be used: {where}{fault['msg']}", hint) from None


def _unknown(name: str, targets: Targets | None, file: str) -> UsageError:
    from ..conversation.files import shown_file
    from ..suite.explain import did_you_mean

    known = [target.name for target in targets.targets] if targets is not None else []
    provider, slash, _ = name.partition("/")
    if slash:
        hint = did_you_mean(provider, [*PROVIDERS, *plugin_names()], "providers are")
    elif name in PROVIDERS:
        hint = f"write {name}/ and the {_MAIN_SETTINGS.get(name, 'model')} after it"
    else:
        near = did_you_mean(name, [*known, *PROVIDERS]) if known else ""
        either = "name one of these" if known else "define targets in the file"
        # Without a near one it would list them all, which the message does already.
        hint = near if near.endswith("?") else f"{either}, or write provider/model, such as openai/MODEL"
    shown = shown_file(Path(file))
    place = f"{shown} has {', '.join(known)}" if known else f"there is no {shown}"
    return UsageError(f"no target is named {name!r}: {place}", hint)
