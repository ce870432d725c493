"""A session of labelling: one conversation after the other, over plain lines, saved after each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..decks.sample import HumanLabel, Sample
    from ..graders.verdict_scale import Scale

__all__ = ["Desk", "Session", "described", "has_label_of"]

HELP = """  a value   the label
  u         back to the last one, to answer it anew; until then the old answer stays
  s         skip this one for now
  m         more: the whole conversation
  q         quit; everything is saved (so do Ctrl-C and Ctrl-D)
  ?         this help"""
_Step = Literal["back", "skip", "quit"]
_STEPS: dict[str, _Step] = {"u": "back", "s": "skip", "q": "quit"}


@dataclass(frozen=True, slots=True)
class Desk:
    """What the session has to do with the world. `ask` gives None at the end of input; `save` keeps a label."""

    ask: Callable[[str], str | None]
    say: Callable[[str], None]
    show: Callable[[Sample, bool], None]
    save: Callable[[Sample, HumanLabel], None]


def has_label_of(sample: Sample, rater: str | None) -> bool:
    """Whether the rater has labelled it; without a rater, whether it has an expected label."""
    if rater is None:
        return sample.expected is not None and sample.expected.value is not None
    return any(label.rater == rater for label in sample.labels)


def described(scale: Scale | None) -> str:
    """What may be answered, in a few words."""
    if scale is None:
        return "a number or a word"
    listed = [f"{value:g}" for value in scale.values] or list(scale.labels)
    if not listed and (scale.min is not None or scale.max is not None):
        low, high = ("…" if each is None else f"{each:g}" for each in (scale.min, scale.max))
        listed = [f"{low} to {high}"]
    said = ", ".join(listed) or ("a number" if scale.has_numbers else "a word")
    return said if scale.ungradable is None else f"{said}; {scale.ungradable} for ungradable"


@dataclass
class Session:
    """The samples in their order, and who labels them. `done` are the ids that this rater has labelled, `kept` those of
    them that got their label now."""

    samples: Sequence[Sample]
    rater: str | None
    scale: Scale | None
    desk: Desk
    redo: bool = False
    done: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)

    @property
    def given(self) -> int:
        """How many samples were labelled now; one that was answered anew is still one."""
        return len(self.kept)

    def run(self) -> None:
        """Ask until all are done, or until the person has had enough."""
        self.done = {sample.id for sample in self.samples if has_label_of(sample, self.rater)}
        waiting = [rank for rank, sample in enumerate(self.samples) if self.redo or sample.id not in self.done]
        position = 0
        while position < len(waiting):
            step = self._one(waiting[position], is_first=position == 0)
            if step == "quit":
                return
            position += -1 if step == "back" else 1

    def _one(self, rank: int, is_first: bool) -> _Step | None:
        sample = self.samples[rank]
        self.desk.say(f"\n{rank + 1} of {len(self.samples)} · {len(self.done)} labelled\n")
        self.desk.show(sample, False)
        self.desk.say("")
        answer = self._value(sample, is_first)
        if not isinstance(answer, tuple):
            return answer
        reason = self.desk.ask("reason (Enter for none): ")
        self._keep(sample, answer[0], (reason or "").strip() or None)
        return "quit" if reason is None else None

    def _value(self, sample: Sample, is_first: bool) -> tuple[float | str] | _Step:
        """A value of the scale, in a tuple, or what else to do."""
        while (written := self.desk.ask(f"{described(self.scale)} [u s m q ?]: ")) is not None:
            text = written.strip()
            value = self._on_the_scale(text)
            key = text.lower()
            if value is not None and (self.scale is not None or key not in ("u", "s", "m", "q", "?")):
                return (value,)
            if key in _STEPS and not (key == "u" and is_first):
                return _STEPS[key]
            if key == "m":
                self.desk.show(sample, True)
            elif text:
                self.desk.say(self._remark(key))
        return "quit"

    def _remark(self, key: str) -> str:
        if key == "?":
            return HELP
        if key == "u":
            return "this is the first one"
        return f"{key!r} is not on the scale: {described(self.scale)}"

    def _on_the_scale(self, text: str) -> float | str | None:
        from ..graders.verdict_scale import number_of

        if not text:
            return None
        if self.scale is not None:
            return self.scale.ungradable if self.scale.is_ungradable(text) else self.scale.code(text)
        number = number_of(text)
        return text if number is None else number

    def _keep(self, sample: Sample, value: float | str, reason: str | None) -> None:
        from ..decks.sample import HumanLabel

        score, word = (None, value) if isinstance(value, str) else (value, None)
        self.desk.save(sample, HumanLabel(score, word, reason, self.rater))
        self.done.add(sample.id)
        self.kept.add(sample.id)
