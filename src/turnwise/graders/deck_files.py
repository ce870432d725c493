"""Finding the decks that a suite's graders name, and what keeps one from being used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileReferenceError, Problem
from .deck_score import why_no_score
from .inside import decks_inside, names_judge
from .numbered import GraderIndex, numbered_graders
from .specs import make_graders
from .verdict_scale import Code, Scale, declared_scale

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from ..diagnostics import Diagnostic
    from ..suite.case import Case, CaseContext
    from ..suite.format import GraderSpec
    from ..suite.paths import DataPath

__all__ = ["DeckUse", "FoundDeck", "deck_uses", "find_deck"]

_MOST_KEPT = 64
Stamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class DeckUse:
    """A deck grader of a case: which deck it names, and which target, if any. `inside` is its place below the grader
    of the case that holds it; empty if it is that grader."""

    path: str
    target: str | None
    inside: DataPath = ()
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class FoundDeck:
    """A deck that can grade, where it was found. `model` is the target that it names itself."""

    path: Path
    deck: Deck
    scale: Scale

    @property
    def model(self) -> str | None:
        """The target that the deck names."""
        named = self.deck.front_matter.model_options.get("model")
        return named if isinstance(named, str) and named else None


def deck_uses(case: Case) -> Iterator[tuple[GraderIndex, DeckUse]]:
    """The deck graders of a case, each with the number of the grader that it is or is inside of. A grader with a
    mistake has none."""
    for number, spec in numbered_graders(case):
        if names_judge(spec):
            for use in _uses(spec):
                yield number, use


def _uses(spec: GraderSpec) -> Iterator[DeckUse]:
    for grader in make_graders([spec])[0]:
        for inside, deck in decks_inside(grader, spec):
            wanted = deck.wanted_deck()
            yield DeckUse(wanted.path, wanted.target, inside, wanted.threshold)


def find_deck(use: DeckUse, context: CaseContext) -> tuple[FoundDeck | None, list[Problem], list[Diagnostic]]:
    """The deck, or None and what is wrong: problems of the grader, and of the deck's own files."""
    try:
        path = _located(use.path, context)
    except FileReferenceError as error:
        return None, [Problem((), f"file-{error.kind}", str(error), error.hint)], []
    deck, said = _read(path)
    errors = [each for each in said if each.severity == "error"]
    if deck is None:
        message = f"the deck {use.path} is not well formed"
        return None, [Problem((), "bad-deck", message, "mend what is said of its file")], errors
    found, problem = _usable(path, deck, use, context.suite.judge)
    return (None, [problem], errors) if problem is not None else (found, [], errors)


def _located(written: str, context: CaseContext) -> Path:
    """A grader may stand in the suite, or in a dataset in another folder: the suite's folder is looked at first."""
    beside_suite = Path(context.source.file).parent
    try:
        return context.files.find(written, beside_suite)
    except FileReferenceError:
        return context.files.find(written, context.folder)


def _usable(path: Path, deck: Deck, use: DeckUse, usual: str | None) -> tuple[FoundDeck | None, Problem | None]:
    if deck.scale is None:
        message = f"the deck {use.path} declares no scale, so its verdicts cannot become scores"
        hint = 'declare it in the front matter: `[scale]` with `kind = "ordinal"`, `min = 1`, `max = 5`, for example'
        return None, Problem((), "deck-scale", message, hint)
    scale = declared_scale(deck.scale, _human(deck))
    if (lacking := why_no_score(scale)) is not None:
        message = f"the [scale] of the deck {use.path} does not say {lacking}: its verdicts cannot become scores"
        return None, Problem((), "deck-scale", message, "complete `[scale]` in the front matter of the deck")
    found = FoundDeck(path, deck, scale)
    if (use.target or found.model or usual) is None:
        message = f"no judge is named for the deck {use.path}"
        hint = (
            "add `target: NAME` to the grader, `model` to the front matter of the deck, or `judge: NAME` to the suite"
        )
        return None, Problem((), "no-judge", message, hint)
    return found, None


def _human(deck: Deck) -> list[Code]:
    """What people said of the deck's samples: a scale that lists no labels has these, as in a calibration."""
    given = [label for each in deck.samples for label in (each.labels or (each.expected,)) if label is not None]
    return [label.value for label in given if label.value is not None]


# Cases share decks. One that was read is read again only if one of its files has changed.
_known: dict[Path, tuple[tuple[Stamp, ...], Deck, list[Diagnostic]]] = {}


def _read(path: Path) -> tuple[Deck | None, list[Diagnostic]]:
    known = _known.get(path)
    if known is not None and known[0] == _stamps(path, known[1]):
        return known[1], known[2]
    from ..decks.deck import read_deck

    deck, said = read_deck(path)
    if deck is not None:
        while len(_known) >= _MOST_KEPT:
            del _known[next(iter(_known))]
        _known[path] = _stamps(path, deck), deck, said
    return deck, said


def _stamps(path: Path, deck: Deck) -> tuple[Stamp, ...]:
    return tuple(_stamp(each) for each in (path, *deck.included))


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size
