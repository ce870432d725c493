"""A calibration as plain data: what `--format json` prints. Names are stable, figures unrounded, undefined is null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .report import STATISTICS

if TYPE_CHECKING:
    from ..stats.statistic import Statistic
    from .report import Baseline, Calibration, Ceiling, Confusion, Figures, ModelReport, PairedDifference

__all__ = ["SCHEMA_VERSION", "report_record", "reports_record", "statistic_record"]

SCHEMA_VERSION = 1


def reports_record(calibrations: Sequence[Calibration]) -> dict[str, Any]:
    """The record of one calibration; of several decks, an object with all of them under `reports`."""
    if len(calibrations) == 1:
        return report_record(calibrations[0])
    return {"schema_version": SCHEMA_VERSION, "reports": [report_record(each) for each in calibrations]}


def report_record(calibration: Calibration) -> dict[str, Any]:
    """The whole report but for the conversations, which the samples have."""
    deck = calibration.deck
    return {
        "schema_version": SCHEMA_VERSION,
        "generated_at": calibration.generated_at,
        "deck": {"path": None if deck is None else deck.path, "hash": None if deck is None else deck.hash},
        "scale": calibration.scale.as_record(),
        "samples": _samples(calibration),
        "models": [_model(each) for each in calibration.models],
        "baseline": _baseline(calibration.baseline),
        "ceiling": _ceiling(calibration.ceiling),
        "slices": {
            tag: {
                "models": [_model(each) for each in part.models],
                "baseline": _baseline(part.baseline),
                "ceiling": _ceiling(part.ceiling),
            }
            for tag, part in calibration.slices.items()
        },
        "warnings": [
            {"code": each.code, "message": each.message, "hint": each.hint, "model": each.model}
            for each in calibration.warnings
        ],
        "gates": [
            {"gate": each.gate, "model": each.model, "value": each.value, "met": each.met} for each in calibration.gates
        ],
        "replayed": calibration.replayed,
        "seed": calibration.seed,
        "draws": calibration.draws,
        "versions": dict(calibration.versions),
    }


def statistic_record(statistic: Statistic | None) -> dict[str, Any] | None:
    """A figure: value, n, interval and method, `k` and `se` where there are any, and the reason for what is missing.

    >>> from ..stats.statistic import undefined
    >>> statistic_record(undefined(0, "no pairs"))
    {'value': None, 'n': 0, 'lo': None, 'hi': None, 'method': 'none', 'reason': 'no pairs'}
    """
    if statistic is None:
        return None
    record: dict[str, Any] = {
        "value": statistic.value,
        "n": statistic.n,
        "lo": statistic.lo,
        "hi": statistic.hi,
        "method": statistic.method,
    }
    more = {
        "k": statistic.k,
        "se": statistic.se,
        "design_effect": statistic.design_effect,
        "reason": statistic.reason,
    }
    return {**record, **{name: value for name, value in more.items() if value is not None}}


def _figures(figures: Figures | None) -> dict[str, Any] | None:
    """Every name that there is: those that the scale does not have are null."""
    if figures is None:
        return None
    return {name: statistic_record(figures.get(name)) for name in STATISTICS}


def _samples(calibration: Calibration) -> dict[str, Any]:
    counts = calibration.samples
    return {
        "total": counts.total,
        "labelled": counts.labelled,
        "skipped": counts.skipped,
        "ungradable": counts.ungradable,
        "ungradable_labels": counts.ungradable_labels,
        "clusters": counts.clusters,
        "raters": counts.raters,
        "hash": counts.hash,
        "files": list(counts.files),
    }


def _model(report: ModelReport) -> dict[str, Any]:
    verdict, repeats, usage, latency = report.verdict, report.repeats, report.usage, report.latency_ms
    return {
        "model": report.model,
        "total": report.total,
        "valid": report.valid,
        "invalid": dict(report.invalid),
        "repaired": dict(report.repaired),
        "bounds": {"all_wrong": report.bounds.all_wrong, "all_right": report.bounds.all_right},
        "headline": report.headline,
        "statistics": _figures(report.statistics),
        "statistics_majority": _figures(report.statistics_majority),
        "without_majority": report.without_majority,
        "confusion": _confusion(report.confusion),
        "design_effect": report.design_effect,
        "differences": [_difference(each) for each in report.differences],
        "disagreements": [
            {
                "id": each.id,
                "human": each.human,
                "judge": each.judge,
                "distance": each.distance,
                "dangerous": each.dangerous,
                "human_reason": each.human_reason,
                "judge_reason": each.judge_reason,
                "split": each.split,
            }
            for each in report.disagreements
        ],
        "invalid_outputs": [
            {"id": each.id, "repeat": each.repeat, "status": each.status, "detail": each.detail, "raw": each.raw}
            for each in report.invalid_outputs
        ],
        "repeats": None
        if repeats is None
        else {
            "repeats": repeats.repeats,
            "outputs": repeats.outputs,
            "valid_outputs": repeats.valid_outputs,
            "undecided": repeats.undecided,
        },
        "usage": None
        if usage is None
        else {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "counted": usage.counted,
        },
        "cost_usd": report.cost_usd,
        "cost_usd_per_1000": report.cost_usd_per_1000,
        "latency_ms": None
        if latency is None
        else {"mean": latency.mean, "p50": latency.p50, "p95": latency.p95, "n": latency.n},
        "settings": dict(report.settings),
        "hash": report.hash,
        "verdict": {"use": verdict.use, "reason": verdict.reason, "labels_needed": verdict.labels_needed},
    }


def _confusion(confusion: Confusion | None) -> dict[str, Any] | None:
    if confusion is None:
        return None
    return {"labels": list(confusion.labels), "counts": [list(row) for row in confusion.counts]}


def _difference(each: PairedDifference) -> dict[str, Any]:
    return {
        "against": each.against,
        "statistic": each.statistic,
        "value": each.value,
        "lo": each.lo,
        "hi": each.hi,
        "p": each.p,
        "p_holm": each.p_holm,
        "reliable": each.reliable,
        "n": each.n,
        "method": each.method,
        "p_method": each.p_method,
        "reason": each.reason,
    }


def _baseline(baseline: Baseline | None) -> dict[str, Any] | None:
    return None if baseline is None else {"answer": baseline.answer, "statistics": _figures(baseline.statistics)}


def _ceiling(ceiling: Ceiling | None) -> dict[str, Any] | None:
    if ceiling is None:
        return None
    return {
        "statistics": _figures(ceiling.statistics),
        "pairs": [
            {
                "raters": list(each.raters),
                "kappa": statistic_record(each.kappa),
                "agreement": statistic_record(each.agreement),
                "n": each.n,
            }
            for each in ceiling.pairs
        ],
        "krippendorff_alpha": statistic_record(ceiling.krippendorff_alpha),
    }
