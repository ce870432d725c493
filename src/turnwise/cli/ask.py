"""`turnwise ask`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import format_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..errors import ProviderError
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..providers.retries import Retry
    from .targeting import Chosen

__all__ = ["command"]

# Seconds before a person is told that there is nothing to see yet.
_PATIENCE = 3.0


@click.command(
    name="ask",
    epilog="Exit codes: 0 an answer came, 1 none came, 2 bad files or usage.",
)
@click.argument("target_name", metavar="TARGET")
@click.argument("text", metavar="TEXT|SUITE|-")
@click.option("--case", "case_id", metavar="ID", help="TEXT is a suite: ask this case of it.")
@click.option("--system", metavar="TEXT", help="The system text, instead of the target's or the default.")
@click.option("--stream", is_flag=True, help="Stream the answer, to learn the time to the first token.")
@format_option("text: the answer, and figures on standard error; json: all of it.")
def command(target_name: str, text: str, case_id: str | None, system: str | None, stream: bool, form: str) -> None:
    """Ask a target one thing, once: to try whether it works, and how it answers.

    TARGET is a name of targets.yaml, or provider/model.

    \b
    Examples:
      turnwise ask gpt "What is the capital of France?"
      turnwise ask ollama/qwen3:4b - < question.txt
      turnwise ask local "Hello"                          an embedded model, no key, no network
      turnwise ask claude evals/support.yaml --case refund --format json
    """
    import asyncio
    from contextlib import redirect_stdout

    from ..errors import ProviderError
    from .targeting import choose_target

    if case_id is not None and system is not None:
        raise click.UsageError("--system goes with a text; a case has its own system text")
    if case_id is not None and text == "-":
        raise click.UsageError("--case goes with the file of a suite; `-` reads a text")
    folder = Path(text).parent if case_id is not None else Path.cwd()
    chosen = choose_target(target_name, folder, stream=stream)
    request = _of_text(text, system, chosen) if case_id is None else _of_case(text, case_id, chosen)
    try:
        # What a function under test prints is not the answer.
        with redirect_stdout(sys.stderr):
            response = asyncio.run(_ask(request, chosen))
    except ProviderError as error:
        if form == "json":
            _print_failure(error)
        _name_what_is_kept(error.agent)
        raise
    _print(response, chosen, form)


def _of_text(text: str, system: str | None, chosen: Chosen) -> ProviderRequest:
    from ..conversation import Conversation, Message, Text
    from ..errors import UsageError
    from ..providers.base import ProviderRequest

    text = _read(text)
    if not text.strip():
        raise UsageError("there is nothing to ask", "give a text, or pipe one in for `-`")
    conversation = Conversation((Message("user", (Text(text),)),), system)
    prompt = conversation.chat_prompt(chosen.resolved.target.system_prompt)
    return ProviderRequest(question=conversation.transcript(), chat_prompt=prompt)


def _read(text: str) -> str:
    """The text, from standard input for `-`. Raises `UsageError` if it is not UTF-8: nothing is changed in silence."""
    import os

    from ..errors import UsageError

    is_input = text == "-"
    data = os.fsencode(text) if not is_input else sys.stdin.buffer.read() if sys.stdin is not None else b""
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = "standard input" if is_input else "the text"
        message = f"{where} is not UTF-8: byte 0x{data[error.start]:02x} at position {error.start}"
        raise UsageError(message, "convert it, such as with iconv") from error
    if not is_input:
        _refuse_a_file(decoded)
    return decoded.rstrip("\r\n") if is_input else decoded


def _refuse_a_file(text: str) -> None:
    """A suite's name without a case would be sent as a question, which nobody means."""
    from ..errors import UsageError

    is_name = " " not in text and text.endswith((".yaml", ".yml", ".json", ".jsonl", ".csv"))
    if is_name or (len(text) < 1000 and "\n" not in text and Path(text).is_file()):
        hint = "add --case ID to ask a case of a suite, or pipe the text in"
        raise UsageError(f"{text} names a file, and is no text to ask", hint)


def _of_case(suite: str, case_id: str, chosen: Chosen) -> ProviderRequest:
    from ..errors import SuiteError, UsageError
    from ..providers.requests import request_for
    from ..suite.check import case_errors
    from ..suite.explain import did_you_mean
    from ..suite.suite import load_suite

    ids = []
    for case in load_suite(suite).cases:
        if case.id == case_id:
            if errors := case_errors(case):
                raise SuiteError(errors)
            return request_for(case, system_prompt=chosen.resolved.target.system_prompt)
        ids.append(case.id)
    raise UsageError(f"no case is named {case_id} in {suite}", did_you_mean(case_id, ids[:200], "there are"))


async def _ask(request: ProviderRequest, chosen: Chosen) -> ProviderResponse:
    import asyncio

    from ..providers.opening import Providers

    async with Providers(
        root=chosen.project.root,
        environment=chosen.environment,
        default_system_prompt=chosen.project.config.default_system_prompt,
        on_retry=_tell,
    ) as providers:
        waiting = asyncio.get_running_loop().call_later(_PATIENCE, _tell_of_waiting, chosen.resolved.target.name)
        try:
            response = await providers.open(chosen.resolved).ask(request)
            if response.agent is not None:
                await asyncio.to_thread(response.agent.release, failed=False)
            return response
        finally:
            waiting.cancel()


def _name_what_is_kept(agent: Mapping[str, Any] | None) -> None:
    from ..report.answer import kept_places
    from .output import error_style

    for line in kept_places(agent):
        click.echo(error_style()(line, "grey"), err=True, color=True)


def _tell_of_waiting(name: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"waiting for {name} … (Ctrl+C stops)", err=True)


def _print_failure(error: ProviderError) -> None:
    """For programs: what the message on standard error says, as data."""
    import json

    failure = {
        "kind": error.kind,
        "message": str(error),
        "status": error.status,
        "retryable": error.retryable,
        "attempts": error.attempts,
        "hint": error.hint,
        **({} if error.agent is None else {"agent": dict(error.agent)}),
    }
    sys.stdout.write(json.dumps({"error": failure}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _tell(name: str, retry: Retry) -> None:
    from ..report.terminal import one_line

    line = f"{name}: {retry.error}; attempt {retry.attempt} of {retry.of} in {retry.delay:.1f} s"
    click.echo(one_line(line), err=True)


def _print(response: ProviderResponse, chosen: Chosen, form: str) -> None:
    from ..providers.prices import is_paid, price_date, prices_of
    from ..report.answer import answer_record, answer_text, figures_line, notes_on
    from .output import echo_warning, error_style

    target = chosen.resolved.target
    prices, _ = prices_of(target)
    _name_what_is_kept(None if response.agent is None else response.agent.record())
    if form == "json":
        import json

        sys.stdout.write(
            json.dumps(answer_record(response, prices, chosen.resolved.secrets), ensure_ascii=False) + "\n"
        )
        return
    sys.stdout.write(answer_text(response, terminal=sys.stdout.isatty()) + "\n")
    sys.stdout.flush()
    for note in notes_on(response):
        echo_warning(note)
    figures = figures_line(response, prices, is_paid=is_paid(target), as_of=price_date(target))
    click.echo(error_style()(figures, "grey"), err=True)
