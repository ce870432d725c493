"""Files that messages refer to: where they are looked up, what is refused, what of them is read."""

from __future__ import annotations

import errno
import io
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from turnwise.conversation import Conversation
from turnwise.conversation import files as files_module
from turnwise.conversation.files import MAX_FILE_BYTES, ProjectFiles, shown_file
from turnwise.errors import FileReferenceError, ResolutionError

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail instead of hanging."""

    def stop(*_: object) -> None:
        raise TimeoutError("still not done")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with `evals/deep` in a folder that holds other things too."""
    project = tmp_path.resolve() / "home" / "project"
    (project / "evals" / "deep").mkdir(parents=True)
    return project


def write(path: Path, content: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(files: ProjectFiles, written: str, folder: Path) -> FileReferenceError:
    with within(5), pytest.raises(FileReferenceError) as caught:
        files.read_text(written, folder)
    with within(5), pytest.raises(FileReferenceError):
        files.read_text(written, folder)  # a refusal is not remembered as a text
    return caught.value


# Where a file is looked up


def test_lookup_goes_from_the_folder_through_its_parents_to_the_root(root: Path) -> None:
    """The nearest file of the name wins, whichever of the folder, its parents and the root holds it."""
    deep = root / "evals" / "deep"
    for place in (root, root / "evals", deep):
        write(place / "notes.txt", place.name)
        assert ProjectFiles(root).read_text("notes.txt", deep).content == place.name


def test_lookup_uses_the_path_below_each_parent(root: Path) -> None:
    """A path with folders in it is tried as a whole below each parent."""
    write(root / "docs" / "a.txt", "A")
    assert ProjectFiles(root).read_text("docs/a.txt", root / "evals" / "deep") == ("docs/a.txt", "A")


def test_lookup_does_not_go_into_siblings_or_children(root: Path) -> None:
    """Only the folder and its parents are tried."""
    write(root / "other" / "a.txt")
    write(root / "evals" / "deep" / "a.txt")
    assert refused(ProjectFiles(root), "a.txt", root / "evals").kind == "missing"


def test_lookup_ends_at_the_root(root: Path) -> None:
    """A file above the project root is not found, as if it did not exist."""
    write(root.parent / "notes.txt", "above")
    error = refused(ProjectFiles(root), "notes.txt", root / "evals" / "deep")
    assert error.kind == "missing"
    assert error.tried == tuple(str(place / "notes.txt") for place in (root / "evals" / "deep", root / "evals", root))


def test_a_folder_outside_the_root_is_followed_by_the_root_only(root: Path) -> None:
    """Where the case does not lie below the root, its own folder and the root are the places."""
    elsewhere = root.parent / "elsewhere" / "data"
    elsewhere.mkdir(parents=True)
    write(elsewhere.parent / "a.txt", "parent")
    assert refused(ProjectFiles(root), "a.txt", elsewhere).tried == (str(elsewhere / "a.txt"), str(root / "a.txt"))
    write(root / "a.txt", "root")
    assert ProjectFiles(root).read_text("a.txt", elsewhere).content == "root"


def test_the_root_of_the_file_system_may_be_the_project(root: Path) -> None:
    """Parents are tried up to `/` too, if that is the project root."""
    write(root / "evals" / "up.txt", "found")
    assert ProjectFiles(Path("/")).read_text("up.txt", root / "evals" / "deep").content == "found"


def test_a_leading_slash_starts_at_the_root(root: Path) -> None:
    """`/x` is the root's x only, however near another one lies."""
    write(root / "a.txt", "root")
    write(root / "evals" / "a.txt", "near")
    files = ProjectFiles(root)
    assert files.read_text("/a.txt", root / "evals") == ("a.txt", "root")
    assert files.read_text("//a.txt", root / "evals") == ("a.txt", "root")
    assert files.read_text("/evals/../a.txt", root / "evals") == ("a.txt", "root")
    assert refused(files, "/deep/a.txt", root / "evals").tried == (str(root / "deep" / "a.txt"),)


def test_a_leading_slash_is_never_the_file_system(root: Path) -> None:
    """An absolute path of a real file is looked up in the project, and not found there."""
    outside = write(root.parent / "secret.txt")
    assert refused(ProjectFiles(root), str(outside), root).kind == "missing"


def test_spellings_of_one_file_have_one_path(root: Path) -> None:
    """`./x`, `../x` and `x` give the same path from the root, so they count as the same file."""
    write(root / "evals" / "x.txt", "X")
    files = ProjectFiles(root)
    for written in ("x.txt", "./x.txt", "../x.txt", "deep/../x.txt", "/evals/x.txt", ".//x.txt", "../../evals/x.txt"):
        assert files.read_text(written, root / "evals" / "deep") == ("evals/x.txt", "X")


def test_a_nearer_folder_of_the_same_name_does_not_hide_a_file(root: Path) -> None:
    """A folder is no file: the search goes on to the parents."""
    (root / "evals" / "notes").mkdir()
    write(root / "notes", "a file")
    assert ProjectFiles(root).read_text("notes", root / "evals").content == "a file"


# What is refused


@pytest.mark.parametrize("written", ["../secret.txt", "/../secret.txt", "evals/../../secret.txt", "./../secret.txt"])
def test_dots_do_not_lead_out(root: Path, written: str) -> None:
    """A file outside the project root is refused, and the hint names `allow_paths`."""
    write(root.parent / "secret.txt", "secret")
    error = refused(ProjectFiles(root), written, root)
    assert error.kind == "outside"
    assert "allow_paths" in error.hint
    assert written in str(error)


def test_a_sibling_whose_name_starts_like_the_root_is_outside(root: Path) -> None:
    """`project-2` does not lie inside `project`."""
    write(root.parent / "project-2" / "a.txt")
    assert refused(ProjectFiles(root), "../project-2/a.txt", root).kind == "outside"


def test_a_symlink_to_the_outside_is_refused(root: Path) -> None:
    """A link counts as what it leads to: a file or a folder outside stays outside."""
    write(root.parent / "elsewhere" / "secret.txt")
    (root / "link.txt").symlink_to(root.parent / "elsewhere" / "secret.txt")
    (root / "folder").symlink_to(root.parent / "elsewhere")
    (root / "chain.txt").symlink_to(root / "link.txt")
    for written in ("link.txt", "folder/secret.txt", "chain.txt", "/link.txt"):
        assert refused(ProjectFiles(root), written, root).kind == "outside"


def test_a_symlink_inside_is_fine(root: Path) -> None:
    """A link inside the project is read, and has the path of what it leads to."""
    write(root / "docs" / "a.txt", "A")
    (root / "evals" / "link.txt").symlink_to(root / "docs" / "a.txt")
    (root / "evals" / "relative").symlink_to("../docs")
    files = ProjectFiles(root)
    assert files.read_text("link.txt", root / "evals") == ("docs/a.txt", "A")
    assert files.read_text("relative/a.txt", root / "evals") == ("docs/a.txt", "A")


def test_the_root_may_be_reached_through_a_symlink(root: Path) -> None:
    """Where the project itself is reached through a link, its files lie inside it all the same."""
    write(root / "evals" / "a.txt", "A")
    link = root.parent / "link"
    link.symlink_to(root)
    assert ProjectFiles(link).read_text("a.txt", link / "evals" / "deep") == ("evals/a.txt", "A")


def test_a_dangling_symlink_is_a_missing_file(root: Path) -> None:
    """A link that leads to nothing is as good as no file."""
    (root / "link.txt").symlink_to(root / "gone.txt")
    assert refused(ProjectFiles(root), "link.txt", root).kind == "missing"


def test_a_symlink_loop_is_an_error(root: Path) -> None:
    """Links that lead in a circle are refused with a message that says so."""
    (root / "a").symlink_to(root / "b")
    (root / "b").symlink_to(root / "a")
    (root / "self").symlink_to("self")
    for written in ("a", "self", "a/x.txt", "/self"):
        error = refused(ProjectFiles(root), written, root)
        assert error.kind == "unreadable"
        assert "circle" in str(error)


def test_allow_paths_opens_a_folder_and_no_more(root: Path) -> None:
    """A file below an allowed folder is read; its neighbours stay outside."""
    write(root.parent / "shared" / "deep" / "a.txt", "A")
    write(root.parent / "shared-2" / "a.txt")
    files = ProjectFiles(root, [root.parent / "shared"])
    assert files.read_text("../shared/deep/a.txt", root) == ("../shared/deep/a.txt", "A")
    assert refused(files, "../shared-2/a.txt", root).kind == "outside"
    assert refused(files, "../shared/../shared-2/a.txt", root).kind == "outside"


def test_allow_paths_may_be_a_symlink_or_a_file(root: Path) -> None:
    """An allowed path counts as what it leads to, and may name one file."""
    write(root.parent / "shared" / "a.txt", "A")
    write(root.parent / "one.txt", "one")
    (root / "link").symlink_to(root.parent / "shared")
    files = ProjectFiles(root, [root / "link", root.parent / "one.txt"])
    assert files.read_text("link/a.txt", root).content == "A"
    assert files.read_text("../one.txt", root).content == "one"


def test_a_missing_file_lists_the_places_tried(root: Path) -> None:
    """The error names the file as written, then every place, nearest first."""
    error = refused(ProjectFiles(root), "./docs/../no.txt", root / "evals")
    assert error.kind == "missing"
    assert error.written == "./docs/../no.txt"
    assert error.tried == (str(root / "evals" / "no.txt"), str(root / "no.txt"))
    assert "./docs/../no.txt" in str(error)
    assert all(place in str(error) for place in error.tried)


def test_a_folder_is_an_error_that_lists_the_places_tried(root: Path) -> None:
    """A folder where a file is meant is said to be a folder."""
    for written in ("evals", "./evals/", "/evals", ".", "/"):
        error = refused(ProjectFiles(root), written, root)
        assert error.kind == "folder"
        assert error.tried
        assert all(place in str(error) for place in error.tried)


def test_a_file_in_place_of_a_folder_is_a_missing_file(root: Path) -> None:
    """A path that goes through a file leads nowhere."""
    write(root / "a.txt")
    assert refused(ProjectFiles(root), "a.txt/b.txt", root).kind == "missing"
    assert refused(ProjectFiles(root), "a.txt/", root).kind == "missing"


def test_a_pipe_is_refused_without_waiting_for_it(root: Path) -> None:
    """A FIFO that nobody writes to must not make the reader hang."""
    os.mkfifo(root / "pipe")
    assert refused(ProjectFiles(root), "pipe", root).kind == "special"
    with within(5), pytest.raises(FileReferenceError):
        ProjectFiles(root).read_bytes("pipe", root)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(root: Path, device: str) -> None:
    """A device is not a regular file, even in an allowed folder."""
    (root / "device").symlink_to(device)
    assert refused(ProjectFiles(root), "device", root).kind == "outside"
    assert refused(ProjectFiles(root, [Path("/dev")]), "device", root).kind == "special"


@pytest.mark.skipif(IS_ROOT, reason="root may read everything")
def test_without_permission(root: Path) -> None:
    """A file or a folder that may not be read is an error for people, not a missing file."""
    closed = write(root / "closed.txt")
    closed.chmod(0)
    write(root / "folder" / "a.txt")
    (root / "folder").chmod(0)
    try:
        for written in ("closed.txt", "folder/a.txt"):
            error = refused(ProjectFiles(root), written, root)
            assert error.kind == "unreadable"
            assert "ermission" in str(error)
    finally:
        (root / "folder").chmod(0o700)


def test_a_refusal_of_the_system_is_an_error_for_people(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the system says on opening a file becomes one clear error."""
    write(root / "a.txt")

    def closed(*_: object) -> io.BytesIO:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files_module, "open", closed, raising=False)
    error = refused(ProjectFiles(root), "a.txt", root)
    assert error.kind == "unreadable"
    assert str(error) == "cannot read a.txt: Permission denied"


def test_a_folder_that_may_not_be_entered_is_an_error_for_people(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that cannot be looked at is said at once: the file may well be there."""
    real_stat = os.stat

    def stat(path: Any, **options: Any) -> os.stat_result:
        if str(path).endswith("closed/a.txt"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real_stat(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    error = refused(ProjectFiles(root), "closed/a.txt", root)
    assert error.kind == "unreadable"
    assert "no permission" in str(error)


@pytest.mark.parametrize("written", ["", "a\0b", "\0", "/\0", "\ud800", "a/\udfff.txt"])
def test_what_cannot_be_a_path_is_refused(root: Path, written: str) -> None:
    """An empty path, a NUL and half a surrogate pair are errors, never a traceback."""
    error = refused(ProjectFiles(root), written, root)
    assert error.kind == "bad-path"
    assert str(error).isprintable()


@pytest.mark.parametrize("written", ["a" * 300, "a/" * 5000, "é" * 200, "/" + "a" * 100_000])
def test_a_path_that_is_too_long_is_refused_briefly(root: Path, written: str) -> None:
    """A path beyond the system's bounds is one clear error, which does not repeat it all."""
    error = refused(ProjectFiles(root), written, root)
    assert error.kind == "unreadable"
    assert "too long" in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize("written", [" ", "~/x", "$HOME/x", "*.txt", "C:\\x", "a\nb", "https://example.invalid/a.txt"])
def test_nothing_in_a_path_is_expanded(root: Path, written: str) -> None:
    """A path is taken literally: no home, no variables, no globs, no download."""
    write(root / "x")
    write(root / "a.txt")
    assert refused(ProjectFiles(root), written, root).kind == "missing"
    if "/" not in written:
        write(root / written, "literal")
        assert ProjectFiles(root).read_text(written, root) == (written, "literal")


# Size


def test_a_file_of_exactly_the_bound_is_read(root: Path) -> None:
    """10 MB are read."""
    assert MAX_FILE_BYTES == 10 * 1024 * 1024
    write(root / "big.txt", b"a" * MAX_FILE_BYTES)
    assert len(ProjectFiles(root).read_text("big.txt", root).content) == MAX_FILE_BYTES


def test_a_file_beyond_the_bound_is_refused(root: Path) -> None:
    """One byte more is an error that names the size and the bound."""
    write(root / "big.txt", b"a" * (MAX_FILE_BYTES + 1))
    error = refused(ProjectFiles(root), "big.txt", root)
    assert error.kind == "too-large"
    assert "10,485,761" in str(error)
    assert "10,485,760" in str(error)


def test_a_huge_file_is_refused_without_reading_it(root: Path) -> None:
    """A sparse file of a terabyte is refused at once, with its real size."""
    with open(root / "huge.txt", "wb") as file:
        file.truncate(1 << 40)
    error = refused(ProjectFiles(root), "huge.txt", root)
    assert error.kind == "too-large"
    assert "1,099,511,627,776" in str(error)


# Content


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"", ""),
        (b"a", "a"),
        (b"a\n", "a"),
        (b"a\n\n\n", "a"),
        (b"a\r\n\r\n", "a"),
        (b"a\n\r\n\n", "a"),
        (b"\n", ""),
        (b"\r\n\n", ""),
        (b"a\r\nb\r\nc", "a\nb\nc"),
        (b"a\nb\r\nc", "a\nb\nc"),
        (b"a\rb", "a\rb"),
        (b"a\rb\r", "a\rb"),
        (b"\n\na", "\n\na"),
        (b"  a  \n", "  a  "),
        (b"a\n \n", "a\n "),
        (b"a\t\n", "a\t"),
        (b"\xef\xbb\xbfa\n", "a"),
        (b"\xef\xbb\xbf", ""),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa"),
        (b"a\xef\xbb\xbf", "a\ufeff"),
        ("é 中 🙂 \u202eabc".encode(), "é 中 🙂 \u202eabc"),
        ("a\u2028b\u0085c\x0c\n".encode(), "a\u2028b\u0085c\x0c"),
        (b"\x01\x1b[31m\x7f", "\x01\x1b[31m\x7f"),
    ],
)
def test_content_as_models_see_it(root: Path, data: bytes, content: str) -> None:
    """One byte-order mark and trailing line breaks are removed, CRLF becomes LF, and all else is kept."""
    write(root / "a.txt", data)
    assert ProjectFiles(root).read_text("a.txt", root) == ("a.txt", content)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"caf\xe9", "byte 0xe9 at offset 3"),
        (b"\xff\xfea\0", "NUL byte at offset 3"),
        ("a".encode("utf-16"), "NUL"),
        (b"a\0b", "NUL byte at offset 1"),
        (b"\x80", "byte 0x80 at offset 0"),
        (b"ab\xc3", "byte 0xc3 at offset 2"),
        (b"\xed\xa0\x80", "byte 0xed at offset 0"),
        (b"\xc0\xaf", "byte 0xc0 at offset 0"),
        (b"\xef\xbb\xbfab\xff", "byte 0xff at offset 5"),
        (b"\x89PNG\r\n\x1a\n", "byte 0x89 at offset 0"),
    ],
)
def test_what_is_not_utf8_text_is_refused(root: Path, data: bytes, what: str) -> None:
    """Latin-1, UTF-16, binary data and broken sequences are errors that name the byte and the place of the file."""
    path = write(root / "bad.txt", data)
    error = refused(ProjectFiles(root), "bad.txt", root / "evals")
    assert error.kind == "binary"
    assert what in str(error)
    assert error.tried == (str(path),)


