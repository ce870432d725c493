"""YAML in, plain values out: YAML 1.2 core schema plus merge keys, built straight from libyaml's events.

PyYAML's own loaders follow YAML 1.1 (`yes` is true, `1:30` is 90), lose duplicate keys and take six times as
long. Where everything is, is not recorded here: `YamlSource` finds it again in the rare case of an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from .text_problem import TextProblem

__all__ = ["MAX_ALIASED_NODES", "MAX_DEPTH", "YamlLoader", "read_yaml", "shield_breaks"]

MAX_DEPTH = 100
MAX_ALIASED_NODES = 1_000_000

YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Only a plain scalar that starts with one of these can be anything but text.
_NOT_TEXT_STARTS = frozenset("0123456789+-.nNtTfF~")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# What is read must be writable as JSON: to APIs, to results, to other programs.
_NOT_FINITE = frozenset(sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")) | {
    ".nan",
    ".NaN",
    ".NAN",
}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# Python shows no number of more than 4,300 decimal digits; so many of another base stay below that.
_MOST_DIGITS = 3_000
_MISSING: Any = object()
_MERGE: Any = object()


def read_yaml(text: str) -> Any:
    """The value of the one document in `text`; None if it is empty. Raises `TextProblem`.

    >>> read_yaml("a: yes\\nb: [1:30, 0o17, 017, 1.5, ~]")
    {'a': 'yes', 'b': ['1:30', 15, 17, 1.5, None]}
    """
    shielded, shields = shield_breaks(text)
    try:
        loader = YamlLoader(shielded)
        try:
            value = _build(loader.get_event, "&" in text)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _parser_problem(error, text) from None
    return _unshielded(value, {ord(shield): original for original, shield in shields.items()}) if shields else value


def shield_breaks(text: str) -> tuple[str, dict[str, str]]:
    """The text with stand-ins of the same length for U+0085, U+2028 and U+2029, and which stands for which.

    YAML 1.2 takes these for ordinary characters; libyaml still breaks lines at them, and would change texts.
    """
    found = [character for character in "\x85\u2028\u2029" if character in text]
    if not found:
        return text, {}
    free = (chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
    shields = dict(zip(found, free, strict=False))
    return text.translate({ord(character): shield for character, shield in shields.items()}), shields


def _unshielded(value: Any, table: dict[int, str]) -> Any:
    if isinstance(value, str):
        return value.translate(table)
    if isinstance(value, list):
        return [_unshielded(item, table) for item in value]
    if isinstance(value, dict):
        return {_unshielded(key, table): _unshielded(item, table) for key, item in value.items()}
    return value


def _build(next_event: Callable[[], Any], may_have_anchors: bool = True) -> Any:
    """The loop over all events. One function, because a call per node would double the time."""
    root: Any = None
    documents = 0
    container: Any = None  # the list or dict being filled
    is_map = False
    key: Any = _MISSING
    merges: tuple[Any, Any] | None = None  # the value of `<<` in the mapping being filled, and its event
    stack: list[tuple[Any, bool, Any, tuple[Any, Any] | None, str | None, int]] = []
    anchor: str | None = None  # of the container being filled
    start = 0  # node count where it began
    anchors: dict[str, tuple[Any, int]] = {}
    nodes = aliased = 0

    while True:
        event = next_event()
        kind = event.__class__
        nodes += 1
        if kind is ScalarEvent:
            value = event.value
            plain, quoted = event.implicit  # both are false where there is a tag, but for a lone `!`
            if plain:
                if not value or value[0] in _NOT_TEXT_STARTS:
                    value = _plain(value, event) if event.tag is None else value
                elif value == "<<" and is_map and key is _MISSING and event.tag is None:
                    value = _MERGE
            elif not quoted:
                value = _tagged(event)
            if may_have_anchors and event.anchor is not None:
                anchors[event.anchor] = (event.value if value is _MERGE else value, 1)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            if merges is not None:
                _merge(container, *merges)
            if anchor is not None:
                anchors[anchor] = (container, nodes + aliased - start)
            container, is_map, key, merges, anchor, start = stack.pop()
            continue
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if is_map and key is _MISSING:
                _fail(event, "bad-key", "a key must be text", "quote it")
            if len(stack) >= MAX_DEPTH:
                _fail(event, "too-deep", f"nested more than {MAX_DEPTH} levels deep", "flatten the file")
            if (
                event.tag is not None
                and event.tag != f"tag:yaml.org,2002:{'map' if kind is MappingStartEvent else 'seq'}"
            ):
                _fail(event, "yaml-tag", f"the tag {_shown_tag(event.tag)} is not supported", "remove the tag")
            value = {} if kind is MappingStartEvent else []
        elif kind is AliasEvent:
            if is_map and key is _MISSING:
                _fail(event, "bad-key", "an alias cannot be a key", "write the key out")
            value, size = anchors.get(event.anchor, (None, -1))
            if size < 0:
                fault = "stands inside its own anchor" if size == -2 else "has no anchor before it"
                _fail(
                    event,
                    "yaml-alias",
                    f"the alias *{event.anchor} {fault}",
                    f"define it first with &{event.anchor}",
                )
            aliased += size
            if aliased > MAX_ALIASED_NODES:
                _fail(
                    event,
                    "yaml-bomb",
                    f"aliases expand to more than {MAX_ALIASED_NODES:,} nodes",
                    "write less with aliases",
                )
        elif kind is DocumentStartEvent:
            documents += 1
            if documents > 1:
                _fail(event, "second-document", "a second YAML document starts here", "keep one document a file")
            continue
        elif kind is StreamEndEvent:
            return root
        else:
            continue

        # Put the value where it belongs.
        if is_map:
            if key is _MISSING:
                if value.__class__ is not str:
                    if value is not _MERGE:
                        _fail(event, "bad-key", f"a key must be text, found {value!r}", "quote it")
                    if merges is not None:
                        _fail(event, "duplicate-key", "the key '<<' appears twice", "merge a list: <<: [*a, *b]")
                elif value in container:
                    _fail(event, "duplicate-key", f"the key {value!r} appears twice", "remove one of them")
                key = value
                continue
            if key is _MERGE:
                merges = value, event
            else:
                container[key] = value
            key = _MISSING
        elif container is not None:
            container.append(value)
        else:
            root = value

        if kind is MappingStartEvent or kind is SequenceStartEvent:
            stack.append((container, is_map, key, merges, anchor, start))
            container, is_map, key, merges = value, kind is MappingStartEvent, _MISSING, None
            anchor, start = event.anchor, nodes + aliased
            if anchor is not None:
                anchors[anchor] = (None, -2)


def _plain(value: str, event: Any) -> Any:
    constant = _CONSTANTS.get(value, _MISSING)
    if constant is not _MISSING:
        return constant
    if value in _NOT_FINITE:
        _fail(event, "bad-number", f"{value} is not a number that JSON can hold", "quote it if it is text")
    try:
        if _INT.fullmatch(value):
            return int(value)
        if _FLOAT.fullmatch(value):
            number = float(value)
            return number if math.isfinite(number) else _too_large(event)
        if _OCTAL.fullmatch(value):
            return _int(value, 8)
        if _HEX.fullmatch(value):
            return _int(value, 16)
    except TextProblem:
        raise
    except ValueError:
        _fail(event, "bad-number", "the number has too many digits", "quote it if it is text")
    return value


def _too_large(event: Any) -> NoReturn:
    _fail(event, "bad-number", "the number is too large", "quote it if it is text")


def _int(value: str, base: int) -> int:
    if len(value) > _MOST_DIGITS:
        raise ValueError(value)
    return int(value, base)


def _tagged(event: Any) -> Any:
    value, tag = event.value, event.tag.removeprefix("tag:yaml.org,2002:")
    if tag in ("str", "!"):
        return value
    expected: dict[str, tuple[type, ...]] = {
        "int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)
    }  # fmt: skip
    if tag not in expected:
        _fail(event, "yaml-tag", f"the tag {_shown_tag(event.tag)} is not supported", "remove the tag")
    found = _plain(value, event)
    if type(found) not in expected[tag]:
        _fail(event, "yaml-tag", f"{value!r} is not a !!{tag}", "remove the tag or mend the value")
    try:
        return float(found) if tag == "float" else found
    except OverflowError:
        _fail(event, "bad-number", "the number is too large", "quote it if it is text")


def _merge(mapping: dict[str, Any], merges: Any, event: Any) -> None:
    """Fill in what the merge key gives; the mapping's own keys win, then the earlier of several merges."""
    own = dict(mapping)
    merged: dict[str, Any] = {}
    for other in reversed(merges if isinstance(merges, list) else [merges]):
        if not isinstance(other, dict):
            _fail(event, "bad-merge", "`<<` needs a mapping or a list of mappings", "write <<: *anchor")
        merged.update(other)
    mapping.clear()
    mapping.update(merged)
    mapping.update(own)


