"""Images: files of the project that are told by their first bytes, or data URLs."""

from __future__ import annotations

import base64
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.conversation import Image
from turnwise.conversation.files import MAX_FILE_BYTES, ProjectFiles
from turnwise.conversation.images import read_image
from turnwise.errors import FileReferenceError


def read(root: Path, written: str) -> Image:
    return read_image(written, ProjectFiles(root), root)


def refused(root: Path, written: str) -> FileReferenceError:
    with pytest.raises(FileReferenceError) as caught:
        read(root, written)
    return caught.value


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"\xff\xd8\xff\xdb", "image/jpeg"),
        (b"GIF87a\x01\0", "image/gif"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
@pytest.mark.parametrize("name", ["pic.png", "pic.jpg", "pic", "./pic.instructions.md"])
def test_the_first_bytes_tell_the_type(tmp_path: Path, name: str, data: bytes, media_type: str) -> None:
    """PNG, JPEG, GIF and WebP are known by their magic numbers, whatever the file is called; the data is base64."""
    (tmp_path / name).write_bytes(data)
    image = read(tmp_path, name)
    assert image == Image(name, name.removeprefix("./"), media_type, base64.b64encode(data).decode())
    assert image.label == name


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG",
        b"\x89PNG\n\x1a\n",
        b"\xff\xd8",
        b"GIF88a",
        b"RIFF\x24\0\0\0WAVE",
        b"RIFF",
        b"BM\x00\x00",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"plain text",
    ],
)
def test_other_files_are_no_images(tmp_path: Path, data: bytes) -> None:
    """A file of another kind, or the first half of a magic number, is refused with what is expected instead."""
    (tmp_path / "pic.png").write_bytes(data)
    error = refused(tmp_path, "pic.png")
    assert error.kind == "binary"
    assert "PNG, JPEG, GIF or WebP" in error.hint


def test_an_image_is_looked_up_like_any_file(tmp_path: Path) -> None:
    """Parents, the leading slash and the bounds of the project hold for images too."""
    root = tmp_path / "project"
    (root / "evals").mkdir(parents=True)
    (root / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "out.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    files = ProjectFiles(root)
    for written in ("pic.png", "../pic.png", "/pic.png"):
        image = read_image(written, files, root / "evals")
        assert (image.written, image.path) == (written, "pic.png")
    kinds = {
        "gone.png": "missing",
        "/evals": "folder",
        "../out.png": "outside",
        "a\0b": "bad-path",
        "/../out.png": "outside",
    }
    for written, kind in kinds.items():
        assert refused(root, written).kind == kind


def test_a_huge_image_is_refused(tmp_path: Path) -> None:
    """The bound on files holds for images too."""
    with open(tmp_path / "big.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.truncate(MAX_FILE_BYTES + 1)
    assert refused(tmp_path, "big.png").kind == "too-large"


@pytest.mark.parametrize(
    ("url", "media_type", "data"),
    [
        ("data:image/png;base64,iVBORw0KGgo=", "image/png", "iVBORw0KGgo="),
        ("data:image/jpeg;base64,/9j/4A==", "image/jpeg", "/9j/4A=="),
        ("data:image/svg+xml;base64,PHN2Zy8+", "image/svg+xml", "PHN2Zy8+"),
        ("data:image/WebP;base64,UklGRg==", "image/webp", "UklGRg=="),
        ("data:image/png;base64,iVBO\n  Rw0K\r\nGgo=\n", "image/png", "iVBORw0KGgo="),
    ],
)
def test_good_data_urls(tmp_path: Path, url: str, media_type: str, data: str) -> None:
    """A data URL gives type and data; line breaks in it do not matter; people see its type in its place."""
    image = read(tmp_path, url)
    assert image == Image(url, None, media_type, data)
    assert image.label == f"data:{media_type}"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("data:", "bad-path"),
        ("data:image/png", "bad-path"),
        ("data:image/png,AAAA", "bad-path"),
        ("data:image/png;base64", "bad-path"),
        ("data:;base64,AAAA", "bad-path"),
        ("data:text/plain;base64,AAAA", "bad-path"),
        ("data:image/;base64,AAAA", "bad-path"),
        ("data:image/p g;base64,AAAA", "bad-path"),
        ("data:image/png;base64,@@@@", "binary"),
        ("data:image/png;base64,AAA", "binary"),
        ("data:image/png;base64,A", "binary"),
        ("data:image/png;base64,AA==AA", "binary"),
        ("data:image/png;base64,AA-_", "binary"),
        ("data:image/png;base64,ÄÖÜß", "binary"),
        ("data:image/png;base64,\ud800AAA", "binary"),
        ("data:image/png;base64,AAA\0", "binary"),
        ("data:image/png;base64," + "@" * 100_000, "binary"),
    ],
    ids=lambda value: ascii(value[:40]),
)
def test_bad_data_urls(tmp_path: Path, url: str, kind: str) -> None:
    """A data URL that is no image, or not base64, is one clear and short error."""
    error = refused(tmp_path, url)
    assert error.kind == kind
    assert len(str(error)) < 300


@given(st.text(max_size=30), st.sampled_from(["data:", "data:image/png;base64,", "data:image/", "x://", ""]))
@settings(max_examples=300, deadline=None)
def test_any_text_is_an_image_or_a_clear_error(text: str, start: str) -> None:
    """Whatever stands in an image segment, the only error is a `FileReferenceError`."""
    root = Path(__file__).with_name("data")
    with suppress(FileReferenceError):
        image = read(root, start + text)
        assert image.media_type.startswith("image/")
        assert isinstance(base64.b64decode(image.data, validate=True), bytes)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.invalid/cat.png",
        "http://x",
        "HTTPS://X/Y.PNG",
        "ftp://x/y",
        "file:///etc/passwd",
        "s3://a/b.png",
    ],
)
def test_urls_are_refused(tmp_path: Path, url: str) -> None:
    """Nothing is ever downloaded, and the error says so."""
    error = refused(tmp_path, url)
    assert error.kind == "bad-path"
    assert "nothing is downloaded" in str(error)
    assert "save it as a file" in error.hint
