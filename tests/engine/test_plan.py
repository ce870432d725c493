"""From options to a plan: which cases are asked of whom, how often, and what is said before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import ECHO, case, mock, plan, project, suite
from turnwise.engine.plan import Plan
from turnwise.engine.selection import Selection
from turnwise.errors import MissingVariablesError, SuiteError, UsageError
from turnwise.targets.stand_ins import MockTarget


def work(made: Plan) -> list[tuple[str, str, str | None, int]]:
    """Every piece of work: target, case, variant and trial."""
    keys = [each.key for target in made.targets for each in made.work(target)]
    assert (len(keys), len(set(keys))) == (made.results, made.results)
    return [(key.target, key.case_id, key.variant, key.trial) for key in keys]


def asked(made: Plan) -> set[tuple[str, str]]:
    """Which target each case is for."""
    return {(target, case_id) for target, case_id, _, _ in work(made)}


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two targets, `echo` and `other`; the current folder."""
    monkeypatch.chdir(tmp_path)
    return project(tmp_path, ECHO, mock("other"))


def put(root: Path, **fields: Any) -> Path:
    """Write a suite that names no target but those given."""
    path = root / "suite.yaml"
    path.write_text(json.dumps({**suite([case("a"), case("b", target="other")]), **fields}))
    return path


def test_a_case_goes_before_its_suite(two: Path) -> None:
    """A case's own target is asked instead of the suite's."""
    assert asked(plan(put(two, target="echo"))) == {("echo", "a"), ("other", "b")}


def test_a_suite_may_name_several_targets(two: Path) -> None:
    """Each is asked; a case that names one is for that one alone."""
    assert asked(plan(put(two, targets=["echo", "other", "echo"]))) == {("echo", "a"), ("other", "a"), ("other", "b")}


def test_the_command_line_goes_before_all(two: Path) -> None:
    """Its targets are asked for every case, whatever suites and cases say, each once."""
    made = plan(put(two, target="other"), targets=("echo", "echo"))
    assert asked(made) == {("echo", "a"), ("echo", "b")}


def test_a_target_need_not_be_in_a_file(two: Path) -> None:
    """`provider/model`, or a target itself, from Python."""
    direct = MockTarget(name="mine", provider="mock", echo=True)
    made = plan(put(two), targets=("mock/hi", direct))
    assert [target.name for target in made.targets] == ["mock/hi", "mine"]


def test_no_target_is_an_error_that_says_what_to_do(two: Path) -> None:
    """The first case without one is named, and the targets that there are."""
    with pytest.raises(UsageError, match=r"suite\.yaml: no target is named for the case 'a'") as caught:
        plan(put(two))
    assert "--target" in (caught.value.hint or "")
    assert "echo, other" in (caught.value.hint or "")
    (two / ".turnwise" / "targets.yaml").unlink()
    with pytest.raises(UsageError) as caught:
        plan(put(two))
    assert "provider/model" in (caught.value.hint or "")


def test_an_unknown_target_is_an_error_that_names_the_nearest(two: Path) -> None:
    """Wherever it is named."""
    for options, fields in (({"targets": ("ecko",)}, {}), ({}, {"target": "ecko"})):
        with pytest.raises(UsageError, match="ecko") as caught:
            plan(put(two, **fields), **options)
        assert "echo" in (caught.value.hint or "")


def test_suites_of_several_projects_have_targets_of_their_own(tmp_path: Path) -> None:
    """The same name means what its project says; results say which suite they are of."""
    first, second = (project(tmp_path / name, mock(response=name)) for name in ("one", "two"))
    made = plan(first / "s.yaml", second / "s.yaml")
    answers = [(each.project.root.name, getattr(each.spec, "response", None)) for each in made.targets]
    assert answers == [("one", "one"), ("two", "two")]
    assert (made.cases, made.results) == (2, 2)
    assert [planned.name for planned in made.suites] == ["s.yaml", "../two/s.yaml"]


VARIANTS = {"terse": {"system_prompt": "Be terse."}, "kind": {"system_prompt": "Be kind."}}


def test_every_variant_is_asked_and_nothing_else(two: Path) -> None:
    """The suite as it is written only if that is asked for; without variants, it is all there is."""
    path = put(two, targets=["echo"], cases=[case("a")], variants=VARIANTS)
    assert work(plan(path)) == [("echo", "a", "terse", 1), ("echo", "a", "kind", 1)]
    assert work(plan(path, variants=("kind",))) == [("echo", "a", "kind", 1)]
    assert [each[2] for each in work(plan(path, as_written=True))] == [None, "terse", "kind"]
    assert work(plan(put(two, target="echo", cases=[case("a")]))) == [("echo", "a", None, 1)]


