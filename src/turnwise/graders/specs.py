"""From the `graders` of a suite to graders: kinds found, options checked, and every problem said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..diagnostics import NOWHERE, Place
from ..errors import Problem, UsageError
from ..suite.explain import described, did_you_mean, explain
from ..suite.format import GraderSpec, LongGrader
from ..suite.paths import DataPath
from .base import Grader, GraderSettings
from .foreign_kinds import FOREIGN_KINDS
from .registry import KINDS, MOST_LEVELS, GraderKind, find_kind, kind_names
from .turn_scope import TurnScoped
from .when import Conditional

__all__ = ["expected_option", "kind_without_value", "make_graders"]

Model = TypeVar("Model", bound=BaseModel)

_MAIN = "value"


def make_graders(specs: Sequence[GraderSpec]) -> tuple[list[Grader], list[Problem]]:
    """A grader for each spec that has no problem, in their order. The path of a problem starts with `graders`. All
    rubric lines are one grader, in the place of the first.

    >>> graders, problems = make_graders([{"contains": "42"}, {"contians": "42"}])
    >>> len(graders), problems[0].message, problems[0].hint
    (1, "unknown grader 'contians'", 'did you mean `contains`?')
    """
    graders: list[Grader] = []
    problems: list[Problem] = []
    lines = {index: spec for index, spec in enumerate(specs) if isinstance(spec, str)}
    for index, spec in enumerate(specs):
        try:
            grader = _made(spec, ("graders", index))
            if index not in lines:
                graders.append(grader)
            elif index == min(lines):
                graders.append(_of_lines(list(lines.values())))
        except _RefusedError as refused:
            problems += refused.problems
    return graders, problems


def kind_without_value(spec: GraderSpec) -> str | None:
    """The kind of a grader that compares with the case's expected text, since it has no value; None for any other.

    >>> [kind_without_value(spec) for spec in ({"contains": None}, {"contains": "42"}, {"regex": None})]
    ['contains', None, None]
    """
    if isinstance(spec, str):
        return None
    if not isinstance(spec, dict):
        kind, options = spec.type, spec.model_extra or {}
    else:
        kind, value = next(iter(spec.items()))
        options = value if isinstance(value, dict) else {expected_option(kind): value}
    if kind in KINDS and KINDS[kind].holds_graders:
        inner = KINDS[kind].options_model.model_validate({"graders": options.get("graders")})
        return next(filter(None, map(kind_without_value, inner.graders)), None)  # type: ignore[attr-defined]
    may_be_absent = kind in KINDS and KINDS[kind].expected is not None
    return kind if may_be_absent and options.get(expected_option(kind)) is None else None


def expected_option(kind: str) -> str:
    """The option of a kind that holds a text to compare with.

    >>> expected_option("contains"), expected_option("pairwise")
    ('value', 'baseline')
    """
    return (KINDS[kind].expected if kind in KINDS else None) or _MAIN


class _RefusedError(Exception):
    """A spec that no grader can be made of."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__()
        self.problems = problems


def _made(spec: GraderSpec, path: DataPath, level: int = 1) -> Grader:
    if isinstance(spec, str):
        return _of_line(spec, path)
    if not isinstance(spec, dict):  # asked first, since to ask whether it is a model takes long
        kind = _kind(spec.type, (*path, "type"))
        common, written = spec, _Written(path)
    else:
        name, value = next(iter(spec.items()))
        if isinstance(value, str) and name in KINDS and not KINDS[name].needs_target:
            made = _of_text(name, value)
            if made is not None:
                return made
        kind = _kind(name, (*path, name))
        common, written = _long_form(name, value, path)
    if problems := _unused_settings(common, kind, written):
        raise _RefusedError(*problems)
    options = _validated(kind.options_model, dict(common.model_extra or {}), written)
    settings = _settings(common)
    inner = [_inner(options.graders, written, level)] if kind.holds_graders else []  # type: ignore[attr-defined]
    grader = kind.make(options, settings, *inner)
    if common.scope == "turn":
        grader = TurnScoped(grader, common.aggregate or "min", settings)
    return grader if common.when is None else Conditional(grader, common.when, settings)


def _inner(specs: Sequence[GraderSpec], written: _Written, level: int) -> tuple[Grader, ...]:
    """The graders that a grader holds; all of their problems at once, each with its whole path."""
    if level == MOST_LEVELS:
        message = f"graders stand inside of graders more than {MOST_LEVELS} levels deep"
        raise _RefusedError(Problem(written.at(("graders",)), "too-deep", message, "write fewer levels"))
    graders: list[Grader] = []
    problems: list[Problem] = []
    for index, spec in enumerate(specs):
        try:
            graders.append(_made(spec, written.at(("graders", index)), level + 1))
        except _RefusedError as refused:
            problems += refused.problems
    if problems:
        raise _RefusedError(*problems)
    return tuple(graders)


@lru_cache(maxsize=1024)
def _of_text(name: str, text: str) -> Grader | None:
    """The grader of `kind: text`, by far the most common form; cases often share it. None if something is wrong."""
    kind = KINDS[name]
    try:
        options = kind.options_model.model_validate({kind.main: text})
    except ValidationError:
        return None
    return kind.make(options, GraderSettings(name=name, kind=name))


def _settings(common: LongGrader) -> GraderSettings:
    return GraderSettings(
        name=common.name or common.type,
        kind=common.type,
        weight=1.0 if common.weight is None else common.weight,
        threshold=common.threshold,
        required=bool(common.required),
        target=common.target,
        on_error=common.on_error or "ungraded",
    )