def _fail(event: Any, code: str, message: str, hint: str) -> NoReturn:
    raise TextProblem(code, message, hint, event.start_mark.index)


def _shown_tag(tag: str) -> str:
    return "!!" + tag.removeprefix("tag:yaml.org,2002:") if tag.startswith("tag:yaml.org") else tag


_HINTS = (
    (
        "cannot start any token",
        "indent with spaces, not tabs, and quote a text that starts with a special character",
    ),
    ("mapping values are not allowed", "quote a text that holds `: `, and check the indentation"),
    ("did not find expected key", "check the indentation of this line and the one before it"),
    ("did not find expected '-' indicator", "check the indentation of this line and the one before it"),
    ("did not find expected ',' or", "close the bracket, or put a comma between the items"),
    ("found unexpected end of stream", "a quote is never closed"),
    ("could not find expected ':'", "a key needs a colon and a space after it"),
    ("unknown escape character", "write \\\\ for a backslash, or use single quotes"),
    ("control characters are not allowed", 'write it as an escape ("\\u0001") in a double-quoted text'),
)


def _parser_problem(error: yaml.YAMLError, text: str) -> TextProblem:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    context = getattr(error, "context", None)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if "end of stream" in problem:
        # What is never closed is better seen where it opens.
        mark = getattr(error, "context_mark", None) or mark
    offset = 0
    if mark is not None:
        # Not the mark's line: libyaml ends a line at characters where no editor does (U+0085, U+2028).
        offset = mark.index
    elif isinstance(position := getattr(error, "position", None), int):
        # libyaml counts bytes here.
        offset = len(text.encode("utf-8", "surrogatepass")[:position].decode("utf-8", "ignore"))
    hint = next((hint for part, hint in _HINTS if part in problem), None)
    message = f"not valid YAML: {problem}" + (f" ({context})" if context else "")
    return TextProblem("bad-yaml", message, hint, offset)
