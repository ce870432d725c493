"""Variants of a suite: what each asks, and what is said about those that would not do what they seem to."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.diagnostics import Diagnostic
from turnwise.errors import ResolutionError, SuiteError
from turnwise.suite.case import Case
from turnwise.suite.suite import Suite, load_suite
from turnwise.suite.variants import Variant, variant_problems, variants_of, with_variant

CASES = """
cases:
  - id: plain
    input_messages: [{role: user, content: "Be {{ tone }}."}]
  - id: own
    vars: {tone: dry}
    system_prompt: Mine.
    graders: [{contains: "{{ tone }}"}]
    input_messages: [{role: user, content: "Be {{ tone }}."}]
"""
HEADER = "system_prompt: You are {{ tone }}.\nvars: {tone: warm}\n"


def suite_of(tmp_path: Path, variants: str, cases: str = CASES, header: str = HEADER) -> Suite:
    path = tmp_path / "suite.yaml"
    path.write_text(f"{header}variants: {variants}{cases}", encoding="utf-8")
    return load_suite(path)


def asked(case: Case, variant: Variant) -> list[object]:
    """The texts of what the variant sends."""
    return [message["content"] for message in with_variant(case, variant).conversation.chat_prompt()]


def problems(tmp_path: Path, variants: str, cases: str = CASES, header: str = HEADER) -> list[Diagnostic]:
    return variant_problems(suite_of(tmp_path, variants, cases, header))


def test_variants_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Each has its name and what it changes; `{}` and nothing at all change nothing."""
    suite = suite_of(tmp_path, "{z: {}, a: , m: {system_prompt: Hi, vars: {tone: x}, settings: {temperature: 0}}}")
    assert variants_of(suite.spec) == (
        Variant("z"),
        Variant("a"),
        Variant("m", "Hi", {"tone": "x"}, {"temperature": 0}),
    )


def test_a_suite_without_variants_has_none_and_no_problem(tmp_path: Path) -> None:
    """Nothing is made up, and its cases are not even looked at."""
    (tmp_path / "suite.yaml").write_text(HEADER + CASES, encoding="utf-8")
    suite = load_suite(tmp_path / "suite.yaml")
    assert variants_of(suite.spec) == ()
    assert variant_problems(suite) == []


def test_a_variant_that_changes_no_text_leaves_the_case_as_it_is(tmp_path: Path) -> None:
    """It is the same object: fifty thousand cases are not made anew for another temperature."""
    case = suite_of(tmp_path, "{a: }").cases[0]
    assert with_variant(case, Variant("a", settings={"temperature": 0})) is case


def test_variables_of_a_variant_go_before_all_others(tmp_path: Path) -> None:
    """They fill messages, prompts and graders, whether the case or the suite had the value."""
    plain, own = suite_of(tmp_path, "{a: }").cases
    cold = Variant("cold", vars={"tone": "cold"})
    assert asked(plain, cold) == ["You are cold.", "Be cold."]
    assert asked(own, cold) == ["Mine.", "Be cold."]
    assert with_variant(own, cold).graders == [{"contains": "cold"}]
    assert with_variant(own, cold).vars == {"tone": "cold"}
    assert asked(own, Variant("base")) == ["Mine.", "Be dry."]


def test_the_system_prompt_of_a_variant_replaces_those_of_suite_and_case(tmp_path: Path) -> None:
    """It is filled like any other text, with the variant's own values."""
    plain, own = suite_of(tmp_path, "{a: }").cases
    terse = Variant("terse", "Be brief and {{ tone }}.", {"tone": "cold"})
    assert asked(plain, terse)[0] == asked(own, terse)[0] == "Be brief and cold."
    with pytest.raises(ResolutionError, match="unknown variable `tine`"):
        with_variant(plain, Variant("bad", "{{ tine }}"))


def test_a_variable_that_a_case_does_not_have_does_not_start_filling(tmp_path: Path) -> None:
    """Braces of a case without variables stay as they are."""
    cases = '\ncases: [{id: a, input_messages: [{role: user, content: "{{ literally }}"}]}]\n'
    case = suite_of(tmp_path, "{a: }", cases, "").cases[0]
    assert with_variant(case, Variant("a", vars={"tone": "x"})) is case


