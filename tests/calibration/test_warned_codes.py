"""Warnings: each appears where it must, with what to do, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay_fixtures import Row, binary_cells, deck_text, judge_lines, replay_report, sample_row

_BINARY = deck_text('kind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"')
_STEPS = deck_text('kind = "ordinal"\nmin = 1\nmax = 5')


def _second_person(samples: list[Row]) -> list[Row]:
    """The same samples, the first of which two people have labelled."""
    first = {**samples[0], "labels": [{"rater": who, "label": samples[0]["expected"]} for who in ("ann", "ben")]}
    del first["expected"]
    return [first, *samples[1:]]


def _codes(folder: Path, samples: list[Row], said: list[Row], deck: str | None = _BINARY, **options: Any) -> list[str]:
    warnings = replay_report(folder, samples, said, deck, **options)["warnings"]
    assert all(each["message"] and each["hint"] for each in warnings)
    return [each["code"] for each in warnings]


def test_a_sound_calibration_of_single_labels_has_one_warning(tmp_path: Path) -> None:
    """Enough labels of each class, a declared scale and a good judge: only that nobody else has labelled."""
    assert _codes(tmp_path, *binary_cells((20, 2, 2, 20))) == ["single_rater"]


@pytest.mark.parametrize(("count", "warned"), [(29, True), (30, False)])
def test_few_samples(tmp_path: Path, count: int, warned: bool) -> None:
    """Fewer than 30 labelled samples are few; unlabelled ones do not count."""
    samples, said = binary_cells((count - 12, 1, 1, 10))
    samples += [sample_row(f"open{place}") for place in range(40)]
    assert ("few_samples" in _codes(tmp_path, samples, said)) is warned


@pytest.mark.parametrize(("count", "warned"), [(9, True), (10, False)])
def test_rare_class(tmp_path: Path, count: int, warned: bool) -> None:
    """A class with fewer than ten labels is rare, and named."""
    samples, said = binary_cells((40, 0, 0, count))
    report = replay_report(tmp_path, samples, said, _BINARY)
    found = [each["message"] for each in report["warnings"] if each["code"] == "rare_class"]
    assert len(found) == warned
    assert all("fail" in message for message in found)


def test_a_class_that_nobody_gave_is_rare(tmp_path: Path) -> None:
    """A label of the declared scale without any sample is a class with no labels."""
    assert "rare_class" in _codes(tmp_path, *binary_cells((40, 0, 0, 0)))


@pytest.mark.parametrize(("cells", "warned"), [((20, 10, 10, 20), False), ((20, 20, 10, 10), True)])
def test_no_better_than_constant(tmp_path: Path, cells: tuple[int, ...], warned: bool) -> None:
    """A judge with half of the samples right is warned of by name where always `pass` has more."""
    samples, said = binary_cells(cells, model="poor")
    warnings = replay_report(tmp_path, samples, said, _BINARY)["warnings"]
    assert [each["model"] for each in warnings if each["code"] == "no_better_than_constant"] == ["poor"] * warned


@pytest.mark.parametrize(("bad", "warned"), [(2, False), (3, True)])
def test_invalid_outputs(tmp_path: Path, bad: int, warned: bool) -> None:
    """More than five per cent of 40 samples without a verdict are too many; exactly five are not."""
    samples, said = binary_cells((20, 0, 0, 20))
    for line in said[:bad]:
        line["output"] = "hm"
    assert ("invalid_outputs" in _codes(tmp_path, samples, said)) is warned


@pytest.mark.parametrize(("said", "warned"), [([2, 3, 4, 3], True), ([1, 3, 5, 3], False), ([2, 2, 4, 4], False)])
def test_compressed_scale(tmp_path: Path, said: list[int], warned: bool) -> None:
    """A judge whose scores spread less than half as much as people's 1, 1, 5 and 5 is compressed."""
    samples = [sample_row(f"s{place}", [1, 1, 5, 5][place % 4]) for place in range(40)]
    outputs = judge_lines("judge", {f"s{place}": said[place % 4] for place in range(40)})
    # People's standard deviation is 2, that of the judges √.5, √2 and 1: only one below is compressed.
    assert ("compressed_scale" in _codes(tmp_path, samples, outputs, _STEPS)) is warned


def test_single_rater_and_clustered_by_votes(tmp_path: Path) -> None:
    """A second person's label ends the one warning and begins the other: two votes of a sample belong together."""
    samples, said = binary_cells((20, 2, 2, 20))
    assert _codes(tmp_path, _second_person(samples), said) == ["clustered"]


@pytest.mark.parametrize(("clusters", "warned"), [(44, False), (43, True)])
def test_clustered(tmp_path: Path, clusters: int, warned: bool) -> None:
    """Two samples with one cluster make the data clustered; a cluster for each does not."""
    samples, said = binary_cells((20, 2, 2, 20))
    for place, each in enumerate(samples):
        each["cluster"] = f"c{place % clusters}"
    assert ("clustered" in _codes(tmp_path, samples, said)) is warned


def test_scale_inferred(tmp_path: Path) -> None:
    """Without a declared scale, the report says that it was inferred."""
    assert "scale_inferred" in _codes(tmp_path, *binary_cells((20, 2, 2, 20)), deck=None)


@pytest.mark.parametrize(
    ("body", "warned"),
    [
        ("Grade it. For example, question s3 is not a good one.", False),
        ("Grade it. 'The  ANSWER of number\nthree' is good.", True),
        ("Grade it.", False),
    ],
)
def test_deck_quotes_samples(tmp_path: Path, body: str, warned: bool) -> None:
    """A sample whose words stand in the deck is named, whatever case and line breaks; two words are no quotation."""
    samples, said = binary_cells((20, 2, 2, 20))
    samples[3]["messages"][1]["content"] = "The answer of number three"
    deck = _BINARY.replace("Grade the answer.", body)
    warnings = replay_report(tmp_path, samples, said, deck)["warnings"]
    found = [each["message"] for each in warnings if each["code"] == "deck_quotes_samples"]
    assert [message.endswith(": s3") for message in found] == [True] * warned


def test_deck_that_names_the_samples_it_shows(tmp_path: Path) -> None:
    """`rendered_samples` says that the deck's text is about a sample, also where it does not quote it."""
    deck = deck_text('kind = "binary"\nlabels = ["fail", "pass"]', more='[meta]\nrendered_samples = ["s0"]')
    assert "deck_quotes_samples" in _codes(tmp_path, *binary_cells((20, 2, 2, 20)), deck=deck)


def test_label_leak(tmp_path: Path) -> None:
    """A deck that shows the label and is measured all the same says so, in the first place."""
    deck = _BINARY.replace("+++\n\n", "+++\n[contexts.expected]\nassistantQuestion = 'What is expected?'\n")
    codes = _codes(tmp_path, *binary_cells((20, 2, 2, 20)), deck=deck, allow_label_leak=True)
    assert codes == ["label_leak", "single_rater"]