def _of_line(line: str, path: DataPath) -> Grader:
    if line in kind_names():
        message = f"{line!r} alone is a rubric line, not a grader of that kind"
        raise _RefusedError(Problem(path, "grader-form", message, f"write `type: {line}`"))
    if not line.strip():
        raise _RefusedError(Problem(path, "empty", "a rubric line must not be empty", "say what the answer should do"))
    return _of_lines([line])


def _of_lines(lines: Sequence[str]) -> Grader:
    from .rubric import rubric_of_lines  # late: most suites have no line

    return rubric_of_lines(lines)


def _kind(name: str, path: DataPath) -> GraderKind:
    try:
        kind = find_kind(name)
    except UsageError as error:
        raise _RefusedError(Problem(path, "bad-plugin", str(error), error.hint)) from error
    if kind is not None:
        return kind
    hint = FOREIGN_KINDS.get(name) or did_you_mean(name, kind_names(), "expected one of")
    raise _RefusedError(Problem(path, "unknown-grader", f"unknown grader {name[:40]!r}", hint))


@dataclass(frozen=True, slots=True)
class _Written:
    """Where the author wrote the settings. `short` is the kind of `kind: value`, whose value has no key; `main` is the
    key that it stands for."""

    path: DataPath
    short: str | None = None
    main: str = _MAIN

    def at(self, inner: DataPath) -> DataPath:
        return (*self.path, *(inner[1:] if self.short is not None and inner[:1] == (self.main,) else inner))

    def said(self, text: str) -> str:
        """What was called by a key that is not there is called by the kind."""
        return text if self.short is None else text.replace(f"`{self.main}", f"`{self.short}", 1)


def _long_form(name: str, value: Any, path: DataPath) -> tuple[LongGrader, _Written]:
    """`kind: value` spelt out. A mapping holds settings; `kind:` and `kind: true` set nothing."""
    inner = (*path, name)
    main, takes = _options(name)
    if not isinstance(value, dict):
        nothing = value is None or (value is True and main not in takes)
        if not nothing and main not in takes:
            message = f"`{name}` takes no value of its own, found {described(value)}"
            hint = f"write `{name}: {{max: {value}}}`" if _is_bound(value, takes) else (
                f"write `type: {name}`, and its settings beside it"
            )  # fmt: skip
            raise _RefusedError(Problem(inner, "wrong-type", message, hint))
        given = {} if nothing else {main: value}
        return LongGrader.model_validate({"type": name, **given}), _Written(inner, name, main)
    if "type" in value:
        hint = "a JSON Schema goes under `schema`" if "schema" in takes else f"`{name}` is the type: remove it"
        raise _RefusedError(Problem((*inner, "type"), "unknown-key", "unknown key `type`", hint))
    written = _Written(inner)
    return _validated(LongGrader, {"type": name, **value}, written), written


def _is_bound(value: Any, takes: set[str]) -> bool:
    return "max" in takes and isinstance(value, int | float) and not isinstance(value, bool)


def _options(name: str) -> tuple[str, set[str]]:
    """The option that `kind: value` sets, and all that there are."""
    kind = find_kind(name)
    assert kind is not None
    return kind.main, {field.alias or key for key, field in kind.options_model.model_fields.items()}


def _unused_settings(common: LongGrader, kind: GraderKind, written: _Written) -> list[Problem]:
    """Settings that would have no effect: nothing that an author writes is ignored silently."""
    problems = []
    if common.target is not None and not kind.asks_model:
        message = f"`{common.type}` asks no model, so it has no `target`"
        problems.append(Problem(written.at(("target",)), "unknown-key", message, "remove it"))
    if common.target is not None and kind.asks_model and (common.model_extra or {}).get("targets") is not None:
        message = "give `target` or `targets`, not both"
        problems.append(Problem(written.at(("targets",)), "grader-options", message, "remove one of them"))
    if kind.needs_target and common.target is None:
        message = f"`{common.type}` names no target to ask"
        hint = "add `target: NAME`; `kind: {…}` holds settings, such as `similar: {value: …, target: NAME}`"
        problems.append(Problem(written.path, "no-judge", message, hint))
    if common.required and common.on_error == "skip":
        message = "a `required` grader cannot be left out, so it has no `on_error: skip`"
        problems.append(Problem(written.at(("on_error",)), "grader-options", message, "remove one of them"))
    if common.aggregate is not None and common.scope != "turn":
        message = "`aggregate` makes one score of several turns, and the grader is for the final answer alone"
        problems.append(
            Problem(written.at(("aggregate",)), "grader-options", message, "add `scope: turn`, or remove it")
        )
    if kind.holds_graders and (common.model_extra or {}).get("mode") == "threshold" and common.threshold is None:
        message = "`mode: threshold` needs a `threshold`"
        problems.append(Problem(written.at(("mode",)), "grader-options", message, "add `threshold: 0.7`"))
    return problems


def _validated(model: type[Model], data: dict[str, Any], written: _Written) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        places = _Places()
        found = explain(error, data=data, model=model, source=places, authored=written.at)
        problems = [
            Problem(path, each.code, written.said(each.message), each.hint and written.said(each.hint))
            for path, each in zip(places.asked, found, strict=True)
        ]
        raise _RefusedError(*problems) from error


class _Places:
    """A source that has no lines, but remembers which paths it was asked for: one for each diagnostic."""

    file = ""

    def __init__(self) -> None:
        self.asked: list[DataPath] = []

    def place(self, path: DataPath, key: bool = False) -> Place:  # noqa: ARG002
        self.asked.append(path)
        return NOWHERE
