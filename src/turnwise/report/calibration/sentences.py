"""What a calibration says in sentences: of each judge, of which is better, of what is missing. Not yet harmless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from .layout import UNBROKEN
from .wording import (
    DECISIVE,
    LEADS,
    LEGENDS,
    code_text,
    counted,
    cut,
    figure,
    interval_text,
    name_of,
    p_text,
    percent,
    scale_text,
    statistic_text,
)  # fmt: skip

if TYPE_CHECKING:
    from ...calibration.report import Calibration, ModelReport, PairedDifference

__all__ = [
    "difference_lines",
    "gate_lines",
    "invalid_line",
    "invalid_output_lines",
    "legend",
    "more_figures",
    "people_lines",
    "title",
    "verdict_sentence",
]

_MORE_FIGURES = ("tpr", "tnr", "within_1", "mae", "self_agreement", "flip_rate")
_LOWER_IS_BETTER = ("mae", "rmse", "flip_rate")
_MOST_DIFFERENCES = 12
_MOST_PAIRS = 6
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
    sentence = f"{LEADS[verdict.use]}: {verdict.reason.rstrip('.')}."
    if verdict.labels_needed is None:
        return sentence
    return f"{sentence} About {counted(verdict.labels_needed, 'more label')} should tell."


def more_figures(model: ModelReport) -> str:
    """Figures that say what the two of the table do not."""
    shown = [
        f"{name_of(name)} {statistic_text(name, found)}"
        for name in _MORE_FIGURES
        if (found := model.statistics.get(name)) is not None and found.value is not None
    ]
    if model.design_effect is not None and model.design_effect > 1:
        shown.append(f"design effect {figure(model.design_effect)}")
    if model.repeats is not None:
        shown.append(f"{model.repeats.repeats} repeats of each sample")
    return "; ".join([*shown, *_against_the_majority(model)])


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
                f"; agreement if all were wrong {percent(bounds.all_wrong)}, if all right {percent(bounds.all_right)}"
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


def difference_lines(calibration: Calibration) -> list[str]:
    """Which judge is really better than which other: what is reliable first, ties never as a ranking."""
    pairs: dict[tuple[str, str], list[PairedDifference]] = {}
    for model in calibration.models:
        for each in model.differences:
            if (each.against, model.model) not in pairs:
                pairs.setdefault((model.model, each.against), []).append(each)
    ordered = sorted(pairs.items(), key=lambda item: not any(each.reliable for each in item[1]))
    lines = [_difference_line(one, other, found) for (one, other), found in ordered[:_MOST_DIFFERENCES]]
    left = len(ordered) - len(lines)
    return [*lines, f"… and {counted(left, 'more pair')}"] if left else lines


def _difference_line(one: str, other: str, found: list[PairedDifference]) -> str:
    reliable = [each for each in found if each.reliable and each.value]
    winners = {one if _is_better(each) else other for each in reliable}
    if len(winners) != 1:
        # None is reliable, or they contradict each other.
        figures = "; ".join(map(_difference_figure, found))
        return f"{one} and {other}: no reliable difference ({one} − {other}: {figures})"
    if winners == {other}:
        return _difference_line(other, one, [_mirrored(each) for each in found])
    by = " and ".join(name_of(each.statistic) for each in reliable)
    return f"{one} is better than {other} by {by} ({'; '.join(map(_difference_figure, found))})"


def _mirrored(each: PairedDifference) -> PairedDifference:
    value, lo, hi = (None if bound is None else -bound for bound in (each.value, each.hi, each.lo))
    return replace(each, value=value, lo=lo, hi=hi)


def _is_better(difference: PairedDifference) -> bool:
    assert difference.value is not None
    return (difference.value < 0) == (difference.statistic in _LOWER_IS_BETTER)


def _difference_figure(each: PairedDifference) -> str:
    p = each.p if each.p_holm is None else each.p_holm
    parts = (interval_text(each.value, each.lo, each.hi, sign=True), p_text(p), f"n = {each.n:,}")
    return f"{name_of(each.statistic)} " + ", ".join(part.replace(" ", UNBROKEN) for part in parts)


def people_lines(calibration: Calibration) -> Iterator[str]:
    """How far people agree: all of them, and pair by pair."""
    ceiling = calibration.ceiling
    if ceiling is None:
        return
    alpha = ceiling.krippendorff_alpha
    yield f"Krippendorff's α {statistic_text('alpha', alpha)}" + (f" ({alpha.reason})" if alpha.value is None else "")
    for pair in ceiling.pairs[:_MOST_PAIRS]:
        one, other = pair.raters
        yield f"{one} and {other}: κ {statistic_text('kappa', pair.kappa)}, n = {pair.n:,}"
    if len(ceiling.pairs) > _MOST_PAIRS:
        yield f"… and {counted(len(ceiling.pairs) - _MOST_PAIRS, 'more pair')}"


def gate_lines(calibration: Calibration) -> list[tuple[str, bool | None]]:
    """Each bar with each judge, and whether it is met."""
    words = {True: "met", False: "NOT met", None: "cannot be told"}
    return [
        (f"{gate.gate}: {gate.model} {words[gate.met]} ({_exact(gate.value)})", gate.met) for gate in calibration.gates
    ]


def _exact(value: float | None) -> str:
    return "not defined" if value is None else code_text(value)
