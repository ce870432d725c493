"""Decks with their samples, ready to be judged: read, checked, and given the names that reports call them by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..decks.deck import Deck, read_deck
from ..decks.deck_hash import deck_hash
from ..decks.render import asks_for_label
from ..decks.samples import read_samples
from ..diagnostics import Diagnostic, has_errors
from ..errors import DeckError, UsageError
from ..graders.human_labels import code_labels
from ..graders.human_scale import Scale, scale_for
from ..suite.project import Project, find_project_root, load_project
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

    Raises `DeckError`, or `UsageError` for a deck without samples and for one that shows the label to the judge.
    """
    paths = [path for each in written for path in _deck_files(each)]
    shared = load_samples(sample_files, strict=strict) if sample_files else None
    project = load_project(find_project_root(paths[0].parent))
    problems: list[Diagnostic] = []
    loaded: list[LoadedDeck] = []
    for path in dict.fromkeys(paths):
        deck, diagnostics = read_deck(path)
        problems += diagnostics
        if deck is not None and not (strict and diagnostics):
            loaded.append(_loaded(deck, diagnostics, shared, project.root, allow_label_leak))
    if strict or has_errors(problems):
        _refuse(problems, strict)
    return project, loaded


def _loaded(
    deck: Deck, diagnostics: Sequence[Diagnostic], shared: LoadedSamples | None, root: Path, allow_label_leak: bool
) -> LoadedDeck:
    if asks_for_label(deck) and not allow_label_leak:
        message = (
            f"{deck.file} asks for `expected`, so that the judge is shown the label and its agreement means nothing"
        )
        raise UsageError(message, "remove `[contexts.expected]` from the deck, or say --allow-label-leak")
    _check_gates(deck)
    samples = deck.samples if shared is None else shared.samples
    if not samples:
        hint = "embed a TOML file, `![samples](samples.toml)`, or name one with --samples"
        raise DeckError(
            [*diagnostics, Diagnostic("error", "no-samples", "the deck has no samples", deck.file, hint=hint)]
        )
    scale = scale_for(deck.scale, samples)
    _, off_scale = code_labels(samples, scale)
    if off_scale:
        raise DeckError(off_scale)
    name = Path(os.path.relpath(os.path.realpath(deck.path), root)).as_posix()
    front = deck.front_matter
    quoted = quoted_samples(deck, samples)
    warnings = ([label_leak()] if asks_for_label(deck) else []) + ([quoted] if quoted is not None else [])
    return LoadedDeck(
        name=name,
        deck=deck,
        scale=scale,
        samples=tuple(samples),
        skipped=_skipped(diagnostics) if shared is None else shared.skipped,
        identity=DeckIdentity(name, deck_hash(deck), front.name, front.description),
        diagnostics=(*diagnostics, *(shared.diagnostics if shared is not None else ())),
        warnings=tuple(warnings),
    )


def _check_gates(deck: Deck) -> None:
    """Refuse a bar that is none before any judge is asked."""
    for gate in deck.front_matter.gates or ():
        try:
            parse_gate(gate)
        except UsageError as error:
            raise UsageError(f"{deck.file}: {error}", error.hint) from error


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
