"""Every problem of one case: as its suite asks it, and as each variant does."""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics import Diagnostic
from ..errors import ResolutionError
from ..graders.diagnose import grader_diagnostics
from ..suite.case import Case
from ..suite.check import case_errors, check_case
from ..suite.variants import variants_of, with_variant

__all__ = ["problems_of_case"]


def problems_of_case(case: Case) -> list[Diagnostic]:
    """Files, warnings and graders of a case, and what only the variables of a variant bring about."""
    found = [*check_case(case), *grader_diagnostics(case)]
    return [*found, *_of_variants(case, found)] if case.context.suite.variants and case.has_vars else found


def _of_variants(case: Case, known: list[Diagnostic]) -> list[Diagnostic]:
    """With other values, a path may lead nowhere, or a pattern may be none."""
    found: list[Diagnostic] = []
    said = set(known)
    for variant in variants_of(case.context.suite):
        if not variant.vars:
            continue
        try:
            varied = with_variant(case, variant)
        except ResolutionError:
            continue  # an unknown variable in its system prompt is said once, for all cases
        new = [each for each in (*case_errors(varied), *grader_diagnostics(varied)) if each not in said]
        found += [replace(each, message=f"in the variant {variant.name!r}, {each.message}") for each in new]
    return found
