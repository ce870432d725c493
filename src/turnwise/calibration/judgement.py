"""What judges answered, read by the one parser: each output a verdict or a status, and one verdict for each sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graders.verdict import Status, Verdict, parse_verdict
from ..graders.verdict_scale import LARGEST_SCORE
from ..stats.raters import majority_label

if TYPE_CHECKING:
    from ..graders.verdict import StatusKind
    from ..graders.verdict_scale import Code, Scale

__all__ = ["UNDECIDED", "Output", "SampleVerdict", "judged", "read_output"]

UNDECIDED = "undecided"
"""Repeats of one sample of which no answer is the most frequent one."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a model answered for a sample. Without `text` there was no answer, and `failure` says why."""

    text: str | None
    repeat: int = 1
    finish_reason: str | None = None
    failure: StatusKind | None = None
    detail: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """What a model says of a sample, over all repeats: a value, or the reason why there is none in `status`.

    `answers` are what each repeat came to.
    """

    value: Code | None
    status: str | None
    reason: str | None
    answers: tuple[Verdict | Status, ...]

    @property
    def values(self) -> list[Code]:
        """The values of the repeats that have one."""
        return [answer.value for answer in self.answers if isinstance(answer, Verdict)]


def read_output(output: Output, scale: Scale) -> Verdict | Status:
    """The verdict in an output, or why there is none."""
    if output.failure is not None or output.text is None:
        return Status(output.failure or "missing", output.text or "", output.detail)
    verdict = parse_verdict(output.text, scale, finish_reason=output.finish_reason)
    if isinstance(verdict, Verdict) and verdict.score is not None and abs(verdict.score) > LARGEST_SCORE:
        return Status("out_of_range", output.text, f"no score is larger than {LARGEST_SCORE:g}")
    return verdict


def judged(outputs: Iterable[Output], scale: Scale) -> SampleVerdict:
    """One verdict of all outputs of a sample: the mean of numbers, the majority of classes.

    >>> from ..graders.verdict_scale import Scale
    >>> steps = Scale("ordinal", min=1, max=5)
    >>> judged([Output("3"), Output("4", repeat=2)], steps).value
    3.5
    >>> judged([], steps).status
    'missing'
    """
    answers = tuple(read_output(output, scale) for output in outputs)
    valid = [answer for answer in answers if isinstance(answer, Verdict)]
    if len(valid) == 1:
        return SampleVerdict(valid[0].value, None, valid[0].reason, answers)
    if not valid:
        return SampleVerdict(None, _most_frequent_status(answers), None, answers)
    value = _together([answer.value for answer in valid], scale)
    if value is None:
        return SampleVerdict(None, UNDECIDED, None, answers)
    return SampleVerdict(value, None, _reason(valid, value), answers)


def _most_frequent_status(answers: Sequence[Verdict | Status]) -> str:
    kinds = Counter(answer.kind for answer in answers if isinstance(answer, Status))
    return kinds.most_common(1)[0][0] if kinds else "missing"


def _together(values: Sequence[Code], scale: Scale) -> Code | None:
    numbers = [value for value in values if not isinstance(value, str)]
    if scale.kind in ("ordinal", "continuous") and len(numbers) == len(values):
        mean = math.fsum(numbers) / len(numbers)
        return int(mean) if float(mean).is_integer() and abs(mean) < 2**53 else mean
    return majority_label(values)


def _reason(valid: Sequence[Verdict], value: Code) -> str | None:
    """The reason of a repeat that said what all together say, or else of the first."""
    same = [answer for answer in valid if answer.value == value and answer.reason]
    return (same or list(valid))[0].reason
