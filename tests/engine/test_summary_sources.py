"""Where a summary comes from: files of other programs, and the bars in the description of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.bars import Bars
from turnwise.engine.results_file import place_of_result, read_results_file
from turnwise.errors import RunError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "results.jsonl"


def test_the_last_line_needs_no_line_break(file: Path) -> None:
    """Other programs leave it out; empty lines, Windows line ends and a byte order mark do no harm."""
    file.write_bytes(b'\xef\xbb\xbf{"n": 1}\r\n\r\n{"n": 2}')
    assert list(read_results_file(file)) == [{"n": 1}, {"n": 2}]


def test_a_result_is_found_again_by_its_number(file: Path) -> None:
    """Empty lines count as lines, but are no results."""
    file.write_text('{"n": 1}\n\n\n{"n": 2}\n')
    assert place_of_result(file, 1).endswith("results.jsonl:1")
    assert place_of_result(file, 2).endswith("results.jsonl:4")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}\n{nope}\n", r"results\.jsonl:2: not JSON"),
        (b'{"a": "\xff"}\n', r"results\.jsonl:1: not UTF-8"),
        (b"{}\n\n[1]\n", r"results\.jsonl:3: a result is a JSON object; found list"),
    ],
)
def test_a_line_that_is_no_object_is_named(file: Path, data: bytes, message: str) -> None:
    """The error has file and line, and says what a line should be."""
    file.write_bytes(data)
    with pytest.raises(RunError, match=message) as caught:
        list(read_results_file(file))
    assert "one JSON object a line" in (caught.value.hint or "")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A folder is no file, and the error says so."""
    with pytest.raises(RunError, match="cannot be read"):
        list(read_results_file(tmp_path))


def test_bars_are_read_from_the_description() -> None:
    """A threshold, the rates of the suites that have one, the plan, and whether it is graded."""
    bars = Bars.of(
        {
            "options": {"threshold": 0.8, "graded": False},
            "suites": [{"file": "a.yaml", "min_pass_rate": 0.9}, {"file": "b.yaml", "min_pass_rate": None}],
            "results": 12,
        }
    )
    assert bars == Bars(threshold=0.8, min_pass_rates={"a.yaml": 0.9}, planned=12, graded=False)


def test_a_description_that_says_nothing_bounds_nothing() -> None:
    """Whatever is left out has its usual meaning."""
    assert Bars.of({}) == Bars(threshold=None, min_pass_rates={}, planned=None, graded=True)


@pytest.mark.parametrize(
    "description",
    [
        {"options": {"threshold": "0.9"}},
        {"options": {"threshold": 2}},
        {"options": [1]},
        {"suites": ["a.yaml"]},
        {"suites": [{"file": "a.yaml", "min_pass_rate": True}]},
        {"results": -1},
    ],
)
def test_a_wrong_description_is_an_error(description: dict[str, Any]) -> None:
    """A bar that cannot be read is not taken for none."""
    with pytest.raises(RunError, match=r"the description of the run is wrong: .*must be"):
        Bars.of(description)
