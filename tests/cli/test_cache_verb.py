"""`turnwise cache`: what is kept is shown and cleared, and nothing is made by looking."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnwise.cli.cache import command
from turnwise.engine.cache_store import DEFAULT_PATH, CacheStore, Row
from turnwise.errors import UsageError

DAY = 86_400.0


def cache(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a cache; the current folder is below its root."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / "evals").mkdir()
    monkeypatch.chdir(tmp_path / "evals")
    return tmp_path


@pytest.fixture
def filled(project: Path) -> Path:
    """Three answers of `gpt`, one of them ten days old, and one of `claude`."""
    now = time.time()
    rows = [
        Row("a", now - 10 * DAY, "gpt", None, bytes(1000)),
        Row("b", now - 60, "gpt", None, bytes(1000)),
        Row("c", now, "gpt", None, bytes(1000)),
        Row("d", now, "claude", None, bytes(500)),
    ]
    with closing(CacheStore(project / DEFAULT_PATH)) as store:
        store.put(rows)
    return project


def keys(project: Path) -> set[str]:
    with closing(CacheStore(project / DEFAULT_PATH)) as store:
        return {key for key in "abcd" if store.get(key) is not None}


@pytest.mark.parametrize("arguments", [[], ["stats"], ["clear"], ["clear", "--target", "gpt"]])
def test_no_cache_is_no_error_and_makes_none(project: Path, arguments: list[str]) -> None:
    """It is said that there is none, and there is none afterwards."""
    done = cache(*arguments)
    assert (done.exit_code, done.output.startswith("there is no cache: ")) == (0, True)
    assert list((project / ".turnwise").iterdir()) == []


def test_statistics_for_people(filled: Path) -> None:
    """How many answers and how large, as a whole and for each target."""
    done = cache()
    assert done.exit_code == 0
    first, *targets = done.output.splitlines()
    assert "cache.sqlite3: 4 answers, 3.5 kB, from " in first
    assert targets == ["  claude: 1 answer, 0.5 kB", "  gpt: 3 answers, 3.0 kB"]


def test_statistics_for_programs(filled: Path) -> None:
    """The same as data, with the times of the oldest and the newest answer."""
    data = json.loads(cache("stats", "--format", "json").output)
    assert (data["exists"], data["entries"], data["total_bytes"]) == (True, 4, 3500)
    assert data["targets"]["gpt"] == {"entries": 3, "total_bytes": 3000}
    assert data["oldest"] < data["newest"]
    assert data["path"] == str(filled / DEFAULT_PATH)


def test_programs_get_the_same_keys_without_a_cache(project: Path) -> None:
    """Zeros and nulls, so that nobody needs to look for keys."""
    data = json.loads(cache("--format", "json").output)
    assert (data["exists"], data["entries"], data["oldest"], data["targets"]) == (False, 0, None, {})
    assert json.loads(cache("clear", "--format", "json").output)["removed"] == 0


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ([], set()),
        (["--target", "gpt"], {"d"}),
        (["--older-than", "7d"], {"b", "c", "d"}),
        (["--older-than", "2w"], {"a", "b", "c", "d"}),
        (["--older-than", "0m"], set()),
        (["--target", "gpt", "--older-than", "1h"], {"b", "c", "d"}),
    ],
)
def test_clearing_removes_what_was_asked_for(filled: Path, arguments: list[str], left: set[str]) -> None:
    """All of it, one target's, those of some age, or both together; the output says how many."""
    done = cache("clear", *arguments)
    assert keys(filled) == left
    removed = 4 - len(left)
    assert done.output.startswith(f"removed {removed} answer{'' if removed == 1 else 's'} from ")


def test_an_unknown_target_is_told_the_known_ones(filled: Path) -> None:
    """A misspelt name removes nothing, and says so."""
    done = cache("clear", "--target", "gtp")
    assert (done.exit_code, keys(filled)) == (0, {"a", "b", "c", "d"})
    assert "holds no answers of 'gtp'; it holds those of: claude, gpt" in done.stderr


@pytest.mark.parametrize("age", ["7", "d", "", "7 d", "-7d", "7y", "1.5d", "٧d", "9" * 30 + "w"])
def test_an_age_is_a_number_and_a_unit(filled: Path, age: str) -> None:
    """Anything else is refused before anything is removed."""
    done = cache("clear", "--older-than", age)
    assert (done.exit_code, keys(filled)) == (2, {"a", "b", "c", "d"})
    assert "such as 30m, 12h, 7d or 2w" in done.output


@pytest.mark.parametrize("option", ["--target", "--older-than"])
def test_options_of_clear_go_with_clear(filled: Path, option: str) -> None:
    """They would change nothing about the statistics: an error rather than a surprise."""
    done = cache("stats", option, "7d")
    assert (done.exit_code, f"{option} goes with `clear`" in done.output) == (2, True)


def test_a_file_that_is_no_cache_is_left_alone(project: Path) -> None:
    """It is called what it is, and not one byte of it changes."""
    path = project / DEFAULT_PATH
    path.write_bytes(b"My letters to Olga. " * 100)
    done = cache("clear")
    assert isinstance(done.exception, UsageError)
    assert "no SQLite file" in str(done.exception)
    assert path.read_bytes() == b"My letters to Olga. " * 100


def test_a_cache_that_cannot_be_opened_is_no_empty_one(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the system ends in a message with a hint, not in zeros."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("turnwise.engine.cache_store.sqlite3.connect", refuse)
    done = cache()
    assert isinstance(done.exception, UsageError)
    assert "cannot be used: Permission denied" in str(done.exception)
    assert done.exception.hint
