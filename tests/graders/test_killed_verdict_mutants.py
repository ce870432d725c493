"""Rules of reading verdicts that small changes of the code could break without any other test noticing."""

from __future__ import annotations

import math

import pytest

from turnwise.decks.scale import ScaleSpec
from turnwise.graders.verdict import Status, Verdict, parse_verdict
from turnwise.graders.verdict_scale import Scale, declared_scale, number_of
from turnwise.graders.verdict_schema import verdict_schema
from turnwise.graders.verdict_text import strict_json

STEPS = Scale("ordinal", min=-3, max=3, ungradable=0)


def test_only_a_short_answer_can_be_bare() -> None:
    """A number counts alone in up to 800 characters, blanks included; in a longer answer it does not."""
    assert parse_verdict("2" + " " * 799, STEPS) == Verdict(2, None, None, ("bare",))
    longer = parse_verdict("2" + " " * 800, STEPS)
    assert isinstance(longer, Status)
    assert longer.kind == "not_json"


def test_eighty_characters_of_a_wrong_answer_are_shown() -> None:
    """What a model wrote in place of a score is named, and cut off after 80 characters."""
    found = parse_verdict('{"score": "' + "x" * 500 + '"}', STEPS)
    assert isinstance(found, Status)
    assert found.detail == f"the scale has numbers, found '{'x' * 80}'"


@pytest.mark.parametrize(
    ("scale", "kind"),
    [
        (Scale("ordinal", min=1, max=5), "integer"),
        (Scale("binary", values=(0, 1)), "integer"),
        (Scale("continuous", min=0, max=1), "number"),
        (Scale("continuous", values=(0, 1, 2)), "integer"),
        (Scale("ordinal", values=(0, 0.5, 1)), "number"),
    ],
)
def test_a_schema_asks_for_the_scores_that_there_are(scale: Scale, kind: str) -> None:
    """Scores are integers where all values of the scale are, and numbers where some are not; nothing else is taken."""
    assert verdict_schema(scale) == {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": kind}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("scale", "label"),
    [
        (Scale("categorical", labels=("A", "B")), {"type": "string", "enum": ["A", "B"]}),
        (Scale("categorical", labels=("A", "B"), ungradable=0), {"type": "string", "enum": ["A", "B", "0"]}),
        (Scale("categorical", ungradable="n/a"), {"type": "string"}),
    ],
)
def test_a_schema_lists_the_labels(scale: Scale, label: dict[str, object]) -> None:
    """Labels are listed, with what says that there is nothing to grade; a scale that names none takes any text."""
    found = verdict_schema(scale)
    assert found["properties"] == {"reason": {"type": "string"}, "label": label}
    assert found["required"] == ["reason", "label"]


def test_labels_of_people_make_the_scale() -> None:
    """Where a deck names no labels, people's are taken: each once, as first written, sorted without regard to case."""
    spec = ScaleSpec(kind="categorical", ungradable="n/a")
    found = declared_scale(spec, ["b", "Tie", "N/A", "B", "A", "tie", 2])
    assert (found.values, found.labels, found.tie) == ((), ("2", "A", "b", "Tie"), "Tie")


def test_numbers_of_people_make_a_binary_scale() -> None:
    """Where a deck names no values of a binary scale, people's numbers are taken; one word among them makes labels."""
    spec = ScaleSpec(kind="binary", ungradable=-1)
    assert declared_scale(spec, [1, "0", 1.0, -1]).values == (0, 1)
    mixed = declared_scale(spec, [1, "no"])
    assert (mixed.values, mixed.labels) == ((), ("1", "no"))


def test_what_a_deck_declares_is_not_asked_of_people() -> None:
    """Values, labels and bounds that a deck gives are taken as they are, whatever people said."""
    assert declared_scale(ScaleSpec(kind="binary", min=0, max=1), [5, 6]).values == (0, 1)
    assert declared_scale(ScaleSpec(kind="ordinal", min=1, max=5), [2, 3]).values == ()
    assert declared_scale(ScaleSpec(kind="categorical", labels=["x", "y"]), ["z"]).labels == ("x", "y")


