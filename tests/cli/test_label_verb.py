"""`turnwise label`: over piped lines, at a terminal, and killed in the middle."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnwise.cli.label import command
from turnwise.decks.sample import HumanLabel, Sample
from turnwise.decks.samples import read_samples
from turnwise.errors import UsageError

PROGRAM = [sys.executable, "-c", "from turnwise.cli.label import command; command()"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three samples, the second of which others have labelled."""
    monkeypatch.chdir(tmp_path)
    path = Path("s.jsonl")
    others: dict[str, Any] = {"labels": [{"rater": "zoe", "score": 77, "reason": "ZOE"}], "expected": {"label": "EXP"}}
    more = {"a": {}, "b": {**others, "tags": ["TAG"], "metadata": {"verdict": "META"}, "name": "NAME"}, "c": {}}
    records = [
        {"id": f"id-{key}", "messages": [{"role": "user", "content": f"text-{key}"}], **fields}
        for key, fields in more.items()
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def label(lines: str, *arguments: str) -> Result:
    return CliRunner().invoke(command, ["s.jsonl", *arguments], input=lines)


def read(path: Path) -> list[Sample]:
    return read_samples(path)[0]


def test_a_session(file: Path) -> None:
    """Each sample is asked for value and reason, and all answers are in the file."""
    done = label("2\nclear\n3\n\n1\n\n", "--rater", "ann", "--values", "1,2,3")
    assert done.exit_code == 0, done.exception
    assert [sample.labels[-1] for sample in read(file)] == [
        HumanLabel(2, None, "clear", "ann"),
        HumanLabel(3, None, None, "ann"),
        HumanLabel(1, None, None, "ann"),
    ]
    assert "1 of 3 · 0 labelled" in done.stdout
    assert "3 of 3 · 2 labelled" in done.stdout
    assert done.stdout.endswith("3 labelled now, 0 left for ann; everything is saved in s.jsonl\n")


def test_it_is_blind(file: Path) -> None:
    """Labels of others, the expected one, ids, tags, names and metadata are not shown, even if all is asked for."""
    said = label("m\n?\n1\n\nm\n?\n1\n\n", "--rater", "ann").stdout
    assert "text-b" in said
    assert not any(word in said for word in ("ZOE", "zoe", "77", "EXP", "META", "TAG", "NAME", "id-"))
    assert read(file)[1].expected == HumanLabel(None, "EXP")


def test_it_goes_on_where_it_stopped(file: Path) -> None:
    """Samples that this rater has labelled are passed over; the end of input is the end of the session."""
    assert "2 left for ann" in label("1\n\n", "--rater", "ann").stdout
    done = label("5\n\n", "--rater", "ann")
    assert "text-a" not in done.stdout
    assert "2 of 3 · 1 labelled" in done.stdout
    assert [len(sample.labels) for sample in read(file)] == [1, 2, 0]
    assert "text-a" in label("q\n", "--rater", "ann", "--redo").stdout


def test_without_rater(file: Path) -> None:
    """Without a rater the label is the expected one, and one that is there counts as done."""
    done = label("good\nbecause\n0.5\n\n")
    assert "0 left;" in done.stdout
    expected = [sample.expected for sample in read(file)]
    assert expected == [HumanLabel(None, "good", "because"), HumanLabel(None, "EXP"), HumanLabel(0.5)]


def test_undo_and_skip(file: Path) -> None:
    """`u` asks the last one anew, `s` leaves one out, `q` ends, and none of them changes another label."""
    done = label("u\n1\n\nu\n2\nagain\ns\nq\n", "--rater", "ann")
    assert "this is the first one" in done.stdout
    assert "1 labelled now, 2 left for ann" in done.stdout  # answered twice, labelled once
    first, second, third = read(file)
    assert first.labels == (HumanLabel(2, None, "again", "ann"),)
    assert (len(second.labels), third.labels) == (1, ())


def test_the_scale(file: Path) -> None:
    """A value that is not on the scale is asked again; a word gets the scale's spelling; its letters are no keys."""
    done = label("maybe\nYES\n\nq\n\n", "--rater", "ann", "--labels", "yes,no,q")
    assert "'maybe' is not on the scale: yes, no, q" in done.stdout
    assert [sample.labels[-1].label for sample in read(file)[:2]] == ["yes", "q"]
    Path("d.deck.md").write_text('+++\n[scale]\nkind = "ordinal"\nmin = 1\nmax = 5\nungradable = 0\n+++\nGrade it.\n')
    done = label("6\n+4\n\n0\n\n", "--rater", "ben", "--scale", "d.deck.md")
    assert "1 to 5; 0 for ungradable" in done.stdout
    assert [sample.labels[-1].score for sample in read(file)[:2]] == [4, 0]


def test_the_order(file: Path) -> None:
    """A random order is the same for the same seed, and holds every sample once."""
    said = [label("1\n\n" * 3, "--rater", "ann", "--redo", "--order", "random", "--seed", "3").stdout for _ in "ab"]
    orders = [sorted(("a", "b", "c"), key=lambda key, text=each: text.index(f"text-{key}")) for each in said]  # type: ignore[misc]
    assert orders[0] == orders[1]
    assert all(len(sample.labels) == (2 if sample.id == "id-b" else 1) for sample in read(file))


def test_hostile_and_long_texts(file: Path) -> None:
    """A long conversation is cut and shown whole on demand; control characters do not reach the terminal."""
    text = "\n".join(["\x1b[2J", *map(str, range(1000)), "end"])
    file.write_text(json.dumps({"messages": [{"role": "user", "content": text}]}) + "\n")
    first, more = label("m\nq\n").stdout.split("a number or a word", 1)
    assert "more lines: m shows all" in first
    assert "  500\n" not in first
    assert "  500\n" in more
    assert "\x1b[2J" not in first + more


@pytest.mark.parametrize(
    "arguments", [["--values", "1,x"], ["--values", "1"], ["--labels", "a,A"], ["--values", "1,2", "--labels", "a,b"]]
)
@pytest.mark.usefixtures("file")
def test_bad_scales(arguments: list[str]) -> None:
    """A scale that is none is refused before anything is asked."""
    done = label("1\n", *arguments)
    assert (done.exit_code, "text-a" in done.output) == (2, False)


@pytest.mark.usefixtures("file")
def test_a_deck_without_scale() -> None:
    """A deck that declares no scale cannot give one."""
    Path("d.deck.md").write_text("Grade it.\n")
    assert isinstance(label("", "--scale", "d.deck.md").exception, UsageError)


def test_killed_between_answers(file: Path) -> None:
    """Whatever has been answered is in the file, however the process ends."""
    with subprocess.Popen(
        [*PROGRAM, "s.jsonl", "--rater", "ann"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"4\nwhy\n")
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not read(file)[0].labels and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    samples = read(file)
    assert samples[0].labels == (HumanLabel(4, None, "why", "ann"),)
    assert len(samples) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no ptys")
def test_at_a_terminal(file: Path) -> None:
    """At a terminal roles have colours, and Ctrl-C at the reason keeps the value and says how many are left."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [*PROGRAM, "s.jsonl", "--rater", "ann"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        shown = _until(ours, "a number or a word")
        os.write(ours, b"3\n")
        shown += _until(ours, "reason")
        time.sleep(0.5)  # the question is shown a moment before the program waits for its answer
        process.send_signal(signal.SIGINT)
        shown += _until(ours, "everything is saved")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "\x1b[1;32m[user]\x1b[0m" in shown
    assert "1 labelled now, 2 left for ann" in shown
    assert read(file)[0].labels == (HumanLabel(3, None, None, "ann"),)


def _until(terminal: int, text: str) -> str:
    """What is shown until the text is there."""
    shown = ""
    deadline = time.monotonic() + 30
    while text not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
    assert text in shown
    return shown


def test_the_first_label_is_not_lost_when_a_second_person_labels(tmp_path: Path) -> None:
    """An `expected` of before becomes one of the labels, under its own name: people's labels go before it."""
    path = tmp_path / "s.toml"
    path.write_text('[[samples]]\nid = "a"\nmessages = [{ role = "user", content = "hi" }]\nexpected = "pass"\n')
    done = CliRunner().invoke(command, [str(path), "--rater", "kim", "--labels", "pass,fail"], input="fail\n\n")
    assert done.exit_code == 0
    [sample], said = read_samples(path)
    assert said == []
    assert [(label.rater, label.value) for label in sample.labels] == [("expected", "pass"), ("kim", "fail")]
