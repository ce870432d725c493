"""Samples to files and back."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.decks.sample import HumanLabel, Sample, SampleMessage
from turnwise.decks.sample_writing import write_samples
from turnwise.decks.samples import read_sample_file, read_samples
from turnwise.errors import UsageError
from turnwise.suite.sources import WholeFile

EXACT = [".toml", ".jsonl", ".yaml", ".json"]
# CSV has no way to write a NUL character.
CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
HARD = st.text(st.sampled_from("\"'\\\n\r\t#|>-:{}[], ,;a😀\x00\x7f\x85\u2028\ufeff"), min_size=1)
TEXT = st.text(min_size=1) | HARD
WORD = CELL.filter(lambda text: bool(text.strip()))


def label(value: Any, reason: str | None, rater: str | None = None) -> HumanLabel:
    return HumanLabel(None, value, reason, rater) if isinstance(value, str) else HumanLabel(value, None, reason, rater)


LABEL = st.builds(label, st.integers(-5, 5) | st.floats(-9, 9) | WORD, st.none() | CELL)


def message(role: str, content: str) -> SampleMessage:
    return {"role": role, "content": content}


def sample(
    sample_id: str = "a",
    content: str = "Hi",
    expected: HumanLabel | None = None,
    labels: tuple[HumanLabel, ...] = (),
    cluster: str | None = None,
    tags: tuple[str, ...] = (),
) -> Sample:
    return Sample(sample_id, (message("user", content),), expected, labels, cluster, tags, WholeFile("x"), ())


@st.composite
def samples(draw: st.DrawFn) -> list[Sample]:
    made = []
    for sample_id in draw(st.lists(CELL, min_size=1, max_size=3, unique=True)):
        raters = draw(st.lists(CELL, max_size=2, unique=True))
        labels = tuple(
            HumanLabel(each.score, each.label, each.reason, rater) for rater in raters for each in [draw(LABEL)]
        )
        tags = tuple(draw(st.lists(CELL, max_size=2)))
        made.append(sample(sample_id, draw(TEXT), draw(st.none() | LABEL), labels, draw(st.none() | CELL), tags))
    return made


@pytest.mark.parametrize("ending", [*EXACT, ".csv"])
@settings(max_examples=25, deadline=None)
@given(samples())
def test_what_is_written_is_read(ending: str, written: list[Sample]) -> None:
    """Whatever the texts are, reading gives the samples that were written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"s{ending}")
        write_samples(path, written)
        read, diagnostics = read_samples(path)
        assert (read, diagnostics) == (written, [])
        assert os.listdir(folder) == [path.name]


@pytest.mark.parametrize("ending", [*EXACT, ".csv"])
def test_a_long_text(tmp_path: Path, ending: str) -> None:
    """A text of a megabyte comes back whole."""
    long = 'a "line" of 😀\n' * 70_000
    write_samples(tmp_path / f"s{ending}", [sample(content=long)])
    assert read_samples(tmp_path / f"s{ending}")[0][0].messages[0]["content"] == long


@pytest.mark.parametrize("ending", [*EXACT, ".csv"])
def test_names_descriptions_and_metadata_stay(tmp_path: Path, ending: str) -> None:
    """What else a sample says of itself is written too."""
    extras = {"a": {"name": "n", "description": "d\ne", "metadata": {"k": [1, {"x": "y"}], "odd key": True}}}
    write_samples(tmp_path / f"s{ending}", [sample(), sample("b")], extras)
    assert read_sample_file(tmp_path / f"s{ending}").extras == extras


def test_what_a_form_cannot_hold_is_refused(tmp_path: Path) -> None:
    """A form that would change a sample is not written, and a file that was there stays."""
    path = tmp_path / "s.csv"
    path.write_text("before")
    with pytest.raises(UsageError, match=r"sample 'a' cannot be told exactly in \.csv"):
        write_samples(path, [sample(expected=HumanLabel(1, None, "nul \0"))])
    assert path.read_text() == "before"
    with pytest.raises(UsageError, match="TOML has no null"):
        write_samples(tmp_path / "s.toml", [sample()], {"a": {"metadata": {"k": None}}})
    with pytest.raises(UsageError, match="not written"):
        write_samples(tmp_path / "s.jsonl", [sample(), sample()])
    assert os.listdir(tmp_path) == ["s.csv"]