def test_a_declared_scale_is_recorded_whole() -> None:
    """All that a deck says of its scale reaches the record of the scale; what it does not say is null."""
    told = {"kind": "categorical", "labels": ["A", "B", "Draw"], "pass": "A", "ungradable": "n/a", "tie": "Draw"}
    steps = {"kind": "ordinal", "min": 1, "max": 5, "pass": 4, "ungradable": 0}
    unsaid = dict.fromkeys(("values", "labels", "min", "max", "tie")) | {"declared": True}
    for spec in (told, steps):
        assert declared_scale(ScaleSpec.model_validate(spec)).as_record() == {**unsaid, **spec}


def test_integers_of_hundreds_of_digits_are_infinite() -> None:
    """An integer of up to 300 characters is read as it is; a longer one is infinite, with its sign."""
    assert strict_json("9" * 300) == 10**300 - 1
    assert strict_json("9" * 301) == math.inf
    assert strict_json("-" + "9" * 300) == -math.inf


def test_values_of_a_scale_are_scores() -> None:
    """Of a scale that lists its values, each is a score, in any spelling, and no other number is."""
    listed = Scale("ordinal", values=(1, 3, 5))
    assert parse_verdict('{"score": "3.0"}', listed) == Verdict(3, None, None, ("number_text",))
    assert [listed.code(number) for number in (1, 2, 3, 4, 5)] == [1, None, 3, None, 5]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"score": 2} {"score": 3, "rea', "breaks off inside of its last JSON"),
        ('{"score": 3, "rea', "breaks off inside of its JSON"),
        ("[2]", 'no object with "score" or "label"'),
        ('{"reason": "fine"}', 'the object has neither "score" nor "label"'),
        ('So: {"reason": "fine"}', 'the JSON in the answer has neither "score" nor "label"'),
        ("very good", "neither JSON, nor a bare number or label"),
        ("I cannot help with that.", "the model declined"),
        (" ", "no text"),
        ('{"score": [2]}', "the score is a list"),
        ('{"score": {"value": 2}}', "the score is an object"),
        ('{"score": true}', "true is no score"),
        ('{"score": NaN}', "not a finite number"),
        ('{"score": ""}', "an empty text"),
        ('{"score": 4}', "4 is not on the scale"),
        ('{"score": 0}', "it cannot grade this"),
    ],
)
def test_every_status_says_what_was_wrong(text: str, detail: str) -> None:
    """Whoever reads of a failed verdict learns what was found in place of one."""
    found = parse_verdict(text, STEPS)
    assert isinstance(found, Status)
    assert detail in found.detail


@pytest.mark.parametrize("text", ['{"oops" {"score": 2}', '{"a": } {"b": ] {"score": 2}'])
def test_a_broken_object_hides_none_after_it(text: str) -> None:
    """What cannot be read is passed over, and the object after it counts."""
    assert parse_verdict(text, STEPS) == Verdict(2, None, None, ("prose",))


@pytest.mark.parametrize("before", ["x", "x\ny", "x "])
def test_a_fence_begins_its_line(before: str) -> None:
    """Three backticks after words are part of the prose, and no fence."""
    found = parse_verdict(before + '```json\n{"score": 2}\n```', STEPS)
    assert found == Verdict(2, None, None, ("prose",))


@pytest.mark.parametrize("before", ["x\n", "x\n\n", "x.\n  "])
def test_words_before_a_fence_are_prose(before: str) -> None:
    """A fence on a line of its own is one, and a single character before it is prose."""
    found = parse_verdict(before + '```json\n{"score": 2}\n```\n', STEPS)
    assert found == Verdict(2, None, None, ("fence", "prose"))


def test_words_without_a_list_are_taken_without_case() -> None:
    """A scale of words that lists none takes any word, in small letters."""
    assert Scale("categorical").code(" Yes ") == "yes"


def test_a_number_has_up_to_300_characters() -> None:
    """A longer text is no number, whatever its value."""
    assert number_of("0" * 299 + "2") == 2
    assert number_of("0" * 300 + "2") is None
