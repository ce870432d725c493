"""`turnwise samples`: converting, showing, and drawing from runs."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from run_fixtures import case, mock, project, run, suite
from turnwise.cli.samples import command
from turnwise.decks.drawing import allotted, draw, draw_from_strata
from turnwise.decks.samples import read_sample_file, read_samples
from turnwise.errors import InputError, UsageError

TURN = {"role": "user", "content": "Hi"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def samples(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def lines(path: str, *records: dict[str, Any]) -> None:
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))


class TestConvert:
    """`samples convert`."""

    def test_through_all_forms(self) -> None:
        """A file that went through every form holds the same samples, metadata included."""
        labels = [{"rater": "ann", "score": 1}, {"rater": "ben", "label": "x", "reason": "a\nb"}]
        lines("a.jsonl", {"id": "a", "messages": [TURN], "labels": labels, "score": 2, "metadata": {"k": 1}})
        names = ["a.jsonl", "b.toml", "c.csv", "d.yaml", "e.json", "f.jsonl"]
        for source, goal in pairwise(names):
            done = samples("convert", source, goal)
            assert (done.exit_code, done.stdout) == (0, f"{goal}: 1 sample, 3 labels\n")
        first, last = read_sample_file(Path("a.jsonl")), read_sample_file(Path("f.jsonl"))
        assert (first.samples, first.extras) == (last.samples, last.extras)

    def test_overwriting_needs_force(self) -> None:
        """A file that is there is replaced only if that is asked for."""
        lines("a.jsonl", {"id": "a", "messages": [TURN]})
        Path("b.toml").write_text("# mine\n")
        done = samples("convert", "a.jsonl", "b.toml")
        assert isinstance(done.exception, UsageError)
        assert Path("b.toml").read_text() == "# mine\n"
        assert samples("convert", "a.jsonl", "b.toml", "--force").exit_code == 0
        assert [sample.id for sample in read_samples(Path("b.toml"))[0]] == ["a"]

    def test_what_is_left_out_is_said(self) -> None:
        """Samples that cannot be used, and what is no sample, are named on standard error."""
        Path("a.toml").write_text(
            '[contexts.x]\nassistantQuestion = "?"\n[[samples]]\nid = "bad"\n'
            '[[samples]]\nid = "good"\nmessages = [{ role = "user", content = "Hi" }]\n'
        )
        done = samples("convert", "a.toml", "b.jsonl")
        assert done.exit_code == 0
        assert "contexts of a.toml: not converted" in done.stderr
        assert "1 sample of a.toml cannot be used" in done.stderr

    def test_errors(self) -> None:
        """A file with errors is not converted."""
        lines("a.jsonl", {"id": "a", "messages": [TURN]}, {"id": "a", "messages": [TURN]})
        assert isinstance(samples("convert", "a.jsonl", "b.toml").exception, InputError)
        assert not Path("b.toml").exists()


class TestShow:
    """`samples show`."""

    def test_counts(self) -> None:
        """Labels are counted as calibration reads them: those of raters before the expected one, words without case."""
        labels = [{"rater": "ann", "score": 1}, {"rater": "ben", "score": "+1"}]
        lines(
            "s.jsonl",
            {"id": "a", "messages": [TURN], "labels": labels, "score": 5, "cluster": "c", "tags": ["t"]},
            {"id": "b", "messages": [TURN], "expected": "Good", "cluster": "c"},
            {"id": "c", "messages": [TURN]},
        )
        done = json.loads(samples("show", "s.jsonl", "--format", "json", "--limit", "1").stdout)
        assert [item["id"] for item in done.pop("items")] == ["a"]
        assert done == {
            "file": "s.jsonl",
            "samples": 3,
            "labelled": 2,
            "unlabelled": 1,
            "clusters": 1,
            "raters": {"ann": 1, "ben": 1},
            "tags": {"t": 1},
            "labels": {"1": 2, "good": 1},
        }
        assert samples("show", "s.jsonl").stdout == (
            "3 samples: 2 labelled, 1 not, 1 cluster\nlabels: 1 (2), good (1)\nraters: ann (1), ben (1)\ntags: t (1)\n"
        )

    def test_one_sample_is_harmless(self) -> None:
        """A sample is shown with its labels, and its text cannot reach the terminal's controls."""
        lines("s.jsonl", {"id": "a", "messages": [{"role": "user", "content": "x\x1b[2J"}], "expected": "ok\n!"})
        assert samples("show", "s.jsonl", "--id", "a").stdout == "a\n[user]\n  x␛[2J\nexpected: ok␊!\n"
        assert isinstance(samples("show", "s.jsonl", "--id", "z").exception, UsageError)


