"""`turnwise init`."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]

# Where each file of the template goes.
_FILES = {
    "config.yaml": ".turnwise/config.yaml",
    "targets.yaml": ".turnwise/targets.yaml",
    "env.example": ".env.example",
    "evals/support.yaml": "evals/support.yaml",
    "evals/refund-policy.md": "evals/refund-policy.md",
    "evals/tone.instructions.md": "evals/tone.instructions.md",
}
_IGNORED = "runs/\ncache.sqlite3*\n.env\n"


@click.command(name="init")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Write a small working project into FOLDER: config, targets, one suite, and schemas for editors.

    A file that exists is left as it is.

    \b
    Examples:
      turnwise init
      turnwise init my-evals && turnwise prompt my-evals/evals
    """
    from importlib.resources import files

    from ..checks.schemas import schema_text
    from ..report.terminal import one_line

    template = files(__package__) / "template"
    contents = {goal: (template / name).read_text(encoding="utf-8") for name, goal in _FILES.items()}
    contents[".turnwise/.gitignore"] = _IGNORED
    for name in ("suite", "config", "targets"):
        contents[f".turnwise/schemas/{name}.json"] = schema_text(name) + "\n"
    kept = 0
    for goal, content in sorted(contents.items()):
        written = _write(folder / goal, content)
        kept += not written
        click.echo(f"{'wrote' if written else 'kept '} {one_line(str(folder / goal))}")
    if kept:
        click.echo(f"{kept} of {len(contents)} files existed and were left as they are.")
    click.echo(f"Next: turnwise prompt {one_line(str(folder / 'evals'))}")


def _write(path: Path, content: str) -> bool:
    """Write a new file; whether it was written. Two processes at once cannot overwrite each other either."""
    from ..errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        if not path.is_file():
            raise UsageError(
                f"{path.parent if path.parent.is_file() else path} is in the way", "choose another folder"
            ) from None
        return False
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "choose a folder that you may write to") from None
    return True
