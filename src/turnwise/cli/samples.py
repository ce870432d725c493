"""`turnwise samples`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .output import format_option

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..decks.samples import SampleFile

__all__ = ["command", "read_whole", "refuse_to_overwrite"]


@click.group(name="samples", epilog="Exit codes: 0 done, 2 a file is not well formed, or usage.")
def command() -> None:
    """Draw samples from a run, convert files of samples, and show what they hold.

    A sample is a conversation that people have labelled, or will label: TOML, JSONL, CSV, YAML or JSON.

    \b
    Examples:
      turnwise samples from 20261116-090507-4123fa2 --n 100
      turnwise samples show samples.toml
      turnwise samples convert labels.csv samples.toml
    """


@command.command(name="convert", short_help="Write samples in another form.")
@click.argument("source", metavar="IN")
@click.argument("goal", metavar="OUT")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def convert(source: str, goal: str, force: bool) -> None:
    """Write the samples of one file to another; the ending of OUT says in which form.

    What is written is read back and compared with what was read before OUT takes its place.
    """
    from ..conversation.files import shown_file
    from ..decks.sample_writing import check_ending, write_samples
    from ..report.words import counted
    from .output import echo_warning

    path = Path(goal)
    check_ending(path)
    refuse_to_overwrite(path, force)
    read = read_whole(Path(source))
    if read.rest:
        echo_warning(f"{', '.join(read.rest)} of {source}: not converted, since only samples are")
    skipped = len({each.case_id for each in read.diagnostics if each.code == "bad-sample"})
    if skipped:
        echo_warning(f"{counted(skipped, 'sample')} of {source} cannot be used: not converted")
    write_samples(path, read.samples, read.extras)
    labels = sum(_labels(sample) for sample in read.samples)
    click.echo(f"{shown_file(path)}: {counted(len(read.samples), 'sample')}, {counted(labels, 'label')}")


@command.command(name="show", short_help="Count labels, raters and tags; show samples.")
@click.argument("file", metavar="FILE")
@click.option("--id", "sample_id", metavar="ID", help="Show this sample with its labels.")
@click.option("--limit", type=click.IntRange(0), default=0, metavar="N", help="Show the first N samples too.")
@format_option()
def show(file: str, sample_id: str | None, limit: int, form: str) -> None:
    """Show what a file of samples holds: labels, raters, clusters, tags, and single samples with their labels."""
    import json

    from ..decks.sample_record import sample_record
    from ..report.sample_text import sample_counts, sample_counts_text

    read = read_whole(Path(file))
    shown = [_one(read, sample_id, file)] if sample_id is not None else read.samples[:limit]
    counts = sample_counts(read.samples)
    if form == "json":
        items = [sample_record(sample, read.extras.get(sample.id)) for sample in shown]
        click.echo(json.dumps({"file": file, **counts, "items": items}, ensure_ascii=False, indent=2))
        return
    blocks = [] if sample_id is not None else [sample_counts_text(counts)]
    click.echo("\n\n".join(blocks + [_sample_text(sample) for sample in shown]), color=True)


@command.command(name="from", short_help="Draw samples from the answers of a run.")
@click.argument("run", metavar="RUN")
@click.option("--n", "wanted", type=click.IntRange(1), metavar="N", help="How many to draw; all if absent.")
@click.option(
    "--stratify",
    type=click.Choice(["case", "target", "status", "score", "tag"]),
    help="Draw from each of these in proportion, at least one of each.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws others.")
@click.option("-o", "--out", "goal", metavar="OUT", help="The file to write; samples-<run>.jsonl if absent.")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only answers of this target; repeatable.")
@click.option("--include-failed", is_flag=True, help="Also answers whose result is an error.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def from_run(
    run: str,
    wanted: int | None,
    stratify: str | None,
    seed: int,
    goal: str | None,
    targets: tuple[str, ...],
    include_failed: bool,
    force: bool,
) -> None:
    """Make samples without labels of the answers of a run: the conversation that was sent, and the answer.

    RUN is the id of a run, its folder, or its results.jsonl. What graders said is not written: those who label must
    not see it. Results without an answer, and errors, are left out and counted.
    """
    from .samples_from import draw_samples

    draw_samples(run, wanted, stratify, seed, goal, targets, include_failed, force)


def read_whole(path: Path) -> SampleFile:
    """The file; its warnings are said. Raises `InputError`."""
    from ..decks.samples import read_sample_file
    from ..diagnostics import has_errors
    from ..errors import InputError
    from .output import echo_diagnostics

    read = read_sample_file(path)
    if has_errors(read.diagnostics):
        raise InputError(read.diagnostics)
    echo_diagnostics(read.diagnostics)
    return read


def refuse_to_overwrite(path: Path, force: bool) -> None:
    """Raises `UsageError` if the file is there and must not be replaced."""
    import os

    from ..conversation.files import shown_file
    from ..errors import UsageError

    if os.path.lexists(path) and not force:
        raise UsageError(f"{shown_file(path)} exists", "name another file, or replace it with --force")


def _labels(sample: Sample) -> int:
    return len(sample.labels) + (sample.expected is not None and sample.expected.value is not None)


def _one(read: SampleFile, sample_id: str, file: str) -> Sample:
    from ..errors import UsageError
    from ..suite.explain import did_you_mean

    found = next((sample for sample in read.samples if sample.id == sample_id), None)
    if found is None:
        hint = did_you_mean(sample_id, [sample.id for sample in read.samples[:200]], "there are")
        raise UsageError(f"{file} has no sample {sample_id!r}", hint)
    return found


def _sample_text(sample: Sample) -> str:
    from ..report.sample_text import conversation_text, label_text
    from ..report.terminal import one_line
    from .output import output_style

    style = output_style()
    lines = [style(one_line(sample.id), bold=True), conversation_text(sample.messages, style)]
    if sample.expected is not None:
        lines.append(f"expected: {label_text(sample.expected)}")
    lines += [f"label of {label_text(label)}" for label in sample.labels]
    return "\n".join(lines)
