"""The table of kinds: what it says of a kind without importing it is true of what is imported."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from turnwise.graders.base import Grader, GraderSettings
from turnwise.graders.negated import NegatedGrader
from turnwise.graders.registry import KINDS
from turnwise.graders.roles import AsksForVectors, AsksJudges, HoldsGraders, JudgesByDeck
from turnwise.graders.specs import expected_option, kind_without_value

ANY_OPTIONS: dict[str, Any] = {"graders": [], "lines": ["polite"]}


def made(kind: str) -> Grader:
    """A grader of the kind; what its options say is of no matter."""
    found = KINDS[kind]
    options = found.options_model.model_construct(**ANY_OPTIONS)
    inner = [()] if found.holds_graders else []
    return found.make(options, GraderSettings(name=kind, kind=kind), *inner)


def test_the_table_imports_no_kind() -> None:
    """To know the kinds and what can be said of them, none of their modules is needed."""
    program = "import sys; from turnwise.graders import registry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    places = {str(place).split(":")[0] for kind in KINDS.values() for place in (kind.options, kind.grader)}
    assert len(places) > 15
    assert {f"turnwise.graders.{module}" for module in places} & set(done.stdout.split()) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_in_the_table_holds_what_it_says(kind: str) -> None:
    """The options of each kind are a model with the option `main`, if any, and its grader can be made."""
    found = KINDS[kind]
    assert found.main == "value" or found.main in found.options_model.model_fields
    assert isinstance(made(kind), Grader)


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_says_whom_a_kind_asks_and_what_it_holds(kind: str) -> None:
    """The flags of a kind are what its grader says of itself."""
    grader = made(kind)
    inner = grader.grader if isinstance(grader, NegatedGrader) else grader
    assert KINDS[kind].asks_model == isinstance(inner, AsksJudges | JudgesByDeck | AsksForVectors)
    assert KINDS[kind].one_call == isinstance(inner, JudgesByDeck | AsksForVectors)
    assert KINDS[kind].holds_graders == isinstance(inner, HoldsGraders)


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_says_which_option_the_expected_text_stands_in_for(kind: str) -> None:
    """A kind compares with the expected text exactly where the option that holds a text may be absent."""
    field = KINDS[kind].options_model.model_fields.get(expected_option(kind))
    may_be_absent = field is not None and not field.is_required()
    assert (KINDS[kind].expected is not None) == may_be_absent
    without = {kind: {"graders": [{"regex": "a"}]}} if KINDS[kind].holds_graders else {kind: None}
    assert kind_without_value(without) == (kind if may_be_absent else None)


def test_the_opposite_of_a_kind_is_told_from_it() -> None:
    """`not-x` is made of the same options as `x`, and is negated."""
    opposites = {name: kind for name, kind in KINDS.items() if name.startswith("not-")}
    assert len(opposites) > 10
    for name, kind in opposites.items():
        assert kind.options_model is KINDS[name.removeprefix("not-")].options_model
        grader = made(name)
        assert isinstance(grader, NegatedGrader) or getattr(grader, "negated", False)
        assert not getattr(made(name.removeprefix("not-")), "negated", False)
