"""Scales: declared, or inferred from human labels; and labels in one form."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.decks.samples import Sample, read_samples
from turnwise.decks.scale import ScaleSpec
from turnwise.graders.human_labels import code_labels
from turnwise.graders.human_scale import Code, Scale, declared_scale, human_values, inferred_scale, scale_for

MESSAGES = 'messages = [{ role = "user", content = "Hi" }]\n'


def samples_of(folder: Path, *labels: str) -> list[Sample]:
    """Samples with these lines as their labels."""
    path = folder / "s.toml"
    path.write_text("".join(f"[[samples]]\n{MESSAGES}{label}\n" for label in labels), encoding="utf-8")
    samples, diagnostics = read_samples(path)
    assert diagnostics == []
    return samples


def spec(**fields: object) -> ScaleSpec:
    """A `[scale]` table."""
    return ScaleSpec.model_validate(fields)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1], "binary"),
        (["pass", "fail"], "binary"),
        (["Pass", "PASS", "fail"], "binary"),
        (["0", 1], "binary"),
        ([0.5, 1.5], "binary"),
        (["yes", 1], "binary"),
        (["A", "B", "tie"], "categorical"),
        (["1", "2", "tie"], "categorical"),
        (["only"], "categorical"),
        ([3], "ordinal"),
        ([1, "2", "+3"], "ordinal"),
        ([1, 2.0, 3], "ordinal"),
        (list(range(11)), "ordinal"),
        (list(range(12)), "continuous"),
        ([1, 2, 2.5], "continuous"),
        ([], "continuous"),
    ],
)
def test_kinds_are_inferred(values: list[Code], kind: str) -> None:
    """Two labels are binary, other words categorical, at most eleven whole numbers ordinal, the rest continuous."""
    scale = inferred_scale(values)
    assert (scale.kind, scale.declared) == (kind, False)


def test_inferred_numbers_have_no_bounds() -> None:
    """What people did not give may still be given by a grader; a word may not."""
    scale = inferred_scale([1, 2, 3])
    assert (scale.values, scale.min, scale.max) == ((1, 2, 3), None, None)
    assert scale.code(9) == 9
    assert scale.code("good") is None


def test_inferred_words_are_those_of_people() -> None:
    """The set of labels is the set of human labels, each in its first spelling; any other word is off the scale."""
    scale = inferred_scale(["tie", "B", "A", "b", "Tie"])
    assert (scale.labels, scale.tie) == (("A", "B", "tie"), "tie")
    assert [scale.code(word) for word in ("a", " B ", "TIE", "C")] == ["A", "B", "tie", None]


def test_one_label_has_one_code() -> None:
    """`2`, `"2"`, `2.0` and `+2` are one, on a scale of numbers and on one of words."""
    spellings: list[Code] = [2, "2", 2.0, "+2", " 2 ", "2.0"]
    assert {Scale("ordinal", min=1, max=5).code(each) for each in spellings} == {2}
    assert {Scale("categorical", labels=("1", "2", "tie")).code(each) for each in spellings} == {"2"}


def test_declared_scales_have_bounds() -> None:
    """Bounds and lists of values are kept to."""
    bounded = declared_scale(spec(kind="ordinal", min=-3, max=3, ungradable=0, **{"pass": 1}))
    assert [bounded.code(each) for each in (-3, 3, 4, -4)] == [-3, 3, None, None]
    assert (bounded.pass_, bounded.declared, bounded.is_ungradable("0"), bounded.is_ungradable(1)) == (
        1,
        True,
        True,
        False,
    )
    listed = declared_scale(spec(kind="ordinal", values=[1, 3, 5]))
    assert [listed.code(each) for each in (3, 2)] == [3, None]
    half = declared_scale(spec(kind="continuous", min=0))
    assert [half.code(each) for each in (0, 1e9, -0.1)] == [0, 1e9, None]


def test_a_declared_scale_without_values_takes_those_of_people() -> None:
    """A kind alone is filled in from the labels, except for the one that means ungradable."""
    words = declared_scale(spec(kind="categorical", ungradable="none"), ["B", "a", "None", "A"])
    assert (words.labels, words.declared, words.code("c")) == (("a", "B"), True, None)
    assert declared_scale(spec(kind="binary"), [1, 0, 1]).values == (0, 1)
    assert declared_scale(spec(kind="binary"), ["no", "yes"]).labels == ("no", "yes")


def test_the_tie_has_the_spelling_of_the_scale() -> None:
    """The label `tie` means a tie unless the scale names another."""
    assert declared_scale(spec(kind="categorical", labels=["A", "B", "Tie"])).tie == "Tie"
    assert declared_scale(spec(kind="categorical", labels=["A", "B", "Draw"], tie="draw")).tie == "Draw"
    assert declared_scale(spec(kind="categorical", labels=["A", "B"])).tie is None


def test_the_report_names_everything() -> None:
    """The record of a scale has every field, and null for what is not set."""
    assert declared_scale(spec(kind="binary", values=[0, 1])).as_record() == {
        "kind": "binary",
        "values": [0, 1],
        "labels": None,
        "min": None,
        "max": None,
        "pass": None,
        "ungradable": None,
        "tie": None,
        "declared": True,
    }


def test_the_scale_of_samples(tmp_path: Path) -> None:
    """Several people's labels come before the expected one, and unlabelled samples say nothing."""
    two = 'labels = [{ rater = "a", label = "x" }, { rater = "b", label = "y" }]\nexpected = "z"'
    samples = samples_of(tmp_path, two, 'expected = "X"', "")
    assert human_values(samples) == ["x", "y", "X"]
    assert scale_for(None, samples).labels == ("x", "y")
    assert scale_for(spec(kind="categorical", labels=["x", "y", "z"]), samples).declared


def test_labels_are_coded(tmp_path: Path) -> None:
    """Every sample keeps its place; a label that means ungradable is counted and is no label; none is made up."""
    two = 'labels = [{ rater = "a", score = 1 }, { rater = "b", score = 0 }]'
    samples = samples_of(tmp_path, two, 'expected = { score = "+2", reason = "r" }', "")
    coded, problems = code_labels(samples, Scale("ordinal", min=-3, max=3, ungradable=0))
    assert problems == []
    assert [[(label.code, label.rater, label.reason) for label in each.labels] for each in coded] == [
        [(1, "a", None)],
        [(2, None, "r")],
        [],
    ]
    assert [each.ungradable for each in coded] == [1, 0, 0]


def test_a_label_off_the_scale_is_an_error_with_its_place(tmp_path: Path) -> None:
    """The message names the label, the sample and the scale; file and line lead to the label."""
    samples = samples_of(tmp_path, "score = 1", 'labels = [{ rater = "a", score = 9 }]', 'expected = "good"')
    _, problems = code_labels(samples, Scale("ordinal", min=1, max=5))
    assert [(problem.code, problem.place.line, problem.case_id) for problem in problems] == [
        ("off-scale", 6, "s-1"),
        ("off-scale", 9, "s-2"),
    ]
    assert problems[0].message == "the label 9 of sample `s-1` is not on the scale: a number from 1 to 5"
    assert Path(problems[0].file).name == "s.toml"


def test_a_short_score_has_a_place_too(tmp_path: Path) -> None:
    """`score = 9` at the top of a sample is found in its own line."""
    samples = samples_of(tmp_path, "score = 9")
    (problem,) = code_labels(samples, Scale("ordinal", min=1, max=5))[1]
    assert problem.place.line == 3
