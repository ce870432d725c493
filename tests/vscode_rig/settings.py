"""The files that VS Code finds when it starts: its settings, its one model, our extension, and the `code` command."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

__all__ = ["MODEL", "models", "write_profile"]

MODEL = "scripted"
"""The model's id; the extension asks for it."""

_HERE = Path(__file__).resolve().parent
_FOLDERS = ("home", "config", "user-data/User", "extensions", "log", "opening", "chats", "bin")
_SETTINGS = {
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "security.workspace.trust.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "workbench.enableExperiments": False,
    "workbench.startupEditor": "none",
    "chat.tools.global.autoApprove": True,
    "chat.tools.edits.autoApprove": {"**/*": True},
    "chat.tools.terminal.autoApprove": {"/.*/": True},
}


def models(url: str) -> list[dict[str, Any]]:
    """What `chatLanguageModels.json` says: one endpoint with one model, without an account.

    >>> models("http://127.0.0.1:8000/v1")[0]["models"][0]["url"]
    'http://127.0.0.1:8000/v1/chat/completions'
    """
    model = {
        "id": MODEL,
        "name": "Scripted model",
        "url": f"{url.rstrip('/')}/chat/completions",
        "toolCalling": True,
        "vision": False,
        "maxInputTokens": 128_000,
        "maxOutputTokens": 4096,
    }
    return [{"vendor": "customendpoint", "name": "Loopback", "apiType": "chat-completions", "models": [model]}]


def write_profile(folder: Path, model_url: str) -> Path:
    """Fill the rig's folder, which must be empty or new; the path of the `code` command."""
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True)
    user = folder / "user-data" / "User"
    (user / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")
    (user / "chatLanguageModels.json").write_text(json.dumps(models(model_url)), encoding="utf-8")
    shutil.copytree(_HERE / "extension", folder / "extensions" / "turnwise-test.chat-window-0.0.1")
    return _write_command(folder / "bin" / "code")


def _write_command(path: Path) -> Path:
    """It names its own interpreter, so that it works with whatever PATH it is started."""
    python, modules = shlex.quote(sys.executable), shlex.quote(str(_HERE.parent))
    path.write_text(
        f'#!/bin/sh\nPYTHONPATH={modules} exec {python} -m vscode_rig.stand_in "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path
