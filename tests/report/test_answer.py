"""One answer for people and for programs: nothing is lost in the data, and nothing harms a terminal."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from turnwise.providers import ProviderResponse, Rewrite, Usage
from turnwise.providers.base import FinishReason
from turnwise.report.answer import answer_record, answer_text, figures_line, notes_on
from turnwise.targets.settings import Prices

CALL: dict[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "find_order", "arguments": '{"id": 7}'},
}
HOISTED = Rewrite("system-hoisted", 0, "the system message went to `system`", "the API takes it there")
FULL = ProviderResponse(
    text="Paris.",
    messages=[{"role": "assistant", "content": "Paris."}],
    finish_reason="other",
    raw_finish_reason="eos",
    usage=Usage(input_tokens=1200, output_tokens=34, cached_input_tokens=1000, reasoning_tokens=30),
    reasoning="Hm.",
    refusal=None,
    model="m-1",
    response_id="r-1",
    sent=[{"role": "user", "content": "Capital?"}],
    rewrites=[HOISTED],
    latency_ms=1234.5,
    first_token_ms=250.0,
    attempts=2,
    raw={"secret": "kept out"},
)


def calling(text: str = "") -> ProviderResponse:
    return ProviderResponse(text=text, messages=[{"role": "assistant", "content": text or None, "tool_calls": [CALL]}])


def test_the_record_holds_every_field_of_the_response() -> None:
    """Only the raw JSON of the API and its id for the answer stay out; all of it is JSON."""
    record = json.loads(json.dumps(answer_record(FULL, Prices(input=1, output=10))))
    renamed = {"text": "answer", "messages": "output_messages", "sent": "messages"}
    names = {renamed.get(each.name, each.name) for each in fields(ProviderResponse)} - {"raw", "response_id"}
    assert set(record) == names | {"cost_usd"}
    assert record["answer"] == "Paris."
    assert record["messages"] == [{"role": "user", "content": "Capital?"}]
    assert record["rewrites"] == [
        {"kind": HOISTED.kind, "message_index": 0, "what": HOISTED.what, "why": HOISTED.why},
    ]
    assert record["usage"]["cached_input_tokens"] == 1000
    # 1,200 tokens at a dollar a million, and 34 at ten.
    assert record["cost_usd"] == pytest.approx(0.00154)


def test_without_prices_there_is_no_cost() -> None:
    """The field is there, and empty."""
    assert answer_record(FULL)["cost_usd"] is None


def test_a_terminal_gets_no_control_characters() -> None:
    """Elsewhere the text is what the model said."""
    response = ProviderResponse(text="a\x1b[2Jb\r\nc\u202ed\te")
    assert answer_text(response, terminal=False) == response.text
    shown = answer_text(response, terminal=True)
    assert shown == "a␛[2Jb␍\nc\\u202ed\te"


def test_tool_calls_follow_the_text() -> None:
    """Each on a line of its own; without a text they stand alone, and a terminal is safe from their arguments."""
    alone, after = answer_text(calling(), terminal=False), answer_text(calling("One moment."), terminal=False)
    assert "find_order" in alone
    assert after == f"One moment.\n{alone}"
    call = {**CALL, "function": {"name": "f\x1b[31m", "arguments": "{}"}}
    hostile = ProviderResponse(text="", messages=[{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert "\x1b" not in answer_text(hostile, terminal=True)


@pytest.mark.parametrize(
    ("finish", "said"),
    [
        ("length", "cut off"),
        ("refusal", "refused"),
        ("content_filter", "content filter"),
        ("other", "unusual reason: eos"),
    ],
)
def test_an_unusual_end_is_noted(finish: FinishReason, said: str) -> None:
    """Whatever is not the end of an ordinary answer is said."""
    (note,) = notes_on(ProviderResponse(text="x", finish_reason=finish, raw_finish_reason="eos"))
    assert said in note


def test_an_ordinary_answer_has_no_notes() -> None:
    """Neither has one that asks for a tool."""
    assert notes_on(ProviderResponse(text="Hi")) == []
    assert notes_on(calling()) == []


def test_an_empty_answer_is_noted() -> None:
    """It is said beside the reason, if there is one."""
    assert notes_on(ProviderResponse(text="")) == ["the answer is empty"]
    assert len(notes_on(ProviderResponse(text="", finish_reason="length"))) == 2


def test_rewrites_are_noted() -> None:
    """With the message, counted from 1, what changed, and why; a hostile text stays on its line."""
    (note,) = notes_on(ProviderResponse(text="x", rewrites=[HOISTED]))
    assert note == (
        "rewritten: message 1: the system message went to `system`: the API takes it there (system-hoisted)"
    )
    (note,) = notes_on(ProviderResponse(text="x", rewrites=[Rewrite("k", None, "a\nb", "\x1b[31m")]))
    assert note == "rewritten: a␊b: ␛[31m (k)"


def test_figures_of_a_full_answer() -> None:
    """Model, tokens with those cached and spent on reasoning, times, attempts, cost."""
    assert figures_line(FULL, Prices(input=1, output=10)) == (
        "m-1 · 1,200 tokens in (1,000 cached), 34 out (30 reasoning) · 1.23 s (first token 0.25 s) · 2 attempts"
        " · $0.0015"
    )


@pytest.mark.parametrize(
    ("response", "settings", "line"),
    [
        (ProviderResponse(text="x"), {"is_paid": False}, "tokens not counted"),
        (ProviderResponse(text="x"), {}, "tokens not counted · cost unknown"),
        (
            ProviderResponse(text="x"),
            {"prices": Prices(input=1, output=1)},
            "tokens not counted · cost unknown: tokens were not counted",
        ),
        (ProviderResponse(text="x", usage=Usage(input_tokens=3)), {"is_paid": False}, "3 tokens in, ? out"),
        (
            ProviderResponse(text="x", model="m\n\x1b[31m", latency_ms=0.0),
            {"is_paid": False},
            "m␊␛[31m · tokens not counted · 0.00 s",
        ),
    ],
)
def test_figures_say_what_is_not_known(response: ProviderResponse, settings: dict[str, Any], line: str) -> None:
    """A figure that is missing is left out or called unknown, never made up."""
    assert figures_line(response, **settings) == line


def test_secrets_of_the_target_are_masked_in_the_record() -> None:
    """A system prompt may be filled with one; for programs it is left out, wherever it stands."""
    response = ProviderResponse(
        text="It is tok-123.", sent=[{"role": "system", "content": "Token: tok-123"}], model="m-tok-123"
    )  # fmt: skip
    record = answer_record(response, None, {"tok-123"})
    assert "tok-123" not in str(record)
    assert record["messages"] == [{"role": "system", "content": "Token: [redacted]"}]
