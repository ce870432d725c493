"""Bad input of `turnwise calibrate`: what is said, where, and with which exit code; never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Said, Turnwise
from replay_fixtures import Row, binary_cells, calibration_files, deck_text, judge_lines, sample_row, write_lines

Calibrate = Callable[..., Said]
_MESSAGES = 'messages = [{ role = "user", content = "Hi" }]'


@pytest.fixture
def calibrate(turnwise: Turnwise, tmp_path: Path) -> Calibrate:
    """`turnwise calibrate` on files that are written first; a text is written as it is, rows as JSON lines."""

    def called(*arguments: str, **files: Any) -> Said:
        for name, content in files.items():
            path = tmp_path / name.replace("__", "-").replace("_", ".")
            if isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            else:
                write_lines(path, content)
        said = turnwise("calibrate", *arguments)
        assert "Traceback" not in said.err + said.out
        assert "internal error" not in said.err
        return said

    return called


def _replayed(calibrate: Calibrate, samples: Any, outputs: Any = None, *arguments: str, **files: Any) -> Said:
    recorded = judge_lines("judge", {"a": "pass"}) if outputs is None else outputs
    name = "s.toml" if isinstance(samples, str) else "s.jsonl"
    given: Row = {name.replace(".", "_"): samples, "r_jsonl": recorded, **files}
    return calibrate("--samples", name, "--replay", "r.jsonl", *arguments, **given)


def _toml(*entries: str) -> str:
    return "".join(f'[[samples]]\nid = "{name}"\n{_MESSAGES}\n{entry}\n' for name, entry in zip("abcdef", entries))  # noqa: B905


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("score = nan", ["finite number", "nan"]),
        ("score = inf", ["finite number", "inf"]),
        ("score = -inf", ["finite number", "-inf"]),
        ("expected = { score = nan }", ["finite number"]),
        ("expected = { label = '' }", ["empty text"]),
        ("score = 1\nexpected = 2", ["`score` or `expected`"]),
        ("labels = [{ rater = 'ann', score = 1 }, { rater = 'ann', score = 2 }]", ["same rater", "`ann`"]),
        ("labels = [{ score = 1 }]", ["rater"]),
        ("labels = [{ rater = 'ann' }]", ["needs `score` or `label`"]),
    ],
)
def test_labels_that_are_none(calibrate: Calibrate, entry: str, words: list[str]) -> None:
    """A label that is no finite number or word, or that one person gave twice, is an error at its line."""
    said = _replayed(calibrate, _toml("score = 1", entry))
    assert (said.code, said.out) == (2, "")
    # The second sample is on lines 5 to 9; two labels that exclude each other are said of the sample.
    assert any(f"s.toml:{line}:" in said.err for line in (5, 8))
    assert all(word in said.err for word in words)


def test_a_label_outside_the_declared_scale(calibrate: Calibrate) -> None:
    """The error names file, line, label and scale, and what to correct."""
    deck = deck_text('kind = "ordinal"\nmin = 1\nmax = 5')
    said = _replayed(calibrate, _toml("score = 1", "score = 6"), None, "d.deck.md", d_deck_md=deck)
    assert said.code == 2
    assert "s.toml:8:" in said.err
    assert "the label 6 of sample `b` is not on the scale: a number from 1 to 5" in said.err
    assert "hint: correct the label" in said.err


def test_duplicate_ids_within_a_file_and_between_files(calibrate: Calibrate) -> None:
    """A sample id that is used twice is an error at the second place, which names the first."""
    twice = _replayed(calibrate, [sample_row("a", "pass"), sample_row("b", "fail"), sample_row("a", "fail")])
    assert twice.code == 2
    assert "s.jsonl:3" in twice.err
    assert "'a' is used twice, first in line 1" in twice.err
    both = calibrate(
        "--samples", "one.jsonl", "--samples", "two.jsonl", "--replay", "r.jsonl",
        one_jsonl=[sample_row("a", "pass")], two_jsonl=[sample_row("b", "pass"), sample_row("a", "fail")],
    )  # fmt: skip
    assert both.code == 2
    assert "two.jsonl:2" in both.err
    assert "one.jsonl, line 1" in both.err


@pytest.mark.parametrize("labels", [[], ["pass"], ["pass", "fail"], ["pass"] * 30])
def test_hardly_any_labels(calibrate: Calibrate, labels: list[str]) -> None:
    """None, one, two, or one class only: there is a report, without a figure that is not defined."""
    samples = [sample_row("open"), *(sample_row(f"s{place}", label) for place, label in enumerate(labels))]
    said = judge_lines("judge", {each["id"]: "pass" for each in samples})
    report = _replayed(calibrate, samples, said, "--format", "json")
    [model] = json.loads(report.out)["models"]
    assert model["verdict"]["use"] in ("unknown", "none")
    text = _replayed(calibrate, samples, said)
    assert "judge" in text.out
    assert text.code == report.code


@pytest.mark.parametrize("deck", [None, deck_text('kind = "binary"\nlabels = ["fail", "pass"]')])
def test_judges_that_always_say_the_same(calibrate: Calibrate, deck: str | None) -> None:
    """Two constant judges are both no better than the constant, and their difference is no reliable one."""
    samples, _ = binary_cells((10, 0, 0, 10))
    ids = [each["id"] for each in samples]
    said = judge_lines("yea", dict.fromkeys(ids, "pass")) + judge_lines("nay", dict.fromkeys(ids, "fail"))
    files = {} if deck is None else {"d_deck_md": deck}
    result = _replayed(calibrate, samples, said, *([] if deck is None else ["d.deck.md"]), "--format", "json", **files)
    report = json.loads(result.out)
    assert [each["verdict"]["use"] for each in report["models"]] == ["none", "none"]
    assert not any(each["reliable"] for model in report["models"] for each in model["differences"])
    assert [each["statistics"]["kappa"]["value"] for each in report["models"]] == [0, 0]


def test_all_verdicts_invalid_each_in_its_own_way(calibrate: Calibrate) -> None:
    """Every way of giving no verdict is counted under its name and listed; no figure has a value; the end is 3."""
    kinds: dict[str, Row] = {
        "empty": {"output": "  "},
        "not_json": {"output": "It is rather good, all things considered."},
        "no_score": {"output": '{"reason": "fine"}'},
        "wrong_type": {"output": '{"score": [1, 2]}'},
        "out_of_range": {"output": '{"score": 9}'},
        "ungradable": {"output": '{"score": 0}'},
        "refusal": {"output": "I'm sorry, but I can't help with that."},
        "truncated": {"output": '{"score": 2, "rea', "finish_reason": "length"},
        "api_error": {"output": None, "error": "500"},
    }
    names = [*kinds, "missing"]
    samples = [sample_row(name, place % 3 + 1) for place, name in enumerate(names)]
    outputs = [{"id": name, "model": "judge", **line} for name, line in kinds.items()]
    deck = deck_text('kind = "ordinal"\nmin = 0\nmax = 5\nungradable = 0')
    said = _replayed(calibrate, samples, outputs, "d.deck.md", "--format", "json", d_deck_md=deck)
    assert said.code == 0
    [model] = json.loads(said.out)["models"]
    assert model["invalid"] == dict.fromkeys(names, 1)
    listed = {each["status"]: each["id"] for each in model["invalid_outputs"]}
    assert listed == {name: name for name in kinds}
    assert all(figure is None or figure["value"] is None for figure in model["statistics"].values())


@pytest.mark.parametrize("size", ["1e308", "-1e200", "1e101"])
def test_scores_beyond_all_measure(calibrate: Calibrate, size: str) -> None:
    """A judge's score of such a size is out of range, and no figure knows it; a person's is an error at its line."""
    labels = [0.5, 1.5, 2.5, 3.25]
    samples = [sample_row(f"s{place}", label) for place, label in enumerate(labels)]
    outputs = judge_lines("judge", {"s0": size, "s1": 1.5, "s2": 2.5, "s3": 3.0})
    said = _replayed(calibrate, samples, outputs, "--format", "json")
    [model] = json.loads(said.out)["models"]
    assert (model["invalid"], model["statistics"]["mae"]["value"]) == ({"out_of_range": 1}, pytest.approx(0.25 / 3))
    refused = _replayed(calibrate, _toml("score = 1.5", f"score = {size}", "score = 2.5"))
    assert refused.code == 2
    assert "s.toml:8:" in refused.err
    assert "a number up to 1e+100" in refused.err


def test_large_scores_that_can_be_compared(calibrate: Calibrate) -> None:
    """Up to that size, every figure is a number: the judge that is right has no error."""
    labels = [1e100, -1e100, 1.5, 2.5]
    samples = [sample_row(f"s{place}", label) for place, label in enumerate(labels)]
    outputs = judge_lines("right", {f"s{place}": label for place, label in enumerate(labels)})
    outputs += judge_lines("wrong", {f"s{place}": -label for place, label in enumerate(labels)})
    said = _replayed(calibrate, samples, outputs, "--format", "json")
    right, wrong = json.loads(said.out)["models"]
    assert (right["statistics"]["mae"]["value"], right["statistics"]["lin_ccc"]["value"]) == (0, 1)
    assert wrong["statistics"]["mae"]["value"] == pytest.approx(1e100)


def test_an_unknown_id_in_the_replay(calibrate: Calibrate) -> None:
    """An output for a sample that there is not is an error at its line, with the nearest id."""
    outputs = judge_lines("judge", {"math-1": "pass", "math-3": "pass"})
    said = _replayed(calibrate, [sample_row("math-1", "pass"), sample_row("math-2", "fail")], outputs)
    assert said.code == 2
    assert "r.jsonl:2" in said.err
    assert "no sample has the id 'math-3'" in said.err
    assert "math-" in said.err.partition("hint")[2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "a", "model": "ju', ["r.jsonl:2"]),
        ("[1, 2]", ["r.jsonl:2", "must be an object"]),
        ('{"id": "a", "output": "pass"}', ["r.jsonl:2", "`model`"]),
        ('{"model": "judge", "output": "pass"}', ["r.jsonl:2", "`id`"]),
        ('{"id": 7, "model": "judge", "output": "pass"}', ["r.jsonl:2", "`id`"]),
    ],
)
def test_lines_of_a_replay_that_cannot_be_used(calibrate: Calibrate, line: str, words: list[str]) -> None:
    """A torn line, or one without id or model, is an error with file and line: nothing is left out silently."""
    good = json.dumps(judge_lines("judge", {"a": "pass"})[0])
    said = _replayed(calibrate, [sample_row("a", "pass")], f"{good}\n{line}\n")
    assert said.code == 2
    assert all(word in said.err for word in words)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_replay(calibrate: Calibrate, content: str) -> None:
    """A file without outputs is an error, not a report of nothing."""
    said = _replayed(calibrate, [sample_row("a", "pass")], content)
    assert said.code == 2
    assert "no recorded outputs" in said.err


def test_the_older_sample_format(calibrate: Calibrate) -> None:
    """`userMessage` is not read; the message says what to write instead."""
    text = '[[samples]]\nid = "a"\nuserMessage = "Hi"\nassistantResponse = "Hello"\nscore = 1\n'
    said = _replayed(calibrate, text)
    assert said.code == 2
    assert "s.toml:3:" in said.err
    assert "`userMessage` and `assistantResponse` are not read" in said.err
    assert 'messages = [{ role = "user"' in said.err


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 2)])
def test_a_bad_sample_is_skipped_with_a_warning_or_refused(
    calibrate: Calibrate, strict: tuple[str, ...], code: int
) -> None:
    """A sample without messages is named with file and line, and counted as skipped; `--strict` ends there."""
    samples = [sample_row("a", "pass"), {"id": "b", "messages": []}, sample_row("c", "fail")]
    outputs = judge_lines("judge", {"a": "pass", "c": "fail"})
    said = _replayed(calibrate, samples, outputs, "--format", "json", *strict)
    assert said.code == code
    assert "s.jsonl:2" in said.err
    assert "Messages array cannot be empty" in said.err
    if not strict:
        counts = json.loads(said.out)["samples"]
        assert (counts["total"], counts["skipped"]) == (2, 1)


def test_no_sample_left(calibrate: Calibrate) -> None:
    """Where every sample is bad, the command fails and says so."""
    said = _replayed(calibrate, [{"id": "a", "messages": []}, {"id": "b"}])
    assert said.code == 2
    assert "no sample is left: all 2 are skipped" in said.err


def test_raters_who_spell_labels_differently(calibrate: Calibrate) -> None:
    """`Pass`, `PASS ` and `pass` are one label, of people as of judges."""
    votes = [("Pass", "PASS"), ("fail", "Fail"), ("pass", "pass")]
    samples = [
        sample_row(f"s{place}", labels=[{"rater": "ann", "label": one}, {"rater": "ben", "label": other}])
        for place, (one, other) in enumerate(votes)
    ]
    said = _replayed(
        calibrate, samples, judge_lines("judge", {"s0": "pass", "s1": "FAIL", "s2": " Pass "}), "--format", "json"
    )
    report = json.loads(said.out)
    assert (report["scale"]["kind"], len(report["scale"]["labels"])) == ("binary", 2)
    assert report["models"][0]["statistics"]["agreement"]["value"] == 1.0
    assert report["ceiling"]["statistics"]["agreement"]["value"] == 1.0


def test_a_very_long_message(calibrate: Calibrate) -> None:
    """A message and an output of a megabyte are compared as any other, and not printed whole."""
    long = "word " * 200_000
    samples = [sample_row("a", "pass"), sample_row("b", "fail"), sample_row("c", "fail")]
    samples[1]["messages"][1]["content"] = long
    outputs = judge_lines("judge", {"a": "pass", "b": json.dumps({"label": "pass", "reason": long}), "c": long})
    said = _replayed(calibrate, samples, outputs)
    assert said.code == 0
    assert len(said.out) < 20_000


def test_a_deck_that_includes_itself(calibrate: Calibrate) -> None:
    """A cycle of includes is an error that prints the chain."""
    said = _replayed(
        calibrate, [sample_row("a", "pass")], None, "d.deck.md",
        d_deck_md="Grade.\n\n![part](part.md)\n", part_md="Part.\n\n![deck](d.deck.md)\n",
    )  # fmt: skip
    assert said.code == 2
    assert "part.md:3" in said.err
    assert said.err.count("d.deck.md") >= 2


@pytest.mark.parametrize("text", ["", "\n \n", "+++\n+++\n"])
def test_an_empty_deck(calibrate: Calibrate, text: str) -> None:
    """A deck without a word for the judge is warned of, and an error with `--strict`."""
    said = _replayed(calibrate, [sample_row("a", "pass")], None, "d.deck.md", d_deck_md=text)
    assert "d.deck.md:1:1: warning: the deck has no text" in said.err
    strict = _replayed(calibrate, [sample_row("a", "pass")], None, "d.deck.md", "--strict", d_deck_md=text)
    assert (strict.code, strict.out) == (2, "")


def test_a_deck_without_samples(calibrate: Calibrate) -> None:
    """A deck that brings no samples says how to give it some."""
    said = calibrate("d.deck.md", "-m", "any", d_deck_md=deck_text())
    assert said.code == 2
    assert "d.deck.md" in said.err
    assert "--samples" in said.err


_LEAK = deck_text(more="[contexts.expected]\nassistantQuestion = 'What is expected?'")


def test_a_deck_that_shows_the_label(calibrate: Calibrate) -> None:
    """It is refused, unless one insists; then the report says so."""
    samples, outputs = binary_cells((2, 0, 0, 2))
    refused = _replayed(calibrate, samples, outputs, "d.deck.md", d_deck_md=_LEAK)
    assert (refused.code, refused.out) == (2, "")
    assert "--allow-label-leak" in refused.err
    insisted = _replayed(calibrate, samples, outputs, "d.deck.md", "--allow-label-leak", "-f", "json", d_deck_md=_LEAK)
    assert insisted.code == 0
    assert json.loads(insisted.out)["warnings"][0]["code"] == "label_leak"


@pytest.mark.parametrize("missing", ["s.jsonl", "r.jsonl", "d.deck.md"])
def test_files_that_do_not_exist(calibrate: Calibrate, tmp_path: Path, missing: str) -> None:
    """The message names the file and says that it does not exist."""
    calibration_files(tmp_path, *binary_cells((2, 0, 0, 2)), deck_text())
    (tmp_path / missing).unlink()
    said = calibrate("d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert said.code == 2
    assert missing in said.err
    assert "does not exist" in said.err or "No such file" in said.err


@pytest.mark.parametrize("unreadable", ["s.jsonl", "r.jsonl", "d.deck.md"])
def test_files_that_are_no_text(calibrate: Calibrate, tmp_path: Path, unreadable: str) -> None:
    """Bytes that are no UTF-8 are an error with the file's name."""
    calibration_files(tmp_path, *binary_cells((2, 0, 0, 2)), deck_text())
    (tmp_path / unreadable).write_bytes(b"\xff\xfe\x00\x80\n")
    said = calibrate("d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert said.code == 2
    assert unreadable in said.err


@pytest.mark.parametrize("folder", ["s.jsonl", "d.deck.md"])
def test_files_that_are_folders(calibrate: Calibrate, tmp_path: Path, folder: str) -> None:
    """A folder in the place of a file is said to be one, or searched for decks."""
    calibration_files(tmp_path, *binary_cells((2, 0, 0, 2)), deck_text())
    (tmp_path / folder).unlink()
    (tmp_path / folder).mkdir()
    said = calibrate("d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert said.code == 2
    assert folder in said.err


def test_a_replay_folder_without_a_journal(calibrate: Calibrate, tmp_path: Path) -> None:
    """A folder that holds no recorded answers is an error about the file that is missing."""
    (tmp_path / "old").mkdir()
    said = calibrate("--samples", "s.jsonl", "--replay", "old", s_jsonl=[sample_row("a", "pass")])
    assert said.code == 2
    assert "results.jsonl" in said.err


def test_a_model_that_the_replay_does_not_hold(calibrate: Calibrate) -> None:
    """A misspelt model is an error that names those there are."""
    samples, outputs = binary_cells((2, 0, 0, 2), model="gpt-4")
    said = _replayed(calibrate, samples, outputs, "-m", "gtp-4")
    assert said.code == 2
    assert "'gtp-4'" in said.err
    assert "gpt-4" in said.err.replace("gtp-4", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["no deck", "demo"]),
        (("--replay", "r.jsonl"), ["--samples"]),
        (("d.deck.md", "--repeats", "0", "-m", "x"), ["repeats"]),
        (("d.deck.md", "--temperature", "hot", "-m", "x"), ["--temperature"]),
        (("d.deck.md", "--temperature", "nan", "-m", "x"), ["--temperature"]),
        (("--resume", "x", "--repeats", "2"), ["--repeats", "--resume"]),
        (("d.deck.md", "--quiet", "--format", "json"), ["--quiet"]),
    ],
)
def test_calls_that_make_no_sense(
    calibrate: Calibrate, tmp_path: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    """They end with 2 and say what is wrong with the call."""
    samples, outputs = binary_cells((2, 0, 0, 2))
    calibration_files(tmp_path, samples, outputs, deck_text())
    said = calibrate(*arguments)
    assert said.code == 2
    assert all(word in said.err for word in words)


def test_hostile_text_reaches_no_terminal(calibrate: Calibrate) -> None:
    """Escape sequences in ids, labels, outputs and model names are not sent to the terminal."""
    bad = "\x1b[2J\x07"
    samples = [sample_row(f"a{bad}", "pass"), sample_row("b", "fail"), sample_row("c", "fail")]
    outputs = judge_lines(f"judge{bad}", {f"a{bad}": f"hm {bad}", "b": "pass", "c": "fail"})
    said = _replayed(calibrate, samples, outputs)
    assert "\x1b[2J" not in said.out + said.err
    assert "\x07" not in said.out + said.err
    unknown = _replayed(calibrate, samples, judge_lines("judge", {f"zz{bad}": "pass"}))
    assert unknown.code == 2
    assert "\x1b[2J" not in unknown.err
