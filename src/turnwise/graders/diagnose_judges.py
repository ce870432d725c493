"""What is wrong with the decks and prompts of graders that ask a model."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..suite.case import Case
from ..suite.intake import problem_diagnostic
from ..suite.paths import shown_path
from .deck_files import deck_uses, find_deck
from .diagnose import grader_place
from .judge_files import judge_uses, prompt_problems
from .suspicious import unused_threshold

__all__ = ["judge_diagnostics"]


def judge_diagnostics(case: Case) -> list[Diagnostic]:
    """Every problem of the decks and prompts that the graders of a case name."""
    return [*_of_decks(case), *_of_prompts(case)]


def _of_decks(case: Case) -> list[Diagnostic]:
    """What keeps the decks that graders name from being used; what is wrong inside of a deck is said of its file."""
    found: list[Diagnostic] = []
    for index, use in deck_uses(case):
        deck, problems, said = find_deck(use, case.context)
        source, path, case_id = grader_place(case, index, use.inside)
        for each in problems:
            place = source.place(path)
            found.append(
                Diagnostic("error", each.code, each.message, source.file, place, each.hint, shown_path(path), case_id)
            )
        found += said
        if deck is not None and deck.scale.pass_ is not None and use.threshold is not None:
            problem = unused_threshold(use.path)
            found.append(problem_diagnostic(problem, "warning", source, path, case_id))
    return found


def _of_prompts(case: Case) -> list[Diagnostic]:
    """What is wrong with the prompts of graders that ask a model."""
    found: list[Diagnostic] = []
    for index, use in judge_uses(case):
        prompt = use.wanted.prompt
        for each in prompt_problems(prompt, case.context) if prompt is not None else ():
            source, path, case_id = grader_place(case, index, use.inside)
            place, shown = source.place(path), shown_path(path)
            found.append(Diagnostic("error", each.code, each.message, source.file, place, each.hint, shown, case_id))
    return found
