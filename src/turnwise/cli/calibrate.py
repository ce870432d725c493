"""`turnwise calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..calibration.options import CalibrationOptions
    from ..calibration.plan import JudgeOptions
    from ..calibration.session import CalibrationSession

__all__ = ["command"]

_FORMATS = ("text", "json", "toml", "html", "md")
_FIXED = (
    "decks",
    "models",
    "samples",
    "repeats",
    "temperature",
    "plain",
    "strict",
    "allow_label_leak",
    "seed",
    "estimate",
    "drawn",
)
"""What a calibration that is resumed keeps."""


@click.command(
    name="calibrate",
    epilog="Exit codes: 0 measured and every gate met, 1 a gate not met, 2 bad files or usage, "
    "3 a gate's figure is not defined, or a model that was asked gave no valid verdict, 130 interrupted.",
)
@click.argument("decks", nargs=-1, metavar="[DECK]...")
@click.option(
    "--model", "-m", "models", multiple=True, metavar="A,B", help="Whom to measure as judge; may be repeated."
)
@click.option("--samples", multiple=True, metavar="FILE", help="Samples instead of the deck's own; may be repeated.")
@click.option("--replay", metavar="FILE", help="Compare recorded outputs; ask no model.")
@click.option("--repeats", type=int, metavar="K", help="Ask about each sample so often.  [default: 1]")
@click.option(
    "--temperature", metavar="T", help="Where deck and target set none; `default` for the API's own.  [default: 0]"
)
@click.option("--plain", is_flag=True, help="Do not ask for structured output, even where the API has it.")
@click.option("--gate", "gates", multiple=True, metavar="BAR", help="A bar to meet: 'kappa_lo>=0.6'; may be repeated.")
@click.option(
    "--estimate",
    metavar="FILE",
    help="Correct the pass rate that the judge reports on these answers: a file, or a run.",
)
@click.option("--drawn", is_flag=True, help="With --estimate: the labelled samples are a random draw of the answers.")
@click.option("--plan", "half_width", type=float, metavar="X", help="Say how many labels make the figures ± X.")
@click.option("--draw", "draw", metavar="OUT", help="With --plan and --samples: write the samples to label next.")
@click.option("--seed", type=int, metavar="S", help="Another seed for the bootstrap.  [default: 0]")
@click.option("--strict", is_flag=True, help="Every warning about decks and samples is an error.")
@click.option(
    "--allow-label-leak", is_flag=True, help="Measure a deck that shows the label to the judge, all the same."
)
@click.option(
    "--workers", "-c", type=int, metavar="N", help="How many requests at once.  [default: the target's, or 16]"
)
@click.option("--timeout", type=float, metavar="SECONDS", help="For one answer, with its retries.")
@click.option("--budget-usd", type=float, metavar="USD", help="Stop before more is spent.")
@click.option("--max-tokens-total", type=int, metavar="N", help="Stop before more tokens are used.")
@click.option("--cache/--no-cache", default=None, help="Use answers of before.  [default: off, or the config]")
@click.option("--durable", is_flag=True, default=None, help="Wait for the disk after each answer.")
@click.option("--resume", metavar="ID", help="Go on with a calibration: what is missing, and what ended in an error.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked, and about what it would cost; ask nothing.")
@click.option("--format", "-f", "form", type=click.Choice(_FORMATS), help="The form of the report.  [default: text]")
@click.option("--output", "-o", metavar="FILE", help="Write the report there; its ending says the form.")
@click.option("--quiet", "-q", is_flag=True, help="Print one line for each deck and model, and one for each gate.")
def command(**given: Any) -> None:
    """Measure how far a grader deck can be trusted: against labelled samples, with error bars.

    DECK is a Markdown deck, or a folder of decks. Each model judges every sample; the report says how far it agrees
    with people, which model is really better, what it may be used for, and how many labels are missing. Answers are
    kept in .turnwise/calibrations/ as they come, so that a calibration that was stopped can be resumed or replayed.

    \b
    Examples:
      turnwise calibrate demo                               see a report; asks nobody
      turnwise calibrate tone.deck.md -m gpt,claude
      turnwise calibrate tone.deck.md -m gpt --repeats 3 -o report.html
      turnwise calibrate tone.deck.md -m gpt --gate 'kappa_lo>=0.6' --gate 'tnr_lo>=0.8'
      turnwise calibrate --samples s.jsonl --replay r.jsonl --format json
      turnwise calibrate tone.deck.md -m gpt --estimate answers.jsonl
      turnwise calibrate --samples s.jsonl --plan 0.05
    """
    import signal

    from .interrupts import end_on

    end_on(signal.SIGINT, signal.SIGTERM)
    from .calibrating import calibrate

    click.get_current_context().exit(calibrate(Asked(**given)))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line says."""

    decks: tuple[str, ...]
    models: tuple[str, ...]
    samples: tuple[str, ...]
    replay: str | None
    repeats: int | None
    temperature: str | None
    plain: bool
    gates: tuple[str, ...]
    estimate: str | None
    drawn: bool
    half_width: float | None
    draw: str | None
    seed: int | None
    strict: bool
    allow_label_leak: bool
    workers: int | None
    timeout: float | None
    budget_usd: float | None
    max_tokens_total: int | None
    cache: bool | None
    durable: bool | None
    resume: str | None
    dry_run: bool
    form: str | None
    output: str | None
    quiet: bool

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models, each once."""
        names = [name.strip() for each in self.models for name in _listed(each)]
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def shown_as(self) -> str:
        """The form of the report: as told, or as the file's ending says."""
        if self.form is not None:
            return self.form
        endings = {"html": "html", "htm": "html", "json": "json", "toml": "toml", "md": "md"}
        return endings.get((self.output or "").rpartition(".")[2].lower(), "text")

    def options(self) -> CalibrationOptions:
        """What to measure."""
        from ..calibration.options import CalibrationOptions

        return CalibrationOptions(
            decks=self.decks,
            samples=self.samples,
            models=self.model_names,
            judges=self._judges(),
            gates=self.gates,
            strict=self.strict,
            allow_label_leak=self.allow_label_leak,
            seed=self.seed or 0,
            estimate=self.estimate,
            drawn=self.drawn,
        )

    def session(self) -> CalibrationSession:
        """The calibration, locked and ready."""
        from ..calibration.session import begin_calibration, go_on_calibrating
        from ..engine.options import Execution

        names = ("workers", "timeout", "budget_usd", "max_tokens_total", "cache", "durable")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.resume is None:
            return begin_calibration(self.options(), Execution(**given))
        fixed = [name for name in _FIXED if getattr(self, name)]
        if fixed:
            flag = {"decks": "DECK", "models": "--model"}.get(fixed[0], "--" + fixed[0].replace("_", "-"))
            raise click.UsageError(f"{flag} does not go with --resume: the calibration keeps what it was started with")
        return go_on_calibrating(self.resume, given, gates=self.gates)

    def _judges(self) -> JudgeOptions:
        from ..calibration.plan import JudgeOptions

        return JudgeOptions(
            repeats=1 if self.repeats is None else self.repeats,
            temperature=self._temperature(),
            structured=not self.plain,
        )

    def _temperature(self) -> float | None:
        if self.temperature is None or self.temperature == "default":
            return 0.0 if self.temperature is None else None
        try:
            value = float(self.temperature)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 10:
            raise click.UsageError(f"--temperature must be a number from 0, or `default`; found {self.temperature!r}")
        return value


def _listed(written: str) -> list[str]:
    """The names between commas; a comma in brackets belongs to the name, such as to what a mock answers.

    >>> _listed('gpt,mock/{"score": 1, "reason": "x"}')
    ['gpt', 'mock/{"score": 1, "reason": "x"}']
    """
    names, depth = [""], 0
    for character in written:
        depth += (character in "{[(") - (character in "}])")
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return names
