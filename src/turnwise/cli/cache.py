"""`turnwise cache`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from .output import format_option

if TYPE_CHECKING:
    from ..engine.cache_store import CacheStats, CacheStore

__all__ = ["command"]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_Result = TypeVar("_Result")


@click.command(name="cache", epilog="Exit codes: 0 fine, also if there is no cache; 2 the file is bad, or usage.")
@click.argument("action", metavar="[stats|clear]", default="stats", type=click.Choice(["stats", "clear"]))
@click.option("--target", metavar="NAME", help="clear: only answers of this target.")
@click.option("--older-than", "age", metavar="AGE", help="clear: only answers older than this, such as 12h, 7d or 2w.")
@format_option()
def command(action: str, target: str | None, age: str | None, form: str) -> None:
    """Show or clear the answers that the project around the current folder has kept.

    They are in .turnwise/cache.sqlite3. Clearing loses nothing but time and tokens: what is asked again is asked anew.
    It does not ask back.

    \b
    Examples:
      turnwise cache
      turnwise cache clear --older-than 7d
      turnwise cache clear --target gpt
    """
    if action == "stats" and (target is not None or age is not None):
        raise click.UsageError(f"{'--target' if target is not None else '--older-than'} goes with `clear`")
    older_than = None if age is None else _age(age)
    path = _path()
    if action == "stats":
        _show(path, _with_store(path, lambda store: store.stats()), form)
        return
    # Both at once: what is left says which targets there are.
    removed, held = _with_store(path, lambda store: (store.clear(target, older_than), store.stats())) or (None, None)
    _show_cleared(path, removed, form)
    if target is not None and not removed and held is not None and target not in held.targets:
        _warn_of_unknown(target, held)


def _path() -> Path:
    from ..engine.cache_store import DEFAULT_PATH
    from ..suite.project import find_project_root

    return find_project_root(Path.cwd()) / DEFAULT_PATH


def _with_store(path: Path, work: Callable[[CacheStore], _Result]) -> _Result | None:
    """What comes of work on the cache; None, and no file, where there is none. Raises `UsageError`."""
    import sqlite3
    from contextlib import closing

    from ..engine.cache_store import CacheStore
    from ..errors import UsageError

    if not path.exists():
        return None
    try:
        with closing(CacheStore(path)) as store:
            return work(store)
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "check who may write the file and its folder; if it is in use, try again later"
        raise UsageError(f"the cache {path} cannot be used: {reason}", hint) from error


def _age(text: str) -> timedelta:
    """A number and a unit, as a duration. Raises `UsageError` of click for anything else."""
    number, unit = text[:-1], text[-1:]
    # More digits are nobody's age, and at some point more than a duration can hold.
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > 6:
        raise click.BadParameter(f"{text!r} is not an age such as 30m, 12h, 7d or 2w", param_hint="'--older-than'")
    return timedelta(**{_UNITS[unit]: int(number)})


def _show(path: Path, stats: CacheStats | None, form: str) -> None:
    from ..conversation.files import shown_file
    from ..report.terminal import one_line

    if form == "json":
        _print_json(_record(path, stats))
    elif stats is None:
        click.echo(f"there is no cache: {shown_file(path)} does not exist")
    else:
        click.echo(f"{shown_file(path)}: {_amount(stats.entries, stats.total_bytes)}{_period(stats)}")
        for name, each in sorted(stats.targets.items()):
            click.echo(f"  {one_line(name)}: {_amount(each.entries, each.total_bytes)}")


def _show_cleared(path: Path, removed: int | None, form: str) -> None:
    from ..conversation.files import shown_file

    if form == "json":
        _print_json({"path": str(path), "exists": removed is not None, "removed": removed or 0})
    elif removed is None:
        click.echo(f"there is no cache: {shown_file(path)} does not exist")
    else:
        click.echo(f"removed {removed:,} answer{'' if removed == 1 else 's'} from {shown_file(path)}")


def _warn_of_unknown(target: str, held: CacheStats) -> None:
    from .output import echo_warning

    names = ", ".join(sorted(held.targets)) or "none at all"
    echo_warning(f"the cache holds no answers of {target!r}; it holds those of: {names}")


def _record(path: Path, stats: CacheStats | None) -> dict[str, object]:
    """What `--format json` prints: all keys always, null for what there is not."""
    targets = {} if stats is None else stats.targets
    return {
        "path": str(path),
        "exists": stats is not None,
        "entries": 0 if stats is None else stats.entries,
        "total_bytes": 0 if stats is None else stats.total_bytes,
        "oldest": None if stats is None else _moment(stats.oldest),
        "newest": None if stats is None else _moment(stats.newest),
        "targets": {
            name: {"entries": each.entries, "total_bytes": each.total_bytes} for name, each in sorted(targets.items())
        },
    }


def _print_json(record: dict[str, object]) -> None:
    import json

    click.echo(json.dumps(record, ensure_ascii=False, indent=2))


def _amount(entries: int, size: int) -> str:
    """How many answers there are, and the room that they take.

    >>> _amount(1, 900), _amount(1200, 2_500_000)
    ('1 answer, 0.9 kB', '1,200 answers, 2,500.0 kB')
    """
    return f"{entries:,} answer{'' if entries == 1 else 's'}, {size / 1000:,.1f} kB"


def _period(stats: CacheStats) -> str:
    if stats.oldest is None or stats.newest is None:
        return ""
    first, last = f"{stats.oldest:%Y-%m-%d}", f"{stats.newest:%Y-%m-%d}"
    return f", of {first}" if first == last else f", from {first} to {last}"


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()
