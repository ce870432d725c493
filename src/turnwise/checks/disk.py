"""Files and folders that targets name and that are not there, with their places in the targets file."""

from __future__ import annotations

import os
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..diagnostics import Diagnostic, Severity
from ..suite.paths import DataPath, shown_path
from ..suite.project import find_project_root
from ..suite.reading import read_document, read_source_text

if TYPE_CHECKING:
    from ..targets.targets_file import Targets

__all__ = ["missing_on_disk"]


def missing_on_disk(path: Path, targets: Targets, used: Set[str]) -> list[Diagnostic]:
    """What the targets of a file need, and the disk does not have: errors for those that are `used`, and for their
    judges; warnings for the others. The file is one that was read without an error."""
    from ..targets.on_disk import disk_problems

    root, file = find_project_root(path.parent), shown_file(path)
    found = [
        (index, problem)
        for index, target in enumerate(targets.targets)
        for problem in disk_problems(target, root, os.environ)
    ]
    if not found:
        return []
    raw, source = read_document(read_source_text(path, file), file)
    judges = {each.judge_target for each in targets.targets if each.name in used}
    diagnostics: list[Diagnostic] = []
    for index, problem in found:
        place = _place(raw, index, problem.setting)
        severity: Severity = "error" if targets.targets[index].name in used | judges else "warning"
        diagnostics.append(
            Diagnostic(
                severity, "target-path", problem.message, file, source.place(place), problem.hint, shown_path(place)
            )
        )
    return diagnostics


def _place(raw: Any, index: int, setting: str) -> DataPath:
    """A setting that AgentV writes otherwise is not found: then it is the target's."""
    written = raw["targets"][index]
    return ("targets", index, setting) if setting in written else ("targets", index)
