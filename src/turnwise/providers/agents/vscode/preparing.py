"""Fills a claimed folder with everything that a request, or a batch of them, needs before it is handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ....errors import SetupError
from ..document import agent_document
from ..leftovers import read_at_most
from ..mirror import mirror
from ..picture import Picture, picture
from .folders import AgentFolder, gone
from .modes import Mode
from .texts import Letter, orchestrator_text, request_text
from .workspace_file import workspace_text

if TYPE_CHECKING:
    from ...base import ProviderRequest

__all__ = ["Errand", "Prepared", "Recipe", "prepare", "work_in"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What all requests of a target share. `is_kept`: nobody waits for the answers, so the files must stay."""

    template: Mapping[str, Any]
    mode: Mode
    is_kept: bool
    is_batch: bool


@dataclass(frozen=True, slots=True)
class Errand:
    """One request, as VS Code finds it."""

    letter: Letter
    text: str
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A folder that is ready. `handed` is the file that the chat is about; `before` is what the folder held.
    `has_new_mode`: VS Code must find the file of its chat mode first."""

    errands: tuple[Errand, ...]
    handed: Path
    before: Picture
    has_new_mode: bool = False

    @property
    def attached(self) -> list[Path]:
        """The files of the chat; what is asked comes last."""
        return [*dict.fromkeys(file for errand in self.errands for file in errand.files), self.handed]


def prepare(folder: AgentFolder, requests: Sequence[ProviderRequest], recipe: Recipe) -> Prepared:
    """Empty the folder and fill it anew. Raises `SetupError` if that cannot be done."""
    try:
        folder.empty()
        _write_if_new(folder.workspace_file, workspace_text(recipe.template))
        has_new_mode = recipe.mode.install(folder)
        return replace(_filled(folder, requests, recipe), has_new_mode=has_new_mode)
    except OSError as error:
        raise SetupError(
            f"the agent folder {folder.path} cannot be filled: {error}",
            hint="is there room on the disk, and may you write there?",
        ) from error


def work_in(folder: AgentFolder) -> Picture:
    """A picture of the agent's work: the folder without our own book-keeping."""
    return picture(folder.path).without(lambda path: not folder.is_work(path))


def _filled(folder: AgentFolder, requests: Sequence[ProviderRequest], recipe: Recipe) -> Prepared:
    stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S}-{token_hex(4)}"
    place = folder.kept / stamp if recipe.is_kept else folder.messages
    files = (place if recipe.is_kept else folder.path) / "files"
    place.mkdir(parents=True, exist_ok=True)
    if not recipe.is_batch:
        (request,) = requests
        errand = _errand(request, Letter(place, stamp), files)
        return Prepared((errand,), errand.letter.request, work_in(folder))
    errands = tuple(
        _errand(request, Letter(place, f"{stamp}_{index}"), files / str(index))
        for index, request in enumerate(requests)
    )
    orchestrator = place / f"{stamp}_orchestrator.md"
    _write(orchestrator, orchestrator_text([errand.letter for errand in errands]))
    return Prepared(errands, orchestrator, work_in(folder))


def _errand(request: ProviderRequest, letter: Letter, files: Path) -> Errand:
    mirrored = mirror(request.files, files)
    text = request_text(agent_document(request.question, mirrored), letter)
    _write(letter.request, text)
    return Errand(letter, text, tuple(each.path for each in mirrored))


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _write_if_new(path: Path, text: str) -> None:
    """VS Code reacts to a workspace file that is written, so one that is right is left alone."""
    wanted = text.encode()
    if read_at_most(path, len(wanted)) != wanted:
        gone(path)
        path.write_bytes(wanted)
