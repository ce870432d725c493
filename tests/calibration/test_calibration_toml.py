"""The report of a calibration as TOML: every number as it was, every null by name."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration_fixtures import binary_calibration, hostile_calibration
from turnwise.calibration.analysis import analyse
from turnwise.calibration.report import Calibration
from turnwise.calibration.report_record import report_record
from turnwise.report.calibration.toml_report import calibration_toml
from turnwise.report.calibration.toml_writing import dump_toml

STEP = re.compile(r'\[(\d+)\]|"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_-]+)')
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), TEXT)
DATA = st.recursive(
    PLAIN | st.none(), lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXT, each, max_size=3)
)


def steps_of(name: str) -> list[str | int]:
    """The way that a dotted name describes; a quoted key is read as TOML reads it."""
    return [
        int(place) if place else bare or tomllib.loads(f'a = "{quoted}"')["a"]
        for place, quoted, bare in (match.groups() for match in STEP.finditer(name))
    ]


def restored(text: str) -> Any:
    """The record with its nulls: they are put back in the order in which they are named."""
    data = tomllib.loads(text)
    for name in data.pop("undefined"):
        *way, last = steps_of(name)
        place: Any = data
        for step in way:
            place = place[step]
        if isinstance(last, int):
            place.insert(last, None)
        else:
            place[last] = None
    return data


@pytest.mark.parametrize("calibration", [binary_calibration(), hostile_calibration(), analyse([], {}, None, draws=50)])
def test_a_record_comes_back_whole(calibration: Calibration) -> None:
    """All figures are the same, and what was null is null again."""
    record = report_record(calibration)
    assert restored(calibration_toml(record)) == record


@given(st.dictionaries(TEXT.filter(lambda name: name != "undefined"), DATA, max_size=4))
def test_any_plain_data_come_back(data: dict[str, Any]) -> None:
    """Keys of any letters, nested lists, empty tables and nulls everywhere."""
    assert restored(calibration_toml(data)) == data


def test_a_null_is_named() -> None:
    """The name is the way to it: keys with dots between them, places in brackets."""
    data = {"models": [{"cost_usd": None}, {"cost_usd": 1.5}], "slices": {"a b": None}, "list": [1, None]}
    read = tomllib.loads(calibration_toml(data))
    assert read["undefined"] == ["models[0].cost_usd", 'slices."a b"', "list[1]"]
    assert read["models"] == [{}, {"cost_usd": 1.5}]
    assert read["list"] == [1]


def test_numbers_keep_their_kind() -> None:
    """A whole float stays a float, and what is not finite has a form in TOML."""
    read = tomllib.loads(dump_toml({"a": 1.0, "b": 1, "c": True, "d": 1e-300, "e": math.inf, "f": 0.1 + 0.2}))
    assert [type(value) for value in read.values()] == [float, int, bool, float, float, float]
    assert list(read.values()) == [1.0, 1, True, 1e-300, math.inf, 0.1 + 0.2]


def test_half_of_a_pair_does_not_break_the_file() -> None:
    """A judge can write half of a surrogate pair in JSON; it is replaced, as no file could hold it."""
    assert tomllib.loads(dump_toml({"raw": "a\ud800b"})) == {"raw": "a\ufffdb"}
