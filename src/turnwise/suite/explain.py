"""From a failed validation to sentences for people: what was found, what was expected, where, and what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError
from typing_extensions import is_typeddict

from ..diagnostics import Diagnostic, Place
from .paths import DataPath, shown_path
from .sources import Source

__all__ = ["described", "did_you_mean", "explain", "is_secret_key", "near_miss"]

_EXPECTED = {
    "string_type": "text",
    "string_unicode": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
_TAG_KEYS = ("type", "provider")
_MOST_FAULTS = 100
_LONGEST_WORD = 100
_NEAR = 0.8
_SECRET = re.compile(r"key|token(?!s)|secret|password|authorization|credential", re.IGNORECASE)
_SECRET_LINE = re.compile(rf"(?:{_SECRET.pattern})[\w-]*[\"']?\s*:", re.IGNORECASE)


class _Fault:
    """One error of pydantic's, with the path that it has in the data rather than in the model."""

    def __init__(self, error: Any, data: Any) -> None:
        self.kind: str = error["type"]
        self.context: dict[str, Any] = error.get("ctx") or {}
        self.text: str = error["msg"]
        self.input: Any = error.get("input")
        location = error["loc"]
        self.key: str | None = None
        if self.kind in ("missing", "extra_forbidden") and location:
            self.key = str(location[-1])
            location = location[:-1]
        self.path = _data_path(data, location)
        # A rule about several settings may say which of them to look at.
        self.at = _written(_at(data, self.path), str(self.context.get("at", "")).split("."))

    @property
    def is_type_error(self) -> bool:
        return self.kind in _EXPECTED


def explain(
    error: ValidationError,
    *,
    data: Any,
    model: type[BaseModel],
    source: Source,
    prefix: DataPath = (),
    authored: Callable[[DataPath], DataPath] = lambda path: path,
    case_id: str | None = None,
) -> list[Diagnostic]:
    """One diagnostic per real problem. `prefix` leads to `data` in the file; `authored` maps a path of ours to the
    path that the author wrote, where a foreign format was translated first."""
    faults = [_Fault(item, data) for item in error.errors(include_url=False)]
    diagnostics: list[Diagnostic] = []
    for fault, expected in _without_echoes(faults):
        if len(diagnostics) == _MOST_FAULTS:
            message = f"and more: only the first {_MOST_FAULTS} problems of {_noun(model)} are shown"
            place = source.place(authored(prefix))
            diagnostics.append(
                Diagnostic(
                    "error", "too-many", message, source.file, place, "mend these first", shown_path(prefix), case_id
                )
            )
            break
        code, message, hint = _sentence(fault, expected, model, data, prefix)
        at_key = fault.kind == "extra_forbidden" or bool(fault.at)
        path = prefix + fault.path + ((fault.key or "",) if fault.kind == "extra_forbidden" else fault.at)
        written = authored(path)
        diagnostics.append(
            Diagnostic(
                "error",
                code,
                message,
                source.file,
                _safe_place(source, written, at_key),
                hint,
                shown_path(written),
                case_id,
            )
        )
    return diagnostics


def did_you_mean(word: str, known: list[str], allowed: str = "allowed here") -> str:
    """A hint: the nearest known word, or all of them."""
    import difflib

    word = word[:_LONGEST_WORD].lower()
    # Short words differ by a third when two letters are swapped; longer ones must be closer.
    cutoff = 0.6 if len(word) <= 3 else 0.7
    near = difflib.get_close_matches(word, [name.lower() for name in known], n=1, cutoff=cutoff)
    by_lower = {name.lower(): name for name in known}
    if near:
        return f"did you mean `{by_lower[near[0]]}`?"
    return f"{allowed}: {', '.join(sorted(known))}" if known else "remove it"


