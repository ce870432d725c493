"""The list of samples: what matters first, and never more than a page can hold."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from calibration_page import FIVE, answer, sample, table_calibration
from html_tree import Element, parsed
from turnwise.calibration.analysis import analyse
from turnwise.calibration.judgement import Output
from turnwise.calibration.report import Calibration
from turnwise.report.calibration.html import samples as module
from turnwise.report.calibration.html.markup import Html
from turnwise.report.calibration.html.ranking import ranked
from turnwise.report.calibration.html.samples import sample_list, samples_part


@cache
def five_kinds() -> Calibration:
    """One sample of each kind. From 4 on an answer passes, so that a 5 in place of a 1 does harm."""
    samples = [
        sample("agrees", label=3),
        sample("unlabelled"),
        sample("invalid", label=2),
        sample("strict", label=5),
        sample("harm", label=1, tags=("sore",)),
        sample("near", label=2),
    ]
    said = {"agrees": 3, "unlabelled": 4, "strict": 2, "harm": 5, "near": 1}
    outputs = {name: [answer(score, f"why {name}")] for name, score in said.items()}
    outputs["invalid"] = [Output("no idea")]
    return analyse(samples, {"judge": outputs}, FIVE, draws=50)


def articles(calibration: Calibration) -> list[Element]:
    """The samples on the page, in order."""
    return list(parsed(samples_part(calibration, sample_list(calibration, 0))).all("article"))


def test_what_could_do_harm_comes_first() -> None:
    """Dangerous ones first, then by distance, then those without a verdict, then the rest in their own order."""
    order = [each.item.sample.id for each in ranked(five_kinds(), 10)]
    assert order == ["harm", "strict", "near", "invalid", "agrees", "unlabelled"]


def test_each_outcome_has_a_word() -> None:
    """What a verdict is worth is said by word and shape, not by colour alone."""
    found = {each.attributes["data-id"]: each.one("span", "state").text for each in articles(five_kinds())}
    assert found == {
        "harm": "▲ dangerous, 4 off",
        "strict": "≠ differs, 3 off",
        "near": "≠ differs, 1 off",
        "invalid": "∅ no verdict",
        "agrees": "= agrees",
        "unlabelled": "· nothing to compare with",
    }


def test_both_reasons_stand_side_by_side() -> None:
    """The reason of people and that of the judge are in neighbouring cards."""
    cards = [each.text for each in articles(five_kinds())[0].all("section", "card")]
    assert cards[0] == "People1people’s reason for harm"
    assert cards[1].endswith("why harm")


def test_the_conversation_is_on_the_page() -> None:
    """Roles and contents of every message are shown."""
    turns = [each.text for each in articles(five_kinds())[0].all("li")]
    assert turns == ["userWhat is 2 + 2?", "assistantAnswer to harm: four."]


def test_long_texts_are_cut_and_counted() -> None:
    """A message of 5,000 characters shows 4,000, and of 40 messages 30 are shown."""
    (only,) = analyse([sample("long", "y" * 5000, 3)], {"judge": {"long": [answer(3)]}}, FIVE, draws=50).items
    many = replace(only.sample, id="many", messages=only.sample.messages * 20)
    shown = articles(replace(five_kinds(), items=[only, replace(only, sample=many)]))
    assert "y" * 4000 + " … 1,000 more characters" in shown[0].text
    assert "y" * 4001 not in shown[0].text
    assert "… 10 more messages" in shown[1].text


def many(count: int) -> Calibration:
    """So many samples; only the last one is dangerous."""
    base = five_kinds()
    agreeing, harmful = base.items[0], base.items[4]
    copies = [replace(agreeing, sample=replace(agreeing.sample, id=f"copy-{n}")) for n in range(count - 1)]
    return replace(base, items=[*copies, harmful])


def test_a_large_set_is_bounded_and_says_so() -> None:
    """Of 2,300 samples 2,000 are shown, the dangerous last one first, and the page says that 300 are left out."""
    calibration = many(2300)
    shown = sample_list(calibration, 0)
    assert (len(shown.articles), shown.left_out) == (2000, 300)
    assert shown.anchors["harm"] == "deck-0-sample-0"
    assert "300 more are left out" in samples_part(calibration, shown)


def test_several_decks_share_the_room() -> None:
    """A deck that has a quarter of the page shows a quarter of the samples."""
    assert len(sample_list(many(600), 0, share=0.25).articles) == 500


def test_large_samples_are_bounded_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list ends before it takes more characters than it may, but is never empty."""
    whole = sample_list(many(20), 0)
    size = len(whole.articles[0]) + len(whole.articles[1])
    monkeypatch.setattr(module, "MOST_CHARACTERS", size)
    assert len(sample_list(many(20), 0).articles) == 2
    monkeypatch.setattr(module, "MOST_CHARACTERS", 1)
    assert len(sample_list(many(20), 0).articles) == 1


def test_without_script_everything_is_readable() -> None:
    """Controls wait for the script; no sample does."""
    part = parsed(samples_part(table_calibration(), sample_list(table_calibration(), 0)))
    assert "hidden" in part.one("form").attributes
    assert not [each for each in part.all("article") if "hidden" in each.attributes]
    assert len(list(part.all("article"))) == 168


def test_no_samples_make_no_list() -> None:
    """Where the items are not kept, there is no empty list."""
    empty = replace(five_kinds(), items=())
    assert samples_part(empty, sample_list(empty, 0)) == Html("")
