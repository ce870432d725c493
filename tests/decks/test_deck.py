"""Reading decks: front matter, includes, embeds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from turnwise.decks.deck import Deck, read_deck
from turnwise.decks.includes import MAX_DEPTH, MAX_INCLUDES
from turnwise.diagnostics import Diagnostic

AIBFF = Path(__file__).parent / "data" / "aibff-hello-world"
CONTEXT = "[contexts.{0}]\nassistantQuestion = 'What is {0}?'\n"
SAMPLE = "[[samples]]\nid = '{0}'\nmessages = [{{ role = 'user', content = 'Hi' }}]\n"


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / ".turnwise").mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(folder: Path, **files: str) -> tuple[Deck | None, list[Diagnostic]]:
    """Files are given as keywords, `_` for `.`; the deck is `main_md`."""
    write(folder, {name.replace("__", "/").replace("_", "."): text for name, text in files.items()})
    return read_deck(folder / "main.md")


def good(folder: Path, **files: str) -> Deck:
    deck, diagnostics = read(folder, **files)
    assert diagnostics == []
    assert deck is not None
    return deck


def error(folder: Path, **files: str) -> Diagnostic:
    deck, diagnostics = read(folder, **files)
    assert deck is None
    (diagnostic,) = diagnostics
    assert diagnostic.severity == "error"
    return diagnostic


@pytest.mark.parametrize("name", ["simple-grader-0", "simple-grader-3"])
@pytest.mark.parametrize("in_project", [True, False])
def test_aibff_decks(tmp_path: Path, name: str, in_project: bool) -> None:
    """Decks of aibff load unchanged, in a project and outside of any."""
    folder = tmp_path / "decks"
    shutil.copytree(AIBFF, folder)
    if in_project:
        (folder / ".turnwise").mkdir()
    deck, diagnostics = read_deck(folder / "hello-world" / f"{name}.deck.md")
    assert diagnostics == []
    assert deck is not None
    assert [context.name for context in deck.contexts] == ["userMessage", "assistantResponse", "outputFormat"]
    assert [sample.expected.score for sample in deck.samples if sample.expected] == [3, -3, -3, -3, -3]
    assert [path.name for path in deck.included] == [
        "grader-base.deck.md",
        "grader-base.deck.toml",
        "sources.deck.toml",
    ]
    assert "# Grader Base Deck" in deck.text
    assert "![" not in deck.text
    assert "+++" not in deck.text


def test_front_matter(tmp_path: Path) -> None:
    """Front matter is typed and does not reach the text; model options are gathered from all their places."""
    text = """+++
