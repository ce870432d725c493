"""The page in a real Chromium: silent, offline, harmless, and its controls do what they say."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from calibration_page import HOSTILE, hostile_calibration, rated_calibration, table_calibration
from turnwise.calibration.report import Calibration
from turnwise.report.calibration.html.page import calibration_html

pytestmark = pytest.mark.slow

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Shown = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium of the machine, driven by playwright; neither is among the project's own dependencies."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not program:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Shown]:
    """Opens the page of calibrations. At the end nothing may have been logged, and nothing asked of any network."""
    noise: list[str] = []
    requests: list[str] = []
    contexts: list[Any] = []
    file = tmp_path / "report.html"

    def opened(*calibrations: Calibration, fragment: str = "", **settings: Any) -> Any:
        file.write_text(calibration_html(calibrations), encoding="utf-8")
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: noise.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri() + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert noise == []
    assert {url.partition("#")[0] for url in requests} == {file.as_uri()}


def ids(page: Any) -> list[str]:
    """The ids of the samples that can be seen, in order."""
    found: list[str] = page.eval_on_selector_all(".sample:not([hidden])", "all => all.map(each => each.dataset.id)")
    return found


def choose(page: Any, **choices: str) -> None:
    """Set controls by their names."""
    for name, value in choices.items():
        page.select_option(f"select[name={name}]", value)


def test_the_page_opens_with_fifty_samples_and_more_on_request(shown: Shown) -> None:
    """The first fifty of 168 samples are shown, and each press of the button shows fifty more."""
    page = shown(table_calibration())
    assert len(ids(page)) == 50
    assert page.inner_text(".found") == "50 of 168 shown"
    page.click("button.more")
    assert len(ids(page)) == 100


def test_filters_leave_what_was_asked_for(shown: Shown) -> None:
    """Of the worked table 53 samples are off the diagonal, and 9 of these pass what people fail."""
    page = shown(table_calibration())
    choose(page, show="differs", model="0")
    assert page.inner_text(".found") == "50 of 53 shown"
    choose(page, show="dangerous")
    # People 1 to 3, judge 4 or 5: one in the second row of the table, seven and one more in the third.
    assert page.inner_text(".found") == "9 of 9 shown"
    choose(page, show="invalid", model="")
    assert sorted(ids(page)) == ["s-1", "s-2"]
    choose(page, show="unlabelled")
    assert ids(page) == []
    choose(page, show="all", tag="hard")
    assert page.inner_text(".found") == "50 of 56 shown"


def test_the_search_looks_at_ids_and_texts(shown: Shown) -> None:
    """A search finds what stands anywhere in a sample, in any case."""
    page = shown(table_calibration())
    page.fill("input[name=text]", "JUDGE’S REASON FOR S-168")
    assert ids(page) == ["s-168"]


def test_samples_are_sorted_as_asked(shown: Shown) -> None:
    """By id numbers count as numbers; by label the lowest comes first; by distance the farthest."""
    page = shown(table_calibration())
    choose(page, sort="id")
    assert ids(page)[:3] == ["s-1", "s-2", "s-3"]
    choose(page, sort="human")
    labels = page.eval_on_selector_all(".sample:not([hidden])", "all => all.map(each => Number(each.dataset.human))")
    assert labels == sorted(labels)
    choose(page, sort="distance", model="0")
    far = page.eval_on_selector_all(".sample:not([hidden])", "all => all.map(each => each.dataset.distances[0])")
    assert far == ["2"] * 6 + ["1"] * 44


def test_a_model_is_shown_alone_when_chosen(shown: Shown) -> None:
    """With a model chosen, the cards of others are hidden."""
    page = shown(table_calibration())
    choose(page, model="1")
    cards = page.locator(".sample:not([hidden]) >> nth=0").locator(".card:visible h5")
    assert cards.all_text_contents() == ["People", "kind"]


def test_a_link_to_a_sample_works_against_the_filter(shown: Shown) -> None:
    """A sample that is linked to is shown, even if the list leaves it out."""
    page = shown(table_calibration(), fragment="#deck-0-sample-160")
    assert page.is_visible("#deck-0-sample-160")


def test_decks_are_filtered_each_for_itself(shown: Shown) -> None:
    """The controls of one deck leave the samples of another alone."""
    page = shown(rated_calibration(), table_calibration())
    page.locator("#deck-0 select[name=show]").select_option("unlabelled")
    assert page.locator("#deck-0 .sample:visible").count() == 0
    assert page.locator("#deck-1 .sample:visible").count() == 50


def test_hostile_text_runs_nothing(shown: Shown) -> None:
    """Whatever people and models wrote, no script of theirs runs, also while the list is filtered and sorted."""
    page = shown(hostile_calibration())
    for order in ("id", "human", "distance", "danger"):
        choose(page, sort=order)
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    page.fill("input[name=text]", HOSTILE[0])
    choose(page, tag=HOSTILE[0])
    assert len(ids(page)) == 1
    page.wait_for_timeout(100)
    assert page.evaluate("typeof window.hit") == "undefined"
    assert page.locator("img, iframe").count() == 0


def test_an_injected_script_would_be_refused(browser: Any, tmp_path: Path) -> None:
    """The policy holds by itself: a script that is added to the page by hand does not run."""
    file = tmp_path / "tampered.html"
    added = "<script>window.hit = 1</script><img src='http://127.0.0.1:9/x' onerror='window.hit = 2'></main>"
    file.write_text(calibration_html([table_calibration()]).replace("</main>", added), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("typeof window.hit") == "undefined"
    page.close()


def test_without_script_every_sample_is_there(shown: Shown) -> None:
    """With scripts switched off there are no controls, and all samples can be read."""
    page = shown(table_calibration(), java_script_enabled=False)
    assert page.locator(".sample").count() == 168
    assert page.locator(".sample").last.is_visible()
    assert page.is_hidden("form.controls")


def _luminance(colour: str) -> float:
    return sum(float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) / 765


@pytest.mark.parametrize(("scheme", "is_light"), [("light", True), ("dark", False)])
def test_the_page_follows_the_scheme_of_the_reader(shown: Shown, scheme: str, is_light: bool) -> None:
    """Paper is light and ink dark, or the other way round, as the reader's system says."""
    page = shown(table_calibration(), color_scheme=scheme)
    paper, ink = page.evaluate("(style => [style.backgroundColor, style.color])(getComputedStyle(document.body))")
    assert (_luminance(paper) > _luminance(ink)) == is_light
    assert abs(_luminance(paper) - _luminance(ink)) > 0.6


