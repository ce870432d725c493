"""The one reader of what judges answer."""

from __future__ import annotations

import json

import pytest

from turnwise.graders.verdict import Status, Verdict, parse_verdict, read_object
from turnwise.graders.verdict_scale import Scale

STEPS = Scale("ordinal", min=-3, max=3, ungradable=0)
OPEN_STEPS = Scale("ordinal", declared=False, values=(1, 2, 3))
PAIR = Scale("categorical", labels=("A", "B", "tie"), tie="tie")
PANDA = Scale("categorical", declared=False, labels=("1", "2", "tie"), tie="tie")
TRUTH = Scale("binary", labels=("true", "false"))
UNSAID = Scale("binary")
LISTED = Scale("ordinal", values=(1, 3, 5), ungradable="n/a")


def verdict(text: str, scale: Scale = STEPS, finish_reason: str | None = None) -> Verdict:
    found = parse_verdict(text, scale, finish_reason=finish_reason)
    assert isinstance(found, Verdict), found
    return found


def status(text: str, scale: Scale = STEPS, finish_reason: str | None = None) -> str:
    found = parse_verdict(text, scale, finish_reason=finish_reason)
    assert isinstance(found, Status), found
    assert found.raw == text
    assert found.detail
    return found.kind


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ('{"score": 2, "reason": "r"}', STEPS, 2),
        ('\ufeff \n{"reason": "r", "score": -3.0}\n', STEPS, -3),
        ('{"score": 1.5, "reason": "r"}', STEPS, 1.5),
        ('{"label": "tie", "reason": "r"}', PAIR, "tie"),
        ('{"label": "TIE", "reason": "r"}', PAIR, "tie"),
        ('{"label": "a", "score": 7, "reason": "r"}', PAIR, "A"),
        ('{"label": "good", "score": 2, "reason": "r"}', STEPS, 2),
        ('{"label": null, "score": "B", "reason": "r"}', PAIR, "B"),
        ('{"label": 2, "reason": "r"}', PANDA, "2"),
        ('{"score": 900, "reason": "r"}', OPEN_STEPS, 900),
        ('{"score": 1, "reason": "r"}', UNSAID, 1),
        ('{"label": "Yes", "reason": "r"}', UNSAID, "yes"),
    ],
)
def test_strict_json_needs_no_repair(text: str, scale: Scale, value: object) -> None:
    """An object alone is taken as it is, in the spelling of the scale; a scale of words looks for a label first."""
    found = verdict(text, scale)
    assert (found.value, found.reason, found.repairs) == (value, "r", ())
    assert (found.score is None) != (found.label is None)


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ('```json\n{"score": 2}\n```', ("fence",)),
        ('```\n{"score": 2}```', ("fence",)),
        ('Here:\n```json\n{"score": 2}\n```\nDone.', ("fence", "prose")),
        ('I think {"score": 2} is fair.', ("prose",)),
        ('Use {braces}, {"a": 1} and {"score": 2}', ("prose",)),
        ('{"score": +2}', ("plus_sign",)),
        ('{"score": "2"}', ("number_text",)),
        ('{"score": "+2"}', ("number_text",)),
        ('{"score": " 2.0 "}', ("number_text",)),
        ('{"Score": 2}', ("key_case",)),
        ('{"score": 1, "score": 2}', ("duplicate_keys",)),
        ('{"score": 2, "reason": "two\nlines"}', ("control_characters",)),
        ('{"score": 1}\n{"score": 2}', ("prose", "several_objects")),
        ('{"score": 2} {"note": "no score"}', ("prose",)),
        ("2", ("bare",)),
        ("+2", ("bare",)),
        (" 2.\n", ("bare",)),
        ("**2**", ("bare",)),
        ("Score: 2", ("bare",)),
        ("**Final score:** +2", ("bare",)),
        ("```\n2\n```", ("bare",)),
        ('"2"', ("bare",)),
    ],
)
def test_repairs_are_named(text: str, repairs: tuple[str, ...]) -> None:
    """Whatever had to be mended is counted by its kind; of several objects the last with a score counts."""
    found = verdict(text)
    assert (found.score, found.repairs) == (2, repairs)


@pytest.mark.parametrize(
    ("text", "scale", "label"),
    [
        ("Tie", PANDA, "tie"),
        ("2", PANDA, "2"),
        ("[[A]]", PAIR, "A"),
        ("Verdict: b.", PAIR, "B"),
        ("true", TRUTH, "true"),
    ],
)
def test_a_bare_label_is_read(text: str, scale: Scale, label: str) -> None:
    """A label of the scale may be the whole answer, in any case of letters."""
    found = verdict(text, scale)
    assert (found.label, found.repairs) == (label, ("bare",))


def test_a_boolean_is_a_label_where_the_scale_has_it() -> None:
    """`true` is the word `true`, and never the number 1."""
    assert verdict('{"label": true}', TRUTH) == Verdict(None, "true", None, ("boolean",))
    assert status('{"score": true}') == "wrong_type"
    assert status('{"score": true}', Scale("binary", values=(0, 1))) == "wrong_type"
    assert status("true", Scale("binary", values=(0, 1))) == "not_json"