temperature = 0
model = "m"
[scale]
kind = "ordinal"
min = -3
max = 3
pass = 1
ungradable = 0
[meta]
version = "1"
[[tools]]
type = "function"
[options]
anything = [1]
[thresholds]
gating = 0.7
[contexts.a]
assistantQuestion = "What is a?"
default = "x"
[[samples]]
messages = [{ role = "user", content = "Hi" }]
+++
# Deck
"""
    deck = good(tmp_path, main_md=text)
    assert deck.text == "# Deck"
    assert deck.scale is not None
    assert (deck.scale.min, deck.scale.pass_, deck.scale.ungradable) == (-3, 1, 0)
    assert deck.front_matter.model_options == {"temperature": 0, "model": "m", "anything": [1]}
    assert deck.front_matter.tools == [{"type": "function"}]
    assert [(c.name, c.question, c.default, c.has_default) for c in deck.contexts] == [("a", "What is a?", "x", True)]
    assert [(sample.id, sample.place.line) for sample in deck.samples] == [("main-0", 21)]


def test_windows_line_ends(tmp_path: Path) -> None:
    """A byte-order mark and CRLF change nothing."""
    (tmp_path / "main.md").write_bytes(b"\xef\xbb\xbf+++\r\n[meta]\r\na = 1\r\n+++\r\nOne\r\nTwo\r\n")
    deck, diagnostics = read_deck(tmp_path / "main.md")
    assert diagnostics == []
    assert deck is not None
    assert deck.text == "One\nTwo"


@pytest.mark.parametrize(
    ("toml", "line", "message", "hint"),
    [
        ("[scal]\nkind='binary'", 2, "unknown key `scal`", "did you mean `scale`?"),
        ("temprature = 1", 2, "unknown key `temprature`", "did you mean `temperature`?"),
        ("[scale]\nknd='binary'\nkind='binary'", 3, "unknown key `knd`", "did you mean `kind`?"),
        ("[scale]\nmin=1", 2, "`kind` is missing", "add `kind = …` here"),
        ("[meta]\nrendered_samples='x'", 3, "`rendered_samples` must be a list, found the text 'x'", "write a list"),
        ("tools = [1]", 2, "this item must be a mapping, found the number 1", "write a mapping"),
        ("seed = 1\n[options]\nseed = 1", 2, "the model option `seed` is given twice", "remove one"),
        ("a = ", 2, "not valid TOML: invalid value", None),
        ("[contexts.a]\ndefault=1", 2, "`assistantQuestion` is missing", "add `assistantQuestion = …` here"),
        ("[contexts]\na=1", 3, "the context `a` must be a table with `assistantQuestion`, found the number 1", ...),
        ("contexts=1", 2, "`contexts` must be a mapping from names to contexts, found the number 1", ...),
        ("[contexts.a]\nassistantQuestion=''", 3, "`assistantQuestion` must not be empty", "fill it in, or remove it"),
        ("[contexts.a]\nassistantQuestion='x'\ndefualt=1", 4, "unknown key `defualt`", "did you mean `default`?"),
    ],
)
def test_front_matter_errors(tmp_path: Path, toml: str, line: int, message: str, hint: object) -> None:
    """What is wrong in front matter is said with the line that it has in the deck."""
    found = error(tmp_path, main_md=f"+++\n{toml}\n+++\nText")
    assert (found.place.line, found.message) == (line, message)
    assert hint is ... or found.hint == hint


@pytest.mark.parametrize(
    "scale",
    [
        "kind='binary'",
        "kind='binary'\nvalues=[0,1]\npass=0.5",
        "kind='binary'\nlabels=['pass','fail']\npass='Pass'",
        "kind='binary'\nmin=0\nmax=1",
        "kind='ordinal'\nvalues=[1,2.5,4]\nmin=1\nmax=4",
        "kind='ordinal'\nmin=-3\nmax=3\npass=1\nungradable=0",
        "kind='continuous'\nmin=0",
        "kind='continuous'\nmin=0\nmax=1.5\npass=0.7\nungradable='n/a'",
        "kind='categorical'\nlabels=['A','B','draw']\ntie='Draw'",
        "kind='categorical'",
    ],
)
def test_scales(tmp_path: Path, scale: str) -> None:
    """Every kind of scale can be declared in its own way."""
    assert good(tmp_path, main_md=f"+++\n[scale]\n{scale}\n+++\nText").scale is not None


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("kind='ordnal'", "must be 'binary', 'ordinal', 'continuous' or 'categorical'"),
        ("kind='binary'\nvalues=[0,1,2]", "a binary scale has two values, not 3"),
        ("kind='binary'\nvalues=[0,1]\nlabels=['a','b']", "`labels` are words"),
        ("kind='binary'\nmin=0\nmax=3", "a binary scale has two values"),
        ("kind='ordinal'\nlabels=['a','b']", "has numbers, not `labels`"),
        ("kind='ordinal'\nmin=1", "give `min` and `max`, or neither"),
        ("kind='ordinal'\nmin=0.5\nmax=2", "whole numbers"),
        ("kind='ordinal'\nmin=3\nmax=1", "`min` must be less than `max`"),
        ("kind='ordinal'\nvalues=[1,2]\nmax=3", "do not agree with `values`"),
        ("kind='ordinal'\nvalues=[1,1]", "`values` names a value twice"),
        ("kind='ordinal'\nvalues=[1]", "`values` needs at least two"),
        ("kind='ordinal'\nmin=1\nmax=5\npass=6", "`pass` is not on the scale: 6"),
        ("kind='ordinal'\nmin=1\nmax=5\npass=3\nungradable=3", "`pass` and `ungradable` are the same"),
        ("kind='continuous'\nvalues=[1,2]", "a continuous scale has `min` and `max`"),
        ("kind='continuous'\npass='good'", "`pass` must be a number"),
        ("kind='categorical'\nmin=1", "a categorical scale has `labels`"),
        ("kind='categorical'\nlabels=['a','A']", "`labels` names a value twice"),
        ("kind='categorical'\nlabels=['a','b']\ntie='c'", "`tie` is not one of the labels: 'c'"),
        ("kind='ordinal'\ntie='x'", "`tie` belongs to a categorical scale"),
        ("kind='continuous'\nmin=nan", "finite"),
    ],
)
def test_inconsistent_scales(tmp_path: Path, scale: str, words: str) -> None:
    """A scale that contradicts itself is an error that says in what."""
    assert words in error(tmp_path, main_md=f"+++\n[scale]\n{scale}\n+++\nText").message


def test_unterminated_front_matter(tmp_path: Path) -> None:
    """Front matter without end is an error, in the deck and in an included file."""
    found = error(tmp_path, main_md="+++\n[meta]\n")
    assert (found.code, found.place.line) == ("front-matter", 1)
    assert Path(error(tmp_path, main_md="![a](a.md)\n", a_md="+++\n").file).name == "a.md"


def test_yaml_front_matter(tmp_path: Path) -> None:
    """Front matter in YAML is not read, and that is said; a rule at the top is only a rule."""
    deck, (warning,) = read(tmp_path, main_md="---\ntitle: x\n---\nText")
    assert deck is not None
    assert (warning.severity, warning.code) == ("warning", "front-matter")
    assert good(tmp_path, main_md="---\nText\n\n---\nmore").text.startswith("---")


def test_includes(tmp_path: Path) -> None:
    """Includes are recursive, relative to the including file, and without front matter."""
    deck = good(
        tmp_path,
        main_md="A\n\n![b](sub/b.md)\n\nE ![d](/d.md#top) F\n",
        sub__b_md="+++\n[scale]\nkind='binary'\n+++\nB\n![c](<./c.md> \"title\")\n",
        sub__c_md="\nC\n",
        d_md="D",
    )
    assert deck.text == "A\n\nB\nC\n\nE D F"
    assert deck.scale is None
    assert [path.name for path in deck.included] == ["b.md", "c.md", "d.md"]


def test_a_file_may_be_included_twice(tmp_path: Path) -> None:
    """Including a file twice is not a cycle; what it embeds is there once."""
    deck = good(tmp_path, main_md="![a](a.md)\n![a](a.md)", a_md="A\n![s](s.toml)", s_toml=SAMPLE.format("x"))
    assert deck.text == "A\nA"
    assert len(deck.samples) == 1


def test_embeds(tmp_path: Path) -> None:
    """Contexts and samples come from embedded files, also of included files, in order; the lines disappear."""
    deck = good(
        tmp_path,
        main_md="One\n![b](b.md)\n![s](s.toml#x)\nTwo, ![t](t.toml)three",
        b_md="B\n![c](c.toml)",
        c_toml=CONTEXT.format("z") + CONTEXT.format("a"),
        s_toml=SAMPLE.format("x") + CONTEXT.format("m"),
        t_toml=SAMPLE.format("y"),
    )
    assert deck.text == "One\nB\nTwo, three"
    assert [context.name for context in deck.contexts] == ["z", "a", "m"]
    assert [sample.id for sample in deck.samples] == ["x", "y"]


def test_code_is_not_included(tmp_path: Path) -> None:
    """What stands in code, or is escaped, is no include; ordinary images and links are left alone."""
    text = (
        "```md\n![a](no.md)\n~~~\n![a](no.md)\n```\n\n- ~~~\n  ![a](no.md)\n  ~~~\n"
        "`![a](no.md)` and ``![a](no.toml)`` \\![a](no.md)\n"
        "![picture](no.png) [link](no.md) ![web](https://example.com/a.png)"
    )
    assert good(tmp_path, main_md=text).text == text


def test_includes_after_code(tmp_path: Path) -> None:
    """After the end of a code block, and after a stray backtick, includes work again."""
    deck = good(tmp_path, main_md="````\n```\n````\n![a](a.md)\na ` b ![a](a.md)", a_md="A")
    assert deck.text == "````\n```\n````\nA\na ` b A"


def test_missing_include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file is an error at the line of the include that prints the chain."""
    monkeypatch.chdir(tmp_path)
    found = error(tmp_path, main_md="+++\n+++\nA\n![b](b.md)", b_md="B\n\n  see ![c](no/c.md)")
    assert str(found).startswith("b.md:3:7: error: file not found: no/c.md (")
    assert f"(main.md → b.md → {Path('no/c.md')})" in found.message


