"""From a deck and a sample to the request for a judge: the same for a calibration and for grading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..conversation.transcript import transcript
from ..conversation.values import Message, Text
from ..decks.render import render_deck
from ..errors import UsageError
from ..providers.base import ProviderRequest, Settings, Tool
from ..targets.override import with_settings
from ..targets.same_answers import CHANGES_NO_ANSWER
from ..targets.sensitive import looks_secret
from .judges import TEMPERATURE
from .verdict_schema import verdict_schema

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from ..decks.sample import Sample
    from ..targets.format import Target
    from .verdict_scale import Scale

__all__ = ["Judging", "asked_with", "judging", "judging_by", "other_options", "with_deck_options"]

_SETTINGS = ("temperature", "top_p", "max_output_tokens", "seed", "reasoning_effort")
_SAID = ("provider", "model", "temperature", "top_p", "max_output_tokens", "seed", "reasoning_effort")
_NOT_SENT = frozenset({*_SETTINGS, "max_tokens", "stop", "model"})


@dataclass(frozen=True, slots=True)
class Judging:
    """How a deck asks a judge: settings, tools, and the form of the answer."""

    deck: Deck
    settings: Settings
    tools: tuple[Tool, ...]
    schema: Mapping[str, Any] | None

    def request(self, sample: Sample, *, repeat: int = 1) -> ProviderRequest:
        """What the judge is asked about a sample. Agents get the same as one text."""
        messages = render_deck(self.deck, sample=sample)
        return ProviderRequest(
            question=transcript([Message(each["role"], (Text(str(each["content"])),)) for each in messages]),
            chat_prompt=messages,
            case_id=sample.id,
            attempt=repeat,
            settings=self.settings,
            tools=self.tools,
            output_schema=self.schema,
        )


def judging(deck: Deck, scale: Scale, *, temperature: float | None, structured: bool = True) -> Judging:
    """How to ask with this deck. `temperature` counts where the deck sets none. Raises `UsageError` for options that
    are of no use."""
    options = deck.front_matter.model_options
    chosen = {name: options[name] for name in _SETTINGS if name in options}
    if "max_tokens" in options:
        chosen.setdefault("max_output_tokens", options["max_tokens"])
    if "stop" in options:
        stop = options["stop"]
        chosen["stop"] = (stop,) if isinstance(stop, str) else tuple(stop)
    if temperature is not None:
        chosen.setdefault("temperature", temperature)
    wants_own_form = "response_format" in options
    schema = verdict_schema(scale) if structured and not wants_own_form else None
    return Judging(deck, Settings(**chosen), tuple(_tool(deck, each) for each in deck.front_matter.tools), schema)


def judging_by(
    deck: Deck, scale: Scale, target: Target, *, temperature: float | None = TEMPERATURE, structured: bool = True
) -> Judging:
    """How to ask this target with the deck: `temperature` counts where neither of them sets one."""
    own = getattr(target, "temperature", None)
    return judging(deck, scale, temperature=temperature if own is None else None, structured=structured)


def asked_with(how: Judging, target: Target) -> dict[str, Any]:
    """The settings that a target is asked with: its own, the deck's, and ours. Two that are alike have one hash,
    whether they calibrate or grade."""
    found: dict[str, Any] = {name: getattr(target, name, None) for name in _SAID}
    sent = type(target).model_fields  # a program or a function takes no temperature
    found |= {name: value for name, value in asdict(how.settings).items() if value is not None and name in sent}
    found |= other_options(how.deck)
    found["structured_output"] = how.schema is not None
    found["other_settings"] = _digest_of_others(target)
    return {name: value for name, value in found.items() if value is not None}


def _digest_of_others(target: Target) -> str | None:
    """All further settings that could change an answer, such as an address or the body's extras, as a short hash:
    they tell two targets apart, and may hold what is nobody's business."""
    rest = target.model_dump(
        mode="json", exclude_defaults=True, exclude={*CHANGES_NO_ANSWER, *_SAID, "name"}, warnings="none"
    )
    headers = rest.get("headers")
    if isinstance(headers, dict):
        rest["headers"] = {name.lower(): None if looks_secret(name) else each for name, each in headers.items()}
    if not rest:
        return None
    return hashlib.sha256(json.dumps(rest, sort_keys=True, default=str).encode()).hexdigest()[:16]


def with_deck_options(target: Target, deck: Deck) -> Target | None:
    """The target with what the deck has for its API alone; None if there is nothing. Raises `UsageError`."""
    extra = other_options(deck)
    if not extra:
        return None
    body = {**(getattr(target, "extra_body", None) or {}), **extra}
    return with_settings(target, {"extra_body": body}, where=deck.file)


def other_options(deck: Deck) -> dict[str, Any]:
    """The model options that go to the API as they are written."""
    return {name: value for name, value in deck.front_matter.model_options.items() if name not in _NOT_SENT}


def _tool(deck: Deck, written: Mapping[str, Any]) -> Tool:
    function = written.get("function", written)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise UsageError(f"{deck.file}: a tool has no name", "write `[[tools]]` with `name` and `parameters`")
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return Tool(name, function.get("description"), parameters)
