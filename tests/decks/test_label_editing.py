"""Labels into files that people have written, with nothing else in them changed."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from turnwise.decks.label_editing import set_label
from turnwise.decks.sample import HumanLabel
from turnwise.decks.samples import read_samples
from turnwise.errors import InputError, UsageError

TURN = '{ role = "user", content = "Hi" }'
ONE = HumanLabel(1)
WHY = HumanLabel(2, None, 'she said "no"\n# not a comment')
WORD = HumanLabel(None, "good")
ANN = HumanLabel(1, None, None, "ann")
BEN = HumanLabel(None, "bad", "rude", "ben")


def labels_of(path: Path, sample_id: str = "a") -> tuple[HumanLabel | None, tuple[HumanLabel, ...]]:
    samples, _ = read_samples(path)
    (sample,) = [each for each in samples if each.id == sample_id]
    return sample.expected, sample.labels


TOML = [
    f'# top\n[[samples]] # first\nid = "a"\nmessages = [{TURN}] # hi\n\n'
    f'# second\n[[samples]]\nid="b"\nmessages=[{TURN}]\n',
    f'[[samples]]\r\nid = "a"\r\nmessages = [\r\n  {TURN}, # ]\r\n]\r\ntags = ["x"] # t\r\n',
    f"[samples.a]\n  messages = [{TURN}]\n  score = 3 # was 2\n  # end",
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\nexpected = {{ score = 3, reason = "old }} ]" }} # why\n',
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\nexpected = "bad" # w\n',
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\nscore = 3 # s\nexpected = {{ reason = "x" }} # r\n',
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\n[samples.expected] # e\nscore = 3 # s\nreason = "x" # r\n# end\n',
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\n[samples.expected] # e\nreason = "x" # r\n',
    f'[[samples]]\nid = "a"\nmessages = [{TURN}]\nexpected.label = "bad" # l\nexpected.reason = "x" # r\n',
    '[[samples.a.messages]] # m\nrole = "user"\ncontent = "Hi"\n[[samples.b.messages]]\nrole="user"\ncontent="Ho"\n',
    f'samples = [ {{ id = "a", messages = [{TURN}] }}, {{ id = "b", messages = [{TURN}] }} ] # inline',
    f'description = """\n[[samples]]\n"""\n[samples]\na.messages = [{TURN}] # d\n',
]


@pytest.mark.parametrize("label", [ONE, WHY, WORD], ids=["score", "reason", "word"])
@pytest.mark.parametrize("text", TOML)
def test_expected_in_toml(tmp_path: Path, text: str, label: HumanLabel) -> None:
    """However a sample is written in TOML, the label becomes its `expected`, and every comment stays."""
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8", newline="")
    set_label(path, "a", label)
    assert labels_of(path) == (label, ())
    new = path.read_bytes().decode()
    for comment in [part for part in text.splitlines() if "# " in part]:
        assert comment[comment.index("# ") :] in new
    assert ("\r\n" in text) == ("\r\n" in new)


@pytest.mark.parametrize("text", TOML)
def test_raters_in_toml(tmp_path: Path, text: str) -> None:
    """The labels of raters are added, `expected` stays, and a second label of a rater replaces the first."""
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8", newline="")
    before = labels_of(path)[0]
    set_label(path, "a", ANN)
    assert labels_of(path) == (before, (ANN,))
    set_label(path, "a", BEN)
    assert labels_of(path) == (before, (ANN, BEN))
    again = HumanLabel(0.5, None, "changed", "ann")
    set_label(path, "a", again)
    assert labels_of(path) == (before, (again, BEN))


def test_an_empty_list_of_labels(tmp_path: Path) -> None:
    """A list that holds only a comment keeps it."""
    path = tmp_path / "s.toml"
    path.write_text(f"[[samples]]\nid = 'a'\nmessages = [{TURN}]\nlabels = [ # none yet\n]\n")
    set_label(path, "a", ANN)
    assert labels_of(path) == (None, (ANN,))
    assert "# none yet" in path.read_text()


def test_an_inserted_label_leaves_every_other_byte(tmp_path: Path) -> None:
    """A first label is one more line below the messages, and nothing else."""
    path = tmp_path / "s.toml"
    path.write_text(TOML[0], encoding="utf-8")
    set_label(path, "a", HumanLabel(1, None, "good"))
    inserted = '] # hi\nexpected = { score = 1, reason = "good" }\n'
    assert path.read_text(encoding="utf-8") == TOML[0].replace("] # hi\n", inserted)


@pytest.mark.parametrize(
    "text",
    [
        "labels = [\n  { rater = 'ann', score = 2 }, # first\n  # last\n]\n",
        "labels = [{ rater = 'ann', score = 2 }]\n",
        "[[samples.labels]] # first\nrater = 'ann' # last\nscore = 2\n",
        "[[samples.labels]] # first\nrater = 'ann'\nlabel = 'x' # last\nreason = '''\n[[y]]\n'''\n",
    ],
)
def test_labels_that_are_there(tmp_path: Path, text: str) -> None:
    """Labels of others that people have written, in any form, stay beside a new one; comments stay."""
    path = tmp_path / "s.toml"
    path.write_text(f"[[samples]]\nid='a'\nmessages=[{TURN}]\n{text}# next\n[[samples]]\nid='b'\nmessages=[{TURN}]\n")
    (old,) = labels_of(path)[1]
    set_label(path, "a", BEN)
    assert labels_of(path) == (None, (old, BEN))
    set_label(path, "a", ANN)
    assert labels_of(path) == (None, (ANN, BEN))
    new = path.read_text()
    assert all(comment in new for comment in ("# first", "# last", "# next") if comment in text + "# next")


YAML = [
    "# top\nsamples:\n  - id: a # first\n    messages: [{role: user, content: Hi}] # m\n  - id: b\n    messages:\n"
    "      - role: user\n        content: |\n          Ho\n",
    "samples:\n  a:\n    messages:\n      - {role: user, content: Hi}\n    # end\n"
    "  b: {messages: [{role: u, content: x}]}\n",
    "samples: [{id: a, messages: [{role: user, content: Hi}]}] # flow\n",
    "samples:\n- id: a\n  messages: [{role: user, content: Hi}]\n"
    "  expected:\n    score: 3\n    reason: x\n  tags: [t] # t\n",
    "samples:\n- id: a\n  score: 3 # s\n  messages: [{role: user, content: Hi}]\n",
    "samples:\n- id: a\n  messages: [{role: user, content: Hi}]\n  expected: # nothing\n  labels: []\n",
]


@pytest.mark.parametrize("text", YAML)
def test_yaml(tmp_path: Path, text: str) -> None:
    """YAML is changed only where the label is; every comment stays."""
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    set_label(path, "a", WHY)
    set_label(path, "a", WORD)
    assert labels_of(path) == (WORD, ())
    for label in (ANN, BEN, HumanLabel(3, None, "again", "ann")):
        set_label(path, "a", label)
    assert labels_of(path) == (WORD, (HumanLabel(3, None, "again", "ann"), BEN))
    new = path.read_text(encoding="utf-8")
    assert all(part[part.index("# ") :] in new for part in text.splitlines() if "# " in part)


def test_what_cannot_be_changed_alone_is_refused(tmp_path: Path) -> None:
    """Where two samples share what would have to change, nothing is written, and the error says what to do."""
    path = tmp_path / "s.yaml"
    text = "samples:\n  a: &x\n    messages: [{role: user, content: Hi}]\n  b: *x\n"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"s\.yaml:\d+: the label of sample 'b'") as caught:
        set_label(path, "b", ONE)
    assert "samples convert" in (caught.value.hint or "")
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["s.yaml"]


def test_comments_inside_a_label_are_not_lost(tmp_path: Path) -> None:
    """A YAML label with a comment in it is not written over."""
    path = tmp_path / "s.yaml"
    text = "samples:\n- id: a\n  messages: [{role: u, content: x}]\n  expected:\n    score: 3 # sure\n    reason: x\n"
    path.write_text(text)
    with pytest.raises(UsageError, match="cannot be written without changing"):
        set_label(path, "a", ONE)
    assert path.read_text() == text


def test_jsonl_changes_one_line(tmp_path: Path) -> None:
    """In JSONL only the sample's line changes, be the others as odd as they are."""
    path = tmp_path / "s.jsonl"
    other = '{"messages":   [ {"role":"user","content":"\\u0041"} ] ,"score":1e0}'
    line = '{"id": "a", "messages": [{"role": "user", "content": "Hi"}], "score": 3}'
    path.write_bytes(f"\ufeff{other}\r\n\r\n{line}\r\nnot json\n".encode())
    set_label(path, "a", WHY)
    set_label(path, "a", ANN)
    new = path.read_bytes().decode("utf-8-sig").split("\n")
    assert (new[0], new[1], new[3:]) == (f"{other}\r", "\r", ["not json", ""])
    assert labels_of(path) == (WHY, (ANN,))


