"""What is known of an agent's work besides its answer: kept in results, and given to graders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .changes import Changes

if TYPE_CHECKING:
    from .logs import Log

__all__ = ["AgentWork"]


@dataclass(slots=True, kw_only=True)
class AgentWork:
    """How an agent worked. `folder` is its workspace, there until `release` is called; `kept` says that it stays.
    `notes` say what is missing in all this, and what else went wrong."""

    title: str
    version: str | None = None
    exit_code: int | None = None
    seconds: float | None = None
    folder: Path | None = None
    changes: Changes = field(default_factory=Changes)
    log: Path | None = None
    kept: bool = False
    notes: list[str] = field(default_factory=list)
    on_release: Callable[[bool], bool] | None = field(default=None, repr=False)

    @classmethod
    def of_record(cls, record: Any) -> AgentWork | None:
        """What a result has kept, for graders that look at it again; a workspace that is gone is not there."""
        if not isinstance(record, Mapping):
            return None
        kept, diff = record.get("workspace"), record.get("diff")
        folder = Path(kept) if isinstance(kept, str) and Path(kept).is_dir() else None
        changes = Changes(diff=diff if isinstance(diff, str) else "")
        return cls(title=str(record.get("agent")), folder=folder, changes=changes, kept=folder is not None)

    def keep(self, log: Log) -> None:
        """Note where its log is, and what is missing in it."""
        self.log = log.path
        if log.note is not None:
            self.notes.append(log.note)

    def release(self, *, failed: bool) -> None:
        """Say that nobody needs the workspace any more, and whether its case failed; it is removed, or stays."""
        if self.on_release is not None:
            self.kept, self.on_release = self.on_release(failed), None

    def record(self) -> dict[str, Any]:
        """As it is kept in a result."""
        return {
            "agent": self.title,
            "version": self.version,
            "exit_code": self.exit_code,
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            "workspace": str(self.folder) if self.kept and self.folder is not None else None,
            "changes": [{"path": each.path, "change": each.kind} for each in self.changes.files],
            "diff": self.changes.diff,
            "note": "; ".join(each for each in (self.changes.note, *self.notes) if each) or None,
            "log": None if self.log is None else str(self.log),
        }
