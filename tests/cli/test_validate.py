"""`turnwise validate`: the forms of its output, and what it takes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from helpers import ROOT, run_turnwise

BAD_SUITE = "cases:\n  - id: 'a'\n    input_messages:\n      - role: user\n        contnet: Hällo, Wörld 世界\n"
GOOD_SUITE = "cases:\n  - id: a\n    input_messages:\n      - {role: user, content: Hello}\n"


def write(folder: Path, text: str, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_examples_are_clean() -> None:
    """The shipped examples have neither errors nor warnings."""
    done = run_turnwise("validate", "examples")
    assert (done.returncode, done.stdout) == (0, "")
    assert "0 errors, 0 warnings" in done.stderr


def test_text_shows_place_line_caret_and_hint(tmp_path: Path) -> None:
    """`file:line:column: error: text`, the source line, a caret under the column, a hint."""
    write(tmp_path, BAD_SUITE)
    done = run_turnwise("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert lines[0] == "suite.yaml:5:9: error: unknown key `contnet`"
    assert lines[1] == " 5 |         contnet: Hällo, Wörld 世界"
    assert lines[2].index("^") == lines[1].index("contnet")
    assert lines[3].strip() == "hint: did you mean `content`?"


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    """Exit code 0 with warnings."""
    write(tmp_path, GOOD_SUITE.replace("role: user", "role: assistant"))
    done = run_turnwise("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 0
    assert "warning: the conversation has no user turn" in done.stdout


def test_github_gives_workflow_commands(tmp_path: Path) -> None:
    """One escaped `::error` line a problem."""
    write(tmp_path, BAD_SUITE, "a,b.yaml")
    done = run_turnwise("validate", "--format", "github", "a,b.yaml", cwd=tmp_path)
    assert done.stdout.startswith("::error file=a%2Cb.yaml,line=5,col=9,title=turnwise%3A unknown-key::unknown key")


def test_sarif_follows_its_schema(tmp_path: Path) -> None:
    """The log has what SARIF 2.1.0 requires of every consumer."""
    write(tmp_path, BAD_SUITE)
    log = json.loads(run_turnwise("validate", "--format", "sarif", "suite.yaml", cwd=tmp_path).stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "unknown-key"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 5, "startColumn": 9}


def test_standard_input(tmp_path: Path) -> None:
    """`-` is a suite; its name in messages is <stdin>."""
    done = run_turnwise("validate", "-", cwd=tmp_path, stdin=BAD_SUITE.encode())
    assert done.returncode == 2
    assert done.stdout.startswith("<stdin>:5:9: error:")


def test_a_bad_config_is_said_once(tmp_path: Path) -> None:
    """Two suites of one project do not repeat the project's problem."""
    write(tmp_path, "guideline_paterns: []\n", ".turnwise/config.yaml")
    write(tmp_path, GOOD_SUITE, "a.yaml")
    write(tmp_path, GOOD_SUITE, "b.yaml")
    done = run_turnwise("validate", "--format", "json", "a.yaml", "b.yaml", cwd=tmp_path)
    (only,) = json.loads(done.stdout)
    assert (only["code"], only["hint"]) == ("unknown-key", "did you mean `guideline_patterns`?")


