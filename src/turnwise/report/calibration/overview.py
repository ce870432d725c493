"""The table at a glance: a row for each judge, one for the best constant answer, and one for people themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .wording import DECISIVE, NONE, USES, code_text, name_of, of_judge, statistic_text

if TYPE_CHECKING:
    from ...calibration.report import Calibration, ModelReport, Use
    from ...graders.verdict_scale import Code
    from ...stats.statistic import Statistic

__all__ = ["Overview", "OverviewColumn", "overview", "slice_overview"]

_LONGEST_ANSWER = 14
_LONGEST_JUDGE = 24
_MOST_TAGS = 12
_CONSTANT = "constant"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class OverviewColumn:
    """A heading and a cell for each row. Where there is no room for all, those with the highest `rank` go first."""

    heading: str
    cells: tuple[str, ...]
    rank: int = 0
    right: bool = True
    uses: tuple[Use | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """A table with the name of each row, and the notes that its cells refer to. `more` counts tags left out."""

    names: tuple[str, ...]
    columns: tuple[OverviewColumn, ...]
    notes: tuple[str, ...]
    more: int = 0


class _Notes:
    """Why figures, or only their intervals, are missing: each reason told once."""

    def __init__(self) -> None:
        self._reasons: dict[str, bool] = {}

    def cell(self, name: str, statistic: Statistic | None) -> str:
        if statistic is None:
            return ""
        shown = statistic_text(name, statistic)
        has_value = statistic.value is not None
        if has_value and (statistic.lo is not None or statistic.method == _CONSTANT):
            return shown
        reason = statistic.reason or ("it does not vary" if has_value else "the labels do not define it")
        mark = self._mark(of_judge(reason), only_interval=has_value)
        return f"{shown} [{NONE}]{mark}" if has_value else shown + mark

    def texts(self) -> tuple[str, ...]:
        return tuple(
            f"{str(place).translate(_SUPERSCRIPTS)} {'no interval: ' if only_interval else ''}{reason}"
            for place, (reason, only_interval) in enumerate(self._reasons.items(), 1)
        )

    def _mark(self, reason: str, *, only_interval: bool) -> str:
        self._reasons[reason] = self._reasons.get(reason, True) and only_interval
        return str(list(self._reasons).index(reason) + 1).translate(_SUPERSCRIPTS)


def overview(calibration: Calibration) -> Overview:
    """All judges of a calibration, the baseline and the ceiling, in the same columns."""
    models, notes = calibration.models, _Notes()
    names = [model.model for model in models]
    extra: list[Mapping[str, Statistic]] = []
    if calibration.baseline is not None:
        names.append(f"always answer {_short(calibration.baseline.answer)}")
        extra.append(_of_constant(calibration.baseline.statistics))
    if calibration.ceiling is not None:
        names.append("people themselves")
        extra.append(_of_people(calibration.ceiling.statistics))
    rows = [*(model.statistics for model in models), *extra]
    columns = [
        OverviewColumn("valid", _padded((f"{each.valid:,}/{each.total:,}" for each in models), rows), 2),
        *_figures(rows, calibration.scale.kind, notes),
        OverviewColumn("bias", _padded((notes.cell("bias", each.statistics.get("bias")) for each in models), rows), 4),
        OverviewColumn("worst miss", _padded((_worst(each) for each in models), rows), 6, right=False),
        OverviewColumn("$ per 1,000", _padded((_cost(each) for each in models), rows), 5),
        _uses(models, rows),
    ]
    return Overview(tuple(names), tuple(each for each in columns if any(each.cells)), notes.texts())


def slice_overview(calibration: Calibration) -> Overview:
    """Each judge on the samples of each tag, the most frequent tags first."""
    tags = sorted(calibration.slices.items(), key=lambda item: -max((each.total for each in item[1].models), default=0))
    shown = [(tag, model) for tag, part in tags[:_MOST_TAGS] for model in part.models]
    notes = _Notes()
    columns = _figures([model.statistics for _, model in shown], calibration.scale.kind, notes)
    if len(calibration.models) > 1:
        columns.insert(
            0, OverviewColumn("judge", tuple(_short(model.model, _LONGEST_JUDGE) for _, model in shown), right=False)
        )
    return Overview(tuple(tag for tag, _ in shown), tuple(columns), notes.texts(), max(0, len(tags) - _MOST_TAGS))


def _figures(rows: Sequence[Mapping[str, Statistic]], kind: str, notes: _Notes) -> list[OverviewColumn]:
    """How often judge and people agree, and the figure that decides; how many pairs they rest on."""
    decisive = DECISIVE[kind]
    plain = "mae" if kind == "continuous" else "agreement"
    columns = [
        OverviewColumn("n", tuple(_n(row, decisive, plain) for row in rows), 3),
        OverviewColumn(name_of(plain), tuple(notes.cell(plain, row.get(plain)) for row in rows), 1),
    ]
    if any("agreement_no_ties" in row for row in rows):
        cells = tuple(notes.cell("agreement_no_ties", row.get("agreement_no_ties")) for row in rows)
        columns.append(OverviewColumn("without ties", cells, 2))
    heading = "Lin" if decisive == "lin_ccc" else name_of(decisive)
    return [*columns, OverviewColumn(heading, tuple(notes.cell(decisive, row.get(decisive)) for row in rows))]


def _n(row: Mapping[str, Statistic], *names: str) -> str:
    return next((f"{row[name].n:,}" for name in names if name in row), "")


def _of_constant(statistics: Mapping[str, Statistic]) -> dict[str, Statistic]:
    """A constant answer does not vary: that its κ of 0 has no interval is nothing to explain."""
    return {name: replace(each, method=_CONSTANT) for name, each in statistics.items()}


def _of_people(statistics: Mapping[str, Statistic]) -> dict[str, Statistic]:
    """Here the two raters are both people."""
    return {
        name: each if each.reason is None else replace(each, reason=each.reason.replace("both raters", "two people"))
        for name, each in statistics.items()
    }


def _padded(cells: Iterable[str], rows: Sequence[object]) -> tuple[str, ...]:
    found = tuple(cells)
    return found + ("",) * (len(rows) - len(found))


def _worst(model: ModelReport) -> str:
    worst = model.worst
    if worst is None:
        return "none" if any(each.n for each in model.statistics.values()) else NONE
    return f"{_short(worst.human)} → {_short(worst.judge)} ({_short(worst.id, 20)})"


def _cost(model: ModelReport) -> str:
    from ...engine.budget import shown_usd

    cost = model.cost_usd_per_1000
    return "not known" if cost is None else shown_usd(cost)


def _uses(models: Sequence[ModelReport], rows: Sequence[object]) -> OverviewColumn:
    uses = tuple(model.verdict.use for model in models)
    missing = (None,) * (len(rows) - len(uses))
    return OverviewColumn("use", _padded((USES[use] for use in uses), rows), 0, False, (*uses, *missing))


def _short(value: Code, longest: int = _LONGEST_ANSWER) -> str:
    text = code_text(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