def test_include_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle is an error that prints the chain."""
    monkeypatch.chdir(tmp_path)
    found = error(tmp_path, main_md="![b](b.md)", b_md="![c](c.md)", c_md="![main](./main.md)")
    assert (found.code, found.file, found.place.line) == ("include-cycle", "c.md", 1)
    assert found.message == "the file includes itself (main.md → b.md → c.md → main.md)"
    assert error(tmp_path, main_md="![self](main.md)").code == "include-cycle"


def test_outside_the_project(tmp_path: Path) -> None:
    """A file outside the project is an error, also behind a symbolic link."""
    (tmp_path / "secret.md").write_text("S")
    (tmp_path / "secret.toml").write_text("")
    project = tmp_path / "project"
    project.mkdir()
    os.symlink(tmp_path / "secret.md", project / "link.md")
    for target in ("../secret.md", "../secret.toml", "link.md", "a/../../secret.md", "%2e%2e/secret.md"):
        found = error(project, main_md=f"![s]({target})")
        assert found.code == "include-outside"
        assert " → " in found.message


def test_strange_includes(tmp_path: Path) -> None:
    """Folders, devices, addresses and impossible names are errors."""
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    for target in ("folder.md", "pipe.md", "https://example.com/a.md", "%00.md", "x" * 300 + ".md"):
        assert error(tmp_path, main_md=f"![s]({target})").code in ("include-missing", "include-url")


def test_unreadable_included_files(tmp_path: Path) -> None:
    """A file that is not text, or not TOML, is an error with its own name and place."""
    (tmp_path / "a.md").write_bytes(b"ok\n\xff")
    found = error(tmp_path, main_md="![a](a.md)")
    assert (Path(found.file).name, found.place.line) == ("a.md", 2)
    found = error(tmp_path, main_md="![a](a.toml)", a_toml="a = 1\nb")
    assert (Path(found.file).name, found.code, found.place.line) == ("a.toml", "bad-toml", 2)
    assert error(tmp_path, main_md="![a](a.toml)", a_toml="[[sampels]]").hint == "did you mean `samples`?"


def test_depth_has_a_bound(tmp_path: Path) -> None:
    """Includes may be nested, but not without end."""
    for length, is_good in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False)):
        files = {f"f{index}.md": f"![n](f{index + 1}.md)" for index in range(length)}
        write(tmp_path, {**files, f"f{length}.md": "end"})
        deck, diagnostics = read_deck(tmp_path / "f0.md")
        assert (deck is not None) == is_good
        assert [d.code for d in diagnostics] == ([] if is_good else ["too-many-includes"])


def test_number_of_includes_has_a_bound(tmp_path: Path) -> None:
    """Files that include each other twice do not grow without end."""
    files = {f"f{index}.md": f"![n](f{index + 1}.md)\n" * 2 for index in range(MAX_DEPTH - 1)}
    write(tmp_path, {**files, f"f{MAX_DEPTH - 1}.md": "end"})
    deck, diagnostics = read_deck(tmp_path / "f0.md")
    assert deck is None
    assert 1 <= len(diagnostics) <= MAX_INCLUDES
    assert {d.code for d in diagnostics} == {"too-many-includes"}


def test_context_defined_twice(tmp_path: Path) -> None:
    """A context that is defined again is used as defined last, with a warning; its turn stays the first."""
    text = "![a](a.toml)\n![b](b.toml)\nText"
    again = "[contexts.x]\nassistantQuestion = 'Again?'"
    deck, (warning,) = read(tmp_path, main_md=text, a_toml=CONTEXT.format("x") + CONTEXT.format("y"), b_toml=again)
    assert deck is not None
    assert [context.question for context in deck.contexts] == ["Again?", "What is y?"]
    assert (warning.severity, warning.code, Path(warning.file).name) == ("warning", "context-twice", "b.toml")


def test_sample_ids_are_unique_in_a_deck(tmp_path: Path) -> None:
    """An id that two embedded files use is an error."""
    found = error(
        tmp_path, main_md="![a](a.toml)\n![b](b.toml)\nT", a_toml=SAMPLE.format("x"), b_toml=SAMPLE.format("x")
    )
    assert found.code == "duplicate-id"
    assert "a.toml, line 1" in found.message


def test_bad_samples_of_a_deck(tmp_path: Path) -> None:
    """A bad sample of a deck is skipped with a warning; if none is left, that is an error."""
    deck, diagnostics = read(tmp_path, main_md="T\n![a](a.toml)", a_toml=SAMPLE.format("x") + "[[samples]]")
    assert deck is not None
    assert [d.message for d in diagnostics] == ["Sample must have messages array"]
    deck, diagnostics = read(tmp_path, main_md="T\n![a](a.toml)", a_toml="[[samples]]")
    assert deck is None
    assert [d.severity for d in diagnostics] == ["warning", "error"]


def test_rendered_samples(tmp_path: Path) -> None:
    """`rendered_samples` names samples that exist; a skipped one exists; without samples nothing can be said."""
    front = "+++\n[meta]\nrendered_samples = [\n  'happy',\n  'hapy-2',\n]\n+++\nT\n"
    found = error(tmp_path, main_md=front + "![a](a.toml)", a_toml=SAMPLE.format("happy") + SAMPLE.format("happy-2"))
    assert (found.code, found.place.line, found.hint) == ("unknown-sample", 5, "did you mean `happy-2`?")
    skipped = SAMPLE.format("happy") + "[[samples]]\nid='hapy-2'"
    assert read(tmp_path, main_md=front + "![a](a.toml)", a_toml=skipped)[0] is not None
    good(tmp_path, main_md=front)


def test_data_that_is_not_embedded(tmp_path: Path) -> None:
    """An image of a data file is probably meant as an embed; a warning says that it is none."""
    deck, (warning,) = read(tmp_path, main_md="![samples](samples.jsonl)")
    assert deck is not None
    assert (warning.severity, warning.code, warning.place.line) == ("warning", "not-embedded", 1)


def test_empty_deck(tmp_path: Path) -> None:
    """A deck without text is probably a mistake."""
    deck, (warning,) = read(tmp_path, main_md="")
    assert deck is not None
    assert (warning.severity, warning.code) == ("warning", "empty-deck")


def test_missing_deck(tmp_path: Path) -> None:
    """A deck that does not exist, or is a folder, is an error."""
    for path in (tmp_path / "no.deck.md", tmp_path):
        deck, (diagnostic,) = read_deck(path)
        assert deck is None
        assert diagnostic.severity == "error"