def test_a_variable_that_no_case_has_is_an_error_with_its_place(tmp_path: Path) -> None:
    """The nearest one is suggested; how many cases there are is said once, not for each of them."""
    (only,) = problems(tmp_path, "{cold: {vars: {tine: cold}}}")
    assert (only.severity, only.code, only.place.line, only.place.column) == ("error", "unused-variable", 3, 26)
    assert only.hint == "did you mean `tone`?"
    assert "all 2 cases, first 'plain'" in only.message
    assert only.path == "variants.cold.vars.tine"


def test_a_variable_that_only_some_cases_have_is_a_warning(tmp_path: Path) -> None:
    """The others are asked as they are, which may be meant."""
    cases = CASES.replace("vars: {tone: dry}", "vars: {tone: dry, place: Oslo}")
    (only,) = problems(tmp_path, "{there: {vars: {place: Rome}}}", cases)
    assert (only.severity, only.code) == ("warning", "unused-variable")
    assert "the case 'plain'" in only.message


def test_an_unknown_variable_in_the_prompt_of_a_variant_is_said_once(tmp_path: Path) -> None:
    """It stands in the suite, and so does the error."""
    (only,) = problems(tmp_path, "{bad: {system_prompt: 'Be {{ tine }}.'}}")
    assert (only.severity, only.code, only.place.line) == ("error", "unknown-variable", 3)
    assert only.hint is not None
    assert only.hint.startswith("did you mean `tone`?")


def test_explicit_system_messages_outdo_the_prompt_of_a_variant(tmp_path: Path) -> None:
    """One warning for the variant, with the number of cases; a system message of guidelines alone replaces nothing."""
    (tmp_path / "tone.instructions.md").write_text("Be kind.", encoding="utf-8")
    (tmp_path / "policy.md").write_text("No refunds.", encoding="utf-8")
    line = "  - {id: %s, input_messages: [{role: system, content: %s}, {role: user, content: Hi}]}\n"
    contents = {
        "text": "Mine.",
        "file": "[{type: file, value: policy.md}]",
        "guideline": "[{type: file, value: tone.instructions.md}]",
        "blank": "' '",
    }
    cases = "\ncases:\n" + "".join(line % item for item in contents.items())
    (only,) = problems(tmp_path, "{terse: {system_prompt: Short!}, same: {}}", cases)
    assert (only.severity, only.code, only.place.line) == ("warning", "variant-no-effect", 3)
    assert "2 cases, first 'text'" in only.message
    suite = load_suite(tmp_path / "suite.yaml")
    sent = [str(asked(case, Variant("terse", "Short!"))[0]) for case in suite.cases]
    assert ["Short!" in text for text in sent] == [False, False, True, True]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("variants: {}", "empty"),
        ("variants: {'': {}}", "empty"),
        ("variants: {a: {system_prompt: ''}}", "empty"),
        ("variants: {a: {system_prompt: ' '}}", "empty"),
        ("variants: {a: {temperature: 0}}", "unknown-key"),
        ("variants: [a]", "wrong-type"),
        ("variants: {a: {settings: [x]}}", "wrong-type"),
        ("min_pass_rate: 1.01", "out-of-range"),
        ("min_pass_rate: -0.1", "out-of-range"),
    ],
)
def test_what_is_no_variant_is_refused(tmp_path: Path, header: str, code: str) -> None:
    """The form is checked with the rest of the suite."""
    (tmp_path / "suite.yaml").write_text(f"{HEADER}{header}{CASES}", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "suite.yaml")
    assert [(each.code, each.place.line) for each in caught.value.diagnostics] == [(code, 3)]


def test_min_pass_rate_takes_both_ends(tmp_path: Path) -> None:
    """None of the results need to pass, or all of them."""
    for rate in (0, 1, 0.9):
        header = f"{HEADER}min_pass_rate: {rate}\n"
        assert suite_of(tmp_path, "{a: }", header=header).spec.min_pass_rate == rate
