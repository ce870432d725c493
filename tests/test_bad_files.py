"""Every error that is planted in tests/bad is named, at its line, and nothing else is.

A line that is wrong says so in a comment: `# planted: error unknown-key`. For files without comments,
tests/bad/planted.txt lists file, line, severity and code.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from helpers import run_turnwise

BAD = Path(__file__).with_name("bad")
PLANTED = re.compile(r"# planted: (error|warning) ([a-z0-9-]+)")
Mark = tuple[str, int, str, str]


def planted() -> set[Mark]:
    marks: set[Mark] = set()
    for path in [*BAD.glob("*.yaml"), *BAD.glob(".turnwise/*.yaml")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            marks |= {(path.name, number, severity, code) for severity, code in PLANTED.findall(line)}
    for line in (BAD / "planted.txt").read_text(encoding="utf-8").splitlines():
        place, severity, code = line.split()
        name, line_number = place.rsplit(":", 1)
        marks.add((name, int(line_number), severity, code))
    return marks


def test_validate_names_every_planted_error_and_no_other() -> None:
    """Line, severity and code of all diagnostics are exactly the planted ones."""
    done = run_turnwise("validate", "--format", "json", str(BAD))
    assert done.returncode == 2
    found = {
        (Path(item["file"]).name, item["line"], item["severity"], item["code"]) for item in json.loads(done.stdout)
    }
    assert found == planted()


def test_every_diagnostic_points_at_a_column_and_says_what_to_do() -> None:
    """A place has a column, and a message is a sentence without Python's own words."""
    done = run_turnwise("validate", "--format", "json", str(BAD))
    for item in json.loads(done.stdout):
        assert item["column"] is not None, item
        assert not re.search(r"Traceback|pydantic|<class|dict_type|NoneType", item["message"]), item
