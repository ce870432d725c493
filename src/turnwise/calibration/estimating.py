"""The pass rate that a judge reports on unlabelled answers, corrected for the errors that the labels show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ..stats.corrected import CorrectedRate, Correction, JudgeCounts, ppi, rogan_gladen
from .judgement import judged
from .measure import Measure, measure_for
from .report import Calibration

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from .analysis import Outputs
    from .answer_files import Answers
    from .report import Item

__all__ = ["Estimate", "EstimatedCalibration", "estimate_records", "estimates_of", "with_estimates"]

_NOTHING_IS_GOOD = (
    "the scale does not say which answers are good, so that there is no pass rate: set `pass` in the deck's [scale]"
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The corrected rate of one judge. `invalid` counts answers without a verdict, by status: no figure has them.

    `tpr` and `tnr` are those of the correction: one label for each sample, that of most people. `doubts` say why the
    rate cannot be right as it stands.
    """

    deck: str | None
    model: str
    rate: CorrectedRate
    tpr: float | None
    tnr: float | None
    invalid: Mapping[str, int]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        rate = self.rate
        return {
            "deck": self.deck,
            "model": self.model,
            "method": rate.method,
            "raw": rate.raw,
            "value": rate.value,
            "lo": rate.lo,
            "hi": rate.hi,
            "n": rate.n,
            "labels": rate.labels,
            "tpr": self.tpr,
            "tnr": self.tnr,
            "refusal": rate.refusal,
            "invalid": dict(self.invalid),
            "notes": [*self.doubts, *self.notes],
        }


@dataclass(frozen=True, slots=True)
class EstimatedCalibration(Calibration):
    """A calibration, and the pass rates that were corrected with it."""

    estimates: tuple[Estimate, ...] = field(default=())


def with_estimates(report: Calibration, answers: Answers, outputs: Outputs, *, drawn: bool) -> EstimatedCalibration:
    """The calibration with an estimate for each of its models; `outputs` are those about the answers."""
    known = {each.name: getattr(report, each.name) for each in fields(Calibration)}
    estimates = tuple(
        _estimate(report, model.model, answers, outputs.get(model.model, {}), drawn) for model in report.models
    )
    return EstimatedCalibration(**known, estimates=estimates)


def estimates_of(reports: Sequence[Calibration]) -> list[Estimate]:
    """The estimates of all reports, in their order."""
    return [each for report in reports if isinstance(report, EstimatedCalibration) for each in report.estimates]


def estimate_records(reports: Sequence[Calibration]) -> dict[str, Any]:
    """What reports with estimates have beside the others: the key `estimate`."""
    found = estimates_of(reports)
    return {"estimate": [each.as_dict() for each in found]} if found else {}


def _estimate(
    report: Calibration, model: str, answers: Answers, outputs: Mapping[str, Sequence[Any]], drawn: bool
) -> Estimate:
    human = [label.code for item in report.items for label in item.labels]
    measure = measure_for(report.scale, human, (), seed=report.seed, draws=report.draws)
    said = [judged(outputs.get(each.id, ()), report.scale) for each in answers.samples]
    passed = [measure.is_good(each.value) for each in said if each.value is not None]
    pairs = _pairs(report.items, model, measure)
    counts = _counts(pairs)
    invalid = dict(Counter(each.status for each in said if each.status is not None))
    rate = _rate(measure, passed, pairs, drawn)
    if said and not passed:
        rate = replace(rate, value=None, lo=None, hi=None, refusal=_no_verdict(len(said), invalid))
    return Estimate(
        deck=report.deck.path if report.deck is not None else None,
        model=model,
        rate=rate,
        tpr=counts.passed / counts.passes if counts.passes and measure.has_rates else None,
        tnr=counts.failed / counts.fails if counts.fails and measure.has_rates else None,
        invalid=invalid,
        notes=tuple(_notes(report, model, answers, drawn)),
        doubts=() if drawn else _doubts(rate, counts),
    )


def _no_verdict(answers: int, invalid: Mapping[str, int]) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(invalid.items(), key=lambda item: -item[1]))
    return f"{_counted(answers, 'answer')}, no valid verdict: {kinds}"


def _doubts(rate: CorrectedRate, counts: JudgeCounts) -> tuple[str, ...]:
    """No mixture of good and bad answers is passed less often than bad ones are, nor more often than good ones."""
    if rate.raw is None or rate.value is None:
        return ()
    worst, best = (counts.fails - counts.failed) / counts.fails, counts.passed / counts.passes
    if worst <= rate.raw <= best:
        return ()
    than = f"less often than labelled bad ones ({_percent(worst)})"
    if rate.raw > best:
        than = f"more often than labelled good ones ({_percent(best)})"
    return (
        f"the judge passes these answers ({_percent(rate.raw)}) {than}: they must differ from the labelled samples,"
        " so that the correction cannot hold; label some of these answers",
    )


def _rate(measure: Measure, passed: list[bool], pairs: list[tuple[bool, bool]], drawn: bool) -> CorrectedRate:
    if not measure.has_rates:
        method: Correction = "ppi++" if drawn else "rogan-gladen"
        return CorrectedRate(None, None, None, None, len(passed), len(pairs), method, _NOTHING_IS_GOOD)
    if drawn:
        return ppi([float(human) for human, _ in pairs], [float(judge) for _, judge in pairs], [*map(float, passed)])
    return rogan_gladen(sum(passed), len(passed), _counts(pairs))


def _pairs(items: Sequence[Item], model: str, measure: Measure) -> list[tuple[bool, bool]]:
    """Whether most people, and the judge, passed each sample of which both said something."""
    return [
        (measure.is_good(item.human), measure.is_good(value))
        for item in items
        if item.human is not None and (value := item.verdicts[model].value) is not None
    ]


def _counts(pairs: Sequence[tuple[bool, bool]]) -> JudgeCounts:
    seen = Counter(pairs)
    return JudgeCounts(
        fails=seen[False, False] + seen[False, True],
        failed=seen[False, False],
        passes=seen[True, True] + seen[True, False],
        passed=seen[True, True],
    )


def _notes(report: Calibration, model: str, answers: Answers, drawn: bool) -> list[str]:
    """What the figure takes for granted, and what it leaves out."""
    found = []
    torn = sum(bool(item.labels) and item.human is None for item in report.items)
    silent = sum(item.human is not None and item.verdicts[model].value is None for item in report.items)
    if torn:
        found.append(f"{_counted(torn, 'labelled sample')} without a majority left out")
    if silent:
        found.append(f"{_counted(silent, 'labelled sample')} without a verdict left out")
    if answers.labelled:
        found.append(f"{_counted(answers.labelled, 'answer')} left out of the unlabelled: they are labelled samples")
    if answers.labels_ignored:
        found.append(f"labels of {_counted(answers.labels_ignored, 'answer')} in the file of answers are not used")
    if answers.skipped:
        found.append(f"{_counted(answers.skipped, 'answer')} could not be read and left out")
    labelled = [item.sample for item in report.items if item.human is not None]
    if _is_clustered(labelled) or _is_clustered(answers.samples):
        found.append("samples of one cluster are taken as independent: the interval may be too narrow")
    if drawn:
        found.append("right only if the labelled samples are a simple random draw of the answers")
    else:
        found.append("right only if the judge errs on these answers as it does on the labelled samples")
    return found


def _is_clustered(samples: Sequence[Sample]) -> bool:
    names = [each.cluster for each in samples if each.cluster is not None]
    return len(set(names)) < len(names)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _counted(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count:,} {thing}s"
