"""From what was named to files, and from a file to the kind of thing that it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnwise.errors import UsageError
from turnwise.suite.collect import collect_suites
from turnwise.suite.find import find_files
from turnwise.suite.kinds import file_kind

SUITE = "cases: [{id: x, input_messages: [{role: user, content: Hello}]}]\n"
ROW = '{"id": "x", "input_messages": [{"role": "user", "content": "Hello"}]}\n'


def lay_out(root: Path, **files: str) -> None:
    """Write files; `__` in a name stands for a slash, `_dot_` for a dot."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(root: Path, *arguments: str) -> list[str]:
    return [str(found.path.relative_to(root)) for found in find_files([str(root / each) for each in arguments])]


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    """Suites below a folder are found at any depth, sorted; other files are not looked at."""
    lay_out(tmp_path, b_dot_yaml="", a_dot_yml="", c_dot_txt="", sub__z_dot_json="", sub__a_dot_jsonl="", d_dot_py="")
    assert names(tmp_path, "") == ["a.yml", "b.yaml", "sub/a.jsonl", "sub/z.json"]


def test_hidden_and_made_folders_are_passed_over(tmp_path: Path) -> None:
    """Dot folders other than ours, and folders that tools make, hold no suites; our own folders do."""
    lay_out(
        tmp_path,
        _dot_git__a_dot_yaml="",
        _dot_github__a_dot_yaml="",
        node_modules__a_dot_yaml="",
        __pycache="",
        venv__a_dot_yaml="",
        _dot_turnwise__config_dot_yaml="",
        _dot_turnwise__runs__r_dot_json="",
        _dot_agentv__targets_dot_yaml="",
        evals__s_dot_yaml="",
    )
    assert names(tmp_path, "") == [".agentv/targets.yaml", ".turnwise/config.yaml", "evals/s.yaml"]


def test_env_files_count_only_beside_a_config(tmp_path: Path) -> None:
    """A `.env` elsewhere is somebody else's."""
    lay_out(tmp_path, _dot_turnwise__a_dot_yaml="")
    (tmp_path / ".turnwise" / ".env").write_text("A=1\n")
    (tmp_path / ".env").write_text("B=1\n")
    assert names(tmp_path, "") == [".turnwise/.env", ".turnwise/a.yaml"]


def test_a_named_file_is_taken_as_it_is(tmp_path: Path) -> None:
    """A file that is named is looked at, whatever its name."""
    lay_out(tmp_path, suite_dot_txt="", _dot_hidden__s_dot_yaml="")
    found = find_files([str(tmp_path / "suite.txt"), str(tmp_path / ".hidden" / "s.yaml")])
    assert [(each.path.name, each.named) for each in found] == [("suite.txt", True), ("s.yaml", True)]


def test_globs(tmp_path: Path) -> None:
    """A pattern finds files, `**` at any depth, in order; what it finds was not named."""
    lay_out(tmp_path, b_dot_yaml="", a_dot_yaml="", sub__c_dot_yaml="", sub__d_dot_yml="")
    (tmp_path / "folder.yaml").mkdir()
    assert names(tmp_path, "*.yaml") == ["a.yaml", "b.yaml"]
    assert names(tmp_path, "**/*.y*ml") == ["a.yaml", "b.yaml", "sub/c.yaml", "sub/d.yml"]
    assert not any(found.named for found in find_files([str(tmp_path / "*.yaml")]))


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    """What exists is meant literally."""
    (tmp_path / "a[1].yaml").write_text("")
    (tmp_path / "a1.yaml").write_text("")
    assert names(tmp_path, "a[1].yaml") == ["a[1].yaml"]


def test_each_file_comes_once(tmp_path: Path) -> None:
    """A file that is named twice, found again in a folder, or linked to, is one file."""
    lay_out(tmp_path, a_dot_yaml="", b_dot_yaml="")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "b.yaml")
    found = find_files([str(tmp_path / "b.yaml"), str(tmp_path / "b.yaml"), str(tmp_path)])
    assert [(each.path.name, each.named) for each in found] == [("b.yaml", True), ("a.yaml", False)]


