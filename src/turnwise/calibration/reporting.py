"""The report of each deck of a calibration: its answers compared with the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..stats.bootstrap import DRAWS
from .analysis import Context, analyse, samples_hash
from .estimating import with_estimates
from .gates import Gate, parse_gate
from .outputs import outputs_of
from .recommendation import Thresholds
from .store import CalibrationStore, model_hash
from .warned import labels_changed

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from .judgement import Output
    from .loading import LoadedDeck
    from .report import Calibration
    from .session import CalibrationSession

__all__ = ["deck_gates", "deck_thresholds", "reports_of"]


def reports_of(session: CalibrationSession, *, draws: int = DRAWS) -> list[Calibration]:
    """A report for each deck, in the order of the decks."""
    found = outputs_of(session.records())
    measured = [deck for deck in session.plan.decks if deck.answers is None]
    reports = [_report(session, deck, found.get(deck.name, {}), draws) for deck in measured]
    if session.options.estimate is None:
        return reports
    answers = [deck for deck in session.plan.decks if deck.answers is not None]
    return [
        with_estimates(report, deck.answers, found.get(deck.name, {}), drawn=session.options.drawn)
        for report, deck in zip(reports, answers, strict=True)
        if deck.answers is not None
    ]


def _report(
    session: CalibrationSession, deck: LoadedDeck, outputs: dict[str, dict[str, list[Output]]], draws: int
) -> Calibration:
    plan = session.plan
    models = [target.name for target in plan.targets]
    settings = {target.name: plan.settings_of(deck, target) for target in plan.targets}
    before = CalibrationStore(session.folder.path.parent).latest(deck.name, models, except_for=session.folder.id)
    changed = before is not None and before.samples_hash != samples_hash(deck.samples)
    context = Context(
        deck=deck.identity,
        thresholds=deck_thresholds(deck.deck),
        gates=[*deck_gates(deck.deck), *map(parse_gate, session.options.gates)],
        skipped=deck.skipped,
        files=deck.files,
        warnings=(*deck.warnings, *([labels_changed(deck.files)] if changed else [])),
        settings=settings,
        hashes={name: model_hash(each) for name, each in settings.items()},
    )
    by_model = {model: outputs.get(model, {}) for model in models}
    return analyse(deck.samples, by_model, deck.spec, context, seed=session.options.seed, draws=draws)


def deck_gates(deck: Deck) -> list[Gate]:
    """The bars that a deck sets itself."""
    return [parse_gate(each) for each in deck.front_matter.gates or ()]


def deck_thresholds(deck: Deck) -> Thresholds:
    """The bounds by which a deck wants to be judged."""
    spec = deck.front_matter.thresholds
    return Thresholds(**({} if spec is None else spec.model_dump(exclude_none=True)))
