"""Recorded outputs compared with labels: a calibration without any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..stats.bootstrap import DRAWS
from ..suite.explain import did_you_mean
from .analysis import Context, analyse
from .gates import parse_gate
from .loading import load_decks, load_samples
from .replay import read_replay
from .reporting import deck_gates, deck_thresholds

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from .judgement import Output
    from .options import CalibrationOptions
    from .report import Calibration

__all__ = ["replayed"]


def replayed(
    options: CalibrationOptions, recorded: str, *, draws: int = DRAWS
) -> tuple[list[Calibration], list[Diagnostic]]:
    """The report of each deck, or of the samples alone where there is none; and what there is to say about the files.

    Raises `DeckError` or `UsageError`.
    """
    gates = [parse_gate(each) for each in options.gates]
    if not options.decks:
        found = load_samples(options.samples, strict=options.strict)
        outputs = _chosen(read_replay(recorded, [sample.id for sample in found.samples]), options.models)
        context = Context(gates=gates, skipped=found.skipped, replayed=True)
        report = analyse(found.samples, outputs, None, context, seed=options.seed, draws=draws)
        return [report], list(found.diagnostics)
    _, decks = load_decks(
        options.decks, options.samples, strict=options.strict, allow_label_leak=options.allow_label_leak
    )
    reports = []
    for deck in decks:
        outputs = _chosen(read_replay(recorded, [sample.id for sample in deck.samples], deck=deck.name), options.models)
        context = Context(
            deck=deck.identity,
            thresholds=deck_thresholds(deck.deck),
            gates=[*deck_gates(deck.deck), *gates],
            skipped=deck.skipped,
            warnings=deck.warnings,
            replayed=True,
        )
        reports.append(analyse(deck.samples, outputs, deck.spec, context, seed=options.seed, draws=draws))
    return reports, [each for deck in decks for each in deck.diagnostics]


def _chosen(outputs: dict[str, dict[str, list[Output]]], models: tuple[str, ...]) -> dict[str, dict[str, list[Output]]]:
    """The models that are asked for, or all."""
    for name in models:
        if name not in outputs:
            hint = did_you_mean(name, list(outputs), "there are outputs of")
            raise UsageError(f"the recorded outputs hold none of the model {name!r}", hint)
    return {model: outputs[model] for model in models} if models else outputs
