"""The project around an eval file: its root, its config, and what the config decides."""

from __future__ import annotations

from pathlib import Path

import pytest

import turnwise
from turnwise.conversation.chat import DEFAULT_SYSTEM_PROMPT
from turnwise.errors import ConfigError
from turnwise.suite.check import check_case
from turnwise.suite.project import Project, Projects, find_project_root, load_project, read_config

DEFAULT_PATTERNS = ("**/*.instructions.md",)


def config(root: Path, text: str, home: str = ".turnwise") -> Path:
    path = root / home / "config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def refused(root: Path, text: str) -> list[tuple[str, int | None, str | None]]:
    """Code, line and hint of each problem of a config that must not load."""
    path = config(root, text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert {found.file for found in caught.value.diagnostics} == {str(path)}
    return [(found.code, found.place.line, found.hint) for found in caught.value.diagnostics]


@pytest.mark.parametrize("marker", [".turnwise", ".agentv", ".git"])
def test_the_root_is_the_nearest_folder_with_a_marker(tmp_path: Path, marker: str) -> None:
    """`.turnwise/`, `.agentv/` or `.git` makes a folder the root of all below it; the nearest one counts."""
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "a" / "b"
    (inner / marker).mkdir(parents=True)
    (inner / "c" / "d").mkdir(parents=True)
    assert find_project_root(inner / "c" / "d") == inner.resolve()
    assert find_project_root(inner) == inner.resolve()
    assert find_project_root(tmp_path / "a") == tmp_path.resolve()


def test_a_git_worktree_is_a_root(tmp_path: Path) -> None:
    """`.git` may be a file, as it is in worktrees and submodules."""
    (tmp_path / "w" / "x").mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text("gitdir: elsewhere")
    assert find_project_root(tmp_path / "w" / "x") == (tmp_path / "w").resolve()


def test_without_a_marker_the_root_is_the_folder_itself(tmp_path: Path) -> None:
    """No marker up to the top: the eval file's folder is the project."""
    folder = (tmp_path / "a" / "b").resolve()
    folder.mkdir(parents=True)
    if any((parent / marker).exists() for parent in folder.parents for marker in (".turnwise", ".agentv", ".git")):
        pytest.skip("the temporary folder lies inside a project")
    assert find_project_root(folder) == folder


def test_the_root_is_found_through_links(tmp_path: Path) -> None:
    """A link into a project belongs to the project that it leads to."""
    (tmp_path / "p" / ".turnwise").mkdir(parents=True)
    (tmp_path / "p" / "evals").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "p" / "evals")
    assert find_project_root(tmp_path / "link") == (tmp_path / "p").resolve()


def test_the_nearest_config_counts(tmp_path: Path) -> None:
    """A project inside a project has its own config, or none."""
    config(tmp_path, "default_system_prompt: outer\n")
    inner = tmp_path / "inner"
    (inner / ".turnwise").mkdir(parents=True)
    (tmp_path / "evals").mkdir()
    projects = Projects()
    assert projects.of(tmp_path / "evals")[0].config.default_system_prompt == "outer"
    assert projects.of(inner)[0].config.default_system_prompt == DEFAULT_SYSTEM_PROMPT
    assert projects.of(tmp_path / "evals")[0] is projects.of(tmp_path)[0]


def test_every_setting_is_read(tmp_path: Path) -> None:
    """All settings arrive; paths are seen from the project root."""
    config(
        tmp_path,
        """\
$schema: ../schemas/config.schema.json
guideline_patterns: ["rules/*.md", "!rules/draft.md"]
default_system_prompt: Be kind.
allow_paths: [../shared]
targets: my/targets.yaml
runs_dir: out
""",
    )
    project = load_project(tmp_path)
    assert project.guideline_patterns == ("rules/*.md", "!rules/draft.md")
    assert project.config.default_system_prompt == "Be kind."
    assert project.config.allow_paths == ["../shared"]
    assert project.targets_file == tmp_path / "my" / "targets.yaml"
    assert project.runs_dir == tmp_path / "out"
    assert project.config_source is not None


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_an_empty_config_is_the_default(tmp_path: Path, text: str) -> None:
    """A config without settings changes nothing."""
    config(tmp_path, text)
    assert_default(load_project(tmp_path))


def test_no_config_is_the_default(tmp_path: Path) -> None:
    """A project needs no config file."""
    (tmp_path / ".turnwise").mkdir()
    assert_default(load_project(tmp_path))


def assert_default(project: Project) -> None:
    assert project.guideline_patterns == DEFAULT_PATTERNS
    assert project.config.default_system_prompt == "You are a careful assistant."
    assert project.config.allow_paths == []
    assert project.targets_file == project.root / ".turnwise" / "targets.yaml"
    assert project.runs_dir == project.root / ".turnwise" / "runs"


def test_null_sends_no_default_system_prompt(tmp_path: Path) -> None:
    """`default_system_prompt: null` is a setting of its own."""
    config(tmp_path, "default_system_prompt: null\n")
    assert load_project(tmp_path).config.default_system_prompt is None


def test_an_empty_list_means_no_guidelines(tmp_path: Path) -> None:
    """`guideline_patterns: []` is not the default."""
    config(tmp_path, "guideline_patterns: []\n")
    assert load_project(tmp_path).guideline_patterns == ()


