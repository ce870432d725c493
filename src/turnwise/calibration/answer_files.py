"""Answers whose pass rate is wanted: samples without labels, or the answers of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..decks.answers import answers_of, has_answer, result_key
from ..decks.render import asks_for_label
from ..diagnostics import Diagnostic
from ..engine.journal import read_journal
from ..engine.results_file import is_journal, read_results_file
from ..engine.run_folder import RESULTS, find_run
from ..errors import DeckError, UsageError
from ..suite.project import Projects
from .loading import LoadedSamples, load_samples

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from .loading import LoadedDeck

__all__ = ["Answers", "answer_decks", "answers_beside", "answers_name", "is_of_answers", "load_answers"]

_MOST_PROBLEMS = 20
_ANSWERS = " (answers)"
_LONGEST_LINE = 100_000_000


@dataclass(frozen=True, slots=True)
class Answers:
    """Samples without labels. `labelled` of the file are labelled samples too, and left out; `skipped` are unusable.

    `labels_ignored` had labels of their own, which are taken away.
    """

    samples: tuple[Sample, ...]
    skipped: int = 0
    labelled: int = 0
    labels_ignored: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def load_answers(written: str, *, strict: bool = False) -> Answers:
    """The answers of a file of samples, or of a run: its id, its folder or its results.

    Raises `DeckError` or `UsageError`.
    """
    path = _found(written)
    if path.suffix.lower() in (".jsonl", ".ndjson") and _holds_results(path):
        return _of_run(path)
    found: LoadedSamples = load_samples([str(path)], strict=strict)
    bare = tuple(replace(each, expected=None, labels=()) for each in found.samples)
    ignored = sum(each.is_labelled for each in found.samples)
    return Answers(bare, found.skipped, labels_ignored=ignored, diagnostics=found.diagnostics)


def _found(written: str) -> Path:
    """The file that is meant; a name without an ending, which no file has, is that of a run."""
    path = Path(written)
    if os.path.isdir(path):
        return path / RESULTS
    if path.suffix or os.path.lexists(path):
        return path
    project, _, _ = Projects().of(Path.cwd())
    results = find_run(written, project.runs_dir) / RESULTS
    if not os.path.isfile(results):
        raise UsageError(f"the run {written} has no results yet", "go on with it by `turnwise run --resume`")
    return results


def answers_name(deck: str) -> str:
    """What a deck is called in a journal where it judges answers.

    >>> answers_name("tone.deck.md")
    'tone.deck.md (answers)'
    """
    return deck + _ANSWERS


def is_of_answers(name: object) -> bool:
    """Whether a name in a journal is that of a deck which judges answers.

    >>> is_of_answers(answers_name("tone.deck.md")), is_of_answers("tone.deck.md")
    (True, False)
    """
    return isinstance(name, str) and name.endswith(_ANSWERS)


def answer_decks(decks: Sequence[LoadedDeck], written: str, *, drawn: bool, strict: bool = False) -> list[LoadedDeck]:
    """Every deck once more, with the answers instead of its samples. Raises `DeckError` or `UsageError`."""
    answers = load_answers(written, strict=strict)
    return [_answer_deck(deck, answers_beside(answers, deck.samples, drawn=drawn)) for deck in decks]


def answers_beside(answers: Answers, samples: Sequence[Sample], *, drawn: bool) -> Answers:
    """The answers that are not among the samples.

    Samples that were drawn from the answers are the same conversations under the same ids; all else with the same id
    is an error, as recorded outputs could belong to either. Raises `DeckError`, or `UsageError` if none was drawn.
    """
    known = {each.id: each for each in samples}
    problems = [
        _twice(each, known[each.id], drawn)
        for each in answers.samples
        if each.id in known and not (drawn and each.messages == known[each.id].messages)
    ]
    if problems:
        raise DeckError(problems[:_MOST_PROBLEMS])
    left = tuple(each for each in answers.samples if each.id not in known)
    if drawn and len(left) == len(answers.samples):
        hint = "draw them with `turnwise samples from RUN`, which keeps ids; or leave --drawn out"
        raise UsageError("--drawn, but no labelled sample is among the answers of --estimate", hint)
    return replace(answers, samples=left, labelled=len(answers.samples) - len(left))


def _answer_deck(deck: LoadedDeck, answers: Answers) -> LoadedDeck:
    if asks_for_label(deck.deck):
        message = (
            f"{deck.deck.file} shows the label to the judge: its errors there say nothing of answers without labels"
        )
        raise UsageError(message, "remove `[contexts.expected]` from the deck, or leave --estimate out")
    return replace(
        deck,
        name=answers_name(deck.name),
        samples=answers.samples,
        skipped=answers.skipped,
        diagnostics=answers.diagnostics,
        warnings=(),
        answers=answers,
    )


def _holds_results(path: Path) -> bool:
    """Whether the first line is a result of a run, not a sample."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            first: Any = json.loads(file.readline(_LONGEST_LINE))
    except (OSError, ValueError, RecursionError):
        return False  # the reader of samples says what is wrong
    return isinstance(first, dict) and "case_id" in first and "messages" not in first


def _of_run(path: Path) -> Answers:
    rows: Iterable[dict[str, Any]] = read_journal(path) if is_journal(path) else read_results_file(path)
    records = list({result_key(record): record for record in rows}.values())
    usable = [each for each in records if has_answer(each) and each.get("error") is None]
    if not usable:
        raise UsageError(f"{shown_file(path)} holds no answer to judge", "choose a run that has answers")
    name = path.resolve().parent.name
    samples = tuple(each.sample for each in answers_of(usable, name, shown_file(path)))
    return Answers(samples, skipped=len(records) - len(usable))


def _twice(answer: Sample, sample: Sample, drawn: bool) -> Diagnostic:
    where = f"{sample.file}, line {sample.place.line}" if sample.place.line else sample.file
    if drawn:
        message = f"the answer {answer.id!r} is another conversation than the sample of that id in {where}"
        hint = "rename one of them; with --drawn, samples keep the conversations of the answers"
    else:
        message = f"the answer {answer.id!r} has the id of a sample in {where}"
        hint = "rename one of them, or say --drawn if the samples are a random draw of these answers"
    return Diagnostic("error", "duplicate-id", message, answer.file, answer.place, hint, "", answer.id)