def test_a_system_prompt_in_a_file_is_a_variant_of_its_name(two: Path) -> None:
    """It joins those of the suite, and is what its cases are asked under."""
    (two / "new.md").write_text("\ufeffBe new.\n")
    path = put(two, target="echo", cases=[case("a")], variants=VARIANTS)
    made = plan(path, system_prompts=("new.md",))
    assert [each[2] for each in work(made)] == ["terse", "kind", "new"]
    prompts = [each.case.system_prompt for each in made.work(made.targets[0])]
    assert prompts == ["Be terse.", "Be kind.", "Be new."]
    assert [each[2] for each in work(plan(path, system_prompts=("new.md",), variants=("new",)))] == ["new"]


def test_two_variants_cannot_have_one_name(two: Path) -> None:
    """A file named like a variant, or like another file, would make two results of one key."""
    (two / "sub").mkdir()
    for name in ("kind.md", "new.md", "sub/new.md"):
        (two / name).write_text("Be it.")
    path = put(two, target="echo", variants=VARIANTS)
    for prompts in (("kind.md",), ("new.md", "sub/new.md")):
        with pytest.raises(UsageError, match="has its name") as caught:
            plan(path, system_prompts=prompts)
        assert "rename" in (caught.value.hint or "")


def test_an_unknown_variant_is_an_error(two: Path) -> None:
    """With the nearest name, or a word that there are none."""
    with pytest.raises(UsageError, match="no variant is named 'ters'") as caught:
        plan(put(two, target="echo", variants=VARIANTS), variants=("ters",))
    assert "terse" in (caught.value.hint or "")
    with pytest.raises(UsageError) as caught:
        plan(put(two, target="echo"), variants=("ters",))
    assert "no suite has" in (caught.value.hint or "")


def test_a_suite_without_the_variant_is_left_out(two: Path) -> None:
    """A variant of one suite says nothing about the others."""
    other = two / "other.yaml"
    other.write_text(json.dumps(suite(3, target="echo")))
    made = plan(put(two, target="echo", variants=VARIANTS), other, variants=("kind",))
    assert [planned.name for planned in made.suites] == ["suite.yaml"]
    assert made.cases == 2


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_system_prompt_that_is_no_text_is_an_error(two: Path, content: bytes | None) -> None:
    """Missing, empty or not UTF-8: the file is named, and what to do."""
    if content is not None:
        (two / "p.md").write_bytes(content)
    with pytest.raises(UsageError, match=r"--system-prompt p\.md") as caught:
        plan(put(two, target="echo"), system_prompts=("p.md",))
    assert caught.value.hint


def test_a_system_prompt_with_an_unknown_variable_is_an_error(two: Path) -> None:
    """Said before anything is asked, with the file and the case."""
    (two / "p.md").write_text("Speak {{ langauge }}.")
    path = put(two, target="echo", cases=[case("a", "hello {{ language }}", vars={"language": "en"})])
    with pytest.raises(UsageError, match=r"p\.md: .*langauge.* in the case 'a'"):
        plan(path, system_prompts=("p.md",))