@pytest.mark.parametrize(
    ("text", "code", "line", "hint"),
    [
        ("guidline_patterns: []\n", "unknown-key", 1, "did you mean `guideline_patterns`?"),
        ("runs_dir: x\nallow_path: [a]\n", "unknown-key", 2, "did you mean `allow_paths`?"),
        ("runs_dir: 5\n", "wrong-type", 1, "quote it"),
        ("allow_paths: /tmp\n", "wrong-type", 1, None),
        ("targets: ''\n", "empty", 1, None),
        ("guideline_patterns: [a, '']\n", "bad-pattern", 1, None),
        ('allow_paths: ["a\\0b"]\n', "bad-path", 1, None),
        ("allow_paths:\n  - ~nobody-of-this-name/x\n", "bad-path", 2, None),
        ("- a\n", "wrong-type", 1, "write `key: value` lines"),
        ("a: [\n", "bad-yaml", 2, None),
        ("runs_dir: a\nruns_dir: b\n", "duplicate-key", 2, "remove one of them"),
    ],
)
def test_a_wrong_config_is_refused(tmp_path: Path, text: str, code: str, line: int, hint: str | None) -> None:
    """Each problem has its line and, where one is near, a suggestion."""
    ((found, at, advice),) = refused(tmp_path, text)
    assert (found, at) == (code, line)
    if hint is not None:
        assert advice == hint


def test_every_problem_of_a_config_is_said(tmp_path: Path) -> None:
    """Not only the first."""
    assert [(code, line) for code, line, _ in refused(tmp_path, "a: 1\nruns_dir: 5\nallow_paths: [1]\n")] == [
        ("wrong-type", 3), ("wrong-type", 2), ("unknown-key", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("allowed", "readable"), [(None, False), ("../shared", True), ("ABSOLUTE", True), ("../other", False), (".", False)]
)
def test_files_outside_the_project(tmp_path: Path, allowed: str | None, readable: bool) -> None:
    """A file outside the root is refused unless its folder is allowed, relative to the root or absolute."""
    root = tmp_path / "project"
    (root / ".turnwise").mkdir(parents=True)
    for name in ("shared", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "note.txt").write_text("note")
    if allowed:
        config(root, f"allow_paths: [{allowed.replace('ABSOLUTE', str(tmp_path / 'shared'))}]\n")
    suite = root / "suite.yaml"
    suite.write_text(
        "cases: [{id: x, input_messages: [{role: user, content: [{type: file, value: ../shared/note.txt}]}]}]"
    )
    found = check_case(turnwise.load_suite(suite).cases[0])
    assert [each.code for each in found] == ([] if readable else ["file-outside"])


@pytest.mark.parametrize(
    ("theirs", "patterns"),
    [
        (None, ()),
        ("$schema: agentv-config-v2\n", ()),
        ("", ()),
        ('$schema: agentv-config-v2\nguideline_patterns: ["**/*.md"]\n', ("**/*.md",)),
    ],
)
def test_agentv_projects_have_only_configured_guidelines(
    tmp_path: Path, theirs: str | None, patterns: tuple[str, ...]
) -> None:
    """In a project with `.agentv/` and no files of ours, without patterns there are no guidelines."""
    (tmp_path / ".agentv").mkdir()
    if theirs is not None:
        config(tmp_path, theirs, ".agentv")
    assert load_project(tmp_path).guideline_patterns == patterns


def test_our_folder_goes_before_agentvs(tmp_path: Path) -> None:
    """With a config of ours, AgentV's is not read."""
    config(tmp_path, 'guideline_patterns: ["theirs"]\n', ".agentv")
    config(tmp_path, 'guideline_patterns: ["ours"]\n')
    assert load_project(tmp_path).guideline_patterns == ("ours",)


def test_the_targets_of_an_agentv_project(tmp_path: Path) -> None:
    """Their targets file is found where there is none of ours."""
    (tmp_path / ".agentv").mkdir()
    (tmp_path / ".agentv" / "targets.yaml").write_text("targets: []\n")
    assert load_project(tmp_path).targets_file == tmp_path / ".agentv" / "targets.yaml"


@pytest.mark.parametrize("made", ["runs", "calibrations", "schemas"])
def test_what_turnwise_makes_does_not_switch_agentv_off(tmp_path: Path, made: str) -> None:
    """A folder `.turnwise` with nothing but what a command has put there leaves config and targets to `.agentv/`."""
    config(tmp_path, 'guideline_patterns: ["theirs"]\n', ".agentv")
    (tmp_path / ".agentv" / "targets.yaml").write_text("targets: []\n")
    (tmp_path / ".turnwise" / made).mkdir(parents=True)
    found = load_project(tmp_path)
    assert found.guideline_patterns == ("theirs",)
    assert found.targets_file == tmp_path / ".agentv" / "targets.yaml"


@pytest.mark.parametrize("own", ["config.yaml", "config.yml", "targets.yaml", "targets.yml"])
def test_one_file_of_ours_switches_agentv_off(tmp_path: Path, own: str) -> None:
    """A config or a targets file in `.turnwise/` makes the project ours, as a whole."""
    config(tmp_path, 'guideline_patterns: ["theirs"]\n', ".agentv")
    (tmp_path / ".agentv" / "targets.yaml").write_text("targets: []\n")
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / own).write_text("targets: []\n" if own.startswith("targets") else "")
    found = load_project(tmp_path)
    assert found.guideline_patterns == DEFAULT_PATTERNS
    assert found.targets_file.parent == tmp_path / ".turnwise"
