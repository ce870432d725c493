"""The table of models: one row each, the best constant answer and the people themselves below for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..wording import LEGENDS, time_text
from .figures import NOTHING, code_text, in_words, percent, statistic_cell, usd_text
from .interval_bar import Axis, common_axis, interval_bar, scale_bar
from .markup import Html, joined, tag
from .words import USE_WORDS, words_of

if TYPE_CHECKING:
    from ....calibration.report import Calibration, Figures, ModelReport, Recommendation

__all__ = ["beside", "headline_of", "overview", "use_badge"]


def headline_of(calibration: Calibration) -> str:
    """The figure that decides the use of judges on this scale, and is drawn."""
    kinds = {"binary": "kappa", "ordinal": "kappa_quadratic", "continuous": "lin_ccc", "categorical": "kappa"}
    return kinds[calibration.scale.kind]


def beside(calibration: Calibration) -> str:
    """The plain figure beside the headline: agreement, which continuous scores do not have."""
    return "mae" if calibration.scale.kind == "continuous" else "agreement"


def overview(calibration: Calibration, anchors: Mapping[str, str]) -> Html:
    """The whole table. `anchors` leads from the id of a sample to its place on the page."""
    plain, headline = beside(calibration), headline_of(calibration)
    axis = _axis(calibration, headline)
    bar_head = tag("th", scale_bar(axis), scope="col", class_="drawn", aria_label="drawn with its interval")
    heads = (
        tag("th", "Model", scope="col"),
        tag("th", "Use", scope="col"),
        tag("th", "Valid", scope="col", class_="number", title="outputs with a verdict, of all outputs"),
        tag("th", words_of(plain).name, scope="col", class_="number", title=words_of(plain).meaning),
        tag("th", words_of(headline).name, scope="col", class_="number", title=words_of(headline).meaning),
        bar_head,
        tag("th", "Bias", scope="col", class_="number", title=words_of("bias").meaning),
        tag("th", "Worst miss", scope="col"),
        tag("th", "Cost per 1,000", scope="col", class_="number", title="US dollars for 1,000 verdicts"),
        tag("th", "Latency", scope="col", class_="number", title="median, and below it what most answers keep to"),
    )
    rows = [_model_row(model, axis, plain, calibration.scale.kind, anchors) for model in calibration.models]
    table = tag(
        "table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), _feet(calibration, axis, plain), class_="models"
    )
    return joined([tag("p", _meaning(calibration), class_="note"), tag("div", table, class_="scroll"), _legend(axis)])


def _meaning(calibration: Calibration) -> str:
    """What the figures of the table say, for readers who know no statistics."""
    parts = [LEGENDS[headline_of(calibration)], "Below each figure: its 95 % interval; decide by its ends."]
    if calibration.baseline is not None:
        answer = code_text(calibration.baseline.answer)
        parts.append(f"Always “{answer}” looks at nothing: a judge must beat it.")
    if calibration.ceiling is not None:
        parts.append("People agree so far with each other: hardly any judge does better.")
    return " ".join(parts)


def use_badge(verdict: Recommendation) -> Html:
    """What the judge may be used for, by mark, word and colour."""
    words = USE_WORDS[verdict.use]
    return tag("span", f"{words.mark} {words.word}", class_=f"badge use-{verdict.use}", title=words.meaning)


def _axis(calibration: Calibration, headline: str) -> Axis:
    figures = [model.statistics.get(headline) for model in calibration.models]
    if calibration.baseline is not None:
        figures.append(calibration.baseline.statistics.get(headline))
    ceiling = None if calibration.ceiling is None else calibration.ceiling.statistics.get(headline)
    if ceiling is not None:
        figures.append(ceiling)
    return common_axis(headline, figures, None if ceiling is None else ceiling.value)


def _model_row(model: ModelReport, axis: Axis, plain: str, kind: str, anchors: Mapping[str, str]) -> Html:
    bias = statistic_cell("bias", model.statistics.get("bias"), f"a {kind} scale has none")
    return tag(
        "tr",
        tag("th", model.model, scope="row"),
        tag("td", _use(model.verdict), class_="use"),
        tag("td", _valid(model), class_="number"),
        *_figure_cells(model.statistics, axis, plain),
        tag("td", bias, class_="number"),
        tag("td", _worst(model, anchors)),
        tag("td", usd_text(model.cost_usd_per_1000), class_="number"),
        tag("td", _latency(model), class_="number pace"),
    )


def _figure_cells(figures: Figures, axis: Axis, plain: str) -> list[Html]:
    headline = figures.get(axis.name)
    return [
        tag("td", statistic_cell(plain, figures.get(plain)), class_="number"),
        tag("td", statistic_cell(axis.name, headline), class_="number"),
        tag("td", interval_bar(headline, axis), class_="drawn"),
    ]


def _feet(calibration: Calibration, axis: Axis, plain: str) -> Html:
    rows: list[Html] = []
    if calibration.baseline is not None:
        name = f"Always “{code_text(calibration.baseline.answer)}”"
        rows.append(_foot(name, "the best constant answer", calibration.baseline.statistics, axis, plain))
    if calibration.ceiling is not None:
        rows.append(_foot("People", "the ceiling: with each other", calibration.ceiling.statistics, axis, plain))
    return tag("tfoot", *rows)


def _foot(name: str, meaning: str, figures: Figures, axis: Axis, plain: str) -> Html:
    head = tag("th", name, tag("small", meaning), scope="row")
    before, after = (tag("td") for _ in range(2)), (tag("td") for _ in range(4))
    return tag("tr", head, *before, *_figure_cells(figures, axis, plain), *after)


def _valid(model: ModelReport) -> Html:
    share = None if not model.total else model.valid / model.total
    return joined([tag("span", f"{model.valid:,} / {model.total:,}", class_="value"), tag("small", percent(share))])


def _worst(model: ModelReport, anchors: Mapping[str, str]) -> Html:
    worst = model.worst
    if worst is None:
        return tag("span", NOTHING, class_="none", title="no disagreement")
    said = f"{'▲ ' if worst.dangerous else ''}{code_text(worst.human)} → {code_text(worst.judge)}"
    anchor = anchors.get(worst.id)
    where = tag("a", worst.id, href=f"#{anchor}") if anchor is not None else _absent(worst.id)
    return joined([tag("span", said, class_="value", title="people → judge"), tag("small", where)])


def _absent(sample_id: str) -> Html:
    """An id of a sample that is not on the page."""
    return tag("span", sample_id, title="this sample is not on the page; the JSON report has it")


def _latency(model: ModelReport) -> Html | str:
    latency = model.latency_ms
    if latency is None:
        return NOTHING
    most = tag("small", f"95 % of answers within {time_text(latency.p95)}")
    return joined([tag("span", time_text(latency.p50), class_="value"), most])


def _use(verdict: Recommendation) -> Html:
    needed = verdict.labels_needed
    more = None if needed is None else tag("small", f"about {needed:,} more labels would tell", class_="needed")
    return joined([use_badge(verdict), tag("small", in_words(verdict.reason), class_="why"), more])


def _legend(axis: Axis) -> Html:
    parts = ["Lines are 95 % intervals."]
    if axis.marks:
        parts.append("Dashed: the usual lower bounds for trends (.4) and gating (.6); a deck can set others.")
    if axis.ceiling is not None:
        parts.append("▼: how far people agree with each other.")
    parts.append("▲: acting on the judge would do harm.")
    return tag("p", " ".join(parts), class_="note")
