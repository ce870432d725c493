"""`turnwise targets`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from .output import format_option

if TYPE_CHECKING:
    from ..providers.agents.readiness import AgentNeed
    from ..providers.checking import CheckOutcome
    from ..suite.project import Project
    from ..targets.format import Target
    from ..targets.survey import SurveyedTarget

__all__ = ["command"]


@click.command(
    name="targets",
    epilog="Exit codes: 0 fine, 1 a target does not answer (only with --check), 2 the file or a variable is bad.",
)
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option(
    "--check",
    is_flag=True,
    help="Send one small request to each target, and look for agents' programs; this may cost a few tokens.",
)
@format_option()
def command(names: tuple[str, ...], check: bool, form: str) -> None:
    """List the targets of the project around the current folder, and whether their variables are set.

    NAME is a target of the file, or a provider and its model, such as openai/MODEL. Secrets are never shown.

    \b
    Examples:
      turnwise targets
      turnwise targets gpt ollama/qwen3:4b --check
      turnwise targets --format json | jq '.[] | select(.ready | not)'
    """
    from pathlib import Path

    from ..suite.project import Projects
    from ..targets.dotenv import environment
    from ..targets.survey import survey_target
    from . import ExitCode

    project, _, _ = Projects().of(Path.cwd())
    specs = _chosen(project, names)
    variables = environment(project.root)
    targets = [survey_target(spec, variables, project.root) for spec in specs]
    outcomes = _check(targets, project, variables) if check else None
    _show(targets, outcomes, _needs(targets, project, variables), form)
    code = ExitCode.OK
    if any(target.problem for target in targets):
        code = ExitCode.BAD_INPUT
    elif outcomes is not None and not all(outcome.ok for outcome in outcomes):
        code = ExitCode.FAILED
    click.get_current_context().exit(code)


def _chosen(project: Project, names: tuple[str, ...]) -> list[Target]:
    from ..conversation.files import shown_file
    from ..errors import UsageError
    from ..targets.choose import find_target, load_project_targets

    spec = load_project_targets(project)
    file = shown_file(project.targets_file)
    if names:
        return [find_target(name, spec, file=file) for name in dict.fromkeys(names)]
    if spec is None:
        raise UsageError(f"there is no {file}", "`turnwise init` writes one; or name a target, such as openai/MODEL")
    return list(spec.targets)


def _check(targets: list[SurveyedTarget], project: Project, variables: Mapping[str, str]) -> list[CheckOutcome]:
    """What came of asking each target; one that cannot be asked has failed without a request."""
    import asyncio
    import sys
    from contextlib import redirect_stdout

    from ..providers.checking import CheckOutcome, check_targets

    ready = [target.resolved for target in targets if target.resolved is not None]
    # What a function under test prints is no part of the list.
    with redirect_stdout(sys.stderr):
        asked = asyncio.run(
            check_targets(
                ready,
                root=project.root,
                default_system_prompt=project.config.default_system_prompt,
                environment=variables,
            )
        )
    answers = iter(asked)
    return [
        next(answers)
        if target.resolved is not None
        else CheckOutcome(
            name=target.name,
            ok=False,
            detail=target.problem or f"not set: {', '.join(target.missing)}",
            hint=target.hint or "set it in the environment, .turnwise/.env or .env",
            latency_ms=None,
        )
        for target in targets
    ]


def _needs(targets: list[SurveyedTarget], project: Project, variables: Mapping[str, str]) -> dict[str, AgentNeed]:
    """What agents lack, by the names of their targets; nothing is started to find out."""
    from ..providers.agents.opening import AGENTS

    agents = [each.resolved for each in targets if each.provider in AGENTS and each.resolved is not None]
    if not agents:
        return {}
    from ..providers.agents.base import Surroundings
    from ..providers.agents.readiness import agent_need

    around = Surroundings(project.root, variables)
    found = {each.target.name: agent_need(each, around) for each in agents}
    return {name: need for name, need in found.items() if need is not None}


def _show(
    targets: list[SurveyedTarget], outcomes: list[CheckOutcome] | None, needs: Mapping[str, AgentNeed], form: str
) -> None:
    from ..report.targets import check_text, target_record, targets_text
    from ..report.terminal import one_line
    from .output import error_style, output_style

    if form == "json":
        import json

        checks: Sequence[CheckOutcome | None] = outcomes if outcomes is not None else [None] * len(targets)
        records = [
            target_record(target, outcome, needs.get(target.name))
            for target, outcome in zip(targets, checks, strict=True)
        ]
        click.echo(json.dumps(records, ensure_ascii=False, indent=2))
        return
    style = output_style()
    text = targets_text(targets, style, needs) if outcomes is None else check_text(targets, outcomes, style)
    click.echo(text, color=True)
    warning = error_style()("warning:", "yellow", bold=True)
    for target in targets:
        for each in target.resolved.warnings if target.resolved is not None else ():
            click.echo(f"{warning} {one_line(each)}", err=True, color=True)