def test_files_of_other_programs_in_a_folder_are_passed_over_with_a_word(tmp_path: Path) -> None:
    """A YAML file that is none of ours gives a warning, not an error; a JSON file is only counted."""
    write(tmp_path, GOOD_SUITE)
    write(tmp_path, "services: {web: {image: nginx}}\n", "compose.yaml")
    write(tmp_path, '{"name": "web"}', "package.json")
    done = run_turnwise("validate", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert "compose.yaml: warning: skipped" in done.stdout
    assert "1 file checked: 0 errors, 1 warning; 2 other files skipped" in done.stderr


def test_a_target_that_the_project_does_not_have_is_a_warning(tmp_path: Path) -> None:
    """The name may still be a provider/model, so it is only a warning, with a suggestion."""
    write(tmp_path, "targets:\n  - {name: gpt, provider: openai, model: m}\n", ".turnwise/targets.yaml")
    write(tmp_path, "target: gtp\n" + GOOD_SUITE)
    done = run_turnwise("validate", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert "suite.yaml:1:9: warning: no target is named 'gtp'" in done.stdout
    assert "did you mean `gpt`?" in done.stdout


def test_targets_of_cases_and_graders_are_looked_up_too(tmp_path: Path) -> None:
    """Every place that names a target is checked, each at its own line."""
    write(tmp_path, "targets:\n  - {name: gpt, provider: openai, model: m}\n", ".turnwise/targets.yaml")
    suite = GOOD_SUITE + "    target: gtp\n    graders:\n      - {type: llm_judge, target: judg}\n"
    write(tmp_path, suite + "  - id: fine\n    target: openai/any\n    input_messages: [{role: user, content: Hi}]\n")
    found = json.loads(run_turnwise("validate", "--format", "json", "suite.yaml", cwd=tmp_path).stdout)
    assert [(item["code"], item["line"], item["case_id"]) for item in found] == [
        ("unknown-target", 5, "a"),
        ("unknown-target", 7, "a"),
    ]


def test_a_pattern_that_other_suites_may_use_is_not_called_unused(tmp_path: Path) -> None:
    """A suite alone cannot tell that a pattern of the config is unused, if the project has files that it matches."""
    write(tmp_path, 'guideline_patterns: ["rules/**"]\n', ".turnwise/config.yaml")
    write(tmp_path, "Be brief.", "rules/style.md")
    write(tmp_path, GOOD_SUITE)
    assert run_turnwise("validate", "suite.yaml", cwd=tmp_path).stdout == ""
    assert "unused" not in run_turnwise("validate", "suite.yaml", cwd=tmp_path).stdout
    assert "matches no file that a case refers to" in run_turnwise("validate", ".", cwd=tmp_path).stdout


def test_a_file_of_no_known_kind_is_an_error_when_named(tmp_path: Path) -> None:
    """A TOML file without samples is not read as if it were YAML."""
    write(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")
    done = run_turnwise("validate", "pyproject.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "not a kind of file that is understood" in done.stdout


def test_the_env_files_of_a_project_are_checked(tmp_path: Path) -> None:
    """A broken `.env` in the root shows up even if only a suite was named."""
    (tmp_path / ".turnwise").mkdir()
    write(tmp_path, "NOT A LINE\n", ".env")
    write(tmp_path, GOOD_SUITE)
    done = run_turnwise("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert ".env:1:" in done.stdout


def test_a_secret_never_reaches_the_output(tmp_path: Path) -> None:
    """Whatever is wrong around an API key, neither the message nor the source line shows it."""
    secret = "sk-very-secret-1234"
    write(
        tmp_path,
        f"targets:\n  - {{name: gpt, provider: openai, api_key: {secret}, modle: m}}\n"
        f"  - name: b\n    provider: openai\n    model: m\n    api_key: [{secret}]\n",
        ".turnwise/targets.yaml",
    )
    write(tmp_path, f"OPENAI_API_KEY={secret}\nBROKEN {secret}\n", ".turnwise/.env")
    write(tmp_path, GOOD_SUITE)
    for form in ("text", "json", "github", "sarif"):
        done = run_turnwise("validate", "--format", form, ".", cwd=tmp_path)
        assert done.returncode == 2
        assert secret not in done.stdout + done.stderr


def test_schemas_accept_the_examples_and_reject_planted_errors() -> None:
    """`turnwise schema suite` and the loader agree on good files and on bad keys."""
    from turnwise.suite.yaml_reader import read_yaml

    schema = json.loads(run_turnwise("schema", "suite").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for path in sorted((ROOT / "examples").glob("*/suite.yaml")):
        assert list(validator.iter_errors(read_yaml(path.read_text(encoding="utf-8")))) == []
    for name in ("keys.yaml", "no-cases.yaml", "messages.yaml"):
        data = read_yaml((ROOT / "tests" / "bad" / name).read_text(encoding="utf-8"))
        assert list(validator.iter_errors(data)) != [], name


def test_every_format_has_a_schema() -> None:
    """suite, case, config and targets: valid JSON Schema with a description for every property."""
    for name in ("suite", "case", "config", "targets"):
        schema = json.loads(run_turnwise("schema", name).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        for key, value in schema["properties"].items():
            assert "description" in value, (name, key)


def test_problems_of_cases_are_bounded_but_errors_are_never_crowded_out(tmp_path: Path) -> None:
    """A thousand warnings are shown, the rest counted, and an error after them still counts."""
    line = '{"id": "%d", "input_messages": [{"role": "assistant", "content": "Hi"}]}\n'
    last = '{"id": "last", "input_messages": [{"role": "user", "content": [{"type": "file", "value": "gone"}]}]}\n'
    write(tmp_path, "".join(line % number for number in range(1200)) + last, "many.jsonl")
    done = run_turnwise("validate", "--format", "json", "many.jsonl", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 2
    assert sum(item["severity"] == "warning" for item in found) == 1000
    assert {item["code"] for item in found if item["severity"] == "error"} == {"file-missing", "too-many"}
    assert any("1,400 more problems" in item["message"] for item in found)


def test_places_in_a_large_json_suite_are_found_quickly_and_exactly(tmp_path: Path) -> None:
    """The hundredth place is as exact as the first."""
    cases = [{"id": f"c{n}", "input_messages": [{"role": "assistant", "content": "Hi"}]} for n in range(100)]
    write(tmp_path, json.dumps({"cases": cases}, indent=1), "s.json")
    found = json.loads(run_turnwise("validate", "--format", "json", "s.json", cwd=tmp_path).stdout)
    lines = (tmp_path / "s.json").read_text().split("\n")
    for item in found:
        expected = "[" if item["code"] == "no-user-turn" else "{"
        assert lines[item["line"] - 1][item["column"] - 1] == expected
    assert len({item["line"] for item in found if item["code"] == "no-user-turn"}) == 100


def test_problems_of_a_suite_s_graders_are_said_once(tmp_path: Path) -> None:
    """However many cases have them, and with variables too; those of cases are said at their own lines."""
    suite = "vars: {x: y}\ngraders:\n  - contians: '{{ x }}'\n  - similar: Be nice.\ncases:\n" + "".join(
        f"  - {{id: c{number}, input_messages: [{{role: user, content: Hi}}]}}\n" for number in range(30)
    )
    own = "  - {id: own, graders: [{regex: '('}], input_messages: [{role: user, content: Hi}]}\n"
    write(tmp_path, suite + own)
    done = run_turnwise("validate", "--format", "json", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 2
    found = [(item["severity"], item["code"], item["line"], item["case_id"]) for item in json.loads(done.stdout)]
    assert found == [
        ("error", "unknown-grader", 3, None),
        ("error", "no-judge", 4, None),
        ("error", "bad-pattern", 36, "own"),
    ]


def test_variants_are_checked_with_their_own_values(tmp_path: Path) -> None:
    """A path and a pattern that only a variant makes wrong are named with it; settings of known targets are, too."""
    write(tmp_path, "targets:\n  - {name: gpt, provider: openai, model: m}\n", ".turnwise/targets.yaml")
    write(tmp_path, "Hello", "good.md")
    write(
        tmp_path,
        "target: gpt\nvars: {file: good.md, pattern: a}\nvariants:\n  as-written:\n"
        "  other: {vars: {file: gone.md, pattern: '('}}\n"
        "  cold: {settings: {temprature: 0}}\n  fine: {settings: {temperature: 0.0}}\n"
        "graders: [{regex: '{{ pattern }}'}]\ncases:\n"
        "  - id: a\n    input_messages: [{role: user, content: [{type: file, value: '{{ file }}'}]}]\n",
    )
    done = run_turnwise("validate", "--format", "json", "suite.yaml", cwd=tmp_path)
    found = {item["code"]: item for item in json.loads(done.stdout)}
    assert set(found) == {"variant-settings", "file-missing", "bad-pattern"}
    assert found["variant-settings"]["line"] == 6
    assert found["variant-settings"]["hint"] == "did you mean `temperature`?"
    assert found["file-missing"]["message"].startswith("in the variant 'other', file not found: gone.md")
    assert found["bad-pattern"]["message"].startswith("in the variant 'other', `regex` is not a regular expression")