def test_json(tmp_path: Path) -> None:
    """A JSON document is written anew with the label."""
    path = tmp_path / "s.json"
    path.write_text('{"samples": {"a": {"messages": [{"role": "user", "content": "Hi"}]}}, "meta": {"x": 1}}')
    set_label(path, "a", ONE)
    set_label(path, "a", BEN)
    assert labels_of(path) == (ONE, (BEN,))
    assert '"meta": {"x": 1}' in path.read_text()


def test_csv(tmp_path: Path) -> None:
    """In CSV the label goes into the sample's line if that has none, and else into a line of its own."""
    path = tmp_path / "s.csv"
    path.write_text('id,user,assistant,score,label,reason,rater\na,"Hi",Ho,,,,\nb,  odd  ,"x",1,,,\n')
    set_label(path, "a", ANN)
    assert path.read_text().splitlines()[1:] == ["a,Hi,Ho,1,,,ann", 'b,  odd  ,"x",1,,,']
    set_label(path, "a", BEN)
    set_label(path, "b", BEN)
    assert path.read_text().splitlines()[2:] == [
        "a,,,,bad,rude,ben",
        'b,  odd  ,"x",1,,,',
        "b,,,,bad,rude,ben",
    ]
    assert labels_of(path) == (None, (ANN, BEN))
    assert labels_of(path, "b") == (HumanLabel(1), (BEN,))