@pytest.mark.parametrize(
    ("text", "scale", "kind"),
    [
        ("", STEPS, "empty"),
        (" \n\t", STEPS, "empty"),
        ("The answer is good.", STEPS, "not_json"),
        ("garbage", PANDA, "not_json"),
        ("I give it 2 out of 3", STEPS, "not_json"),
        ("2/3", STEPS, "not_json"),
        ("{'score': 2}", STEPS, "not_json"),
        ("nan", STEPS, "not_json"),
        ("{}", STEPS, "no_score"),
        ("null", STEPS, "no_score"),
        ('[{"score": 2}]', STEPS, "no_score"),
        ('{"reason": "fine"}', STEPS, "no_score"),
        ('{"score": null}', STEPS, "no_score"),
        ('{"score": ""}', STEPS, "no_score"),
        ('{"result": {"score": 2}}', STEPS, "no_score"),
        ('So: {"result": {"score": 2}}', STEPS, "no_score"),
        ('{"score": "good"}', STEPS, "wrong_type"),
        ('{"score": [2]}', STEPS, "wrong_type"),
        ('{"score": {"value": 2}}', STEPS, "wrong_type"),
        ('{"score": NaN}', STEPS, "wrong_type"),
        ('{"score": -Infinity}', OPEN_STEPS, "wrong_type"),
        ('{"score": 1e999}', OPEN_STEPS, "wrong_type"),
        ('{"score": 1' + "0" * 5000 + "}", OPEN_STEPS, "wrong_type"),
        ('{"score": 3}', PAIR, "wrong_type"),
        ('{"score": 4}', STEPS, "out_of_range"),
        ('{"score": 1e300}', STEPS, "out_of_range"),
        ('{"score": 2}', LISTED, "out_of_range"),
        ('{"label": "C"}', PAIR, "out_of_range"),
        ('{"label": "other"}', PANDA, "out_of_range"),
        ("7", STEPS, "out_of_range"),
        ('{"score": 0}', STEPS, "ungradable"),
        ('{"score": "+0"}', STEPS, "ungradable"),
        ("0", STEPS, "ungradable"),
        ('{"score": "N/A"}', LISTED, "ungradable"),
        ("n/a", LISTED, "ungradable"),
        ("I'm sorry, but I can't grade this.", STEPS, "refusal"),
        ("I cannot help with that.", STEPS, "refusal"),
        ('{"score": 2, "reason": "The ans', STEPS, "truncated"),
        ('```json\n{"score": 2,', STEPS, "truncated"),
    ],
)
def test_everything_else_is_a_status(text: str, scale: Scale, kind: str) -> None:
    """What is no answer on the scale is a status with its raw text, and never a score."""
    assert status(text, scale) == kind


def test_what_the_api_said_of_the_end() -> None:
    """A refusal is one whatever the text; a cut answer counts only if its JSON is whole; `stop` changes nothing."""
    whole = '{"score": 2}'
    assert status(whole, finish_reason="refusal") == "refusal"
    assert status("", finish_reason="content_filter") == "refusal"
    assert status("", finish_reason="length") == "truncated"
    assert status(f"First {whole}, but", finish_reason="length") == "truncated"
    assert verdict(whole, finish_reason="length").score == 2
    assert verdict(whole, finish_reason="stop").score == 2


def test_the_last_of_two_equal_keys_counts() -> None:
    """Two scores in one object are counted as a repair, and the last one is the score."""
    assert verdict('{"score": 3, "score": -1}').score == -1
    assert verdict('{"score": 2, "reason": "a", "reason": "b"}') == Verdict(2, None, "b", ())


def test_a_status_keeps_the_reason() -> None:
    """What the judge gave as its reason is there even where the score cannot be used."""
    found = parse_verdict('{"score": 0, "reason": "no answer to judge"}', STEPS)
    assert isinstance(found, Status)
    assert (found.kind, found.reason) == ("ungradable", "no answer to judge")


def test_a_reason_that_is_not_text_is_left_out() -> None:
    """A list of reasons is no reason to lose the score."""
    assert verdict('{"score": 2, "reason": ["a"]}') == Verdict(2, None, None)


def test_a_plus_sign_inside_of_a_reason_stays() -> None:
    """Only the score's own sign is mended."""
    text = json.dumps({"score": 1, "reason": 'not "score": +2'})
    assert verdict(f"So {text}") == Verdict(1, None, 'not "score": +2', ("prose",))


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 2} {"score": 3, "rea',
        'Draft: {"score": 1, "reason": "bad"}\nOn reflection:\n{"score": 3, "reason": "actually very g',
        '<think>{"score": 1}</think>\n{"score": 2',
    ],
)
def test_a_draft_is_no_verdict_where_the_last_one_breaks_off(text: str) -> None:
    """What the judge meant to say last is not known: its draft must not stand for it."""
    found = parse_verdict(text, Scale("ordinal", min=1, max=5))
    assert isinstance(found, Status)
    assert found.kind == "truncated"


def test_a_draft_of_a_list_is_no_answer_where_the_last_one_breaks_off() -> None:
    """An object that is read by its key is taken from a draft no more than a verdict is."""
    found = read_object('First {"lines": [1]}, no: {"lines": [2', "lines")

    assert isinstance(found, Status)
    assert found.kind == "truncated"
