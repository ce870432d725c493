"""`turnwise schema`."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command(name="schema")
@click.argument("format_", metavar="[suite|case|config|targets|result]", default="suite",
                type=click.Choice(["suite", "case", "config", "targets", "result"]))  # fmt: skip
def command(format_: str) -> None:
    """Print the JSON Schema of a file format, made from the models that load the files.

    `result` is one line of a run's results.jsonl.

    \b
    Examples:
      turnwise schema suite > .turnwise/schemas/suite.json
      # then, as the first line of a suite:
      # yaml-language-server: $schema=../.turnwise/schemas/suite.json
    """
    from ..checks.schemas import schema_text

    click.echo(schema_text(format_))
