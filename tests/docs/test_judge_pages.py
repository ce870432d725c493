"""What judges are told stands on their pages, word by word, and so does every name that a prompt may have."""

from __future__ import annotations

import pytest

from helpers import ROOT
from turnwise.graders.judge_values import NAMES
from turnwise.graders.judge_words import JUDGE, PAIRWISE, RUBRIC

FOLDER = ROOT / "docs" / "graders"


@pytest.mark.parametrize(("kind", "words"), [("llm_judge", JUDGE), ("rubric", RUBRIC), ("pairwise", PAIRWISE)])
def test_the_page_has_the_words_that_are_sent(kind: str, words: str) -> None:
    """The system message is printed in a block of its own."""
    assert f"```text\n{words}\n```" in (FOLDER / f"{kind}.md").read_text(encoding="utf-8")


def test_every_name_is_explained() -> None:
    """The table of placeholders leaves none out."""
    _, _, section = (FOLDER / "llm_judge.md").read_text(encoding="utf-8").partition("### What a prompt may name\n")
    table = section.partition("\n\nNames are")[0]
    assert [name for name in sorted(NAMES) if f"`{name}`" not in table] == []