def test_unknown_endings_and_folders(tmp_path: Path) -> None:
    """An ending that says no form, and a folder that is not there, are errors that say what to do."""
    with pytest.raises(UsageError, match=r"samples are written to \.toml"):
        write_samples(tmp_path / "s.txt", [sample()])
    with pytest.raises(UsageError, match="cannot be written: No such file") as caught:
        write_samples(tmp_path / "none" / "s.toml", [sample()])
    assert caught.value.hint


class TestCsv:
    """Samples of spreadsheets."""

    def read(self, folder: Path, text: str) -> tuple[list[Sample], list[str]]:
        path = folder / "s.csv"
        path.write_text(text, encoding="utf-8", newline="")
        samples, diagnostics = read_samples(path)
        return samples, [f"{each.place.line}: {each.code}: {each.message}" for each in diagnostics]

    def test_short_form(self, tmp_path: Path) -> None:
        """`user` and `assistant` are a turn each; blank ids are numbered; tags are taken apart; blank rows are none."""
        text = '\ufeffuser,assistant,score,label,tags\r\n" Hi\n",Ho,+2,,a; b|c\r\n,,,,\r\nHi,,,good,\r\n'
        (first, second), said = self.read(tmp_path, text)
        assert said == []
        assert first.messages == (message("user", " Hi\n"), message("assistant", "Ho"))
        assert (first.id, first.expected, first.tags) == ("s-0", HumanLabel(2), ("a", "b", "c"))
        assert (second.id, second.messages) == ("s-2", (message("user", "Hi"),))
        assert (second.expected, second.place.line) == (HumanLabel(None, "good"), 5)

    def test_several_raters(self, tmp_path: Path) -> None:
        """Lines with one id are the labels of several people; a rater who has given none yet has none."""
        turns = json.dumps([message("user", "Hi")]).replace('"', '""')
        text = f'id,messages,score,reason,rater,cluster\na,"{turns}",1,,ann,c\nb,"{turns}",3,,,\n'
        text += f'a,,2,why,ben,\na,"{turns}",,,carl,c\n'
        (a, b), said = self.read(tmp_path, text)
        assert said == []
        assert a.labels == (HumanLabel(1, None, None, "ann"), HumanLabel(2, None, "why", "ben"))
        assert (a.expected, a.cluster, b.expected) == (None, "c", HumanLabel(3))
        assert a.source.place(("labels", 1)).line == 4

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("id,conversation\na,[]", "2: bad-sample: Messages array cannot be empty"),
            ('id,conversation\n\na,"{""role"": 1}"', "3: bad-sample: Sample must have messages array"),
            ('id,messages\na,"[{""role"": ""u""}]"', "2: bad-sample: Each message must have a content string"),
            ("id,user\na,", "2: bad-sample: Sample must have messages array"),
            ("id,user,scoer\na,Hi,1", "1: unknown-key: unknown column `scoer`"),
            ("id,messages\na,[1", "2: bad-json: the cell `messages`"),
            ("id,messages,user\na,[],x", "2: bad-csv: the conversation is given more than once"),
            ("id,user,score\na,Hi,1\na,Hi,2", "3: duplicate-id: the sample id 'a' is used twice, first in line 2"),
            ("id,user,rater\na,Hi,x\na,Ho,y", "3: duplicate-id: the sample id 'a' is used twice with different mess"),
            ("id,user,rater,score\na,Hi,x,1\na,,x,2", "3: duplicate-id: 'x' labels the sample 'a' twice, first in"),
            ("id,user,rater,score\na,Hi,x,1\na,,y,bad", "3: bad-score: "),
            ("id,user,score,label\na,Hi,1,good", "2: two-labels: "),
            ("id,user\na,Hi,extra", "2: bad-csv: the row has 3 cells"),
        ],
    )
    def test_errors_name_the_line(self, tmp_path: Path, text: str, said: str) -> None:
        """What is wrong is said with the line on which it stands."""
        found = self.read(tmp_path, text)[1]
        assert any(each.startswith(said) for each in found), found