def test_print_has_no_controls_and_opens_what_matters(shown: Shown) -> None:
    """On paper there are no controls, and the figures of every model are open."""
    page = shown(table_calibration(), color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.is_hidden("form.controls")
    assert page.is_hidden("button.more")
    assert page.locator("details.model:not([open])").count() == 0
    assert page.locator(".sample:visible details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.model:not([open])").count() == 1


def test_a_narrow_window_does_not_scroll_sideways(shown: Shown) -> None:
    """On a phone only wide tables scroll, each for itself."""
    page = shown(hostile_calibration(), viewport={"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


@pytest.mark.parametrize("width", [1024, 1100])
def test_the_verdict_is_in_sight_on_a_small_screen(shown: Shown, width: int) -> None:
    """Whatever else scrolls, what the judge may be used for is within the window."""
    page = shown(table_calibration(), rated_calibration(), viewport={"width": width, "height": 900})
    for box in (each.bounding_box() for each in page.locator("table.models td.use").all()):
        assert box["x"] + box["width"] <= width


def test_tables_fit_on_paper(shown: Shown) -> None:
    """A4 less two margins of 14 mm is 182 mm, which are 687 pixels at 96 to the inch: no table is wider."""
    page = shown(table_calibration(), rated_calibration(), viewport={"width": 687, "height": 1000})
    page.emulate_media(media="print")
    widths = "[...document.querySelectorAll('table')].map(each => each.getBoundingClientRect().right)"
    assert max(page.evaluate(widths)) <= 687.5


def test_the_controls_work_by_keyboard(shown: Shown) -> None:
    """The first tab leads to the link that skips the head, and typing in the search filters."""
    page = shown(table_calibration())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("input[name=text]")
    page.keyboard.type("s-168")
    page.keyboard.press("Enter")
    assert ids(page) == ["s-168"]
