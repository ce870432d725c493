"""The one reader of what judges answer: a verdict on the scale, or a status that says why there is none.

A judge answers `{"score": …, "reason": …}`, or `"label"` in place of `"score"`. Strict JSON is taken first, then an
object in a code fence or among words, then a bare number or label. Of several objects the last complete one with a
score counts: judges that correct themselves do so at the end. Of a key that is given twice, the last counts, as in
every JSON parser. Whatever had to be mended is named in `repairs`; what cannot be read is a status, never a score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .verdict_scale import number_of
from .verdict_text import JsonObject, bare_text, has_open_object, last_object, strict_json

if TYPE_CHECKING:
    from .verdict_scale import Code, Scale

__all__ = ["Status", "StatusKind", "Verdict", "parse_verdict", "read_object", "verdict_object"]

StatusKind = Literal[
    "empty",
    "not_json",
    "no_score",
    "wrong_type",
    "out_of_range",
    "ungradable",
    "refusal",
    "truncated",
    "api_error",
    "timeout",
    "missing",
]
"""Why there is no verdict. The last three are not said by the parser: no answer came, or none was recorded."""

_KEYS = ("score", "label")
_FIELDS = {*_KEYS, "reason"}
_LONGEST_BARE = 200
_REFUSAL = re.compile(
    r"(?:as an? [^,.]{0,40}, )?(?:"
    r"(?:i['’]?m |i am )?(?:very |so |really )?(?:sorry|afraid)\b.{0,80}?"
    r"\b(?:can['’]?t|cannot|can not|unable|won['’]?t)\b"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable to|am not able to|must decline|decline)\b"
    r"|i['’]m (?:unable|not able) to\b)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said: a score or a label, and never both. `repairs` names all that had to be mended to read it."""

    score: float | None
    label: str | None
    reason: str | None
    repairs: tuple[str, ...] = ()

    @property
    def value(self) -> Code:
        """The score or the label, whichever there is."""
        value = self.label if self.score is None else self.score
        assert value is not None
        return value


@dataclass(frozen=True, slots=True)
class Status:
    """Why there is no verdict; `raw` is what the judge wrote, `detail` says what was wrong with it."""

    kind: StatusKind
    raw: str
    detail: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Trouble:
    kind: StatusKind
    detail: str


def parse_verdict(text: str, scale: Scale, *, finish_reason: str | None = None) -> Verdict | Status:
    """Read a judge's answer. Never raises, and takes time in proportion to the length of the text.

    >>> from .verdict_scale import Scale
    >>> steps = Scale("ordinal", min=-3, max=3, ungradable=0)
    >>> parse_verdict('{"score": 2, "reason": "polite"}', steps)
    Verdict(score=2, label=None, reason='polite', repairs=())
    >>> parse_verdict('Sure! {"score": "+2"}', steps).repairs
    ('prose', 'number_text')
    >>> parse_verdict('{"score": 0}', steps).kind, parse_verdict('{"score": 9}', steps).kind
    ('ungradable', 'out_of_range')
    """
    value = _whole(text, finish_reason)
    if isinstance(value, Status):
        return value
    if isinstance(value, JsonObject):
        return _from_object(value, (), text, scale)
    if isinstance(value, list) or value is None:
        return Status("no_score", text, 'the answer is JSON, but no object with "score" or "label"')
    return _from_words(text, scale)


def verdict_object(text: str, scale: Scale) -> JsonObject | None:
    """The object that a verdict was read from, with all that the judge has put beside it; None for a bare one.

    >>> from .verdict_scale import Scale
    >>> verdict_object('Sure! {"score": 2, "hits": ["polite"]}', Scale("ordinal", min=1, max=5))
    {'score': 2, 'hits': ['polite']}
    """
    value = strict_json(text)
    if isinstance(value, JsonObject):
        return value
    return last_object(text, lambda each: _given(each, scale) is not None).value


def read_object(
    text: str, key: str, *, finish_reason: str | None = None
) -> tuple[JsonObject, tuple[str, ...]] | Status:
    """An answer that is an object with a certain key, by the rules of verdicts: the object, and what had to be mended.

    >>> read_object('Sure! {"lines": []}', "lines")
    ({'lines': []}, ('prose',))
    >>> read_object("No.", "lines").kind
    'not_json'
    """
    value = _whole(text, finish_reason)
    if isinstance(value, Status):
        return value
    if isinstance(value, JsonObject):
        return (value, ()) if key in value else Status("no_score", text, f'the object has no "{key}"')
    found = last_object(text, lambda each: key in each)
    if found.breaks_off:
        return Status("truncated", text, "the answer breaks off inside of its last JSON")
    if found.value is not None:
        return found.value, found.repairs
    if _REFUSAL.match(text.lstrip()[:400]):
        return Status("refusal", text, "the model declined to answer")
    if has_open_object(text):
        return Status("truncated", text, "the answer breaks off inside of its JSON")
    return Status("not_json", text, f'the answer has no JSON object with "{key}"')


