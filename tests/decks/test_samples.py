"""Reading samples from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turnwise.decks.samples import HumanLabel, Sample, read_samples
from turnwise.diagnostics import Diagnostic

DATA = Path(__file__).parent / "data"
GOOD = 'messages = [{ role = "user", content = "Hi" }]'


def read(folder: Path, text: str, name: str = "s.toml") -> tuple[list[Sample], list[Diagnostic]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_samples(path)


def only(diagnostics: list[Diagnostic]) -> Diagnostic:
    (diagnostic,) = diagnostics
    return diagnostic


def test_the_contract_example(tmp_path: Path) -> None:
    """A sample has an id, messages, a label with a reason, and tags."""
    text = """[[samples]]
id = "math-1"
messages = [
  { role = "user", content = "What is 2+2?" },
  { role = "assistant", content = "The answer is 4" },
]
expected = { score = 1, reason = "Correct answer" }
tags = ["arithmetic"]
"""
    samples, diagnostics = read(tmp_path, text)
    assert diagnostics == []
    (sample,) = samples
    assert sample.id == "math-1"
    assert sample.messages[1] == {"role": "assistant", "content": "The answer is 4"}
    assert sample.expected == HumanLabel(1, None, "Correct answer")
    assert (sample.tags, sample.labels, sample.cluster) == (("arithmetic",), (), None)
    assert (Path(sample.file).name, sample.place.line) == ("s.toml", 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.toml", f"[[samples]]\nid='a'\n{GOOD}\n[[samples]]\nid='b'\n{GOOD}"),
        ("s.toml", f"[samples.a]\n{GOOD}\n[samples.b]\n[[samples.b.messages]]\nrole='user'\ncontent='Hi'"),
        (
            "s.yaml",
            "samples:\n- &x {id: a, messages: [{role: user, content: Hi}]}\n- {<<: *x, id: b}",
        ),
        ("s.yml", "samples:\n  a: &x\n    messages: [{role: user, content: Hi}]\n  b: *x"),
        ("s.json", json.dumps({"samples": [{"id": i, "messages": [{"role": "user", "content": "Hi"}]} for i in "ab"]})),
        ("s.jsonl", "\n".join(json.dumps({"id": i, "messages": [{"role": "user", "content": "Hi"}]}) for i in "ab")),
    ],
)
def test_every_format(tmp_path: Path, name: str, text: str) -> None:
    """TOML with lists or keyed tables, YAML, JSON and JSONL hold the same samples."""
    samples, diagnostics = read(tmp_path, text, name)
    assert diagnostics == []
    assert [sample.id for sample in samples] == ["a", "b"]
    assert all(sample.messages == ({"role": "user", "content": "Hi"},) for sample in samples)
    assert samples[1].place.line is not None


def test_default_ids(tmp_path: Path) -> None:
    """A sample without id is named by file and index; a bad sample before it does not change that."""
    samples, _ = read(tmp_path, f"[[samples]]\n[[samples]]\n{GOOD}\n[[samples]]\nid='x'\n{GOOD}", "my.deck.toml")
    assert [sample.id for sample in samples] == ["my.deck-1", "x"]
    lines = '{"messages": []}\n\n{"messages": [{"role": "user", "content": "Hi"}]}\n'
    samples, _ = read(tmp_path, lines, "lines.jsonl")
    assert [(sample.id, sample.place.line) for sample in samples] == [("lines-1", 3)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("score = 2", HumanLabel(2)),
        ("score = -3", HumanLabel(-3)),
        ("score = '+2'", HumanLabel(2)),
        ("expected = 0.5", HumanLabel(0.5)),
        ("expected = 'good'", HumanLabel(None, "good")),
        ("expected = '2'", HumanLabel(None, "2")),
        ("expected = true", HumanLabel(None, "true")),
        ("expected = { label = 'B', reason = 'why' }", HumanLabel(None, "B", "why")),
        ("expected = { label = 2 }", HumanLabel(2)),
        ("expected = { score = '-1.5' }", HumanLabel(-1.5)),
        ("expected = { reason = 'why' }", HumanLabel(None, None, "why")),
        ("score = 1\nexpected = { reason = 'why' }", HumanLabel(1, None, "why")),
        ("", None),
    ],
)
def test_labels(tmp_path: Path, written: str, expected: HumanLabel | None) -> None:
    """The label is `.score` or `.label` of `expected`, or the bare value; `score = 2` is the short form."""
    samples, diagnostics = read(tmp_path, f"[[samples]]\n{GOOD}\n{written}")
    assert diagnostics == []
    assert samples[0].expected == expected
    assert samples[0].is_labelled == (expected is not None and expected.value is not None)


def test_several_raters(tmp_path: Path) -> None:
    """`labels` holds the labels of several people, `cluster` what belongs together."""
    labels = "[{rater='ann', score=1}, {rater='ben', label='tie', reason='r'}]"
    text = f"[[samples]]\n{GOOD}\ncluster='c7'\nlabels={labels}"
    samples, diagnostics = read(tmp_path, text)
    assert diagnostics == []
    assert samples[0].labels == (HumanLabel(1, None, None, "ann"), HumanLabel(None, "tie", "r", "ben"))
    assert (samples[0].cluster, samples[0].is_labelled) == ("c7", True)


def test_roles_are_free(tmp_path: Path) -> None:
    """Any non-empty role in any order is good."""
    text = "[[samples]]\nmessages=[{role='assistant', content=' '}, {role='Wizard of Oz', content='x', name='Oz'}]"
    samples, diagnostics = read(tmp_path, text)
    assert diagnostics == []
    assert [message["role"] for message in samples[0].messages] == ["assistant", "Wizard of Oz"]


@pytest.mark.parametrize(
    ("sample", "sentence"),
    [
        ({}, "Sample must have messages array"),
        ({"messages": "Hi"}, "Sample must have messages array"),
        ({"messages": None}, "Sample must have messages array"),
        (5, "Sample must have messages array"),
        ({"messages": []}, "Messages array cannot be empty"),
        ({"messages": [{"content": "Hi"}]}, "Each message must have a role string"),
        ({"messages": [{"role": "", "content": "Hi"}]}, "Each message must have a role string"),
        ({"messages": [{"role": 5, "content": "Hi"}]}, "Each message must have a role string"),
        ({"messages": [{"role": "user"}]}, "Each message must have a content string"),
        ({"messages": [{"role": "user", "content": ""}]}, "Each message must have a content string"),
        ({"messages": [{"role": "user", "content": ["Hi"]}]}, "Each message must have a content string"),
    ],
)
@pytest.mark.parametrize("name", ["s.jsonl", "s.json"])
def test_exact_sentences(tmp_path: Path, sample: object, sentence: str, name: str) -> None:
    """A bad sample is skipped with a warning in exactly these words, which names file, line and sample."""
    good = {"messages": [{"role": "user", "content": "Hi"}]}
    if isinstance(sample, dict):
        sample = {"id": "bad", **sample}
    text = json.dumps({"samples": [good, sample]}, indent=1)
    if name == "s.jsonl":
        text = "\n".join(json.dumps(each) for each in (good, sample))
    samples, diagnostics = read(tmp_path, text, name)
    assert [each.id for each in samples] == ["s-0"]
    warning = only(diagnostics)
    sample_id = "bad" if isinstance(sample, dict) else "s-1"
    assert (warning.severity, warning.message, warning.case_id) == ("warning", sentence, sample_id)
    assert Path(warning.file).name == name
    assert (warning.place.line or 0) > 1
    assert warning.hint == f"sample `{sample_id}` is skipped"


def test_every_bad_message_is_named(tmp_path: Path) -> None:
    """Each fault of a sample is said, at its own line; but not without end."""
    text = "[[samples]]\nmessages = [\n{ role = 'user' },\n{ content = 'x' },\n]"
    _, diagnostics = read(tmp_path, text)
    assert [(d.severity, d.place.line) for d in diagnostics] == [("warning", 3), ("warning", 4), ("error", None)]
    _, diagnostics = read(tmp_path, "[[samples]]\nmessages = [" + "{},\n" * 1000 + "]")
    assert len(diagnostics) < 50


def test_none_left(tmp_path: Path) -> None:
    """If no sample is left, there is an error."""
    _, diagnostics = read(tmp_path, "[[samples]]\n[[samples]]\n")
    assert [d.severity for d in diagnostics] == ["warning", "warning", "error"]
    assert diagnostics[-1].message == "no sample is left: all 2 are skipped"


@pytest.mark.parametrize(
    ("name", "text"), [("s.toml", ""), ("s.yaml", ""), ("s.jsonl", "\n"), ("s.json", '{"samples": []}')]
)
def test_no_samples(tmp_path: Path, name: str, text: str) -> None:
    """A file without samples is an error."""
    assert only(read(tmp_path, text, name)[1]).message == "the file holds no samples"


def test_contexts_alone(tmp_path: Path) -> None:
    """A file of contexts alone is a good file, and its contexts are checked."""
    assert read(tmp_path, "[contexts.a]\nassistantQuestion = 'What?'") == ([], [])
    assert only(read(tmp_path, "[contexts.a]\ndefault = 'x'")[1]).message == "`assistantQuestion` is missing"


def test_duplicate_ids(tmp_path: Path) -> None:
    """Two samples with one id are an error that names both lines."""
    samples, diagnostics = read(tmp_path, f"[[samples]]\nid='a'\n{GOOD}\n[[samples]]\nid='a'\n{GOOD}")
    error = only(diagnostics)
    assert (error.severity, error.code, error.place.line) == ("error", "duplicate-id", 5)
    assert "'a' is used twice, first in line 1" in error.message
    assert len(samples) == 1
    line = '{"id": "x", "messages": [{"role": "user", "content": "Hi"}]}\n'
    error = only(read(tmp_path, line + "\n" + line, "s.jsonl")[1])
    assert (error.place.line, error.message) == (3, "the sample id 'x' is used twice, first in line 1")


def test_default_id_may_collide(tmp_path: Path) -> None:
    """A written id that another sample has by default is a duplicate too."""
    _, diagnostics = read(tmp_path, f"[[samples]]\nid='s-1'\n{GOOD}\n[[samples]]\n{GOOD}")
    assert only(diagnostics).code == "duplicate-id"


def test_old_format(tmp_path: Path) -> None:
    """`userMessage` and `assistantResponse` are not read; the warning says what to write instead."""
    text = "[[samples]]\nid='a'\nuserMessage='Hi'\nassistantResponse='Ho'\n[[samples]]\n" + GOOD
    samples, diagnostics = read(tmp_path, text)
    assert [sample.id for sample in samples] == ["s-1"]
    old, skipped = diagnostics
    assert (old.severity, old.code, old.place.line, old.case_id) == ("warning", "old-sample-format", 3, "a")
    assert old.message.startswith("`userMessage` and `assistantResponse` are not read in a sample: write `messages = [")
    assert (skipped.severity, skipped.message) == ("warning", "Sample must have messages array")


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("expcted = 1", "unknown key `expcted`", "did you mean `expected`?"),
        ("expected = { scor = 1 }", "unknown key `scor`", "did you mean `score`?"),
        ("labels = [{ rater = 'a', scroe = 1, label = 'x' }]", "unknown key `scroe`", "did you mean `score`?"),
        ("labels = [{ score = 1 }]", "`rater` is missing", "add `rater = …` here"),
        ("labels = [{ rater = 'a' }]", "a label needs `score` or `label`", None),
        ("expected = { score = 1, label = 'x' }", "give `score` or `label`, not both", None),
        ("expected = 1\nscore = 1", "give `score` or `expected`, not both: one is short for the other", None),
        (
            "score = 'good'",
            "a score must be a finite number, found the text 'good'",
            "a word or true/false is a `label`",
        ),
        ("score = true", "a score must be a finite number, found true", "a word or true/false is a `label`"),
        ("score = nan", "a score must be a finite number, found the number nan", "a word or true/false is a `label`"),
        ("expected = ['x']", "a label must be a text or a finite number, found a list", None),
        ("expected = ''", "a label must be a text or a finite number, found an empty text", None),
        ("tags = 'x'", "`tags` must be a list, found the text 'x'", "write a list"),
        ("tags = [1]", "this item must be text, found the number 1", "quote it"),
        ("id = 5", "`id` must be text, found the number 5", "quote it"),
        ("id = ''", "`id` must not be empty", "fill it in, or remove it"),
        ("cluster = 7", "`cluster` must be text, found the number 7", "quote it"),
    ],
)
def test_errors(tmp_path: Path, written: str, message: str, hint: str | None) -> None:
    """What is not understood is an error at its line, with a hint."""
    _, diagnostics = read(tmp_path, f"[[samples]]\n{GOOD}\n{written}\n[[samples]]\n{GOOD}")
    error = only(diagnostics)
    assert (error.severity, error.message, error.hint) == ("error", message, hint)
    assert error.place.line == (1 if "expected`, not both" in message else 3)


def test_unknown_key_of_a_message(tmp_path: Path) -> None:
    """An unknown key of a message is an error with a hint."""
    _, diagnostics = read(tmp_path, "[[samples]]\nmessages=[{role='user', content='Hi', contnt='x'}]")
    error = only(diagnostics)
    assert (error.severity, error.message, error.hint) == ("error", "unknown key `contnt`", "did you mean `content`?")


def test_allowed_extras(tmp_path: Path) -> None:
    """`name`, `description` and `metadata` may stand in a sample."""
    text = f"[[samples]]\n{GOOD}\nname='n'\ndescription='d'\n[samples.metadata]\nanything=1"
    assert read(tmp_path, text)[1] == []


def test_keyed_id(tmp_path: Path) -> None:
    """The key of a table is the sample's id; an `id` that differs is an error, an empty key too."""
    assert read(tmp_path, f"[samples.a]\nid='a'\n{GOOD}")[1] == []
    assert only(read(tmp_path, f"[samples.a]\nid='b'\n{GOOD}")[1]).code == "id-differs"
    assert only(read(tmp_path, f'[samples.""]\n{GOOD}')[1]).code == "empty"


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("s.toml", f"[samples]\n{GOOD}", "wrong-type"),
        ("s.toml", "samples = 5", "wrong-type"),
        ("s.toml", f"[[sample]]\n{GOOD}", "unknown-key"),
        ("s.toml", "a = ", "bad-toml"),
        ("s.yaml", "- a", "wrong-type"),
        ("s.yaml", "a: [", "bad-yaml"),
        ("s.jsonl", "{", "bad-json"),
        ("s.jsonl", "[" * 100_000, "too-deep"),
        ("s.json", "[]", "wrong-type"),
        ("s.xlsx", "a,b", "bad-ending"),
        ("s", "", "bad-ending"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, name: str, text: str, code: str) -> None:
    """A file that is not what it should be gives one error with a stable code."""
    samples, diagnostics = read(tmp_path, text, name)
    error = only(diagnostics)
    assert samples == []
    assert error.severity == "error"
    assert error.code == code or code == "bad-yaml"


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file, a folder and bytes that are not text are errors."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "bytes.toml").write_bytes(b"a = '\xff'")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\n\0\n")
    for name in ("none.toml", "none.jsonl", "folder.toml", "bytes.toml", "bytes.jsonl"):
        samples, diagnostics = read_samples(tmp_path / name)
        assert samples == []
        assert {d.severity for d in diagnostics} == {"error"}


def test_a_broken_line_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """A line of a JSONL file that is not JSON is an error at its line; the others are read."""
    good = '{"messages": [{"role": "user", "content": "Hi"}]}'
    samples, diagnostics = read(tmp_path, f"{good}\n{{oops\n{good}", "s.jsonl")
    assert [sample.id for sample in samples] == ["s-0", "s-2"]
    assert only(diagnostics).place.line == 2


def test_problems_have_a_bound(tmp_path: Path) -> None:
    """A file with thousands of bad samples does not give thousands of problems."""
    _, diagnostics = read(tmp_path, "{}\n" * 5000, "s.jsonl")
    assert len(diagnostics) == 1001
    assert diagnostics[-1].code == "too-many"


@pytest.mark.parametrize(
    "path", sorted((DATA / "labelled").glob("*/*samples.jsonl")), ids=lambda path: path.parent.name
)
def test_published_data(path: Path) -> None:
    """Published label files are read as they are: ids, clusters, tags and the labels of several people."""
    samples, diagnostics = read_samples(path)
    assert diagnostics == []
    assert len(samples) == 12
    assert all(sample.is_labelled for sample in samples)
