"""`turnwise render`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import format_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..conversation.chat import ChatMessage
    from ..decks.deck import Deck
    from ..decks.sample import Sample
    from ..diagnostics import Diagnostic
    from ..suite.sources import Source

__all__ = ["command"]

_ROLE_COLOURS = {"system": "magenta", "user": "green", "assistant": "blue"}


@click.command(name="render", epilog="Exit codes: 0 rendered, 2 the deck or the context file is not well formed.")
@click.argument("deck", metavar="DECK")
@click.option("--context", "context_file", metavar="FILE", help="Values of the deck's contexts: TOML, YAML or JSON.")
@click.option("--sample", "sample_id", metavar="ID", help="Fill the contexts from this sample of the deck.")
@click.option("--samples", "sample_file", metavar="FILE", help="Take the sample from this file, instead of the deck.")
@format_option("text for people; json is exact, byte for byte.")
def command(deck: str, context_file: str | None, sample_id: str | None, sample_file: str | None, form: str) -> None:
    """Show what a deck sends to the model that grades: its text, its contexts and a sample, in the final form.

    DECK is a Markdown file. Includes are in place, front matter and embedded files are not sent.

    \b
    Examples:
      turnwise render graders/tone.deck.md
      turnwise render graders/tone.deck.md --sample rude-1
      turnwise render graders/tone.deck.md --samples labelled.jsonl --sample s-12
      turnwise render graders/tone.deck.md --context answer.toml --format json
    """
    from ..decks.render import render_deck

    read = _deck(Path(deck))
    values = {} if context_file is None else _values(Path(context_file), read)
    if sample_file is not None and sample_id is None:
        raise click.UsageError("--samples needs --sample ID: which of them")
    sample = None if sample_id is None else _sample(read, sample_id, sample_file)
    messages = render_deck(read, values, sample)
    _warn_of_label(read, sample)
    click.echo(_as_json(read, sample_id, messages) if form == "json" else _as_text(messages), color=True)


def _deck(path: Path) -> Deck:
    """The deck; its warnings are said. Raises `DeckError`."""
    from ..decks.deck import read_deck
    from ..errors import DeckError
    from .output import echo_diagnostics

    deck, diagnostics = read_deck(path)
    if deck is None:
        raise DeckError(diagnostics)
    echo_diagnostics(diagnostics)
    return deck


def _sample(deck: Deck, sample_id: str, file: str | None) -> Sample:
    from ..errors import UsageError
    from ..suite.explain import did_you_mean

    samples = deck.samples if file is None else _samples(Path(file))
    found = next((sample for sample in samples if sample.id == sample_id), None)
    if found is not None:
        return found
    if not samples:
        hint = "embed a file of samples, `![samples](samples.toml)`, or name one with --samples"
        raise UsageError(f"{deck.file} has no samples", hint)
    ids = [sample.id for sample in samples[:200]]
    raise UsageError(f"no sample is named {sample_id}", did_you_mean(sample_id, ids, "there are"))


def _samples(path: Path) -> Sequence[Sample]:
    from ..decks.samples import read_samples
    from ..diagnostics import has_errors
    from ..errors import DeckError
    from .output import echo_diagnostics

    samples, diagnostics = read_samples(path)
    if has_errors(diagnostics):
        raise DeckError(diagnostics)
    echo_diagnostics(diagnostics)
    return samples


def _values(path: Path, deck: Deck) -> dict[str, Any]:
    """What a file gives for the contexts of the deck. Raises `InputError`."""
    from ..conversation.files import shown_file
    from ..decks.toml_source import read_toml
    from ..errors import InputError
    from ..suite.reading import read_document, read_source_text

    file = shown_file(path)
    text = read_source_text(path, file)
    source: Source
    data, source = read_toml(text, file) if path.suffix.lower() == ".toml" else read_document(text, file)
    problems = _problems(data, source, deck)
    if problems:
        raise InputError(problems)
    return dict(data or {})


def _problems(data: Any, source: Source, deck: Deck) -> list[Diagnostic]:
    from ..diagnostics import Diagnostic
    from ..suite.explain import described, did_you_mean

    if data is not None and not isinstance(data, dict):
        message = f"the file must be a mapping from contexts to values, found {described(data)}"
        return [Diagnostic("error", "wrong-type", message, source.file, source.place(()), "write `name = value` lines")]
    known = [context.name for context in deck.contexts]
    return [
        Diagnostic(
            "error",
            "unknown-context",
            f"the deck has no context `{name}`",
            source.file,
            source.place((name,), key=True),
            did_you_mean(str(name), known, "its contexts are") if known else f"{deck.file} asks for no contexts",
            str(name),
        )
        for name in data or {}
        if name not in known
    ]


def _warn_of_label(deck: Deck, sample: Sample | None) -> None:
    from ..decks.render import asks_for_label
    from .output import echo_warning

    if sample is not None and asks_for_label(deck):
        echo_warning("the deck asks for `expected`: the grader is shown the human label")


def _as_json(deck: Deck, sample_id: str | None, messages: Sequence[ChatMessage]) -> str:
    import json

    front = deck.front_matter
    scale = None if front.scale is None else front.scale.model_dump(by_alias=True, exclude_none=True)
    record = {
        "deck": deck.file,
        "sample": sample_id,
        "messages": messages,
        "options": front.model_options,
        "tools": front.tools,
        "scale": scale,
    }
    return json.dumps(record, ensure_ascii=False, indent=2)


def _as_text(messages: Sequence[ChatMessage]) -> str:
    from ..report.terminal import printable
    from .output import output_style

    style = output_style()
    blocks = []
    for message in messages:
        role = style(f"[{message['role']}]", _ROLE_COLOURS.get(message["role"], "cyan"), bold=True)
        lines = printable(str(message["content"])).split("\n")
        blocks.append("\n".join([role, *(f"  {line}" if line else "" for line in lines)]))
    return "\n\n".join(blocks)
