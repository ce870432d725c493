"""What `turnwise calibrate --plan` does: says how many labels the figures take, and draws the samples to label next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from .output import echo_diagnostics, echo_warning

if TYPE_CHECKING:
    from ..calibration.label_draw import LabelDraw
    from ..calibration.label_plan import Need
    from ..calibration.loading import LoadedDeck
    from ..decks.sample import Sample
    from ..suite.project import Project
    from .calibrate import Asked

__all__ = ["plan_labels"]

_NOT_WITH_PLAN = ("estimate", "resume", "output", "dry_run", "gates", "quiet")


@dataclass(frozen=True, slots=True)
class _Plan:
    """`basis` says where the figures come from, `best` which of several judges the labels are for."""

    half_width: float
    basis: str
    samples: tuple[Sample, ...]
    needs: tuple[Need, ...]
    best: str | None

    @property
    def decisive(self) -> list[Need]:
        """The needs of the best judge, and what is assumed where nothing was measured."""
        return [need for need in self.needs if need.model in (self.best, None)]

    @property
    def labelled(self) -> int:
        return sum(sample.is_labelled for sample in self.samples)


def plan_labels(asked: Asked) -> int:
    """Show the plan, and write the draw; the exit code. Raises `UsageError`, `InputError` or `RunError`."""
    import json

    from ..calibration.label_plan import largest_need

    _check(asked)
    plan = _planned(asked)
    more = largest_need(plan.decisive)
    drawn = _drawn(asked, plan, more) if asked.draw is not None and more else None
    if asked.shown_as == "json":
        click.echo(json.dumps(_record(asked, plan, more, drawn), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo("\n".join(_text(plan)))
        if drawn is not None:
            click.echo("\n".join(["", *_draw_text(asked, drawn)]))
    if asked.draw is not None and drawn is None:
        echo_warning(f"{asked.draw} is not written: {'no label is missing' if more == 0 else 'no number is known'}")
    return 0


def _check(asked: Asked) -> None:
    """Refuse what makes no sense before anything is read."""
    if asked.half_width is None or not 0 < asked.half_width <= 0.5:
        hint = "0.05 stands for intervals of ± 5 points"
        raise UsageError(f"--plan must be above 0 and at most 0.5, found {asked.half_width}", hint)
    for name in _NOT_WITH_PLAN:
        if getattr(asked, name):
            flag = "--" + {"gates": "gate"}.get(name, name).replace("_", "-")
            raise UsageError(f"{flag} does not go with --plan", "leave one of them out")
    if asked.shown_as not in ("text", "json"):
        raise UsageError(f"--plan prints text or json, not {asked.shown_as}", "choose one of these with --format")
    if not asked.samples and not asked.decks:
        raise UsageError("--plan needs samples", "add --samples FILE, or the deck that embeds them")
    if asked.draw is not None:
        _check_goal(Path(asked.draw))


def _check_goal(path: Path) -> None:
    import os

    from ..conversation.files import shown_file
    from ..decks.sample_writing import check_ending

    check_ending(path)
    if os.path.lexists(path):
        raise UsageError(f"{shown_file(path)} exists", "name another file after --draw")


def _planned(asked: Asked) -> _Plan:
    from ..calibration.label_plan import assumed_needs, best_model, observed_needs
    from ..calibration.loading import load_decks, load_samples

    assert asked.half_width is not None
    if asked.decks:
        project, decks = load_decks(
            asked.decks, asked.samples, strict=asked.strict, allow_label_leak=asked.allow_label_leak
        )
        if len(decks) > 1 and not asked.samples and asked.draw is not None:
            raise UsageError("--draw takes the samples of one deck", "name one deck, or the samples with --samples")
        said = [each for deck in decks for each in deck.diagnostics]
        samples = tuple({(sample.id, sample.file): sample for deck in decks for sample in deck.samples}.values())
        basis, models = _replayed(asked) if asked.replay is not None else _kept(asked, project, decks)
    else:
        found = load_samples(asked.samples, strict=asked.strict)
        said, samples = list(found.diagnostics), found.samples
        basis, models = _replayed(asked) if asked.replay is not None else ("", [])
    echo_diagnostics(said)
    needs = [need for model in models for need in observed_needs(model, asked.half_width)]
    if all(need.total is None for need in needs):
        basis = "assumed, as no calibration says more"
        needs += assumed_needs(asked.half_width, sum(sample.is_labelled for sample in samples))
    return _Plan(asked.half_width, basis, samples, tuple(needs), best_model(models))


def _replayed(asked: Asked) -> tuple[str, list[dict[str, Any]]]:
    from ..calibration.replaying import replayed
    from ..calibration.report_record import report_record

    reports, _ = replayed(asked.options(), str(asked.replay))
    return "the recorded outputs", [model for report in reports for model in report_record(report)["models"]]


def _kept(asked: Asked, project: Project, decks: Sequence[LoadedDeck]) -> tuple[str, list[dict[str, Any]]]:
    from ..calibration.kept_reports import latest_models
    from ..calibration.session import calibrations_dir

    found = [
        (deck, each) for deck in decks for each in latest_models(calibrations_dir(project), deck, asked.model_names)
    ]
    for deck, each in found:
        if each.changed:
            what = " and ".join(each.changed)
            echo_warning(f"{deck.name} with {each.record['model']}: {what} changed since {each.calibration}")
    names = dict.fromkeys(each.calibration for _, each in found)
    return f"the calibration {', '.join(names)}", [each.record for _, each in found]


def _drawn(asked: Asked, plan: _Plan, wanted: int) -> LabelDraw:
    from ..calibration.label_draw import draw_to_label
    from ..decks.sample_writing import write_samples

    assert asked.draw is not None
    drawn = draw_to_label(plan.samples, wanted, asked.seed or 0)
    if len(drawn.samples) < wanted:
        echo_warning(f"{wanted:,} labels are missing, but only {drawn.unlabelled:,} samples have none: all are drawn")
    # Names, descriptions and metadata stay behind: they may tell what graders said.
    write_samples(Path(asked.draw), drawn.samples)
    return drawn


def _record(asked: Asked, plan: _Plan, more: int | None, drawn: LabelDraw | None) -> dict[str, Any]:
    counts = {"total": len(plan.samples), "labelled": plan.labelled, "unlabelled": len(plan.samples) - plan.labelled}
    draw = None
    if drawn is not None:
        strata = {name: {"drawn": taken, "of": size} for name, (taken, size) in drawn.strata.items()}
        draw = {"file": asked.draw, "n": len(drawn.samples), "seed": asked.seed or 0, "strata": strata}
    return {
        "schema_version": 1,
        "half_width": plan.half_width,
        "basis": plan.basis,
        "samples": counts,
        "needs": [need.as_dict() for need in plan.needs],
        "best": plan.best,
        "more": more,
        "draw": draw,
    }


def _text(plan: _Plan) -> list[str]:
    from ..report.calibration.label_plan_text import need_line
    from ..report.calibration.wording import counted, figure
    from ..report.terminal import one_line

    have = f"{counted(len(plan.samples), 'sample')}, {plan.labelled:,} labelled"
    lines = [f"labels until 95 % intervals are ± {figure(plan.half_width)}, on average to either side; {have}"]
    lines.append(one_line(f"figures: {plan.basis}"))
    models = dict.fromkeys(need.model for need in plan.needs)
    for model in models:
        lines += ["", one_line(model) if model is not None else "assumed"]
        lines += [f"  {need_line(need, plan.half_width)}" for need in plan.needs if need.model == model]
    if plan.best is not None and len(models) > 1:
        lines += ["", one_line(f"labels are drawn for the best of them, {plan.best}; -m NAME chooses another")]
    return lines


def _draw_text(asked: Asked, drawn: LabelDraw) -> list[str]:
    from ..conversation.files import shown_file
    from ..report.terminal import one_line

    out = shown_file(Path(str(asked.draw)))
    lines = [f"{out}: {len(drawn.samples):,} of {drawn.unlabelled:,} unlabelled samples, seed {asked.seed or 0}"]
    lines += [f"  {one_line(name) or 'no tag'}: {taken:,} of {size:,}" for name, (taken, size) in drawn.strata.items()]
    if drawn.strata:
        lines.append("  drawn by tags, at least one of each: nearly, but not quite, a simple random draw (--drawn)")
    return [*lines, f"label them with: turnwise label {out}"]
