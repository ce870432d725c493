"""The list of samples with its controls. Without JavaScript the controls stay hidden and every sample is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .markup import Html, joined, tag, visible
from .ranking import ranked
from .sample import sample_article

if TYPE_CHECKING:
    from ....calibration.report import Calibration

__all__ = ["MOST_CHARACTERS", "MOST_SAMPLES", "SampleList", "sample_list", "samples_part"]

MOST_SAMPLES = 2000
MOST_CHARACTERS = 12_000_000
"""A page larger than this is slow to open. The list takes at most so many characters of HTML."""

_MOST_TAGS = 500
_SHOW = (
    ("all", "all samples"),
    ("differs", "disagreements"),
    ("dangerous", "dangerous ones"),
    ("invalid", "without a verdict"),
    ("unlabelled", "unlabelled"),
)
_SORT = (("danger", "danger"), ("distance", "distance"), ("id", "id"), ("human", "human label"))


@dataclass(frozen=True, slots=True)
class SampleList:
    """The samples that are on the page: their HTML, where each of them is, and how many are not."""

    articles: tuple[Html, ...]
    anchors: dict[str, str]
    left_out: int


def sample_list(calibration: Calibration, deck: int, share: float = 1.0) -> SampleList:
    """The samples of the deck with that number, in the `share` of the page that it may take."""
    models = [model.model for model in calibration.models]
    articles: list[Html] = []
    anchors: dict[str, str] = {}
    characters = 0
    for order, sample in enumerate(ranked(calibration, max(1, int(MOST_SAMPLES * share)))):
        anchor = f"deck-{deck}-sample-{order}"
        article = sample_article(sample, models, anchor, order)
        characters += len(article)
        if articles and characters > MOST_CHARACTERS * share:
            break
        articles.append(article)
        anchors[sample.item.sample.id] = anchor
    return SampleList(tuple(articles), anchors, len(calibration.items) - len(articles))


def samples_part(calibration: Calibration, shown: SampleList) -> Html:
    """Controls, how many there are, and the samples."""
    if not shown.articles:
        return Html("")
    more = None
    if shown.left_out:
        text = (
            f"The {len(shown.articles):,} samples that matter most are here. {shown.left_out:,} more are left out, to "
            "keep the page usable; the JSON report has all disagreements, and the sample files have all conversations."
        )
        more = tag("p", text, class_="note left-out")
    models = [model.model for model in calibration.models]
    tags = sorted({name for item in calibration.items for name in item.sample.tags})
    button = tag("button", "Show more", type="button", class_="more", hidden=True)
    parts = (more, _controls(models, tags), tag("div", *shown.articles, class_="list"), button)
    return joined([tag("h3", "Samples"), tag("div", *parts, class_="samples")])


def _controls(models: Sequence[str], tags: Sequence[str]) -> Html:
    search = tag("input", type="search", name="text", autocomplete="off", spellcheck="false")
    parts = [
        tag("label", tag("span", "Search"), search),
        _choice("show", "Show", _SHOW),
        _choice("model", "Model", (("", "any"), *((str(place), name) for place, name in enumerate(models)))),
        _choice("tag", "Tag", (("", "any"), *((visible(name), name) for name in tags[:_MOST_TAGS]))),
        _choice("sort", "Sort by", _SORT),
        tag("p", class_="found", role="status", aria_live="polite"),
    ]
    return tag("form", *parts, class_="controls", hidden=True, role="search", aria_label="Filter samples")


def _choice(name: str, label: str, options: Iterable[tuple[str, str]]) -> Html:
    written = [tag("option", text, value=value) for value, text in options]
    return tag("label", tag("span", label), tag("select", *written, name=name))
