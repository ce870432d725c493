"""One sample on the page: the conversation, and what people and each judge said of it side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figures import NOTHING, code_text, counted
from .markup import Html, clipped, joined, tag, visible
from .ranking import Outcome, RankedSample, State, states_of
from .words import STATUS_WORDS

if TYPE_CHECKING:
    from ....calibration.judgement import SampleVerdict
    from ....calibration.report import Item
    from ....decks.sample import SampleMessage
    from ....graders.human_labels import CodedLabel

__all__ = ["sample_article"]

_LONGEST_MESSAGE = 4000
_LONGEST_REASON = 2000
_MOST_MESSAGES = 30
_MOST_LABELS = 20
_SHORT_TALK = 1500
_MARKS: dict[State, tuple[str, str]] = {
    "agrees": ("=", "agrees"),
    "differs": ("≠", "differs"),
    "dangerous": ("▲", "dangerous"),
    "invalid": ("∅", "no verdict"),
    "open": ("·", "nothing to compare with"),
}


def sample_article(sample: RankedSample, models: Sequence[str], anchor: str, order: int) -> Html:
    """The sample with everything that the filter and the sorting need beside it."""
    item = sample.item
    return tag(
        "article",
        tag("header", tag("h4", item.sample.id), _tags(item.sample.tags), _badges(sample)),
        _conversation(item.sample.messages),
        tag("div", _people(item), *_judges(sample, models), class_="verdicts"),
        id=anchor,
        class_="sample",
        data_order=order,
        data_id=item.sample.id,
        data_human="" if item.human is None else _sortable(item.human),
        data_tags=json.dumps([visible(name) for name in item.sample.tags]),
        data_states=states_of(sample.outcomes),
        data_distances=" ".join("-" if each.distance is None else f"{each.distance:g}" for each in sample.outcomes),
        data_labelled=bool(item.labels),
    )


def _sortable(code: float | str) -> str:
    return code if isinstance(code, str) else f"{code:g}"


def _tags(names: Sequence[str]) -> Html:
    return joined(tag("span", name, class_="tag") for name in names)


def _badges(sample: RankedSample) -> Html:
    states = {outcome.state for outcome in sample.outcomes}
    badges: list[Html] = []
    if "dangerous" in states:
        badges.append(tag("span", "▲ dangerous", class_="badge bad"))
    elif "differs" in states:
        badges.append(tag("span", "≠ disagreement", class_="badge unsure"))
    if "invalid" in states:
        badges.append(tag("span", "∅ no verdict", class_="badge quiet"))
    if not sample.item.labels:
        badges.append(tag("span", "unlabelled", class_="badge quiet"))
    return tag("span", *badges, class_="badges")


def _conversation(messages: Sequence[SampleMessage]) -> Html:
    """Open where it is short."""
    shown, left_out = messages[:_MOST_MESSAGES], len(messages) - _MOST_MESSAGES
    turns = [_turn(message) for message in shown]
    if left_out > 0:
        turns.append(tag("li", f"… {counted(left_out, 'more message')}", class_="note"))
    length = sum(len(message["content"]) for message in shown)
    summary = tag("summary", f"Conversation, {counted(len(messages), 'message')}")
    return tag("details", summary, tag("ol", *turns, class_="talk"), open=length <= _SHORT_TALK)


def _turn(message: SampleMessage) -> Html:
    name = f" ({message['name']})" if "name" in message else ""
    return tag("li", tag("span", message["role"] + name, class_="role"), _long(message["content"], _LONGEST_MESSAGE))


def _long(text: str, longest: int) -> Html:
    shown, left_out = clipped(text, longest)
    more = tag("span", f" … {left_out:,} more characters", class_="note") if left_out else None
    return tag("div", shown, more, class_="text", dir="auto")


def _people(item: Item) -> Html:
    if not item.labels:
        return tag("section", tag("h5", "People"), tag("p", NOTHING, class_="verdict none"), class_="card people")
    labels = [_label(label) for label in item.labels[:_MOST_LABELS]]
    left_out = len(item.labels) - len(labels)
    more = tag("p", f"… {counted(left_out, 'more label')}", class_="note") if left_out else None
    several = None
    if len(item.labels) > 1:
        text = "no majority" if item.human is None else code_text(item.human)
        several = tag("p", text, class_="verdict")
    return tag("section", tag("h5", "People"), several, *labels, more, class_="card people")


def _label(label: CodedLabel) -> Html:
    who = tag("span", label.rater, class_="role") if label.rater is not None else None
    reason = _long(label.reason, _LONGEST_REASON) if label.reason else None
    return tag("div", tag("p", who, tag("span", code_text(label.code)), class_="verdict"), reason)


def _judges(sample: RankedSample, models: Sequence[str]) -> list[Html]:
    return [
        _judge(place, model, sample.item.verdicts.get(model), outcome)
        for place, (model, outcome) in enumerate(zip(models, sample.outcomes, strict=True))
    ]


def _judge(place: int, model: str, verdict: SampleVerdict | None, outcome: Outcome) -> Html:
    mark, word = _MARKS[outcome.state]
    is_number = verdict is not None and isinstance(verdict.value, float | int)
    off = f", {code_text(outcome.distance)} off" if is_number and outcome.distance else ""
    state = tag("span", f"{mark} {word}{off}", class_=f"state {outcome.state}")
    said = tag("span", code_text(None if verdict is None else verdict.value))
    body = _why_none(verdict) if verdict is None or verdict.value is None else _reason(verdict)
    return tag(
        "section",
        tag("h5", model),
        tag("p", said, state, class_="verdict"),
        body,
        class_=f"card {outcome.state}",
        data_model=place,
    )


def _why_none(verdict: SampleVerdict | None) -> Html:
    status = "missing" if verdict is None or verdict.status is None else verdict.status
    return tag("p", tag("code", status), " ", STATUS_WORDS.get(status, ""), class_="note")


def _reason(verdict: SampleVerdict) -> Html:
    values = verdict.values
    repeats = None
    if len(values) > 1:
        shown = ", ".join(code_text(value) for value in values[:_MOST_LABELS])
        repeats = tag("p", f"repeats: {shown}{' …' if len(values) > _MOST_LABELS else ''}", class_="note")
    reason = _long(verdict.reason, _LONGEST_REASON) if verdict.reason else tag("p", "no reason given", class_="note")
    return joined([repeats, reason])
