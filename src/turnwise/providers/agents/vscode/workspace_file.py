"""The `.code-workspace` file of an agent's folder, made from the target's `workspace_template`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....errors import SetupError
from .jsonc import read_jsonc

__all__ = ["template_of", "workspace_text"]

_OWN = {"path": "."}
_ENDING = ".code-workspace"


def template_of(target: Any, project: Path) -> Mapping[str, Any]:
    """What the target's workspaces hold besides the agent's own folder. Raises `SetupError` if it cannot be read."""
    if target.workspace_template is None:
        return {}
    path = Path(os.path.normpath(project / Path(target.workspace_template).expanduser()))
    if path.is_dir():
        return {"folders": [{"path": str(path)}]}
    what = f"target {target.name!r}: `workspace_template` {path}"
    if not path.is_file():
        raise SetupError(f"{what} does not exist", hint="paths start at the project")
    if not path.name.endswith(_ENDING):
        raise SetupError(f"{what} is neither a folder nor a {_ENDING} file", hint="name one of the two")
    return _from_file(path, what)


def workspace_text(template: Mapping[str, Any]) -> str:
    """The text of a workspace file: the agent's own folder first, then what the template lists.

    >>> import json
    >>> json.loads(workspace_text({"folders": [{"path": "/code"}], "settings": {"a": 1}}))
    {'folders': [{'path': '.'}, {'path': '/code'}], 'settings': {'a': 1}}
    """
    listed = [each for each in template.get("folders", ()) if each != _OWN]
    return json.dumps({**template, "folders": [_OWN, *listed]}, indent=2, ensure_ascii=False) + "\n"


def _from_file(path: Path, what: str) -> Mapping[str, Any]:
    try:
        content = read_jsonc(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SetupError(f"{what} cannot be read: {error}", hint="open it in VS Code to see what is wrong") from error
    folders = content.get("folders", []) if isinstance(content, dict) else None
    if not isinstance(folders, list) or not all(isinstance(each, dict) for each in folders):
        raise SetupError(f"{what} has no list of `folders`", hint="save it anew in VS Code")
    return {**content, "folders": [_absolute(each, path.parent) for each in folders]}


def _absolute(folder: Mapping[str, Any], start: Path) -> dict[str, Any]:
    """Relative paths start at the template, and the new file is elsewhere. A `uri` needs no change."""
    written = folder.get("path")
    return {**folder, "path": os.path.normpath(start / written)} if isinstance(written, str) else dict(folder)