def test_bytes_are_read_as_they_are(root: Path) -> None:
    """What need not be text comes without any change."""
    data = b"\xef\xbb\xbf\x89\0\r\n\n"
    write(root / "a.bin", data)
    assert ProjectFiles(root).read_bytes("a.bin", root / "evals") == ("a.bin", data)


# What is remembered


def test_the_same_reference_gives_the_same_text(root: Path) -> None:
    """A file that several cases refer to is read once, and the result is equal each time."""
    write(root / "a.txt", "A\r\n")
    files = ProjectFiles(root)
    first = files.read_text("a.txt", root)
    (root / "a.txt").unlink()
    assert files.read_text("a.txt", root) == first == ("a.txt", "A")


def test_a_remembered_text_belongs_to_its_folder(root: Path) -> None:
    """The same written path in another folder is another file."""
    write(root / "evals" / "a.txt", "near")
    write(root / "a.txt", "far")
    files = ProjectFiles(root)
    for _ in range(2):
        assert files.read_text("a.txt", root).content == "far"
        assert files.read_text("a.txt", root / "evals").content == "near"


def test_a_missing_file_is_looked_for_again(root: Path) -> None:
    """That a file was missing is not remembered."""
    files = ProjectFiles(root)
    refused(files, "late.txt", root)
    write(root / "late.txt", "here")
    assert files.read_text("late.txt", root).content == "here"


