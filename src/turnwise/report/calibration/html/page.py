"""The page: one file with its style and script inside, which asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .compared import compared
from .details import model_details
from .estimated import estimated
from .head import about, deck_name, gates, lead, warnings
from .invalid import invalid_outputs
from .markup import Html, joined, tag
from .overview import overview
from .samples import sample_list, samples_part
from .slices import people, slices

if TYPE_CHECKING:
    from ....calibration.report import Calibration

__all__ = ["calibration_html"]


def calibration_html(calibrations: Sequence[Calibration]) -> str:
    """One self-contained page with a part for each deck."""
    names = [deck_name(each) for each in calibrations]
    title = f"Calibration of {len(names)} decks"
    if len(names) == 1:
        title = "Calibration of recorded outputs" if calibrations[0].deck is None else f"Calibration of {names[0]}"
    sections = [_section(each, place, 1 / len(calibrations)) for place, each in enumerate(calibrations)]
    body = tag(
        "body",
        tag("a", "Skip to the figures", href="#main", class_="skip"),
        tag("header", tag("h1", title), _contents(names), class_="top"),
        tag("main", *(sections or [tag("p", "Nothing was calibrated.")]), id="main"),
        tag("footer", tag("p", "Made by Turnwise. Every interval is a 95 % interval; – means not defined.")),
        tag("script", Html(_resource("report.js"))),
    )
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(_policy())),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", Html(_resource("report.css"))),
    )


def _policy() -> str:
    """Only the two blocks that were written here count, told by their hashes; nothing is fetched or sent."""
    style, script = (_hash(_resource(name)) for name in ("report.css", "report.js"))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _resource(name: str) -> str:
    """A file of the package, with the line ends that a browser hashes."""
    return (files(__package__) / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _contents(names: Sequence[str]) -> Html | None:
    if len(names) < 2:
        return None
    links = [tag("li", tag("a", name, href=f"#deck-{place}")) for place, name in enumerate(names)]
    return tag("nav", tag("ul", *links), aria_label="Decks")


def _section(calibration: Calibration, place: int, share: float) -> Html:
    shown = sample_list(calibration, place, share)
    parts = (
        tag("h2", deck_name(calibration), id=f"deck-{place}-name"),
        lead(calibration),
        tag("h3", "Can it be trusted?"),
        overview(calibration, shown.anchors),
        estimated(calibration),
        warnings(calibration.warnings),
        gates(calibration),
        compared(calibration.models),
        model_details(calibration, is_open=True),
        slices(calibration),
        people(calibration),
        invalid_outputs(calibration.models),
        about(calibration),
        samples_part(calibration, shown),
    )
    return tag("section", joined(parts), id=f"deck-{place}", class_="deck", aria_labelledby=f"deck-{place}-name")