def near_miss(word: str, known: Sequence[str]) -> str | None:
    """The known word that this one is a misspelling of, beyond reasonable doubt.

    >>> near_miss("wieght", ["type", "weight"]), near_miss("weight", ["weight"]), near_miss("value", ["type"])
    ('weight', None, None)
    """
    if word in known or len(word) > _LONGEST_WORD:
        return None
    lower = word.lower()
    letters = Counter(lower)
    for name in known:
        # Letters in common, in whatever order, are the most that difflib can find; it is seldom worth loading.
        if 2 * (letters & Counter(name)).total() >= _NEAR * (len(lower) + len(name)):
            from difflib import SequenceMatcher

            if SequenceMatcher(None, name, lower).ratio() >= _NEAR:
                return name
    return None


def is_secret_key(key: str | int) -> bool:
    """Whether the value under such a key must never be shown."""
    return isinstance(key, str) and bool(_SECRET.search(key))


def described(value: Any) -> str:
    """A value in a few words.

    >>> described(5), described(None), described(["a"])
    ('the number 5', 'nothing (null)', 'a list')
    """
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        shown = repr(value)
        return f"the number {shown if len(shown) <= 40 else shown[:40] + '…'}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}{'…' if len(value) > 40 else ''}"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return "a mapping" if value else "an empty mapping"


def _data_path(data: Any, location: tuple[str | int, ...]) -> DataPath:
    """pydantic names the branches of unions too; what is not in the data is such a name."""
    path: list[str | int] = []
    tag_seen = False
    for step in location:
        if isinstance(data, dict) and isinstance(step, str) and step in data:
            if not tag_seen and any(data.get(tag) == step for tag in _TAG_KEYS):
                tag_seen = True
                continue
            path.append(step)
            data, tag_seen = data[step], False
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            path.append(step)
            data, tag_seen = data[step], False
    return tuple(path)


def _written(data: Any, steps: Sequence[str]) -> DataPath:
    """As much of a path of keys as is in the data."""
    path: list[str] = []
    for step in steps:
        if not isinstance(data, dict) or step not in data:
            break
        path.append(step)
        data = data[step]
    return tuple(path)


def _without_echoes(faults: list[_Fault]) -> Iterator[tuple[_Fault, list[str]]]:
    """A value that fits no branch of a union fails in each: keep what speaks of the branch that was meant."""
    meant: set[DataPath] = set()  # paths at or below which a branch was taken
    expected: dict[DataPath, list[str]] = {}
    for fault in faults:
        meant.update(fault.path[:depth] for depth in range(len(fault.path)))
        if not fault.is_type_error:
            meant.add(fault.path)
        elif (form := _EXPECTED[fault.kind]) not in expected.setdefault(fault.path, []):
            expected[fault.path].append(form)
    seen: set[DataPath] = set()
    for fault in faults:
        if not fault.is_type_error:
            yield fault, []
            continue
        if fault.path in seen:
            continue
        seen.add(fault.path)
        if fault.path not in meant:
            yield fault, expected[fault.path]


