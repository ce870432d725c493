"""The kind `rubric`: a model says of each line of a list whether the answer meets it, all in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ..conversation.authored import FormatModel, Word
from ..programs.words import clean_text
from .asking import about_call, answer_status, judge_request
from .base import Grade, GraderSettings, Submission
from .judge_prompt import material
from .judge_words import RUBRIC, exact_number
from .llm_judge import Range, unit_scale
from .panel import THRESHOLD, PanelOptions, Vote, ask_panel, combined_score, judged_settings, panel_evidence
from .panel import without_verdict as _without_verdict
from .roles import Wanted
from .rubric_answer import LineScale, RubricAnswer, parse_rubric, rubric_schema
from .scoring import weighted_mean
from .thresholds import reaches
from .verdict import Status

if TYPE_CHECKING:
    from .judges import Asker, JudgeAnswer

__all__ = ["Rubric", "RubricGrader", "RubricLine", "rubric_of_lines", "rubric_system"]

_MOST_SHOWN = 3


class RubricLine(FormatModel):
    """A line with its settings."""

    text: Word = Field(description="What the answer should do.")
    weight: float = Field(1.0, gt=0, allow_inf_nan=False, description="Its share in the score; 1 if absent.")
    required: bool = Field(False, description="Whether the grader fails if the line is not met.")
    range: Range | None = Field(
        None, description="The worst and the best score of the line; without one, it is met or not."
    )

    @property
    def scale(self) -> LineScale:
        """The range as a scale."""
        return None if self.range is None else unit_scale(self.range)


class Rubric(PanelOptions):
    """A list of lines that a model judges."""

    lines: Annotated[list[Word | RubricLine], Field(min_length=1)] = Field(
        description="What the answer should do: texts, or mappings with `text`, `weight`, `required` and `range`."
    )


@dataclass(frozen=True, slots=True)
class RubricGrader:
    """Asks one judge or several about all lines at once. A line without a verdict leaves the answer ungraded."""

    options: Rubric
    settings: GraderSettings

    def wanted(self) -> Wanted:
        """Whom it asks."""
        return Wanted(self.options.judges(self.settings.target))

    @property
    def lines(self) -> Mapping[str, RubricLine]:
        """The lines by their ids, which are their numbers."""
        written = self.options.lines
        whole = [RubricLine(text=each) if isinstance(each, str) else each for each in written]
        return {str(number): line for number, line in enumerate(whole, start=1)}

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        options, settings = self.options, judged_settings(self.settings)
        judges = options.judges(settings.target)
        votes = await ask_panel(judges, None, submission, partial(self._vote, submission))
        if not isinstance(votes, list):
            return settings.ungraded(votes)
        evidence = panel_evidence(votes, options.combine)
        if (error := _without_verdict(votes, options.least)) is not None:
            return settings.ungraded(error, evidence)
        return self._graded(votes, evidence)

    async def _vote(self, submission: Submission, asker: Asker) -> Vote:
        lines = self.lines
        scales = {name: line.scale for name, line in lines.items()}
        request = judge_request(asker, rubric_system(lines), material(submission), rubric_schema(scales), submission)
        return self._read(await asker.ask(request), asker, lines)

    def _read(self, answer: JudgeAnswer, asker: Asker, lines: Mapping[str, RubricLine]) -> Vote:
        call, text = about_call(asker, answer), answer.text or ""
        scales = {name: line.scale for name, line in lines.items()}
        said = answer_status(answer) or parse_rubric(text, scales, finish_reason=answer.finish_reason)
        if isinstance(said, Status):
            return Vote(asker.target, {}, status=said, call=call)
        scores = tuple(each.score for each in said.lines)
        score, passed = self._outcome(scores)
        more = {"lines": _shown(said, lines), "repairs": list(said.repairs)}
        return Vote(asker.target, more, score, passed, lines=scores, call=call)

    def _graded(self, votes: Sequence[Vote], evidence: Mapping[str, Any]) -> Grade:
        """Of several judges, the scores of each line are combined first."""
        valid, rule = [vote for vote in votes if vote.score is not None], self.options.combine or "mean"
        scores = [combined_score(of_line, rule) for of_line in zip(*(vote.lines for vote in valid), strict=True)]
        score, passed = self._outcome(scores)
        lines = [
            {"id": name, "text": line.text, "score": each, "met": reaches(each, THRESHOLD), "required": line.required}
            for (name, line), each in zip(self.lines.items(), scores, strict=True)
        ]
        misses = [each["text"] for each in lines if not each["met"]]
        hits = [each["text"] for each in lines if each["met"]]
        found = {"lines": lines, "hits": hits, "misses": misses, **evidence}
        return judged_settings(self.settings).graded(score, _reason(lines, valid), found, passed=passed)

    def _outcome(self, scores: Sequence[float]) -> tuple[float, bool]:
        """The mean by weight, and whether that passes with every required line met."""
        lines = list(self.lines.values())
        score = weighted_mean(scores, [line.weight for line in lines])
        met = all(reaches(each, THRESHOLD) for line, each in zip(lines, scores, strict=True) if line.required)
        return score, met and reaches(score, judged_settings(self.settings).threshold or 0.0)


def rubric_of_lines(lines: Sequence[str]) -> RubricGrader:
    """The one grader of all plain lines of a case."""
    return RubricGrader(Rubric(lines=list(lines)), GraderSettings(name="rubric", kind="rubric"))


def rubric_system(lines: Mapping[str, RubricLine]) -> str:
    """What the judge is told: the task, and the lines with their ids.

    >>> print(rubric_system({"1": RubricLine(text="It is polite.", range=[1, 5])}).splitlines()[-1])
    - id "1", "score" from 1 to 5: It is polite.
    """
    return "\n".join([RUBRIC, *(f'- id "{name}", {_form(line)}: {line.text.strip()}' for name, line in lines.items())])


def _form(line: RubricLine) -> str:
    if line.range is None:
        return '"met"'
    low, high = map(exact_number, line.range)
    return f'"score" from {low} to {high}'


def _shown(answer: RubricAnswer, lines: Mapping[str, RubricLine]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.id,
            "text": lines[each.id].text,
            "verdict": each.value,
            "score": each.score,
            "evidence": each.evidence,
        }
        for each in answer.lines
    ]


def _reason(lines: Sequence[Mapping[str, Any]], votes: Sequence[Vote]) -> str:
    missed = [each for each in lines if not each["met"]]
    said = f"{len(lines) - len(missed)} of {len(lines)} lines met"
    shown = [f"{'required, ' if each['required'] else ''}not met: {_missed(each, votes)}" for each in missed]
    more = [f"and {len(missed) - _MOST_SHOWN} more"] if len(missed) > _MOST_SHOWN else []
    return "; ".join([said, *shown[:_MOST_SHOWN], *more])


def _missed(line: Mapping[str, Any], votes: Sequence[Vote]) -> str:
    """A line with what the first judge said that did not find it met."""
    said = [each for vote in votes for each in vote.said["lines"] if each["id"] == line["id"]]
    not_met = [each["evidence"] for each in said if not reaches(each["score"], THRESHOLD)]
    evidence = next(filter(None, not_met), None)
    text = clean_text(str(line["text"]), 120)
    return f"{text} ({clean_text(evidence, 200)})" if evidence else text