class TestFrom:
    """`samples from`."""

    def make(self, **fields: Any) -> Path:
        cases = [case("one two", "hello"), case("b", "bye", conversation_id="talk")]
        project(Path(), mock("echo"), mock("gone", response=""), s=suite(cases, **fields))
        return run("s.yaml", target=["echo", "gone"], trials=2).folder

    def test_a_real_run(self) -> None:
        """A sample is what was sent and the answer; it has no label, no grade, and says where it comes from."""
        folder = self.make()
        done = samples("from", folder.name, "--target", "echo", "-o", "out.jsonl")
        assert done.exit_code == 0, done.exception
        read = read_sample_file(Path("out.jsonl"))
        assert [sample.id for sample in read.samples] == ["b-echo-1", "b-echo-2", "one-two-echo-1", "one-two-echo-2"]
        first = read.samples[2]
        assert [message["role"] for message in first.messages] == ["user", "assistant"]
        assert first.messages[0]["content"] == "hello"
        assert "hello" in first.messages[1]["content"]
        assert [sample.cluster for sample in read.samples] == ["talk", "talk", "one two", "one two"]
        assert not any(sample.is_labelled for sample in read.samples)
        assert first.tags == ("echo", "s.yaml")
        assert read.extras["b-echo-2"]["metadata"] == {
            "run": folder.name,
            "case": "b",
            "suite": "s.yaml",
            "target": "echo",
            "trial": 2,
        }
        text = Path("out.jsonl").read_text()
        assert not any(word in text for word in ("score", "grade", "passed"))

    def test_nothing_is_left_out_in_silence(self) -> None:
        """Results without answer and errors are counted on standard error; the file is named after the run."""
        record = {"run_id": "r", "case_id": "a", "target": "t", "answer": "yes", "status": "ungraded"}
        lines(
            "results.jsonl",
            record | {"trial": 1},
            record | {"trial": 2, "answer": None},
            record | {"trial": 3, "status": "error"},
            record | {"trial": 1, "answer": "later"},
        )
        done = samples("from", "results.jsonl", "-o", "a.toml")
        assert "1 result without an answer" in done.stderr
        assert "1 result with an error" in done.stderr
        (sample,) = read_samples(Path("a.toml"))[0]
        assert sample.messages == ({"role": "assistant", "content": "later"},)
        assert samples("from", "results.jsonl", "-o", "b.toml", "--include-failed").stdout.startswith(
            "b.toml: 2 samples"
        )
        assert isinstance(samples("from", "results.jsonl", "--target", "x").exception, UsageError)
        assert isinstance(samples("from", "no-such-run").exception, UsageError)

    def test_draws(self) -> None:
        """A draw depends on the seed alone, not on the order of the results; strata are told."""
        records = [
            {"case_id": f"c{number}", "target": "a" if number < 9 else "b", "trial": 1, "answer": "x"}
            for number in range(10)
        ]
        lines("one.jsonl", *records)
        lines("two.jsonl", *reversed(records))
        for name in ("one", "two"):
            assert samples("from", f"{name}.jsonl", "--n", "4", "--seed", "7", "-o", f"{name}.out.jsonl").exit_code == 0
        one, two = (read_samples(Path(f"{name}.out.jsonl"))[0] for name in ("one", "two"))
        assert one == two
        assert len(one) == 4
        done = samples("from", "one.jsonl", "--n", "2", "--stratify", "target", "-o", "strata.csv")
        assert done.stdout == "  target a: 1 of 9\n  target b: 1 of 1\nstrata.csv: 2 samples of 10 answers, seed 0\n"

    def test_contents_that_are_lists(self) -> None:
        """Images are named, tool calls are kept as text, and a turn without text says so."""
        prompt = [
            {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "value": "c.png"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": ""},
        ]
        lines("r.jsonl", {"case_id": "a", "target": "t", "answer": "x", "raw_request": {"chat_prompt": prompt}})
        lines("q.jsonl", {"case_id": "a", "target": "t", "answer": "x", "raw_request": {"question": "why?"}})
        samples("from", "r.jsonl", "-o", "a.jsonl")
        samples("from", "q.jsonl", "-o", "b.jsonl")
        contents = [message["content"] for message in read_samples(Path("a.jsonl"))[0][0].messages]
        assert contents == ["see\n[image: c.png]", '[tool call: {"id": "1"}]', "[no text]", "x"]
        assert [message["content"] for message in read_samples(Path("b.jsonl"))[0][0].messages] == ["why?", "x"]


def test_shares_of_strata() -> None:
    """Shares are proportional, at least one, at most all, and sum up to what is wanted."""
    assert allotted({"a": 50, "b": 30, "c": 20}, 10) == {"a": 5, "b": 3, "c": 2}
    assert allotted({"a": 97, "b": 1, "c": 1, "d": 1}, 4) == {"a": 1, "b": 1, "c": 1, "d": 1}
    with pytest.raises(UsageError, match="cannot hold one of each of 3 strata"):
        allotted({"a": 1, "b": 1, "c": 1}, 2)
    strata = ["x"] * 8 + ["y"] * 2
    drawn = draw_from_strata(strata, 5, 1)
    assert [strata[index] for index in drawn] == ["x"] * 4 + ["y"]
    assert draw(5, 9, 0) == [0, 1, 2, 3, 4]
