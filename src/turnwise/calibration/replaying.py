"""Recorded outputs compared with labels: a calibration without any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..stats.bootstrap import DRAWS
from ..suite.explain import did_you_mean
from .analysis import Context, analyse
from .answer_files import Answers, answer_decks, answers_beside, answers_name, load_answers
from .estimating import with_estimates
from .gates import parse_gate
from .loading import load_decks, load_samples
from .replay import read_replay
from .reporting import deck_gates, deck_thresholds

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..diagnostics import Diagnostic
    from .judgement import Output
    from .loading import LoadedDeck
    from .options import CalibrationOptions
    from .report import Calibration

__all__ = ["replayed"]

_ByModel = dict[str, dict[str, list["Output"]]]


def replayed(
    options: CalibrationOptions, recorded: str, *, draws: int = DRAWS
) -> tuple[list[Calibration], list[Diagnostic]]:
    """The report of each deck, or of the samples alone where there is none; and what there is to say about the files.

    Raises `DeckError` or `UsageError`.
    """
    if not options.decks:
        return _without_deck(options, recorded, draws)
    _, decks = load_decks(
        options.decks, options.samples, strict=options.strict, allow_label_leak=options.allow_label_leak
    )
    said = [each for deck in decks for each in deck.diagnostics]
    if options.estimate is None:
        return [_of_deck(deck, None, options, recorded, draws) for deck in decks], said
    more = answer_decks(decks, options.estimate, drawn=options.drawn, strict=options.strict)
    reports = [_of_deck(deck, each.answers, options, recorded, draws) for deck, each in zip(decks, more, strict=True)]
    return reports, [*said, *(more[0].diagnostics if more else ())]


def _without_deck(options: CalibrationOptions, recorded: str, draws: int) -> tuple[list[Calibration], list[Diagnostic]]:
    found = load_samples(options.samples, strict=options.strict)
    answers = None
    if options.estimate is not None:
        loaded = load_answers(options.estimate, strict=options.strict)
        answers = answers_beside(loaded, found.samples, drawn=options.drawn)
    outputs = _Recorded(recorded, found.samples, answers, options.models)
    context = Context(gates=[parse_gate(each) for each in options.gates], skipped=found.skipped, replayed=True)
    report = analyse(found.samples, outputs.of_samples(None), None, context, seed=options.seed, draws=draws)
    said = [*found.diagnostics, *(answers.diagnostics if answers is not None else ())]
    return [_estimated(report, answers, outputs, None, options)], said


def _of_deck(
    deck: LoadedDeck, answers: Answers | None, options: CalibrationOptions, recorded: str, draws: int
) -> Calibration:
    outputs = _Recorded(recorded, deck.samples, answers, options.models)
    context = Context(
        deck=deck.identity,
        thresholds=deck_thresholds(deck.deck),
        gates=[*deck_gates(deck.deck), *map(parse_gate, options.gates)],
        skipped=deck.skipped,
        files=deck.files,
        warnings=deck.warnings,
        replayed=True,
    )
    by_model = outputs.of_samples(deck.name)
    report = analyse(deck.samples, by_model, deck.spec, context, seed=options.seed, draws=draws)
    return _estimated(report, answers, outputs, deck.name, options)


def _estimated(
    report: Calibration, answers: Answers | None, outputs: _Recorded, deck: str | None, options: CalibrationOptions
) -> Calibration:
    if answers is None:
        return report
    return with_estimates(report, answers, outputs.of_answers(deck), drawn=options.drawn)


class _Recorded:
    """The recorded outputs of one deck: those about samples, and those about answers, which may be in one file."""

    def __init__(self, file: str, samples: Sequence[Sample], answers: Answers | None, models: tuple[str, ...]) -> None:
        self._file = file
        self._samples = frozenset(each.id for each in samples)
        self._answers = frozenset(each.id for each in answers.samples) if answers is not None else frozenset()
        self._models = models
        self._read: _ByModel = {}

    def of_samples(self, deck: str | None) -> _ByModel:
        """What each model said of the samples. Raises `DeckError` or `UsageError`."""
        self._read = _chosen(read_replay(self._file, self._samples | self._answers, deck=deck), self._models)
        return _about(self._read, self._samples)

    def of_answers(self, deck: str | None) -> _ByModel:
        """What each model said of the answers: lines of another name, if the file is the journal of a calibration."""
        found = _about(self._read, self._answers)
        if deck is None or any(found.values()):
            return found
        return _about(read_replay(self._file, self._samples | self._answers, deck=answers_name(deck)), self._answers)


def _about(outputs: _ByModel, ids: frozenset[str]) -> _ByModel:
    return {model: {name: each for name, each in said.items() if name in ids} for model, said in outputs.items()}


def _chosen(outputs: _ByModel, models: tuple[str, ...]) -> _ByModel:
    """The models that are asked for, or all."""
    for name in models:
        if name not in outputs:
            hint = did_you_mean(name, list(outputs), "there are outputs of")
            raise UsageError(f"the recorded outputs hold none of the model {name!r}", hint)
    return {model: outputs[model] for model in models} if models else outputs
