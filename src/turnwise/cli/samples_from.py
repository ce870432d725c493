"""The work of `turnwise samples from`: results are read, sorted out, drawn from and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..decks.answers import Answer

__all__ = ["draw_samples"]

_Record = dict[str, Any]


def draw_samples(
    run: str,
    wanted: int | None,
    stratify: str | None,
    seed: int,
    goal: str | None,
    targets: Sequence[str],
    include_failed: bool,
    force: bool,
) -> None:
    """Write samples of a run's answers, and say how many, of which strata, and what was left out."""
    from ..conversation.files import shown_file
    from ..decks.answers import answers_of
    from ..decks.sample_writing import check_ending, write_samples
    from ..report.words import counted
    from .samples import refuse_to_overwrite

    path, name = _results(run)
    out = Path(goal or f"samples-{name}.jsonl")
    check_ending(out)
    refuse_to_overwrite(out, force)
    records = _usable(_of_targets(_read(path), targets), include_failed)
    answers = answers_of(records, name, shown_file(path))
    drawn = _drawn(answers, wanted, stratify, seed)
    extras = {answer.sample.id: {"metadata": answer.metadata} for answer in drawn}
    write_samples(out, [answer.sample for answer in drawn], extras)
    said = f"{counted(len(drawn), 'sample')} of {counted(len(answers), 'answer')}"
    click.echo(f"{shown_file(out)}: {said}, seed {seed}")


def _results(run: str) -> tuple[Path, str]:
    """The results that are meant, and the name of their run. Raises `UsageError`."""
    import os

    from ..engine.run_folder import RESULTS, RUN, find_run
    from ..errors import UsageError
    from ..suite.project import Projects

    path = Path(run)
    if os.path.isfile(path):
        is_run = path.name == RESULTS and (path.parent / RUN).exists()
        return path, path.resolve().parent.name if is_run else path.stem
    if os.path.isfile(path / RESULTS):
        return path / RESULTS, path.resolve().name
    project, _, _ = Projects().of(Path.cwd())
    found = find_run(run, project.runs_dir) / RESULTS
    if not os.path.isfile(found):
        raise UsageError(f"the run {run} has no results yet", "go on with it by `turnwise run --resume`")
    return found, found.resolve().parent.name


def _read(path: Path) -> list[_Record]:
    """All results, of several for one piece of work the last one."""
    from ..decks.answers import result_key
    from ..engine.journal import read_journal
    from ..engine.results_file import is_journal, read_results_file
    from .output import echo_warning

    rows = read_journal(path, echo_warning) if is_journal(path) else read_results_file(path)
    return list({result_key(record): record for record in rows}.values())


def _of_targets(records: list[_Record], targets: Sequence[str]) -> list[_Record]:
    from ..errors import UsageError
    from ..suite.explain import did_you_mean

    known = sorted({str(record.get("target")) for record in records})
    for name in targets:
        if name not in known:
            raise UsageError(f"no result is of the target {name!r}", did_you_mean(name, known, "there are"))
    return [record for record in records if not targets or record.get("target") in targets]


def _usable(records: list[_Record], include_failed: bool) -> list[_Record]:
    """Those that have an answer; the others are counted on standard error. Raises `UsageError` if none is left."""
    from ..decks.answers import has_answer
    from ..errors import UsageError
    from ..report.words import counted

    answered = [record for record in records if has_answer(record)]
    kept = [record for record in answered if include_failed or not _failed(record)]
    silent, failed = len(records) - len(answered), len(answered) - len(kept)
    if silent:
        click.echo(f"left out: {counted(silent, 'result')} without an answer", err=True)
    if failed:
        click.echo(f"left out: {counted(failed, 'result')} with an error (--include-failed takes them)", err=True)
    if not kept:
        raise UsageError("there is no answer to make a sample of", "choose a run that has answers")
    return kept


def _failed(record: _Record) -> bool:
    return record.get("status") == "error" or record.get("error") is not None


def _drawn(answers: list[Answer], wanted: int | None, stratify: str | None, seed: int) -> list[Answer]:
    from collections import Counter

    from ..decks.drawing import draw, draw_from_strata
    from ..report.terminal import one_line
    from .output import echo_warning

    if wanted is not None and wanted > len(answers):
        echo_warning(f"there are only {len(answers):,} answers, not {wanted:,}: all are taken")
    if stratify is None:
        return [answers[index] for index in draw(len(answers), wanted, seed)]
    strata = [_stratum(answer, stratify) for answer in answers]
    chosen = draw_from_strata(strata, wanted, seed)
    taken, all_of = Counter(strata[index] for index in chosen), Counter(strata)
    for name in sorted(all_of):
        click.echo(f"  {stratify} {one_line(name)}: {taken[name]:,} of {all_of[name]:,}")
    return [answers[index] for index in chosen]


def _stratum(answer: Answer, kind: str) -> str:
    record = answer.record
    if kind == "score":
        score = record.get("score")
        return f"{score:.1f}" if isinstance(score, int | float) else "none"
    if kind == "tag":
        tags = record.get("tags") or answer.sample.tags
        return ", ".join(map(str, tags)) if isinstance(tags, list | tuple) else str(tags)
    return str(record.get("case_id" if kind == "case" else kind) or "none")
