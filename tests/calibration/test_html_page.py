"""The page of a calibration: whole, self-contained, and with every figure that it must have."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

import pytest

from calibration_page import HOSTILE, answer, hostile_calibration, rated_calibration, sample, table_calibration
from html_tree import Element, parsed
from turnwise.calibration.answer_files import Answers
from turnwise.calibration.estimating import with_estimates
from turnwise.calibration.report import Calibration
from turnwise.report.calibration.html.page import calibration_html

EVERY = {"table": table_calibration, "rated": rated_calibration, "hostile": hostile_calibration}


@cache
def made(name: str) -> Calibration:
    """A calibration, made once."""
    return EVERY[name]()


@cache
def page(*names: str) -> Element:
    """The page of these calibrations."""
    return parsed(calibration_html([made(name) for name in names]))


def row(where: Element, head: str) -> list[str]:
    """The cells of the row that begins with `head`."""
    rows = [[cell.text for cell in each.all() if cell.tag in ("th", "td")] for each in where.all("tr")]
    return next(cells for cells in rows if cells and cells[0].startswith(head))


def test_the_table_has_the_figures_of_the_worked_example() -> None:
    """The row of a model shows agreement, quadratic κ and bias with the intervals that the oracle gives."""
    cells = row(page("table").one("table", "models"), "steady")
    assert cells[1].startswith("● gating")
    assert cells[2] == "168 / 168100.0 %"
    assert cells[3].startswith("68.5 %")
    assert cells[4] == ".89.84 … .92"
    assert cells[6].startswith("+0.030")
    assert cells[8] == "$0.50"
    assert cells[9] == "420 ms95 % of answers within 420 ms"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Agreement", "68.5 %"),
        ("Agreement within 1", "96.4 %"),
        ("Cohen’s κ", ".60"),
        ("Linear κ", ".77"),
        ("Quadratic κ", ".89"),
        ("Lin’s concordance", ".89"),
        ("Spearman’s ρ", ".89"),
        ("Kendall’s τ-b", ".81"),
        ("Mean absolute error", "0.351"),
        ("Bias", "+0.030"),
    ],
)
def test_every_figure_is_listed_with_n_and_meaning(name: str, value: str) -> None:
    """The table of all figures has value, n, method and a sentence for each."""
    table = page("table").one("table", "figures")
    cells = next(cells for cells in _rows(table) if re.fullmatch(re.escape(name) + "[a-z_0-9]+", cells[0]))
    assert cells[1].startswith(value)
    assert cells[3] == "168"
    assert all(cells[4:6])


def _rows(table: Element) -> list[list[str]]:
    return [[cell.text for cell in each.all() if cell.tag in ("th", "td")] for each in table.one("tbody").all("tr")]


def test_the_matrix_shows_counts_and_shares_of_rows() -> None:
    """A row of the matrix is that of the worked table, with whole percentages of the row."""
    table = page("table").one("table", "confusion")
    assert _rows(table)[0] == ["1", "2077%", "519%", "14%", "0", "0", "26"]


def test_the_histogram_counts_deviations() -> None:
    """Deviations are those that the diagonals of the worked table add up to."""
    charts = page("table").one("div", "charts")
    columns = [each.text for each in charts.all("title") if re.match(r"[+−]?\d: ", each.text)]
    assert columns == ["−2: 3 times", "−1: 21 times", "0: 115 times", "+1: 26 times", "+2: 3 times"]


def test_dots_of_the_scatter_stand_for_all_pairs() -> None:
    """Every cell of the worked table that is not empty is a dot with its count, and their sum is all pairs."""
    charts = page("table").one("div", "charts")
    counts = [int(found[1]) for each in charts.all("title") if (found := re.match(r"people .*: (\d+) time", each.text))]
    assert (len(counts), sum(counts)) == (19, 168)


def test_differences_are_said_in_words() -> None:
    """The better of two models comes first, with the interval and the adjusted p value."""
    first = next(page("table").one("ul", "differences").all("li")).text
    assert re.search(r"steady agrees more often than kind by \d+\.\d points \(.+ … .+\), p < \.001 after Holm", first)


def test_gates_are_met_or_not_in_words() -> None:
    """.843 meets a bar of .8, and 68.5 % does not meet one of .9."""
    cells = _rows(page("table").one("div", "gates"))
    assert [cells[0][2:], cells[2][2:]] == [[".843", "✓ met"], [".685", "✕ not met"]]


def test_invalid_outputs_are_listed_with_their_text() -> None:
    """What is no verdict is shown raw: of 3,000 characters the first 2,000, and the number left out."""
    part = page("table").one("div", "no-verdicts")
    raw = [each.text for each in part.all("pre")]
    assert raw == ["I am sorry, but I cannot grade this.", ("great!" * 500)[:2000]]
    assert "… 1,000 more characters" in part.text


def test_the_constant_and_the_people_stand_below_for_comparison() -> None:
    """The foot of the table has the best constant answer and, where several people labelled, their agreement."""
    foot = page("rated").one("tfoot")
    assert row(foot, "Always")[3].startswith("50.0 %")  # 45 of 90 labels are `bad`, and so many are `good`
    assert row(foot, "People")[3].startswith("86.7 %")  # of 90 pairs of people, cy's 6 odd samples spoil 12


def test_people_are_compared_in_pairs() -> None:
    """ann and cy agree on 24 of 30; half of the labels of each are `good`, so κ is (.8 − .5) / .5."""
    page_of_people = page("rated")
    cells = row(page_of_people, "ann and cy")
    assert cells[1].startswith(".60")
    assert cells[2].startswith("80.0 %")
    assert cells[3] == "30"
    assert "Krippendorff’s α" in page_of_people.text


def test_warnings_say_what_to_do() -> None:
    """Each warning is shown with its code and its hint."""
    part = page("table").one("div", "warnings")
    assert part.text.count("→") == len(made("table").warnings) > 0
    assert {each.text for each in part.all("code")} >= {warned.code for warned in made("table").warnings}


def test_what_is_not_defined_is_a_dash_with_the_reason() -> None:
    """A model without a single valid verdict has no figure, and the page says why."""
    cells = row(page("hostile").one("table", "models"), HOSTILE[2][:5])
    assert cells[2].startswith("0 / 8")
    assert cells[3].startswith("–")
    assert len(cells[3]) > 1


def test_slices_have_both_figures_and_n() -> None:
    """Every third sample is hard: 56 of 168, with agreement and the headline beside."""
    cells = row(page("table").one("table", "slices"), "hard")
    assert cells[3] == "56"
    assert cells[1].split()[1].startswith("%")
    assert cells[2].startswith(".")


def test_the_answer_comes_before_its_details() -> None:
    """First whether the judge can be trusted, then what to beware of, and last where the figures come from."""
    text = page("table").one("section", "deck").text
    order = ["Can it be trusted?", "Before you use these figures", "Gates", "Every figure, by model", "How it was made"]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    heads = [each.text for each in page("table").one("table", "models").one("thead").all("th")]
    assert heads[:2] == ["Model", "Use"]


def test_the_headline_is_explained_beside_the_table() -> None:
    """Readers who know no statistics learn what κ is, and what the rows below are for."""
    text = page("rated").text
    assert "κ is agreement beyond chance: 0 is guessing, 1 is perfect." in text
    assert "looks at nothing: a judge must beat it" in text
    assert "People agree so far with each other" in text


def test_words_have_no_bias_and_that_is_said() -> None:
    """A binary scale has no bias: a dash with the reason."""
    assert row(page("rated").one("table", "models"), "judge")[6] == "–a binary scale has none"


def test_settings_are_words() -> None:
    """A yes or no is a thing that is there or not, and names have no underscores."""
    found = table_calibration(settings={"steady": {"temperature": 0.0, "structured_output": True, "top_k": 5}})
    assert "temperature 0, structured output, top k 5" in parsed(calibration_html([found])).text
    plain = table_calibration(settings={"steady": {"structured_output": False}})
    assert "no structured output" in parsed(calibration_html([plain])).text


def test_an_estimate_is_on_the_page() -> None:
    """A corrected pass rate that was asked for stands below the table, with what it rests on; else there is none."""
    found = made("table")
    answers = [sample(f"a-{place}", label=None) for place in range(10)]
    said = {"steady": {each.id: [answer(5 if place < 6 else 1)] for place, each in enumerate(answers)}}
    estimate = with_estimates(found, Answers(tuple(answers)), said, drawn=False)
    part = parsed(calibration_html([estimate])).one("div", "estimates").text
    assert "steady passes 60.0 % of 10 answers" in part
    assert "kind not corrected: 10 answers, no valid verdict: 10 missing" in part
    assert list(page("table").all("div", "estimates")) == []


def test_the_head_says_what_was_calibrated() -> None:
    """Path, short hash, counts, scale, seed and settings are there."""
    text = page("table").one("section", "deck").text
    for wanted in ("decks/tone.deck.md", "0123456789ab", "168 samples, 168 labelled", "passes from 4", "temperature 0"):
        assert wanted in text, wanted


@pytest.mark.parametrize("names", [("table",), ("rated", "table"), ("hostile",)])
def test_nothing_comes_from_outside(names: tuple[str, ...]) -> None:
    """No element can fetch, run or style anything: no event or style attribute, and links stay on the page."""
    for element in page(*names).all():
        assert element.tag not in {"iframe", "img", "object", "embed", "base", "audio", "video"}
        assert not [name for name in element.attributes if name.startswith("on") or name in ("style", "src", "action")]
        href = element.attributes.get("href")
        assert href is None or href.startswith("#") or href == "data:,"


@pytest.mark.parametrize("names", [("table",), ("rated", "table"), ("hostile",)])
def test_ids_are_unique_and_links_lead_somewhere(names: tuple[str, ...]) -> None:
    """No id is there twice, even with several decks, and each link on the page has its target."""
    elements = list(page(*names).all())
    ids = [each.attributes["id"] for each in elements if "id" in each.attributes]
    targets = {href[1:] for each in elements if (href := each.attributes.get("href")) and href.startswith("#")}
    assert len(ids) == len(set(ids))
    assert targets <= set(ids)


def test_the_policy_allows_only_the_two_blocks_of_the_page() -> None:
    """The policy has the hashes of style and script as they stand on the page, and forbids all else."""
    whole = page("hostile")
    (policy,) = [each.attributes["content"] for each in whole.all("meta") if "http-equiv" in each.attributes]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for name in ("style", "script"):
        (block,) = whole.all(name)
        digest = base64.b64encode(hashlib.sha256(block.text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_hostile_text_is_shown_and_can_be_written() -> None:
    """Every hostile text is on the page as text, and the page can be written as UTF-8."""
    text = calibration_html([made("hostile")])
    text.encode("utf-8")
    shown = parsed(text).text
    for each in HOSTILE[:5]:
        assert each in shown
    assert "a␛[31m␀\\u202eb\\u2066c\\ud800" in shown


def test_several_decks_have_a_part_each() -> None:
    """Decks are listed at the top, and each has a part with its name."""
    whole = page("rated", "table")
    assert [each.text for each in whole.one("nav").all("a")] == ["Recorded outputs", "Tone"]
    assert len(list(whole.all("section", "deck"))) == 2


def test_no_deck_makes_a_page_that_says_so() -> None:
    """A page of nothing is a page still."""
    assert "Nothing was calibrated." in parsed(calibration_html([])).one("main").text


def test_the_page_is_built_for_everybody() -> None:
    """Language, title, landmarks, names of drawings and labels of controls are there."""
    whole = page("table")
    assert whole.one("html").attributes["lang"] == "en"
    assert whole.one("title").text == "Calibration of Tone"
    assert [len(list(whole.all(name))) for name in ("main", "h1")] == [1, 1]
    assert all(next(each.all("title")).text for each in whole.all("svg"))
    controls = whole.one("form", "controls")
    assert len(list(controls.all("label"))) == len([*controls.all("select"), *controls.all("input")])