@pytest.mark.parametrize("argument", ["gone.yaml", "no/such/folder/", "*.nothing"])
def test_what_is_not_there_is_said(tmp_path: Path, argument: str) -> None:
    """A path or pattern that leads nowhere is an error of the call, with a hint."""
    with pytest.raises(UsageError) as caught:
        find_files([str(tmp_path / argument)])
    assert argument.rstrip("/") in str(caught.value)
    assert caught.value.hint


def test_a_dash_is_not_promised_to_be_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some commands read it: the hint leaves that to their help, and other names do not mention it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"^- does not exist$") as caught:
        find_files(["-"])
    assert "only where the help of a command says so" in str(caught.value.hint)
    with pytest.raises(UsageError) as caught:
        find_files(["gone.yaml"])
    assert "standard input" not in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("s.yaml", SUITE, "suite"),
        ("s.yml", "# c\n\nname: x\ncases: rows.jsonl\n", "suite"),
        ("s.yaml", "evalcases: []\n", "suite"),
        ("s.yaml", "\ufeff" + SUITE, "suite"),
        ("s.yaml", "'cases': []\n", "suite"),
        ("s.json", '{"name": "x", "cases": []}', "suite"),
        ("s.json", '{\n  "name": "x",\n  "cases": []\n}', "suite"),
        ("s.yaml", "{cases: []}", "suite"),
        ("s.yaml", "input_messages: []\n", "suite"),
        ("s.jsonl", ROW, "dataset"),
        ("s.ndjson", ROW, "dataset"),
        ("s.csv", "a,b\n", "dataset"),
        ("s.jsonl", '{"messages": [], "score": 1}\n', "samples"),
        ("s.toml", "[[samples]]\n", "samples"),
        ("s.toml", "[samples.a]\n", "samples"),
        ("pyproject.toml", "[project]\n", "other"),
        ("s.yaml", "samples: []\n", "samples"),
        ("g.deck.md", "# x\n", "deck"),
        (".turnwise/config.yaml", "", "config"),
        (".agentv/config.yaml", "", "config"),
        (".turnwise/targets.yaml", "", "targets"),
        (".turnwise/.env", "", "env"),
        ("my.yaml", "targets:\n- name: a\n  provider: mock\n", "targets"),
        ("my.yaml", "guideline_patterns: []\n", "config"),
        ("ci.yaml", "jobs:\n  cases: []\n", "other"),
        ("empty.yaml", "", "other"),
        ("list.json", "[1, 2]", "other"),
    ],
)
def test_kinds(tmp_path: Path, name: str, text: str, kind: str) -> None:
    """A file is what its name says, or else what its first level of keys says."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert file_kind(path) == kind


def test_a_file_that_cannot_be_read_is_read_as_a_suite(tmp_path: Path) -> None:
    """Telling kinds never fails; whoever reads the file as a suite then says what is wrong with it."""
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    assert file_kind(tmp_path / "loop.yaml") == "suite"
    assert file_kind(tmp_path / "gone.yaml") == "suite"
    assert file_kind(tmp_path / "binary.yaml") == "suite"


def test_the_suites_of_a_folder(tmp_path: Path) -> None:
    """A folder's suites load; a dataset of one of them is no suite of its own, one that nobody uses is."""
    lay_out(
        tmp_path,
        _dot_turnwise__config_dot_yaml="",
        a_dot_yaml=SUITE,
        b_dot_yaml="cases: used.jsonl\n",
        used_dot_jsonl=ROW,
        free_dot_jsonl=ROW,
    )
    loaded = list(collect_suites([str(tmp_path)]))
    assert [Path(each.file).name for each in loaded] == ["a.yaml", "b.yaml", "free.jsonl"]
    assert all(each.suite is not None and each.diagnostics == [] for each in loaded)


def test_other_files_of_a_folder_are_named_in_a_warning(tmp_path: Path) -> None:
    """A YAML file that is no suite is passed over in a folder, and said; a named one must be a suite."""
    lay_out(tmp_path, _dot_turnwise__config_dot_yaml="", ci_dot_yaml="jobs: []\n")
    (passed,) = collect_suites([str(tmp_path)])
    assert passed.suite is None
    assert [(found.severity, found.code) for found in passed.diagnostics] == [("warning", "not-ours")]
    (named,) = collect_suites([str(tmp_path / "ci.yaml")])
    assert named.suite is None
    assert "error" in [found.severity for found in named.diagnostics]