def test_a_system_prompt_without_effect_is_a_warning(two: Path) -> None:
    """A case with a system message of its own is asked as before; somebody should know."""
    (two / "p.md").write_text("Be it.")
    own = {"id": "a", "input_messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "hello"}]}
    made = plan(put(two, target="echo", cases=[own]), system_prompts=("p.md",))
    assert [each.code for each in made.warnings] == ["variant-no-effect"]


def test_trials_of_the_command_line_go_before_the_case_and_the_suite(two: Path) -> None:
    """The nearest says how often; once if nobody does."""
    path = put(two, target="echo", trials=2, cases=[case("a"), case("b", trials=3)])
    assert plan(path).results == 5
    assert plan(path, trials=1).results == 2
    assert [each[3] for each in work(plan(path, trials=4))] == [1, 2, 3, 4] * 2


def test_counts_are_of_cases_targets_variants_and_trials(two: Path) -> None:
    """Results are their product; a case counts once."""
    path = put(two, cases=[case("a"), case("b")], variants=VARIANTS)
    made = plan(path, targets=("echo", "other"), trials=3)
    assert (made.cases, made.results, len(work(made))) == (2, 24, 24)


@pytest.mark.parametrize(
    ("selection", "taken"),
    [
        (Selection(cases=("c1*",)), {"c1", "c10", "c11"}),
        (Selection(cases=("c1", "c2"), exclude=("c2",)), {"c1"}),
        (Selection(tags=("slow",)), {"c3"}),
        (Selection(limit=2), {"c0", "c1"}),
        (Selection(only=frozenset({("suite.yaml", "c7"), ("other.yaml", "c8")})), {"c7"}),
    ],
)
def test_only_what_is_selected_is_planned(two: Path, selection: Selection, taken: set[str]) -> None:
    """And only that is counted."""
    cases = [case(f"c{number}", tags=["slow"] if number == 3 else []) for number in range(12)]
    made = plan(put(two, target="echo", cases=cases), selection=selection)
    assert {case_id for _, case_id in asked(made)} == taken
    assert made.cases == len(taken)


def test_a_sample_is_the_same_for_the_same_seed(two: Path) -> None:
    """Another seed draws others; the order of cases does not matter."""
    cases = [case(f"c{number}") for number in range(50)]
    path = put(two, target="echo", cases=cases)
    first = asked(plan(path, selection=Selection(sample=5, seed=1)))
    assert len(first) == 5
    assert asked(plan(path, selection=Selection(sample=5, seed=2))) != first
    path = put(two, target="echo", cases=cases[::-1])
    assert asked(plan(path, selection=Selection(sample=5, seed=1))) == first


def test_nothing_selected_is_an_error(two: Path) -> None:
    """A run of nothing would look like one that passed."""
    with pytest.raises(UsageError, match=r"nothing is selected, of 2 cases in suite\.yaml"):
        plan(put(two, target="echo"), selection=Selection(cases=("a",), exclude=("a",)))


@pytest.mark.parametrize(
    ("selection", "said", "hint"),
    [
        (Selection(cases=("a", "c")), "--case: no case has an id like 'c'", "there are: a, b"),
        (Selection(exclude=("z*",)), "--exclude: no case has an id like 'z*'", "there are: a, b"),
        (Selection(tags=("hard",)), "--tag: no case has the tag 'hard'", "no case has tags"),
    ],
)
def test_a_selection_that_matches_nothing_is_an_error(two: Path, selection: Selection, said: str, hint: str) -> None:
    """A case that was renamed must not turn into a run of less, or of more."""
    with pytest.raises(UsageError) as caught:
        plan(put(two, target="echo"), selection=selection)
    assert str(caught.value) == said
    assert hint in (caught.value.hint or "")


def test_a_missing_attachment_is_a_warning_of_the_plan(two: Path) -> None:
    """The other cases still run, and their files are remembered by what they hold."""
    (two / "there.txt").write_text("hello")
    cases = [
        {"id": name, "input_messages": [{"role": "user", "content": [{"type": "file", "value": f"{name}.txt"}]}]}
        for name in ("there", "gone")
    ]
    made = plan(put(two, target="echo", cases=cases))
    (warning,) = [each for each in made.warnings if "gone.txt" in each.message]
    assert (warning.severity, "other cases still run" in (warning.hint or "")) == ("warning", True)
    assert (made.results, [Path(path).name for path in made.files]) == (2, ["there.txt"])


def test_a_bad_grader_keeps_the_run_from_starting(two: Path) -> None:
    """Unless nothing is graded; a run that cannot be graded would cost money for nothing."""
    path = put(two, target="echo", graders=[{"contians": "x"}])
    with pytest.raises(SuiteError, match="contians"):
        plan(path)
    assert plan(path, graded=False).results == 2


def test_a_bad_suite_keeps_the_run_from_starting(two: Path) -> None:
    """Every error of every suite is said at once."""
    first, second = put(two, target="echo", cases=[{"id": "a"}]), two / "second.yaml"
    second.write_text('{"cases": 5}')
    with pytest.raises(SuiteError) as caught:
        plan(first, second)
    assert {Path(each.file).name for each in caught.value.diagnostics} == {"suite.yaml", "second.yaml"}


def test_a_folder_without_suites_is_an_error(two: Path) -> None:
    """It is named."""
    (two / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no suite in .*empty"):
        plan(two / "empty")


def test_variants_with_settings_are_targets_of_their_own(tmp_path: Path) -> None:
    """A setting that the target does not have is an error that names suite, variant and setting."""
    from turnwise.engine.planned_targets import resolve_planned

    project(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps(suite(1, target="echo", variants={"x": {"settings": {"echo": False, "response": "y"}}})))
    made = plan(path)
    resolve_planned(made.targets)
    (piece,) = made.work(made.targets[0])
    assert getattr(piece.target.resolved[piece.settings_key].target, "response", None) == "y"
    path.write_text(json.dumps(suite(1, target="echo", variants={"x": {"settings": {"temprature": 1}}})))
    with pytest.raises(UsageError, match=r"s\.yaml: the variant 'x'.*temprature"):
        plan(path)


def test_all_missing_variables_are_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all targets, before anything is asked."""
    from turnwise.engine.planned_targets import resolve_planned

    for name in ("KEY_OF_A", "KEY_OF_B"):
        monkeypatch.delenv(name, raising=False)
    project(
        tmp_path,
        *({"name": n, "provider": "openai", "model": "m", "api_key": f"${{{{ KEY_OF_{n} }}}}"} for n in "AB"),
    )
    made = plan(tmp_path / "s.yaml", targets=("A", "B"))
    with pytest.raises(MissingVariablesError) as caught:
        resolve_planned(made.targets)
    assert caught.value.missing == {"A": ("KEY_OF_A",), "B": ("KEY_OF_B",)}
    resolve_planned(made.targets, allow_missing_secrets=True)
    assert len(made.targets[0].resolved) == 1
