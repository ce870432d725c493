"""The forms of diagnostics that other programs read, and what stands beside the errors of a case."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from helpers import run_turnwise
from turnwise.diagnostics import Diagnostic
from turnwise.report.diagnostics import as_sarif
from turnwise.report.prompt import prompt_record, prompt_text
from turnwise.suite.check import case_errors
from turnwise.suite.suite import load_suite


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("evals/suite.yaml", "evals/suite.yaml"),
        ("my evals/a b.yaml", "my%20evals/a%20b.yaml"),
        ("größe/世.yaml", "gr%C3%B6%C3%9Fe/%E4%B8%96.yaml"),
        (os.fsdecode(b"a\xff.yaml"), "a%FF.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("a:b?c#d.yaml", "a%3Ab%3Fc%23d.yaml"),
        ("/tmp/a b.yaml", "file:///tmp/a%20b.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_sarif_names_files_by_uris(file: str, uri: str) -> None:
    """Every byte of a name that a URI cannot hold is percent-encoded; an absolute path is a file URL."""
    log = as_sarif([Diagnostic("error", "empty", "x", file)], "1.0")
    log.encode("utf-8")
    (result,) = json.loads(log)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}
    assert unquote_to_bytes(uri.removeprefix("file://")) == os.fsencode(file)


def test_sarif_of_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """The log of such a file is JSON, and leads back to it."""
    (tmp_path / os.fsdecode(b"a \xff.yaml")).write_text("cases: []\n")
    done = run_turnwise("validate", "--format", "sarif", ".", cwd=tmp_path)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20%FF.yaml"


SUITE = """\
cases:
  - id: gone
    system_prompt: Be brief.
    metadata: {systemPrompt: Be long.}
    input_messages: [{role: user, content: [{type: file, value: gone.md}]}]
  - id: fine
    system_prompt: Be brief.
    metadata: {systemPrompt: Be long.}
    input_messages: [{role: assistant, content: Hello}]
"""


def test_warnings_from_loading_stand_beside_the_errors_of_a_case(tmp_path: Path) -> None:
    """In JSON and in text, a case shows what loading said of it, whether it can be sent or not."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    suite = load_suite(tmp_path / "suite.yaml")
    expected = {
        "gone": ["two-system-prompts", "file-missing"],
        "fine": ["two-system-prompts", "no-user-turn", "assistant-last"],
    }
    for case in suite.cases:
        known = [warning for warning in suite.warnings if warning.case_id == case.id]
        errors = case_errors(case)
        record = prompt_record(case, suite.file, errors, known)
        assert [item["code"] for item in record["diagnostics"]] == expected[case.id]
        assert ("error" in record) == (case.id == "gone")
        text = prompt_text(case, errors, known)
        messages = [item["message"] for item in record["diagnostics"]]
        places = [text.index(f": {message}\n") for message in messages]
        assert places == sorted(places)


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_command_line_shows_each_case_its_own_warnings(tmp_path: Path, form: str) -> None:
    """`prompt` gives each case the warnings of its loading, once."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    done = run_turnwise("prompt", "--format", form, "suite.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.count("are both given") == 2
    assert "suite.yaml:4:" in done.stdout or '"line": 4' in done.stdout