def test_a_broken_suite_does_not_hide_the_next(tmp_path: Path) -> None:
    """Every suite is loaded, whatever is wrong with the one before it."""
    lay_out(tmp_path, _dot_turnwise__config_dot_yaml="", a_dot_yaml="cases: [\n", b_dot_yaml=SUITE)
    broken, good = collect_suites([str(tmp_path)])
    assert broken.suite is None
    assert good.suite is not None


def test_a_broken_config_is_a_problem_of_each_suite(tmp_path: Path) -> None:
    """A suite whose project is not well configured is not loaded, and the config is named."""
    lay_out(tmp_path, _dot_turnwise__config_dot_yaml="runs_dirr: x\n", a_dot_yaml=SUITE)
    (loaded,) = collect_suites([str(tmp_path / "a.yaml")])
    assert loaded.suite is None
    assert [Path(found.file).name for found in loaded.diagnostics] == ["config.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        "name: x\n  cases:\n  - id: a\n",  # wrong indentation
        "Cases:\n  - {id: a, input_messages: [{role: user, content: Hi}]}\n",
        "casez: [{id: a}]\n",
        "- {id: a, input_messages: [{role: user, content: Hi}]}\n",
        "<<: {cases: []}\n",
        "tests:\n  input_messages: []\n",
    ],
)
def test_a_suite_gone_wrong_is_a_suite(tmp_path: Path, text: str) -> None:
    """In a folder, a file that was meant to be a suite is not passed over: its mistake is an error."""
    (tmp_path / "s.yaml").write_text(text)
    assert file_kind(tmp_path / "s.yaml") == "suite"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", '{"scripts": {"cases": "x"}}', "other"),
        ("a.yaml", "services: {web: {image: nginx}}\n", "other"),
        ("a.jsonl", '{"level": "info", "message": "started"}\n', "other"),
        ("a.jsonl", '\n{"id": "a", "vars": {"messages": "x"}}\n', "dataset"),
        ("a.jsonl", '{"id": "a", "messages": []}\n', "samples"),
        ("a.toml", "samples = []\n", "samples"),
        ("a.toml", "\n" * 60_000, "other"),
        ("a.toml", "[tool.x]\nsamples = 5\n", "other"),
        ("a.toml", "samples = 100\n", "other"),
        ("a.json", '{"samples": [1, 2]}', "other"),
        ("a.yaml", "bases: [x.yaml]\n", "other"),
        ("a.yaml", "classes: [cat, dog]\n", "other"),
        ("a.yaml", "system_prompt: hi\nmodel: x\n", "other"),
        ("a.json", '{"name": "x", "version": 1, "case": 1}', "other"),
        ("a.json", "{\n" + " " * 60_000 + "x\n}", "other"),
    ],
)
def test_kinds_by_the_top_level_alone(tmp_path: Path, name: str, text: str, kind: str) -> None:
    """Only the top level of the data decides, and no text takes long to look at."""
    (tmp_path / name).write_text(text)
    assert file_kind(tmp_path / name) == kind


def test_a_glob_does_not_follow_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to a parent folder neither hides a suite's own path nor makes the search endless."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.yaml").write_text("cases: []\n")
        (tmp_path / name / "up").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert [found.file for found in find_files(["**/s.yaml"])] == ["a/s.yaml", "b/s.yaml"]


def test_a_pipe_in_a_folder_is_passed_over_with_a_word(tmp_path: Path) -> None:
    """Reading it could wait for ever."""
    os.mkfifo(tmp_path / "p.yaml")
    (only,) = collect_suites([str(tmp_path)])
    assert [diagnostic.code for diagnostic in only.diagnostics] == ["not-ours"]


def test_a_file_that_is_named_beside_its_folder_is_named(tmp_path: Path) -> None:
    """The order of the arguments does not matter."""
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n")
    for arguments in ([str(tmp_path), str(path)], [str(path), str(tmp_path)]):
        assert [found.named for found in find_files(arguments)] == [True]