def _whole(text: str, finish_reason: str | None) -> Any:
    """The JSON that the whole answer is, `...` for words, or a status where nothing can be read."""
    if finish_reason in ("refusal", "content_filter"):
        return Status("refusal", text, "the model, or the filter before it, declined to answer")
    value = strict_json(text)
    if isinstance(value, JsonObject):
        return value
    if finish_reason == "length":
        return Status("truncated", text, "the answer was cut off at the limit of output tokens")
    if not text.strip():
        return Status("empty", text, "the answer has no text")
    return value


def _from_words(text: str, scale: Scale) -> Verdict | Status:
    found = last_object(text, lambda each: _given(each, scale) is not None)
    if found.breaks_off:
        return Status("truncated", text, "the answer breaks off inside of its last JSON")
    if found.value is not None:
        return _from_object(found.value, found.repairs, text, scale)
    bare = _bare(text, scale)
    if bare is not None:
        return bare
    if _REFUSAL.match(text.lstrip()[:400]):
        return Status("refusal", text, "the model declined to answer")
    if has_open_object(text):
        return Status("truncated", text, "the answer breaks off inside of its JSON")
    if found.met:
        return Status("no_score", text, 'the JSON in the answer has neither "score" nor "label"')
    return Status("not_json", text, "the answer is neither JSON, nor a bare number or label of the scale")


def _bare(text: str, scale: Scale) -> Verdict | Status | None:
    """A number or a label that is the whole answer; words that are not on the scale are no answer at all."""
    if len(text) > 4 * _LONGEST_BARE:
        return None
    word = bare_text(text)
    number = number_of(word)
    if number is None and not scale.is_ungradable(word) and not (scale.labels and scale.code(word) is not None):
        return None
    coded = _coded(word if number is None or scale.has_words else number, scale)
    return _ended(coded, None, ("bare",), text)


def _from_object(value: JsonObject, repairs: tuple[str, ...], text: str, scale: Scale) -> Verdict | Status:
    reason = _folded(value).get("reason")
    said = reason if isinstance(reason, str) else None
    key = _given(value, scale)
    if key is None:
        return Status("no_score", text, 'the object has neither "score" nor "label"', said)
    more = list(repairs)
    if key not in _KEYS:
        more.append("key_case")
    if key in value.twice:
        more.append("duplicate_keys")
    given = value[key]
    if isinstance(given, str) and scale.has_numbers and number_of(given) is not None:
        more.append("number_text")
    if isinstance(given, bool):
        more.append("boolean")
    return _ended(_coded(given, scale), said, tuple(more), text)


def _folded(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by their names in small letters; the exact name wins."""
    return {key.casefold(): each for key, each in value.items()} | {key: value[key] for key in _FIELDS & value.keys()}


def _given(value: JsonObject, scale: Scale) -> str | None:
    """The key that holds the answer, as it is written: a scale of words looks for a label first."""
    for wanted in reversed(_KEYS) if scale.has_words else _KEYS:
        if value.get(wanted) is not None:
            return wanted
    return next((key for key in value if key.casefold() in _KEYS and value[key] is not None), None)


def _coded(given: Any, scale: Scale) -> Code | _Trouble:
    """What was given, in the form that the scale has for it."""
    if isinstance(given, bool):
        coded = scale.code(str(given).lower()) if scale.labels else None
        return _Trouble("wrong_type", f"{str(given).lower()} is no score") if coded is None else coded
    if isinstance(given, str) and not given.strip():
        return _Trouble("no_score", "the score is an empty text")
    if not isinstance(given, str | int | float):
        return _Trouble("wrong_type", f"the score is {'a list' if isinstance(given, list) else 'an object'}")
    if not isinstance(given, str) and not math.isfinite(given):
        return _Trouble("wrong_type", "the score is not a finite number")
    if scale.is_ungradable(given):
        return _Trouble("ungradable", "the judge says that it cannot grade this")
    coded = scale.code(given)
    return _off_the_scale(given, scale) if coded is None else coded


def _off_the_scale(given: Code, scale: Scale) -> _Trouble:
    is_number = not isinstance(given, str) or number_of(given) is not None
    shown = repr(given if not isinstance(given, str) else given[:80])
    if scale.has_numbers and not is_number:
        return _Trouble("wrong_type", f"the scale has numbers, found {shown}")
    if scale.has_words and not isinstance(given, str):
        return _Trouble("wrong_type", f"the scale has the labels {', '.join(scale.labels)}, found {shown}")
    return _Trouble("out_of_range", f"{shown} is not on the scale")


def _ended(coded: Code | _Trouble, reason: str | None, repairs: tuple[str, ...], text: str) -> Verdict | Status:
    if isinstance(coded, _Trouble):
        return Status(coded.kind, text, coded.detail, reason)
    if isinstance(coded, str):
        return Verdict(None, coded, reason, repairs)
    return Verdict(coded, None, reason, repairs)
