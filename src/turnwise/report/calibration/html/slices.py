"""The figures of each tag, and how far people agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figures import percent, statistic_cell
from .markup import Html, joined, tag
from .overview import beside, headline_of
from .words import words_of

if TYPE_CHECKING:
    from ....calibration.report import Calibration, Ceiling, Figures, RaterPairReport, Slice
    from ....stats.statistic import Statistic

__all__ = ["people", "slices"]

_PEOPLE = "People among themselves"
_MOST_TAGS = 200
_MOST_PAIRS = 100
_LEVELS = {"ordinal": "ordinal", "continuous": "interval"}


def slices(calibration: Calibration) -> Html:
    """Tags down; models, and people among themselves, across."""
    if not calibration.slices:
        return Html("")
    names, groups = _columns(calibration), _groups(calibration)
    over = [tag("th", group, colspan=len(names) + 1, scope="colgroup") for group in groups]
    under = [tag("th", words_of(name).name, scope="col", class_="number") for name in names]
    under.append(tag("th", "n", scope="col", class_="number last"))
    head = tag("thead", tag("tr", tag("th", "Tag", rowspan=2, scope="col"), *over), tag("tr", *under * len(groups)))
    rows = [_tag_row(name, calibration.slices[name], groups, names) for name in sorted(calibration.slices)]
    left_out = len(rows) - _MOST_TAGS
    more = tag("p", f"{left_out:,} more tags are in the JSON report.", class_="note") if left_out > 0 else None
    table = tag("table", head, tag("tbody", *rows[:_MOST_TAGS]), class_="slices")
    return joined([tag("h3", "By tag"), tag("div", table, class_="scroll"), more])


def _columns(calibration: Calibration) -> list[str]:
    """The plain figure and the headline, and where there are ties the agreement without them."""
    has_ties = any("agreement_no_ties" in model.statistics for model in calibration.models)
    return [beside(calibration), *(["agreement_no_ties"] if has_ties else []), headline_of(calibration)]


def _groups(calibration: Calibration) -> list[str]:
    """The models, and last the people where any tag has several of them."""
    has_people = any(part.ceiling is not None for part in calibration.slices.values())
    return [*(model.model for model in calibration.models), *([_PEOPLE] if has_people else [])]


def _tag_row(name: str, part: Slice, groups: Sequence[str], names: Sequence[str]) -> Html:
    by_model = {model.model: model.statistics for model in part.models}
    people = {} if part.ceiling is None else part.ceiling.statistics
    of_group = [by_model.get(group, people if group == _PEOPLE else {}) for group in groups]
    return tag("tr", tag("th", name, scope="row"), *(cell for figures in of_group for cell in _cells(figures, names)))


def _cells(figures: Figures, names: Sequence[str]) -> list[Html]:
    n = max((figures[name].n for name in names if name in figures), default=0)
    shown = [tag("td", _cell(name, figures.get(name)), class_="number") for name in names]
    return [*shown, tag("td", f"{n:,}", class_="number last")]


def _cell(name: str, statistic: Statistic | None) -> Html:
    """The figure, and for a share what it is made of."""
    is_share = statistic is not None and statistic.k is not None and statistic.value is not None
    count = tag("small", f"{statistic.k:,} of {statistic.n:,}") if statistic is not None and is_share else None
    return joined([statistic_cell(name, statistic), count])


def people(calibration: Calibration) -> Html:
    """The people who labelled: all together, and each pair that shares enough samples."""
    ceiling, kind = calibration.ceiling, calibration.scale.kind
    if ceiling is None:
        return Html("")
    level = _LEVELS.get(kind, "nominal")
    alpha = statistic_cell("krippendorff_alpha", ceiling.krippendorff_alpha)
    whole = tag("p", f"Krippendorff’s α ({level}) over all people: ", alpha, class_="alpha")
    return joined([tag("h3", "People among themselves"), whole, _pairs(ceiling, kind)])


def _pairs(ceiling: Ceiling, kind: str) -> Html:
    if not ceiling.pairs:
        return tag("p", "No two people share enough samples to be compared.", class_="note")
    kappa = "Cohen’s κ" if kind in ("binary", "categorical") else "Unweighted κ"
    heads = [tag("th", "Two people", scope="col")]
    heads += [tag("th", name, scope="col", class_="number") for name in (kappa, "Agreement", "n")]
    rows = [_pair(each) for each in ceiling.pairs[:_MOST_PAIRS]]
    left_out = len(ceiling.pairs) - len(rows)
    more = tag("p", f"{left_out:,} more pairs are in the JSON report.", class_="note") if left_out else None
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return joined([tag("div", table, class_="scroll"), more])


def _pair(pair: RaterPairReport) -> Html:
    said = f"{pair.agreement.k:,} of {pair.n:,}" if pair.agreement.k is not None else percent(pair.agreement.value)
    return tag(
        "tr",
        tag("th", f"{pair.raters[0]} and {pair.raters[1]}", scope="row"),
        tag("td", statistic_cell("kappa", pair.kappa), class_="number"),
        tag("td", statistic_cell("agreement", pair.agreement), class_="number", title=said),
        tag("td", f"{pair.n:,}", class_="number"),
    )