@pytest.mark.parametrize("size", [0, 100, 100_000])
def test_what_is_remembered_is_bounded(root: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither many small files, nor empty ones, nor one beyond the bound make the memory grow without end."""
    monkeypatch.setattr(files_module, "_CACHE_CHARACTERS", 10_000)
    files = ProjectFiles(root)
    for index in range(200):
        write(root / f"{index}.txt", "a" * size)
        assert files.read_text(f"{index}.txt", root) == (f"{index}.txt", "a" * size)
        kept = files._texts.values()
        assert len(kept) <= 100
        assert sum(len(text.content) for text in kept) <= max(10_000, size)
    assert files.read_text("0.txt", root) == ("0.txt", "a" * size)


# In a conversation


def test_every_file_that_cannot_be_read_is_reported(root: Path) -> None:
    """One error holds all problems of a case, each with the way to its segment."""
    write(root / "fine.txt", "x")
    write(root / "latin.txt", b"\xe9")
    messages: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": ["a", {"type": "file", "value": "gone.txt"}, {"type": "file", "value": "fine.txt"}],
        },
        {"role": "user", "content": "b"},
        {
            "role": "system",
            "content": [
                {"type": "file", "value": "latin.txt"},
                {"type": "file", "value": "evals"},
                {"type": "image", "value": "fine.txt"},
                {"type": "file", "value": "a\0b"},
            ],
        },
    ]
    with pytest.raises(ResolutionError) as caught:
        Conversation.from_messages(messages, folder=root)
    assert [(problem.path, problem.code) for problem in caught.value.problems] == [
        (("input_messages", 0, "content", 1, "value"), "file-missing"),
        (("input_messages", 2, "content", 0, "value"), "file-binary"),
        (("input_messages", 2, "content", 1, "value"), "file-folder"),
        (("input_messages", 2, "content", 2, "value"), "file-binary"),
        (("input_messages", 2, "content", 3, "value"), "file-bad-path"),
    ]
    assert "gone.txt" in str(caught.value)
    assert all(problem.hint for problem in caught.value.problems)


def test_the_folder_is_the_project_unless_told_otherwise(root: Path) -> None:
    """`from_messages` looks in its folder alone, or in the project that it is given."""
    write(root / "a.txt", "root")
    message = {"role": "user", "content": [{"type": "file", "value": "a.txt"}]}
    with pytest.raises(ResolutionError):
        Conversation.from_messages([message], folder=root / "evals")
    talk = Conversation.from_messages([message], folder=root / "evals", root=root)
    assert talk.transcript() == "=== a.txt ===\nroot"


def test_files_of_a_conversation_in_order_and_once(root: Path) -> None:
    """`files` lists every file and image by first appearance, each once however it is spelled."""
    write(root / "b.txt", "B")
    write(root / "a.instructions.md", "A")
    write(root / "p.png", b"\x89PNG\r\n\x1a\n")
    url = "data:image/png;base64,AAAA"
    segments = [
        {"type": "file", "value": "./b.txt"},
        {"type": "image", "value": "p.png"},
        {"type": "file", "value": "a.instructions.md"},
        {"type": "image", "value": url},
        {"type": "file", "value": "b.txt"},
        {"type": "image", "value": "./p.png"},
        {"type": "image", "value": url},
    ]
    talk = Conversation.from_messages([{"role": "user", "content": segments}], folder=root)
    assert [found.written for found in talk.files] == ["./b.txt", "p.png", "a.instructions.md", url]


def test_paths_are_shown_from_the_current_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path below the current folder is shown relative to it, any other one in full."""
    monkeypatch.chdir(root / "evals")
    assert shown_file(root / "evals" / "deep" / "a.txt") == "deep/a.txt"
    assert shown_file(root / "a.txt") == str(root / "a.txt")
