"""`turnwise render`: the exact request of a deck."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_fixtures import Turnwise
from helpers import ROOT
from turnwise.decks.deck import Deck, read_deck
from turnwise.decks.render import asks_for_label, render_deck

AIBFF = ROOT / "tests" / "decks" / "data" / "aibff-hello-world"
EXAMPLE = ROOT / "examples" / "hello-world" / "greeting.deck.md"
DECK = """+++
temperature = 0
[contexts.tone]
assistantQuestion = "Which tone?"
default = "warm"
[contexts.limits]
assistantQuestion = "Which limits?"
[[samples]]
id = "one"
messages = [{ role = "user", content = "Hi" }, { role = "assistant", content = "Hello" }]
expected = { score = 2, reason = "Fine" }
[[samples]]
id = "two"
messages = [{ role = "narrator", content = "Silence" }]
+++
# Grade it
"""
ASKING = "\n[contexts.{0}]\nassistantQuestion = 'What is {0}?'\n"


@pytest.fixture
def deck_file(tmp_path: Path) -> Path:
    """A deck with two contexts and two samples."""
    (tmp_path / ".turnwise").mkdir()
    path = tmp_path / "g.deck.md"
    path.write_text(DECK, encoding="utf-8")
    return path


def asking_for(path: Path, *names: str) -> Deck:
    """The same deck, with more contexts in front of the others."""
    more = "".join(ASKING.format(name) for name in names)
    path.write_text(DECK.replace("\n[contexts.tone]", f"{more}[contexts.tone]"), encoding="utf-8")
    deck, diagnostics = read_deck(path)
    assert deck is not None, diagnostics
    return deck


def test_a_deck_alone_is_its_text_and_its_defaults(turnwise: Turnwise, deck_file: Path) -> None:
    """Without values, a context with a default is asked and answered, one without is left out."""
    said = turnwise("render", "g.deck.md", "--format", "json")
    assert said.code == 0
    record = json.loads(said.out)
    assert record["messages"] == [
        {"role": "system", "content": "# Grade it"},
        {"role": "assistant", "content": "Which tone?"},
        {"role": "user", "content": "warm"},
    ]
    assert (record["options"], record["sample"]) == ({"temperature": 0}, None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.toml", "tone = 'cold'\nlimits = { words = 5 }"),
        ("c.yaml", "tone: cold\nlimits: {words: 5}"),
        ("c.json", '{"tone": "cold", "limits": {"words": 5}}'),
    ],
)
def test_a_context_file_gives_values(turnwise: Turnwise, deck_file: Path, name: str, text: str) -> None:
    """Texts are sent as they are, everything else as JSON, in order of definition."""
    deck_file.with_name(name).write_text(text, encoding="utf-8")
    said = turnwise("render", "g.deck.md", "--context", name, "--format", "json")
    contents = [message["content"] for message in json.loads(said.out)["messages"]]
    assert contents == ["# Grade it", "Which tone?", "cold", "Which limits?", '{"words": 5}']


def test_a_sample_is_always_seen(turnwise: Turnwise, deck_file: Path) -> None:
    """A deck that asks for no part of the conversation gets it as its last message, in the transcript form."""
    said = turnwise("render", "g.deck.md", "--sample", "one", "--format", "json")
    last = json.loads(said.out)["messages"][-1]
    assert last == {"role": "user", "content": "[User]:\nHi\n\n[Assistant]:\nHello"}


def test_a_sample_answers_the_contexts_of_its_conversation(deck_file: Path) -> None:
    """`fullConversation` holds the messages, the older names the last turn of each side; nothing is shown twice."""
    deck = asking_for(deck_file, "fullConversation", "userMessage", "assistantResponse")
    rendered = render_deck(deck, sample=deck.samples[0])
    answers = [message["content"] for message in rendered if message["role"] == "user"]
    assert json.loads(str(answers[0])) == list(deck.samples[0].messages)
    assert answers[1:] == ["Hi", "Hello", "warm"]


def test_a_sample_that_the_contexts_cannot_show_comes_last(deck_file: Path) -> None:
    """A deck that asks for turns which the sample has not still gets its conversation."""
    deck = asking_for(deck_file, "userMessage", "assistantResponse")
    assert "Silence" in str(render_deck(deck, sample=deck.samples[1])[-1]["content"])


def test_the_label_is_shown_only_to_a_deck_that_asks(turnwise: Turnwise, deck_file: Path) -> None:
    """`expected` is the human label; rendering it comes with a warning."""
    plain, _ = read_deck(deck_file)
    assert plain is not None
    assert not asks_for_label(plain)
    assert not any("Fine" in str(message["content"]) for message in render_deck(plain, sample=plain.samples[0]))
    deck = asking_for(deck_file, "expected")
    assert asks_for_label(deck)
    assert render_deck(deck, sample=deck.samples[0])[2]["content"] == '{"score": 2, "reason": "Fine"}'
    assert "is shown the human label" in turnwise("render", "g.deck.md", "--sample", "one").err


def test_a_value_that_is_given_beats_the_sample(deck_file: Path) -> None:
    """What the caller gives comes before the sample, and the sample before the default."""
    deck = asking_for(deck_file, "userMessage")
    assert render_deck(deck, {"userMessage": "Mine"}, deck.samples[0])[2]["content"] == "Mine"


def test_text_is_for_people(turnwise: Turnwise, deck_file: Path) -> None:
    """In text, each message stands below its role, and control characters are shown, not obeyed."""
    deck_file.with_name("c.yaml").write_text('tone: "a\\e[31mb"', encoding="utf-8")
    said = turnwise("render", "g.deck.md", "--context", "c.yaml")
    assert said.out == "[system]\n  # Grade it\n\n[assistant]\n  Which tone?\n\n[user]\n  a␛[31mb\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sample", "oen"], ["no sample is named oen", "did you mean `one`?"]),
        (["--context", "bad.toml"], ["bad.toml:1:1: error: the deck has no context `tine`", "did you mean `tone`?"]),
        (["--context", "list.json"], ["must be a mapping", "found a list"]),
        (["--context", "gone.toml"], ["gone.toml", "does not exist"]),
    ],
)
def test_wrong_calls_are_explained(turnwise: Turnwise, deck_file: Path, arguments: list[str], words: list[str]) -> None:
    """A name that the deck does not know, and a file that is no mapping, are errors with a hint."""
    deck_file.with_name("bad.toml").write_text("tine = 1", encoding="utf-8")
    deck_file.with_name("list.json").write_text("[1]", encoding="utf-8")
    said = turnwise("render", "g.deck.md", *arguments)
    assert (said.code, said.out) == (2, "")
    assert all(word in said.err for word in words), said.err


def test_errors_print_the_chain_of_includes(turnwise: Turnwise, deck_file: Path) -> None:
    """A missing file is named with the line that includes it, and with the way that led there."""
    deck_file.write_text("![b](b.md)", encoding="utf-8")
    deck_file.with_name("b.md").write_text("B\n![c](c.md)", encoding="utf-8")
    said = turnwise("render", "g.deck.md")
    assert said.code == 2
    assert "b.md:2:1: error: file not found: c.md (g.deck.md → b.md → c.md)" in said.err


def test_the_shipped_base_can_be_included(deck_file: Path) -> None:
    """`turnwise:grader-base` is a deck that comes with the package; another name is an error that lists them."""
    deck_file.write_text("Mine\n\n![base](turnwise:grader-base)\n\nAfter", encoding="utf-8")
    deck, diagnostics = read_deck(deck_file)
    assert deck is not None
    assert diagnostics == []
    assert deck.text.startswith("Mine\n\n# How to grade")
    assert deck.text.endswith("\n\nAfter")
    assert "from -3 to 3" in deck.text
    for name in ("turnwise:other", "turnwise:../../errors", "turnwise:"):
        deck_file.write_text(f"![base]({name})", encoding="utf-8")
        (problem,) = read_deck(deck_file)[1]
        assert problem.code == "include-missing"
        assert "there are: turnwise:grader-base" in problem.message


def test_decks_of_aibff_render(turnwise: Turnwise) -> None:
    """A deck of aibff gets its own contexts from a sample, in its order, without what has no value."""
    path = AIBFF / "hello-world" / "simple-grader-0.deck.md"
    said = turnwise("render", str(path), "--sample", "happy-path-complete", "--format", "json")
    assert said.code == 0
    messages = json.loads(said.out)["messages"]
    assert [message["role"] for message in messages] == ["system", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in messages[2::2]] == ["hi", "hello world"]


def test_the_example_is_valid_and_renders(turnwise: Turnwise) -> None:
    """The example has no problem at all, its labels are on its scale, and the grader sees the sample, not the label."""
    checked = turnwise("validate", str(EXAMPLE.parent))
    assert (checked.code, checked.out) == (0, "")
    deck, _ = read_deck(EXAMPLE)
    assert deck is not None
    assert deck.scale is not None
    assert all(
        s.expected and s.expected.score is not None and deck.scale.allows(s.expected.score) for s in deck.samples
    )
    last = render_deck(deck, sample=deck.samples[0])[-1]
    assert last["content"] == "[User]:\nhi\n\n[Assistant]:\nhello world"
