"""What an agent is asked, and where the files of its case are."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_fixtures import guideline, provider
from turnwise.conversation.values import File, Image
from turnwise.providers import ProviderRequest
from turnwise.providers.agents.document import Mirrored, agent_document
from turnwise.providers.agents.mirror import mirror, planned_mirror, safe_path

ENTRIES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data/requests.yaml").read_text("utf-8"))


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])
def test_agents_are_asked_the_question(entry: dict[str, Any], tmp_path: Path) -> None:
    """Whatever the chat prompt and the guidelines are, an agent without files is asked the question alone."""
    request = ProviderRequest(**entry["request"])
    assert provider(tmp_path, "").preview(request).messages == [{"role": "user", "content": entry["agent"]}]


def test_every_file_is_linked_once(tmp_path: Path) -> None:
    """Guidelines and attachments are linked apart, each as a file address, before the question."""
    rules, code = guideline("rules/tone.md", "Be kind"), File("src/app.py", "src/app.py", "print()")
    text = agent_document("Why?", planned_mirror([rules, code, rules], tmp_path))
    assert text.count("file://") == 2
    assert f"Guidelines to follow:\n- [rules/tone.md]({(tmp_path / 'rules/tone.md').as_uri()})" in text
    assert f"Attachments:\n- [src/app.py]({(tmp_path / 'src/app.py').as_uri()})" in text
    assert text.endswith("\n\nWhy?")


def test_a_path_cannot_end_its_link() -> None:
    """Brackets and line breaks of a path stay within the link's text, and its address is encoded."""
    text = agent_document("Q", [Mirrored("a](http://x)\n[b.md", Path("/w/a b).md"))])
    assert "- [a\\](http://x) \\[b.md](file:///w/a%20b%29.md)" in text


@pytest.mark.parametrize("written", ["../../etc/passwd", "/etc/passwd", "./a/../../b", "..\\..\\c", "a\0b/../c", ""])
def test_no_path_leaves_the_workspace(written: str) -> None:
    """Whatever a case writes, the file is below the workspace."""
    path = safe_path(written)
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert "\0" not in str(path)


def test_written_paths_are_kept(tmp_path: Path) -> None:
    """Files are where the case says, with what they hold; an image is its bytes."""
    image = Image("shots/a.png", "shots/a.png", "image/png", base64.b64encode(b"\x89PNG").decode())
    data_url = Image("data:image/jpeg;base64,…", None, "image/jpeg", base64.b64encode(b"jpeg").decode())
    placed = mirror([guideline("rules/tone.md", "Sei nett: ü\r\n"), image, data_url], tmp_path)
    assert (tmp_path / "rules/tone.md").read_bytes() == "Sei nett: ü\r\n".encode()
    assert (tmp_path / "shots/a.png").read_bytes() == b"\x89PNG"
    assert placed[2].path.read_bytes() == b"jpeg"
    assert placed[2].path.suffix == ".jpg"
    assert [each.guideline for each in placed] == [True, False, False]


def test_a_template_is_not_overwritten(tmp_path: Path) -> None:
    """A file that the workspace has already stays as it is; the case's own goes beside it, and the link leads there."""
    (tmp_path / "a.md").write_text("of the template")
    [same] = mirror([File("a.md", "a.md", "of the template")], tmp_path)
    [other] = mirror([File("a.md", "a.md", "of the case")], tmp_path)
    assert same.path == tmp_path / "a.md"
    assert (tmp_path / "a.md").read_text() == "of the template"
    assert other.path.read_text() == "of the case"
    assert other.path == tmp_path / "attached/a.md"


def test_links_of_a_template_lead_nowhere(tmp_path: Path) -> None:
    """A symbolic link in the template cannot make us write outside of the workspace."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (inside / "docs").symlink_to(outside)
    (inside / "x.md").symlink_to(outside / "x.md")
    placed = mirror([File("docs/a.md", "docs/a.md", "A"), File("x.md", "x.md", "X")], inside)
    assert list(outside.iterdir()) == []
    assert [each.path.read_text() for each in placed] == ["A", "X"]


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    """Files of different folders that would have the same place both get one."""
    placed = mirror([File("../a.md", "x/a.md", "one"), File("a.md", "y/a.md", "two")], tmp_path)
    assert [each.path.read_text() for each in placed] == ["one", "two"]


def test_a_folder_stands_where_a_file_does(tmp_path: Path) -> None:
    """A path through a file of the template still gets its place."""
    (tmp_path / "docs").write_text("a file")
    [placed] = mirror([File("docs/a.md", "docs/a.md", "A")], tmp_path)
    assert placed.path.read_text() == "A"


def test_nothing_becomes_part_of_a_repository(tmp_path: Path) -> None:
    """A case cannot put hooks or settings into the workspace's own git folder."""
    [placed] = mirror([File(".git/hooks/post-commit", "g", "#!/bin/sh\n")], tmp_path)
    assert not (tmp_path / ".git").exists()
    assert placed.path.read_text() == "#!/bin/sh\n"
