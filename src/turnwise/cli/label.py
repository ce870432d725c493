"""`turnwise label`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..decks.sample import HumanLabel, Sample
    from ..graders.verdict_scale import Scale
    from .labelling import Session

__all__ = ["command"]

FIRST_RATER = "expected"
"""The name under which a label without one, a sample's `expected`, is written beside those of named people."""

_LINES_SHOWN = 60


@click.command(name="label", epilog="Exit codes: 0 labelled, or stopped with everything saved; 2 bad files or usage.")
@click.argument("samples", metavar="SAMPLES")
@click.option("--rater", metavar="NAME", help="Who labels: the label goes to `labels`, beside those of others.")
@click.option("--scale", "deck", metavar="DECK", help="Take the scale of this deck.")
@click.option("--values", metavar="1,2,3", help="The scores that may be given.")
@click.option("--labels", metavar="good,bad", help="The words that may be given.")
@click.option("--redo", is_flag=True, help="Ask also about samples that this rater has labelled.")
@click.option(
    "--order", type=click.Choice(["file", "random"]), default="file", show_default=True, help="In which order."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another random order.")
def command(
    samples: str,
    rater: str | None,
    deck: str | None,
    values: str | None,
    labels: str | None,
    redo: bool,
    order: str,
    seed: int,
) -> None:
    """Label samples, one conversation at a time.

    Each answer is saved at once, into SAMPLES itself; everything else in the file stays as it is. Labelling goes on
    where it stopped. Labels of others, verdicts, ids and metadata are not shown. Without --rater the label is the
    sample's `expected`.

    \b
    Examples:
      turnwise label samples.jsonl --rater ann --values 1,2,3,4,5
      turnwise label samples.toml --rater ben --scale graders/tone.deck.md --order random
    """
    from ..report.terminal import one_line
    from .samples import read_whole

    if rater is not None and not rater.strip():
        raise click.UsageError("--rater needs a name")
    scale = _scale(deck, values, labels)
    path = Path(samples)
    ordered = _ordered(read_whole(path).samples, order, seed)
    session = _session(path, ordered, rater, scale, redo)
    try:
        session.run()
    except KeyboardInterrupt:  # between two answers: all of them are saved
        click.echo()
    left = len(ordered) - len(session.done)
    who = "" if rater is None else f" for {one_line(rater)}"
    click.echo(f"\n{session.given} labelled now, {left} left{who}; everything is saved in {one_line(samples)}")


def _scale(deck: str | None, values: str | None, labels: str | None) -> Scale | None:
    """The scale to label on; None if anything goes."""
    if sum(each is not None for each in (deck, values, labels)) > 1:
        raise click.UsageError("give one of --scale, --values and --labels")
    if deck is not None:
        return _of_deck(Path(deck))
    if values is not None:
        return _of_values(values)
    return None if labels is None else _of_labels(labels)


def _of_deck(path: Path) -> Scale:
    from ..decks.deck import read_deck
    from ..errors import DeckError, UsageError
    from ..graders.verdict_scale import declared_scale

    deck, diagnostics = read_deck(path)
    if deck is None:
        raise DeckError(diagnostics)
    if deck.front_matter.scale is None:
        raise UsageError(f"{deck.file} declares no [scale]", "add one, or use --values or --labels")
    return declared_scale(deck.front_matter.scale)


def _of_values(written: str) -> Scale:
    from ..graders.verdict_scale import Scale, number_of

    numbers = [number_of(each) for each in written.split(",")]
    found = [number for number in numbers if number is not None]
    if len(found) < len(numbers) or len(set(found)) < 2:
        raise click.BadParameter(f"{written!r} is not two or more numbers such as 1,2,3", param_hint="'--values'")
    return Scale("ordinal", values=tuple(found))


def _of_labels(written: str) -> Scale:
    from ..graders.verdict_scale import Scale

    words = [word.strip() for word in written.split(",")]
    if not all(words) or len({word.casefold() for word in words}) < max(2, len(words)):
        raise click.BadParameter(f"{written!r} is not two or more different words", param_hint="'--labels'")
    return Scale("categorical", labels=tuple(words))


def _ordered(samples: list[Sample], order: str, seed: int) -> list[Sample]:
    """The order is the same for the same seed, so that labelling can go on later."""
    import random

    if order == "file":
        return samples
    return random.Random(seed).sample(samples, len(samples))  # noqa: S311  (a draw that can be repeated, not a secret)


def _session(path: Path, samples: list[Sample], rater: str | None, scale: Scale | None, redo: bool) -> Session:
    from ..decks.label_editing import set_label
    from ..report.sample_text import conversation_text
    from .labelling import Desk, Session
    from .output import output_style

    style = output_style()

    def show(sample: Sample, whole: bool) -> None:
        text = conversation_text(sample.messages, style, None if whole else _LINES_SHOWN)
        if whole and sys.stdin.isatty() and sys.stdout.isatty():
            click.echo_via_pager(text, color=None)
        else:
            click.echo(text, color=True)

    def save(sample: Sample, label: HumanLabel) -> None:
        first = sample.expected
        if label.rater is not None and not sample.labels and first is not None and first.value is not None:
            # Once there are several people's labels, they count: that of the first person must be one of them.
            set_label(path, sample.id, replace(first, rater=FIRST_RATER))
        set_label(path, sample.id, label)

    return Session(samples, rater, scale, Desk(_ask, _say, show, save), redo)


def _say(text: str) -> None:
    from ..report.terminal import printable

    click.echo(printable(text))


def _ask(prompt: str) -> str | None:
    """One line from the person; None at the end of input, and if it is interrupted."""
    import io

    from ..report.terminal import printable

    if sys.stdin is None:
        return None
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != "replace":
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    click.echo(printable(prompt), nl=False)
    sys.stdout.flush()
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""  # the same as the end of input: what was answered is kept
    if not line:
        click.echo()
        return None
    return line.rstrip("\r\n")
