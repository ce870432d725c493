"""Decks with their samples, ready to be judged: read, checked, and given the names that reports call them by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..decks.deck import Deck, read_deck
from ..decks.deck_hash import deck_hash
from ..decks.render import LABEL, asks_for_label
from ..decks.samples import read_samples
from ..diagnostics import Diagnostic, has_errors
from ..errors import DeckError, UsageError
from ..graders.human_labels import code_labels, third_label
from ..graders.human_scale import Scale, scale_for
from ..suite.project import PROJECT_MARKERS, Project, find_project_root, load_project
from .gates import parse_gate
from .report import DeckIdentity, Warned
from .warned import label_leak, quoted_samples

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..decks.scale import ScaleSpec
    from .answer_files import Answers

__all__ = ["LoadedDeck", "LoadedSamples", "deck_hash", "load_decks", "load_samples"]


@dataclass(frozen=True, slots=True)
class LoadedSamples:
    """Samples that can be used, how many cannot, and what there is to say about them."""

    samples: tuple[Sample, ...]
    skipped: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class LoadedDeck:
    """A deck with the samples that it is measured on. `name` is its path from the project's root.

    With `answers`, the samples are those instead: they are judged, but measure nothing.
    """

    name: str
    deck: Deck
    scale: Scale
    samples: tuple[Sample, ...]
    files: tuple[str, ...]
    skipped: int
    identity: DeckIdentity
    diagnostics: tuple[Diagnostic, ...]
    warnings: tuple[Warned, ...]
    answers: Answers | None = None

    @property
    def spec(self) -> ScaleSpec | None:
        """The scale that it declares."""
        return self.deck.scale


def load_samples(files: Sequence[str], *, strict: bool = False) -> LoadedSamples:
    """The samples of all files, whose ids must differ. Raises `DeckError`; with `strict` for every warning."""
    samples: list[Sample] = []
    said: list[Diagnostic] = []
    first: dict[str, Sample] = {}
    for file in files:
        found, diagnostics = read_samples(Path(file))
        said += diagnostics
        for sample in found:
            before = first.setdefault(sample.id, sample)
            if before is not sample:
                said.append(_twice(sample, before))
        samples += found
    _refuse(said, strict)
    return LoadedSamples(tuple(samples), _skipped(said), tuple(said))


def load_decks(
    written: Sequence[str],
    sample_files: Sequence[str] = (),
    *,
    strict: bool = False,
    allow_label_leak: bool = False,
) -> tuple[Project, list[LoadedDeck]]:
    """Every deck with its own samples, or with those of the files; and the project of the first.

    Raises `DeckError` with all that is wrong with any of them.
    """
    paths = {os.path.realpath(path): path for each in written for path in _deck_files(each)}
    shared = load_samples(sample_files, strict=strict) if sample_files else None
    project = load_project(_root_of(next(iter(paths.values()))))
    problems: list[Diagnostic] = []
    loaded: list[LoadedDeck] = []
    for path in paths.values():
        deck, diagnostics = read_deck(path)
        found = [] if deck is None else _unusable(deck, shared, allow_label_leak)
        problems += [*diagnostics, *found]
        if deck is not None and not found:
            loaded.append(_loaded(deck, diagnostics, shared, project.root))
    _refuse(problems, strict)
    return project, loaded


def _root_of(deck: Path) -> Path:
    """The root of the deck's project. Where there is none yet, it is the current folder if the deck lies below: a
    calibration must not make a project of the folder in which the deck happens to be."""
    root, here = find_project_root(deck.parent), Path(os.path.realpath(Path.cwd()))
    is_project = any((root / marker).exists() for marker in PROJECT_MARKERS)
    return here if not is_project and root.is_relative_to(here) else root


def _unusable(deck: Deck, shared: LoadedSamples | None, allow_label_leak: bool) -> list[Diagnostic]:
    """What keeps a well-formed deck from being calibrated."""
    found = _bad_gates(deck)
    leak = next((each for each in deck.contexts if each.name == LABEL), None)
    if leak is not None and not allow_label_leak:
        message = "the deck asks for `expected`: the judge is shown the label, so that its agreement means nothing"
        hint = "remove `[contexts.expected]` from the deck, or say --allow-label-leak"
        found.append(Diagnostic("error", "label-leak", message, leak.file, leak.place, hint, f"contexts.{LABEL}"))
    samples = deck.samples if shared is None else shared.samples
    if not samples:
        hint = "embed a TOML file, `![samples](samples.toml)`, or name one with --samples"
        found.append(Diagnostic("error", "no-samples", "the deck has no samples", deck.file, hint=hint))
    scale = scale_for(deck.scale, samples)
    return [*found, *third_label(samples, scale), *code_labels(samples, scale)[1]]


def _loaded(deck: Deck, diagnostics: Sequence[Diagnostic], shared: LoadedSamples | None, root: Path) -> LoadedDeck:
    samples = deck.samples if shared is None else shared.samples
    name = _from_root(deck.path, root)
    front = deck.front_matter
    quoted = quoted_samples(deck, samples)
    warnings = ([label_leak()] if asks_for_label(deck) else []) + ([quoted] if quoted is not None else [])
    return LoadedDeck(
        name=name,
        deck=deck,
        scale=scale_for(deck.scale, samples),
        samples=tuple(samples),
        files=tuple(dict.fromkeys(_from_root(Path(sample.file), root) for sample in samples)),
        skipped=_skipped(diagnostics) if shared is None else shared.skipped,
        identity=DeckIdentity(name, deck_hash(deck), front.name, front.description),
        diagnostics=(*diagnostics, *(shared.diagnostics if shared is not None else ())),
        warnings=tuple(warnings),
    )


def _from_root(path: Path, root: Path) -> str:
    """The path from the project's root: the same wherever the command is started."""
    return Path(os.path.relpath(os.path.realpath(path), root)).as_posix()


def _bad_gates(deck: Deck) -> list[Diagnostic]:
    """Bars that are none: to be said before any judge is asked."""
    found = []
    for gate in deck.front_matter.gates or ():
        try:
            parse_gate(gate)
        except UsageError as error:
            found.append(Diagnostic("error", "bad-gate", str(error), deck.file, hint=error.hint, path="gates"))
    return found


def _deck_files(written: str) -> list[Path]:
    path = Path(written)
    if path.is_dir():
        found = sorted(path.glob("**/*.deck.md"))
        if not found:
            raise UsageError(f"there is no deck in {written}", "a deck is a file whose name ends in .deck.md")
        return found
    return [path]


def _skipped(diagnostics: Sequence[Diagnostic]) -> int:
    """How many samples warnings are about: each is skipped."""
    return len({(each.file, each.case_id) for each in diagnostics if each.code == "bad-sample"})


def _refuse(said: Sequence[Diagnostic], strict: bool) -> None:
    if strict and said:
        raise DeckError([replace(each, severity="error") for each in said])
    if has_errors(list(said)):
        raise DeckError(list(said))


def _twice(sample: Sample, before: Sample) -> Diagnostic:
    message = f"the sample id {sample.id!r} is used twice, first in {before.file}, line {before.place.line}"
    return Diagnostic("error", "duplicate-id", message, sample.file, sample.place, "rename one of them", "", sample.id)
