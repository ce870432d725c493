"""One sample: the value, and the way to it from what stands in a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, NotRequired, TypedDict

from ..diagnostics import Diagnostic, Place, Severity
from ..suite.explain import did_you_mean
from ..suite.paths import DataPath, shown_path
from ..suite.sources import Source
from .checking import validated
from .sample_format import ExpectedSpec, LabelSpec, SampleSpec

__all__ = ["CheckedSample", "HumanLabel", "Sample", "SampleMessage", "check_sample"]

_OLD_KEYS = ("userMessage", "assistantResponse")
# One sample is not worth more: its thousandth bad message teaches nobody anything.
_ENOUGH_PROBLEMS = 20
_MESSAGE_KEYS = ["role", "content", "name"]


class SampleMessage(TypedDict):
    """One turn, as it was written."""

    role: str
    content: str
    name: NotRequired[str]


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """What a person said of a sample: a score or a label; a number is always a score. Both None: no label."""

    score: float | None = None
    label: str | None = None
    reason: str | None = None
    rater: str | None = None

    @property
    def value(self) -> float | str | None:
        """The score or the label, whichever there is."""
        return self.label if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation that people have labelled, or not: `expected` and `labels` may both be empty."""

    id: str
    messages: tuple[SampleMessage, ...]
    expected: HumanLabel | None
    labels: tuple[HumanLabel, ...]
    cluster: str | None
    tags: tuple[str, ...]
    source: Source = field(repr=False, compare=False)
    path: DataPath = field(repr=False, compare=False)

    @property
    def file(self) -> str:
        """The file that holds it, as people see it."""
        return self.source.file

    @property
    def place(self) -> Place:
        """Where it stands in its file; found only when asked for, since that takes a walk through the file."""
        return self.source.place(self.path)

    @property
    def is_labelled(self) -> bool:
        """Whether any person has said anything about it."""
        return bool(self.labels) or (self.expected is not None and self.expected.value is not None)


class CheckedSample(NamedTuple):
    """The id that the sample has, the sample if it can be used, and what there is to say."""

    id: str
    sample: Sample | None
    problems: list[Diagnostic]


class _Check:
    """One sample under examination."""

    def __init__(self, sample_id: str, source: Source, path: DataPath) -> None:
        self.id = sample_id
        self.source = source
        self.path = path
        self.problems: list[Diagnostic] = []
        self.is_usable = True

    def say(
        self, severity: Severity, code: str, message: str, hint: str | None, path: DataPath = (), key: bool = False
    ) -> None:
        full = self.path + path
        place = self.source.place(full, key)
        self.problems.append(
            Diagnostic(severity, code, message, self.source.file, place, hint, shown_path(full), self.id)
        )

    def skip(self, sentence: str, path: DataPath = ()) -> None:
        self.is_usable = False
        self.say("warning", "bad-sample", sentence, f"sample `{self.id}` is skipped", path)

    def refuse(self, code: str, message: str, hint: str, path: DataPath, key: bool = False) -> None:
        self.is_usable = False
        self.say("error", code, message, hint, path, key)


def check_sample(value: Any, source: Source, path: DataPath, key: str | None, default_id: str) -> CheckedSample:
    """Check what stands at `path`. `key` is its key in a table of samples, which is its id then."""
    fields = value if isinstance(value, dict) else {}
    check = _Check(_id(fields, key, default_id), source, path)
    if key is not None and fields.get("id", key) != key:
        message = f"`id` differs from the key of the table, {key!r}, which is the sample's id"
        check.refuse("id-differs", message, "remove `id`", ("id",))
    if not check.id:
        check.refuse("empty", "the id of a sample must not be empty", "give the table a name", (), key=True)
    _check_old_keys(check, fields)
    messages = _checked_messages(check, fields.get("messages"))
    spec, problems = validated(
        SampleSpec, {name: item for name, item in fields.items() if name not in _OLD_KEYS}, source, path, check.id
    )
    check.problems += problems
    if spec is None or not check.is_usable:
        return CheckedSample(check.id, None, check.problems)
    labels = tuple(_human_label(label) for label in spec.labels or ())
    sample = Sample(check.id, messages, _expected(spec), labels, spec.cluster, tuple(spec.tags or ()), source, path)
    return CheckedSample(check.id, sample, check.problems)


def _id(fields: dict[str, Any], key: str | None, default_id: str) -> str:
    if key is not None:
        return key
    written = fields.get("id")
    return written if isinstance(written, str) and written else default_id


def _check_old_keys(check: _Check, fields: dict[str, Any]) -> None:
    old = [name for name in _OLD_KEYS if name in fields]
    if old:
        example = 'messages = [{ role = "user", content = "…" }, { role = "assistant", content = "…" }]'
        names = " and ".join(f"`{name}`" for name in old)
        message = f"{names} {'is' if len(old) == 1 else 'are'} not read in a sample: write `{example}` instead"
        check.say("warning", "old-sample-format", message, None, (old[0],), key=True)


def _checked_messages(check: _Check, messages: Any) -> tuple[SampleMessage, ...]:
    """Roles and their order are free; the sentences are fixed."""
    if not isinstance(messages, list):
        check.skip("Sample must have messages array", ("messages",))
        return ()
    if not messages:
        check.skip("Messages array cannot be empty", ("messages",))
    for index, message in enumerate(messages):
        if len(check.problems) >= _ENOUGH_PROBLEMS:
            break
        fields = message if isinstance(message, dict) else {}
        path = ("messages", index)
        for name in ("role", "content"):
            if not isinstance(fields.get(name), str) or not fields[name]:
                check.skip(f"Each message must have a {name} string", (*path, name))
        for name in fields:
            if name not in _MESSAGE_KEYS:
                hint = did_you_mean(name, _MESSAGE_KEYS)
                check.refuse("unknown-key", f"unknown key `{name}`", hint, (*path, name), key=True)
        if not isinstance(fields.get("name", ""), str):
            check.refuse("wrong-type", "`name` must be text", "quote it", (*path, "name"))
    return tuple(messages) if check.is_usable else ()


def _expected(spec: SampleSpec) -> HumanLabel | None:
    expected = spec.expected
    if isinstance(expected, ExpectedSpec):
        label = _human_label(expected)
        return label if spec.score is None else HumanLabel(spec.score, None, label.reason)
    value = expected if spec.score is None else spec.score
    return None if value is None else _split(value)


def _human_label(spec: ExpectedSpec) -> HumanLabel:
    value = spec.label if spec.score is None else spec.score
    return _split(value, spec.reason, spec.rater if isinstance(spec, LabelSpec) else None)


def _split(value: float | str | None, reason: str | None = None, rater: str | None = None) -> HumanLabel:
    if isinstance(value, str):
        return HumanLabel(None, value, reason, rater)
    return HumanLabel(value, None, reason, rater)
