"""`.env` files are read line by line, and nothing of what they hold is ever said aloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import ConfigError
from turnwise.targets.dotenv import environment, parse_dotenv, read_dotenv

DATA = Path(__file__).parent / "data"
one_line = st.text().filter(lambda text: "\n" not in text and "\r" not in text)


def values_of(text: str) -> dict[str, str]:
    """The variables of a text that must be well formed."""
    values, diagnostics = parse_dotenv(text)
    assert diagnostics == []
    return values


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=v", "v"),
        ("  K = v  ", "v"),
        ("export K=v", "v"),
        ("export\tK=v", "v"),
        ("K=", ""),
        ("K=''", ""),
        ("K=a b c", "a b c"),
        ("K=a=b", "a=b"),
        ("K=v # comment", "v"),
        ("K=v#no", "v#no"),
        ("K=#no", "#no"),
        ("K= # comment", ""),
        ("K=#no # comment", "#no"),
        ("K='a # b' # comment", "a # b"),
        ('K="a # b"#comment', "a # b"),
        (r"K='\n'", r"\n"),
        (r'K="a\nb\tc\"d\\n"', 'a\nb\tc"d\\n'),
        (r'K="C:\Users"', r"C:\Users"),
        ("K=it's", "it's"),
        ("K='\"'", '"'),
        ("K=$HOME ${X}", "$HOME ${X}"),
        ("K=C:/My Documents/x - y", "C:/My Documents/x - y"),
    ],
)
def test_forms_of_a_line(line: str, value: str) -> None:
    """Each way to write a value gives exactly that value."""
    assert values_of(line) == {"K": value}


def test_export_is_a_name_too() -> None:
    """A variable may be named `export`."""
    assert values_of("export=1") == {"export": "1"}


def test_blank_lines_comments_bom_and_windows_line_ends() -> None:
    """What says nothing is passed over, and files written on Windows are read."""
    assert values_of("\ufeff# top\r\n\r\nA=1\r\n   \r\n  # more\r\nB='2'\r\n") == {"A": "1", "B": "2"}


def test_a_real_template_is_read() -> None:
    """A template of another project is read as it is, spaces in unquoted values included."""
    values, diagnostics = read_dotenv(DATA / "agentv-simple" / ".env.template")
    assert diagnostics == []
    assert values["PROJECTX_WORKSPACE_PATH"].endswith("OneDrive - Company Pty Ltd/sample.code-workspace")
    assert len(values) == 8


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        ("hush", "bad-line", 1),
        ("  hush", "bad-line", 3),
        ("export hush", "bad-line", 1),
        ("1K=hush", "bad-line", 1),
        ("MY-KEY=hush", "bad-line", 1),
        ("MY KEY=hush", "bad-line", 1),
        ("=hush", "bad-line", 1),
        ("K: hush", "bad-line", 1),
        ("K='hush", "unclosed-quote", 3),
        ('K= "hush', "unclosed-quote", 4),
        (r'K="hush\"', "unclosed-quote", 3),
        ("K='a' hush", "text-after-quote", 6),
        ("K='a'hush", "text-after-quote", 6),
    ],
)
def test_malformed_lines(line: str, code: str, column: int) -> None:
    """A malformed line gives its place and a hint, the other lines are still read, and no part of it is shown."""
    values, diagnostics = parse_dotenv(f"A=1\n{line}\nB=2", "some/.env")
    assert values == {"A": "1", "B": "2"}
    (diagnostic,) = diagnostics
    assert (diagnostic.severity, diagnostic.code, diagnostic.file) == ("error", code, "some/.env")
    assert (diagnostic.place.line, diagnostic.place.column, diagnostic.place.source) == (2, column, None)
    assert diagnostic.hint
    assert "hush" not in repr(diagnostic)


def test_of_a_repeated_key_the_last_is_used_with_a_warning() -> None:
    """A key that is set twice has its last value, and the author is told without either value."""
    values, (diagnostic,) = parse_dotenv("port=hush1\nexport port=hush2")
    assert values == {"port": "hush2"}
    assert (diagnostic.severity, diagnostic.place.line, diagnostic.place.column) == ("warning", 2, 8)
    assert "hush" not in repr(diagnostic)


@pytest.mark.parametrize("data", [b"A=hush\xff", b"A=hush\x00"])
def test_bytes_that_are_not_text(tmp_path: Path, data: bytes) -> None:
    """A file that is not text gives a diagnostic with line and column, and shows nothing of it."""
    path = tmp_path / ".env"
    path.write_bytes(b"# top\n" + data)
    values, (diagnostic,) = read_dotenv(path)
    assert values == {}
    assert (diagnostic.place.line, diagnostic.place.column, diagnostic.place.source) == (2, 7, None)
    assert "hush" not in repr(diagnostic)
    assert "ff" not in diagnostic.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is a diagnostic of the one who asked for it by name."""
    values, (diagnostic,) = read_dotenv(tmp_path / ".env")
    assert (values, diagnostic.code) == ({}, "file-missing")


def test_the_process_goes_before_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's variables win, then `.turnwise/.env`, then `.env` of the root."""
    for name in ("TW_A", "TW_B", "TW_C"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TW_A", "process")
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / ".env").write_text("TW_A=ours\nTW_B=ours\n")
    (tmp_path / ".env").write_text("TW_A=root\nTW_B=root\nTW_C=root\n")
    variables = environment(tmp_path)
    assert [variables[name] for name in ("TW_A", "TW_B", "TW_C")] == ["process", "ours", "root"]


def test_an_environment_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is needed, and a folder named `.env`, as some virtual environments are, is passed over."""
    monkeypatch.setenv("TW_A", "process")
    (tmp_path / ".env").mkdir()
    assert environment(tmp_path)["TW_A"] == "process"


def test_malformed_files_are_reported_together(tmp_path: Path) -> None:
    """The malformed lines of both files come in one `ConfigError`."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / ".env").write_text("hush\nA='hush\n")
    (tmp_path / ".env").write_text("hush\n")
    with pytest.raises(ConfigError) as caught:
        environment(tmp_path)
    assert len(caught.value.diagnostics) == 3
    assert "hush" not in str(caught.value)


@given(st.text())
def test_double_quotes_hold_any_value(value: str) -> None:
    """Whatever is written with the four escapes in double quotes is read back the same."""
    value = value.replace("\r", "")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    assert values_of(f'K="{escaped}" # comment') == {"K": value}


@given(one_line.filter(lambda text: "'" not in text))
def test_single_quotes_hold_a_value_as_it_is(value: str) -> None:
    """What is in single quotes is read back the same, backslashes and all."""
    assert values_of(f"export K='{value}'") == {"K": value}


@given(st.text() | st.lists(st.sampled_from(list("AK=\"'\\# \t\r\n-")), max_size=40).map("".join))
def test_no_text_raises(text: str) -> None:
    """Any text gives variables and diagnostics, each with a line, a column and no source."""
    values, diagnostics = parse_dotenv(text)
    assert all(key.isidentifier() for key in values)
    lines = text.count("\n") + 1
    for diagnostic in diagnostics:
        assert diagnostic.place.source is None
        assert 1 <= (diagnostic.place.line or 0) <= lines
        assert (diagnostic.place.column or 0) >= 1


@given(st.binary())
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Any file at all is read or reported."""
    path = tmp_path_factory.getbasetemp() / "any.env"
    path.write_bytes(data)
    read_dotenv(path)