def test_csv_without_the_columns(tmp_path: Path) -> None:
    """Columns that are missing are added, and a sample without id gets the one that it was known by."""
    path = tmp_path / "s.csv"
    path.write_text("user,assistant\nHi,Ho\nHa,He")
    set_label(path, "s-1", ANN)
    set_label(path, "s-1", BEN)
    assert labels_of(path, "s-1") == (None, (ANN, BEN))
    assert [sample.id for sample in read_samples(path)[0]] == ["s-0", "s-1"]


def test_mode_and_links_stay(tmp_path: Path) -> None:
    """The file keeps its mode, and a symbolic link to it stays a link."""
    path, link = tmp_path / "real.toml", tmp_path / "s.toml"
    path.write_text(f'[[samples]]\nid="a"\nmessages=[{TURN}]\n')
    path.chmod(0o640)
    link.symlink_to(path)
    set_label(link, "a", ONE)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert labels_of(path) == (ONE, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.json", "samples: [{id: a, messages: [{role: user, content: Hi}]}]"),
        ("s.yaml", '{\n\t"samples": [\n\t\t{"id": "a", "messages": [{"role": "u", "content": "x"}]}\n\t]\n}'),
    ],
)
def test_one_form_under_the_name_of_another(tmp_path: Path, name: str, text: str) -> None:
    """YAML in a .json file and JSON in a .yaml file are labelled, or refused with the file as it was."""
    path = tmp_path / name
    path.write_text(text)
    assert read_samples(path)[1] == []
    try:
        set_label(path, "a", ONE)
    except UsageError:
        assert path.read_text() == text
    else:
        assert labels_of(path) == (ONE, ())


def test_two_at_once(tmp_path: Path) -> None:
    """Several people who label one file at the same time do not lose each other's labels."""
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": "a", "messages": [{"role": "user", "content": "Hi"}]}\n')
    raters = [f"r{number}" for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda rater: set_label(path, "a", HumanLabel(1, rater=rater)), raters))
    assert sorted(str(label.rater) for label in labels_of(path)[1]) == sorted(raters)


def test_errors(tmp_path: Path) -> None:
    """A sample that is not there, and a file that is not there, are said."""
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": "a", "messages": [{"role": "user", "content": "Hi"}]}\n')
    with pytest.raises(UsageError, match="has no sample 'z'"):
        set_label(path, "z", ONE)
    with pytest.raises(InputError, match="does not exist"):
        set_label(tmp_path / "none.toml", "a", ONE)
