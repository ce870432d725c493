"""What a calibration says in sentences: of each judge, of which is better, of what is missing. Not yet harmless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .wording import (
    DECISIVE,
    LEADS,
    LEGENDS,
    NONE,
    counted,
    cut,
    figure,
    name_of,
    of_judge,
    scale_text,
    statistic_text,
    time_text,
)

if TYPE_CHECKING:
    from ...calibration.report import Calibration, ModelReport
    from ...stats.statistic import Statistic
    from .contested import Contested

__all__ = [
    "disagreement_line",
    "invalid_line",
    "invalid_output_lines",
    "legend",
    "more_disagreements",
    "more_figures",
    "pace_line",
    "people_lines",
    "title",
    "verdict_sentence",
]

_MORE_FIGURES = ("tpr", "tnr", "within_1", "mae", "self_agreement", "flip_rate")
_RATES = ("tpr", "tnr")
_MOST_PAIRS = 6
_LEVELS = {"ordinal": "ordinal", "continuous": "interval"}
_MOST_INVALID = 5
_LONGEST_RAW = 160


def title(calibration: Calibration) -> str:
    """What was calibrated, with what, and how."""
    deck, samples = calibration.deck, calibration.samples
    left_out = [
        f"{count:,} {what}"
        for count, what in ((samples.skipped, "skipped"), (samples.ungradable, "ungradable"))
        if count
    ]
    counts = ", ".join([f"{samples.labelled:,} labelled", *left_out, counted(samples.raters, "rater")])
    parts = [
        f"Calibration of {deck.path if deck else 'a judge without a deck'}",
        f"{counted(samples.total, 'sample')} ({counts})",
        f"scale {scale_text(calibration.scale)}",
        *_temperatures(calibration),
        *(["recorded outputs: no model was asked"] if calibration.replayed else []),
    ]
    return " · ".join(parts)


def _temperatures(calibration: Calibration) -> list[str]:
    """What the models were run with, as far as it is known."""
    known = {model.model: model.settings.get("temperature") for model in calibration.models}
    given = {name: value for name, value in known.items() if isinstance(value, int | float)}
    if not given:
        return []
    if len(given) == len(known) and len(set(given.values())) == 1:
        return [f"temperature {next(iter(given.values())):g}"]
    return ["temperature " + ", ".join(f"{value:g} ({name})" for name, value in given.items())]


def legend(calibration: Calibration) -> str:
    """What the columns mean, for readers who know no statistics."""
    parts = [LEGENDS[DECISIVE[calibration.scale.kind]], "In brackets: the 95 % interval."]
    if calibration.baseline is not None:
        parts.append("“always answer” looks at nothing: a judge must beat it.")
    if calibration.ceiling is not None:
        parts.append("“people themselves” agree so far with each other: hardly any judge does better.")
    return " ".join(parts)


def verdict_sentence(model: ModelReport) -> str:
    """What the judge may be used for, why, and what it takes to know."""
    verdict = model.verdict
    sentence = f"{LEADS[verdict.use]}: {of_judge(verdict.reason).rstrip('.')}."
    if verdict.labels_needed is None:
        return sentence
    return f"{sentence} About {counted(verdict.labels_needed, 'more label')} should tell."


def more_figures(model: ModelReport) -> str:
    """Figures that say what the two of the table do not."""
    shown = [
        _more_figure(name, found)
        for name in _MORE_FIGURES
        if (found := model.statistics.get(name)) is not None and (found.value is not None or name in _RATES)
    ]
    if model.design_effect is not None:
        shown.append(f"design effect {figure(model.design_effect)}")
    if model.repeats is not None:
        shown.append(f"{model.repeats.repeats} repeats of each sample")
    return "; ".join([*shown, *_against_the_majority(model)])


def _more_figure(name: str, found: Statistic) -> str:
    if found.value is None:
        return f"{name_of(name)} {NONE} ({of_judge(found.reason) if found.reason else 'not defined'})"
    return f"{name_of(name)} {statistic_text(name, found)}"


def pace_line(model: ModelReport) -> str:
    """How long answers took, and how many tokens they are made of; empty where neither is known."""
    latency, usage = model.latency_ms, model.usage
    parts = []
    if latency is not None:
        parts.append(f"{time_text(latency.p50)} median, {time_text(latency.p95)} at 95 %")
    if usage is not None and usage.counted:
        tokens = (usage.input_tokens + usage.output_tokens) / usage.counted
        parts.append(f"{tokens:,.0f} tokens an answer")
    return "; ".join(parts)


def _against_the_majority(model: ModelReport) -> list[str]:
    if not model.statistics_majority:
        return []
    names = dict.fromkeys(("agreement", "kappa" if model.headline == "agreement" else model.headline))
    found = [(name, model.statistics_majority[name]) for name in names if name in model.statistics_majority]
    if not found:
        return []
    figures = ", ".join(f"{name_of(name)} {statistic_text(name, each)}" for name, each in found)
    without = f", {counted(model.without_majority, 'sample')} without one" if model.without_majority else ""
    return [f"against the majority label: {figures} (n = {found[0][1].n:,}{without})"]


def invalid_line(model: ModelReport) -> str:
    """Outputs that are no verdicts, by kind, and what they could change; what had to be mended. Empty: nothing."""
    parts = []
    if model.valid < model.total:
        count = model.total - model.valid
        bounds = model.bounds
        between = ""
        if bounds.all_wrong is not None and bounds.all_right is not None:
            between = (
                f"; agreement if all were wrong {figure(bounds.all_wrong)}, if all right {figure(bounds.all_right)}"
            )
        parts.append(f"{count:,} invalid: {_kinds(model.invalid)}{between}")
    if any(model.repaired.values()):
        parts.append(f"mended to be read: {_kinds(model.repaired)}")
    return "; ".join(parts)


def invalid_output_lines(calibration: Calibration) -> Iterator[str]:
    """The first outputs that are no verdicts, with what the judge wrote."""
    found = [(model.model, each) for model in calibration.models for each in model.invalid_outputs]
    for name, each in found[:_MOST_INVALID]:
        repeat = f"#{each.repeat}" if each.repeat > 1 else ""
        detail = f" ({cut(each.detail, _LONGEST_RAW)})" if each.detail else ""
        raw = f": {cut(each.raw.strip(), _LONGEST_RAW)}" if each.raw.strip() else ""
        yield f"{each.id}{repeat} {name} {each.status}{detail}{raw}"
    if len(found) > _MOST_INVALID:
        yield f"… and {len(found) - _MOST_INVALID:,} more: `--format json` has them all"


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda item: -item[1]) if count)


def people_lines(calibration: Calibration) -> Iterator[str]:
    """How far people agree: all of them, and pair by pair."""
    ceiling, kind = calibration.ceiling, calibration.scale.kind
    if ceiling is None:
        return
    alpha = ceiling.krippendorff_alpha
    why = f" ({alpha.reason})" if alpha.value is None else ""
    yield f"Krippendorff's α ({_LEVELS.get(kind, 'nominal')}) {statistic_text('alpha', alpha)}{why}"
    kappa = "κ" if kind in ("binary", "categorical") else "unweighted κ"
    for pair in ceiling.pairs[:_MOST_PAIRS]:
        one, other = pair.raters
        yield f"{one} and {other}: {kappa} {statistic_text('kappa', pair.kappa)}, n = {pair.n:,}"
    if len(ceiling.pairs) > _MOST_PAIRS:
        yield f"… and {counted(len(ceiling.pairs) - _MOST_PAIRS, 'more pair')}"


def disagreement_line(contested: Sequence[Contested]) -> str:
    """How many samples people and judges differ on, and how many of these could do harm."""
    dangerous = sum(each.dangerous for each in contested)
    said = f"{counted(len(contested), 'sample')} on which people and judge disagree"
    return f"{said}, {dangerous:,} of them dangerous: to act on the judge would do harm" if dangerous else said


def more_disagreements(shown: int, contested: Sequence[Contested]) -> str:
    """Where those are that are not shown; empty if all are."""
    from .html.samples import MOST_SAMPLES

    left = len(contested) - shown
    if left <= 0:
        return ""
    all_of_them = "shows them all"
    if len(contested) > MOST_SAMPLES:
        all_of_them = f"shows the first {MOST_SAMPLES:,}; `--format json` has all"
    return f"… and {left:,} more: `--format html -o report.html` {all_of_them}"
