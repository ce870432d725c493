"""All figures of one model, with what they mean, and its drawings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....calibration.report import STATISTICS
from ..wording import of_judge, time_text
from .confusion import confusion_table
from .figures import NOTHING, counted, figure_text, interval_text, percent
from .histogram import deviation_histogram
from .markup import Html, joined, tag
from .overview import use_badge
from .plot import Pair, can_be_drawn, numeric_pairs
from .scatter import score_scatter
from .words import METHODS, words_of

if TYPE_CHECKING:
    from ....calibration.report import Calibration, Figures, ModelReport
    from ....stats.statistic import Statistic

__all__ = ["model_details", "statistics_table"]


def model_details(calibration: Calibration, is_open: bool) -> Html:
    """A part that opens for each model; `is_open` is how the first one starts."""
    parts = [_model(calibration, model, is_open and place == 0) for place, model in enumerate(calibration.models)]
    return joined([tag("h3", "Every figure, by model"), *parts]) if parts else Html("")


def _model(calibration: Calibration, model: ModelReport, is_open: bool) -> Html:
    summary = tag("summary", tag("b", model.model), " ", use_badge(model.verdict))
    is_numeric = calibration.scale.kind in ("ordinal", "continuous")
    pairs = numeric_pairs(calibration.items, model.model) if is_numeric else []
    drawings = tag(
        "div",
        confusion_table(model.confusion) if model.confusion is not None and model.confusion.labels else None,
        *_drawings(pairs),
        class_="charts",
    )
    parts = (_notes(model), drawings, _tables(model))
    return tag("details", summary, *parts, class_="model", open=is_open)


def _drawings(pairs: Sequence[Pair]) -> list[Html]:
    if can_be_drawn(pairs):
        return [deviation_histogram(pairs), score_scatter(pairs)]
    return (
        [tag("p", "The scores are too large, or too close to each other, to be drawn.", class_="note")] if pairs else []
    )


def _tables(model: ModelReport) -> Html:
    majority = model.statistics_majority
    if majority is None:
        return statistics_table(model.statistics, "Judge against people")
    first = statistics_table(model.statistics, "Judge against each person’s label")
    left_out = model.without_majority
    without = f"; {counted(left_out, 'sample')} without a majority left out" if left_out else ""
    return joined([first, statistics_table(majority, f"Judge against the label of most people{without}")])


def statistics_table(figures: Figures, caption: str) -> Html:
    """Each figure with n, interval, method and meaning."""
    known = [name for name in STATISTICS if name in figures]
    others = sorted(name for name in figures if name not in STATISTICS)
    rows = [_row(name, figures[name]) for name in (*known, *others)]
    heads = [tag("th", "Figure", scope="col")]
    heads += [tag("th", name, scope="col", class_="number") for name in ("Value", "95 % interval", "n")]
    heads += [tag("th", name, scope="col") for name in ("Method", "What it says")]
    table = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="figures"
    )
    return tag("div", table, class_="scroll")


def _row(name: str, statistic: Statistic) -> Html:
    words = words_of(name)
    value = figure_text(name, statistic.value)
    if name == "loa" and statistic.value is not None:
        value = figure_text("bias", statistic.value)
    of = tag("small", f"{statistic.k:,} of {statistic.n:,}") if statistic.k is not None else None
    method = METHODS.get(statistic.method, statistic.method)
    reason = tag("small", of_judge(statistic.reason), class_="why") if statistic.reason else None
    return tag(
        "tr",
        tag("th", words.name, tag("small", tag("code", name)), scope="row"),
        tag("td", tag("span", value, class_="none" if value == NOTHING else "value"), of, class_="number"),
        tag("td", interval_text(name, statistic.lo, statistic.hi) or NOTHING, class_="number"),
        tag("td", f"{statistic.n:,}", class_="number"),
        tag("td", method, reason),
        tag("td", words.meaning),
    )


def _notes(model: ModelReport) -> Html:
    return tag("ul", *(tag("li", note) for note in _note_texts(model)), class_="notes")


def _note_texts(model: ModelReport) -> Sequence[str]:
    notes = [f"{model.valid:,} of {counted(model.total, 'output')} with a verdict."]
    invalid = model.total - model.valid
    if invalid and model.bounds.all_wrong is not None:
        low, high = percent(model.bounds.all_wrong), percent(model.bounds.all_right)
        notes.append(
            f"If all samples without a verdict were wrong, agreement would be {low}; if all were right, {high}."
        )
    if model.repaired:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in model.repaired.items())
        notes.append(f"Answers that had to be mended to be read: {kinds}.")
    if model.design_effect is not None:
        notes.append(f"Design effect {model.design_effect:.2f}: what clusters make of the variance, as a multiple.")
    if model.repeats is not None:
        each = model.repeats
        notes.append(
            f"{each.repeats} repeats: {each.valid_outputs:,} of {counted(each.outputs, 'output')} valid, "
            f"{counted(each.undecided, 'sample')} undecided."
        )
    if model.usage is not None:
        used = model.usage
        requests = counted(used.counted, "request")
        notes.append(f"{used.input_tokens:,} tokens sent, {used.output_tokens:,} back, over {requests}.")
    if model.latency_ms is not None:
        pace = model.latency_ms
        notes.append(f"Half of the answers within {time_text(pace.p50)}, 95 % of them within {time_text(pace.p95)}.")
    return notes
