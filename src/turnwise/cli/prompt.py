"""`turnwise prompt`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from .output import format_option
from .requests import Requests, WantedVariant

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..report.prompt import Sent
    from ..suite.case import Case
    from ..suite.collect import Loaded
    from ..suite.suite import Suite
    from ..suite.variants import Variant

__all__ = ["command"]


@click.command(
    name="prompt",
    epilog="Exit codes: 0 every case can be sent, 2 a suite is not well formed or a case cannot be resolved.",
)
@click.argument("suites", nargs=-1, required=True, metavar="SUITE…")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case (an id or a glob); may be repeated.")
@format_option("text for people; json is exact, byte for byte.")
@click.option(
    "--view",
    type=click.Choice(["messages", "question", "request"]),
    help="In text: the messages, the transcript that people, judges and agents read, or the request to a target "
    "(the default with --target).",
)
@click.option(
    "--target",
    "target_name",
    metavar="TARGET",
    help="Show the exact request to this target (a name of targets.yaml, or provider/model) and every rewrite.",
)
@click.option("--variant", metavar="NAME", help="What this variant of the suites sends; its settings need --target.")
@click.option("--curl", is_flag=True, help="With --target: print commands that send the requests; keys are variables.")
@click.option("--full", is_flag=True, help="In text: show long files whole.")
def command(
    suites: tuple[str, ...],
    cases: tuple[str, ...],
    form: str,
    view: str | None,
    target_name: str | None,
    variant: str | None,
    curl: bool,
    full: bool,
) -> None:
    """Show what each case sends: the messages for a model API, and the question that people and judges read.

    SUITE is a YAML, JSON or JSONL file, a folder, a glob, or - for standard input.

    \b
    Examples:
      turnwise prompt evals/support.yaml
      turnwise prompt evals/support.yaml --target anthropic/claude-sonnet-5
      turnwise prompt evals/support.yaml --target gpt --case refund --curl | sh
      turnwise prompt evals/ --case 'refund-*' --view question
      turnwise prompt evals/support.yaml --variant terse
      turnwise prompt evals/ --format json | jq '.[].messages'
      cat case.jsonl | turnwise prompt -
    """
    from . import ExitCode

    if target_name is None and (curl or view == "request"):
        raise click.UsageError(f"{'--curl' if curl else '--view request'} needs --target")
    if curl and (form == "json" or view is not None):
        raise click.UsageError("--curl prints commands; it goes with neither --format json nor --view")
    with ExitStack() as stack:
        requests = None if target_name is None else Requests(target_name)
        view = view or ("messages" if requests is None else "request")
        printer = _Printer(cases, form, view, full, requests, curl, variant)
        for loaded in _load(suites, stack):
            printer.add(loaded)
        failed = printer.finish()
    click.get_current_context().exit(ExitCode.BAD_INPUT if failed else ExitCode.OK)


def _load(suites: tuple[str, ...], stack: ExitStack) -> Iterator[Loaded]:
    from pathlib import Path

    from ..suite.collect import collect_suites, load_one
    from ..suite.project import Projects
    from .output import STDIN_NAME, stdin_as_file

    if "-" in suites:
        path = stack.enter_context(stdin_as_file())
        yield load_one(path, STDIN_NAME, Projects(), folder=Path.cwd())
    yield from collect_suites([suite for suite in suites if suite != "-"])


class _Printer:
    """Prints cases as they come, so that memory does not grow with the suites."""

    def __init__(
        self,
        wanted: tuple[str, ...],
        form: str,
        view: str,
        full: bool,
        requests: Requests | None,
        curl: bool,
        variant: str | None,
    ) -> None:
        from .output import output_style

        self._wanted = wanted
        self._json = form == "json"
        self._view = view
        self._full = full
        self._requests = requests
        self._curl = curl
        self._variants = WantedVariant(variant)
        self._style = output_style()
        self._failed = False
        self._suites = 0
        self._printed = 0
        self._ids: list[str] = []
        self._matched: set[str] = set()

    def add(self, loaded: Loaded) -> None:
        from ..diagnostics import has_errors
        from ..suite.variants import with_variant
        from .output import echo_diagnostics

        if loaded.suite is None:
            echo_diagnostics(loaded.diagnostics)
            self._failed |= has_errors(loaded.diagnostics)
            self._suites += has_errors(loaded.diagnostics)
            return
        self._suites += 1
        variant, problems = self._variants.of(loaded.suite)
        echo_diagnostics(problems)
        if has_errors(problems):
            self._failed = True
        elif variant is not None or not self._variants.is_wanted:
            for case in loaded.suite.cases:
                if self._selected(case):
                    self._print(case if variant is None else with_variant(case, variant), loaded.suite, variant)

    def finish(self) -> bool:
        """Close the output; whether anything failed."""
        from ..errors import UsageError

        if self._json:
            sys.stdout.write("\n]\n" if self._printed else "[]\n")
        sys.stdout.flush()
        if not self._suites:
            raise UsageError(
                "no suite found", "a suite is a YAML file with `cases:` or a JSONL file with a case a line"
            )
        if not self._failed:
            self._variants.refuse_if_unknown()
        missed = [wanted for wanted in self._wanted if wanted not in self._matched]
        if missed and not self._failed:
            from ..suite.explain import did_you_mean

            hint = did_you_mean(missed[0], self._ids[:200], "there are")
            raise UsageError(f"no case is named {', '.join(missed)}", hint)
        return self._failed

    def _selected(self, case: Case) -> bool:
        from fnmatch import fnmatchcase

        if not self._wanted:
            return True
        if len(self._ids) < 10_000:
            self._ids.append(case.id)
        fitting = [wanted for wanted in self._wanted if case.id == wanted or fnmatchcase(case.id, wanted)]
        self._matched.update(fitting)
        return bool(fitting)

    def _print(self, case: Case, suite: Suite, variant: Variant | None) -> None:
        from ..report.prompt import prompt_record, prompt_text
        from ..suite.check import case_errors

        known = [diagnostic for diagnostic in suite.warnings if diagnostic.case_id == case.id] if suite.warnings else []
        errors = case_errors(case)
        sent = None
        if self._requests is not None and not errors:
            sent, errors = self._requests.of(case, variant)
        self._failed |= bool(errors)
        name = None if variant is None else variant.name
        if self._curl:
            self._print_curl(case, sent, [*known, *errors], variant)
        elif self._json:
            import json

            record = prompt_record(case, suite.file, errors, known, sent, variant=name)
            sys.stdout.write(",\n" if self._printed else "[\n")
            sys.stdout.write(json.dumps(record, ensure_ascii=False, allow_nan=False))
        else:
            shown = prompt_text(
                case, errors, known, style=self._style, full=self._full, view=self._view, sent=sent, variant=name
            )
            sys.stdout.write(shown + "\n")
        self._printed += 1

    def _print_curl(
        self, case: Case, sent: Sent | None, diagnostics: list[Diagnostic], variant: Variant | None
    ) -> None:
        from ..report.terminal import one_line
        from .output import echo_diagnostics

        echo_diagnostics(diagnostics)
        if sent is not None and self._requests is not None:
            sys.stdout.write(f"# {one_line(case.id)}\n{self._requests.curl(case, sent, variant)}\n\n")
