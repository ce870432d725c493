"""`turnwise run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from ..engine.options import PlanOptions
    from ..engine.selection import Selection
    from ..engine.session import Session

__all__ = ["command"]

_FIXED = (
    "cases", "exclude", "tags", "sample", "seed", "limit", "failed", "variants", "system_prompts", "as_written",
    "trials", "threshold", "no_grade", "dry_run",
)  # fmt: skip
"""What the plan of a run decides: a run that is resumed keeps it."""


@click.command(
    name="run",
    epilog="Exit codes: 0 all good, 1 below the bar, 2 bad files or usage, 3 results are errors, ungraded or missing, "
    "130 interrupted.",
)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--target", "-t", "targets", multiple=True, metavar="NAME", help="Whom to ask; may be repeated.")
@click.option("--case", "cases", multiple=True, metavar="GLOB", help="Only cases of such an id.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No cases of such an id.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only cases with one of these tags.")
@click.option("--sample", type=int, metavar="N", help="Only so many cases, drawn at random by the seed.")
@click.option("--seed", type=int, metavar="S", help="Another draw for --sample.  [default: 0]")
@click.option("--limit", type=int, metavar="N", help="Only the first so many cases.")
@click.option("--failed", metavar="RUN", help="Only what did not pass in that run; its suites and targets.")
@click.option("--trials", type=int, metavar="N", help="Ask each case so often.  [default: what suites say, else 1]")
@click.option("--variant", "variants", multiple=True, metavar="NAME", help="Only these variants of the suites.")
@click.option(
    "--system-prompt", "system_prompts", multiple=True, metavar="FILE",
    help="Ask under this system prompt, as a variant named after the file; may be repeated.",
)  # fmt: skip
@click.option("--as-written", is_flag=True, help="Also ask without any variant.")
@click.option(
    "--threshold", type=float, metavar="RATE", help="The pass rate that each target must reach on each suite."
)
@click.option("--no-grade", is_flag=True, help="Collect answers, and do not grade them.")
@click.option(
    "--workers", "-w", type=int, metavar="N", help="How many requests at once.  [default: the target's, or 16]"
)
@click.option("--timeout", type=float, metavar="SECONDS", help="For one result, with its retries.")
@click.option("--budget-usd", type=float, metavar="USD", help="Stop before more is spent.")
@click.option("--max-tokens-total", type=int, metavar="N", help="Stop before more tokens are used.")
@click.option(
    "--cache/--no-cache",
    default=None,
    help="Use answers of before; not for mock, replay, python and agents.  [default: off, or the config]",
)
@click.option("--durable", is_flag=True, default=None, help="Wait for the disk after each result.")
@click.option("--resume", metavar="RUN", help="Go on with a run: what is missing, and what ended in an error.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked, and about what it would cost; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON lines, the summary last.")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict alone.")
def command(**given: Any) -> None:
    """Ask the cases of suites, grade the answers, and say what came of it.

    SUITE is a file, a folder or a glob. Every result is written to .turnwise/runs/ as it comes, so that a run that was
    stopped, by whatever, can be resumed. Agents, such as codex and claude-code, are targets like any other: each case
    has a workspace of its own, and what agents write is kept in agents/ of the run's folder.

    \b
    Examples:
      turnwise run evals/ --target gpt
      turnwise run evals/ -t gpt -t claude --trials 3 --threshold 0.9
      turnwise run evals/support.yaml -t local --case 'refund-*'
      turnwise run evals/ -t gpt --system-prompt new.md --as-written
      turnwise run evals/ -t gpt --dry-run
      turnwise run --resume 20261116-090507-4123fa2
    """
    import signal

    from .interrupts import end_on

    # Until the run is under way, a request to end ends at once, like Ctrl-C.
    end_on(signal.SIGINT, signal.SIGTERM)
    from .running import carry_out, show_plan

    asked = _Asked(**given)
    if asked.as_json and asked.quiet:
        raise click.UsageError("--json and --quiet exclude each other")
    kind: Literal["auto", "json", "quiet"] = "json" if asked.as_json else "quiet" if asked.quiet else "auto"
    if asked.dry_run:
        show_plan(asked.plan(), as_json=asked.as_json)
        return
    with asked.session() as session:
        code = carry_out(session, kind)
    click.get_current_context().exit(code)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What the command line says."""

    suites: tuple[str, ...]
    targets: tuple[str, ...]
    cases: tuple[str, ...]
    exclude: tuple[str, ...]
    tags: tuple[str, ...]
    sample: int | None
    seed: int | None
    limit: int | None
    failed: str | None
    trials: int | None
    variants: tuple[str, ...]
    system_prompts: tuple[str, ...]
    as_written: bool
    threshold: float | None
    no_grade: bool
    workers: int | None
    timeout: float | None
    budget_usd: float | None
    max_tokens_total: int | None
    cache: bool | None
    durable: bool | None
    resume: str | None
    dry_run: bool
    as_json: bool
    quiet: bool

    def session(self) -> Session:
        """The run, planned or found, and locked."""
        from ..engine.options import Execution
        from ..engine.session import begin

        if self.resume is not None:
            from ..engine.resuming import go_on

            self._refuse_fixed()
            return go_on(self.resume, self._execution(), suites=self.suites, targets=self.targets)
        return begin(self.plan(), Execution(**self._execution()))

    def plan(self) -> PlanOptions:
        """What the run should do."""
        from ..engine.options import PlanOptions

        self._refuse_contradictions()
        if self.failed is not None:
            return self._again()
        if not self.suites:
            raise click.UsageError("name at least one suite, or a run to --resume")
        return PlanOptions(
            suites=self.suites,
            targets=self.targets,
            selection=self._selection(),
            variants=self.variants,
            system_prompts=self.system_prompts,
            as_written=self.as_written,
            trials=self.trials,
            threshold=self.threshold,
            graded=not self.no_grade,
        )

    def _again(self) -> PlanOptions:
        """What did not pass in another run, asked as it was there, unless the command line says otherwise."""
        from dataclasses import replace

        from ..engine.resuming import failed_in

        assert self.failed is not None
        failures = failed_in(self.failed)
        ran = failures.options
        return replace(
            ran,
            suites=self.suites or ran.suites,
            targets=self.targets or ran.targets,
            selection=self._selection(failures.cases),
            variants=self.variants or ran.variants,
            system_prompts=self.system_prompts or ran.system_prompts,
            as_written=self.as_written or ran.as_written,
            trials=self.trials or ran.trials,
            threshold=ran.threshold if self.threshold is None else self.threshold,
            graded=ran.graded and not self.no_grade,
            # Another target, or another way to ask, has not failed yet: it gets the cases.
            only=None if self.targets or self.variants or self.system_prompts else failures.results,
        )

    def _selection(self, only: frozenset[tuple[str, str]] | None = None) -> Selection:
        from ..engine.selection import Selection

        return Selection(
            cases=self.cases,
            exclude=self.exclude,
            tags=self.tags,
            only=only,
            sample=self.sample,
            seed=self.seed or 0,
            limit=self.limit,
        )

    def _refuse_contradictions(self) -> None:
        if self.resume is not None:
            self._refuse_fixed()
        if self.no_grade and self.threshold is not None:
            raise click.UsageError("--threshold goes with grades; --no-grade has none")
        if self.seed is not None and self.sample is None:
            raise click.UsageError("--seed goes with --sample: nothing else is drawn")

    def _execution(self) -> dict[str, Any]:
        names = ("workers", "timeout", "budget_usd", "max_tokens_total", "cache", "durable")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def _refuse_fixed(self) -> None:
        for name in _FIXED:
            given = getattr(self, name)
            if given is not None and given is not False and given != ():  # a 0 is given, too
                option = next(each for each in command.params if each.name == name).opts[0]
                raise click.UsageError(f"{option} does not go with --resume: the run keeps its plan")