def _sentence(
    fault: _Fault, expected: list[str], model: type[BaseModel], data: Any, prefix: DataPath
) -> tuple[str, str, str | None]:
    path = prefix + fault.path
    last = path[-1] if path else None
    where = f"`{last}`" if isinstance(last, str) else "this item" if last is not None else _noun(model)
    found = "a value that is not shown" if last is not None and is_secret_key(last) else described(fault.input)
    if expected:
        scalar = isinstance(fault.input, int | float) and "text" in expected
        form = " or ".join(expected)
        return "wrong-type", f"{where} must be {form}, found {found}", "quote it" if scalar else f"write {form}"
    match fault.kind:
        case "missing":
            return "missing-key", f"`{fault.key}` is missing", f"add `{fault.key}: …` here"
        case "extra_forbidden":
            known = _known_keys(model, fault.path, data)
            return "unknown-key", f"unknown key `{fault.key}`", did_you_mean(fault.key or "", known)
        case "union_tag_invalid":
            tag, tags = fault.context["tag"], re.findall(r"'([^']*)'", fault.context["expected_tags"])
            key = fault.context["discriminator"].strip("'")
            written = fault.input.get(key) if isinstance(fault.input, dict) else tag
            if not isinstance(written, str):
                hint = "quote it" if isinstance(written, int | float) else "write text"
                return "wrong-type", f"`{key}` must be text, found {described(written)}", hint
            return f"unknown-{key}", f"unknown {key} {tag!r}", did_you_mean(tag, tags, "expected one of")
        case "union_tag_not_found":
            key = str(fault.context.get("discriminator", "'type'")).strip("'")
            if not key.isidentifier():
                rule = f"{where} is not of a form that is understood, found {found}"
                return "wrong-type", rule, "see the format's page in docs/reference"
            return "missing-key", f"`{key}` is missing", _hint_for_missing(key, fault.input)
        case "string_too_short" | "too_short":
            return "empty", f"{where} must not be empty", "fill it in, or remove it"
        case "literal_error":
            return "wrong-value", f"{where} must be {fault.context['expected']}, found {found}", _nearest(fault)
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" | "finite_number":
            rule = fault.text.removeprefix("Input should be ")
            return "out-of-range", f"{where} must be {rule}, found {found}", "choose a value in that range"
    given = fault.context.get("hint")
    return fault.kind.replace("_", "-"), fault.text[:1].lower() + fault.text[1:], str(given) if given else None


def _nearest(fault: _Fault) -> str:
    known = re.findall(r"'([^']*)'", fault.context["expected"])
    hint = did_you_mean(fault.input, known) if isinstance(fault.input, str) else ""
    return hint if hint.endswith("?") else "write one of these"


def _hint_for_missing(key: str, found: Any) -> str:
    """A key that is nearly the missing one was probably meant to be it."""
    for other in found if isinstance(found, dict) else ():
        if near_miss(other, [key]):
            return f"did you mean `{key}` instead of `{other}`?"
    return f"add `{key}: …` here"


def _noun(model: type[BaseModel]) -> str:
    """`CaseSpec` is called a case."""
    return f"a {model.__name__.removesuffix('Spec').removesuffix('Header').lower()}"


def _safe_place(source: Source, path: DataPath, key: bool) -> Place:
    place = source.place(path, key)
    if any(is_secret_key(step) for step in path) or _SECRET_LINE.search(place.source or ""):
        return Place(place.line, place.column, None)
    return place


def _known_keys(model: type[BaseModel], path: DataPath, data: Any) -> list[str]:
    """The keys that a mapping at `path` may have, found by following the model's annotations."""
    models: list[type] = [model]
    for step in path:
        data = _step(data, step)
        if isinstance(step, str):
            annotations = [annotation for each in models for name, annotation in _fields(each) if name == step]
            if annotations:
                models = [found for annotation in annotations for found in _models_in(annotation)]
    if isinstance(data, dict):
        models = [each for each in models if _tag_fits(each, data)] or models
    return [name for each in models for name, _ in _fields(each)]


def _at(data: Any, path: DataPath) -> Any:
    for step in path:
        data = _step(data, step)
    return data


def _step(data: Any, step: str | int) -> Any:
    if isinstance(data, dict):
        return data.get(step)
    return data[step] if isinstance(data, list) and isinstance(step, int) and step < len(data) else None


def _fields(model: type) -> list[tuple[str, Any]]:
    """Names and annotations, as they stand in the file."""
    if is_typeddict(model):
        return list(get_type_hints(model).items())
    assert issubclass(model, BaseModel)
    return [(field.alias or name, field.annotation) for name, field in model.model_fields.items()]


def _tag_fits(model: type, data: dict[str, Any]) -> bool:
    for name, annotation in _fields(model):
        if name in _TAG_KEYS and get_origin(annotation) is Literal:
            return data.get(name) in get_args(annotation)
    return True


def _models_in(annotation: Any) -> Iterator[type]:
    if is_typeddict(annotation) or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, list, dict, tuple, Annotated):
        for argument in get_args(annotation):
            yield from _models_in(argument)
