"""Which files are guidelines: patterns over paths that are relative to the project root."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.conversation import Conversation
from turnwise.conversation.guidelines import DEFAULT_GUIDELINE_PATTERNS, GuidelinePatterns
from turnwise.errors import PatternError


def matches(patterns: list[str], path: str) -> bool:
    return GuidelinePatterns(patterns).matches(path)


def test_decisions_are_remembered_up_to_a_bound() -> None:
    """However many paths are asked for, memory is bounded, and what was forgotten is decided alike again."""
    patterns = GuidelinePatterns(["rules/*"])
    for number in range(25_000):
        assert patterns.matches(f"rules/{number}")
        assert len(patterns._decided) <= 10_000
    assert patterns.matches("rules/0")
    assert not patterns.matches("other/0")
    assert patterns.used == {0}


def test_a_path_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that was decided is not matched again."""
    patterns = GuidelinePatterns(["rules/*"])
    assert patterns.matches("rules/a")
    monkeypatch.setattr(patterns, "_decide", None)
    assert patterns.matches("rules/a")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x.instructions.md", True),
        ("a/x.instructions.md", True),
        ("a/b/c/d/x.instructions.md", True),
        (".github/x.instructions.md", True),
        ("a/.hidden/b/x.instructions.md", True),
        (".instructions.md", True),
        (".x.instructions.md", True),
        ("x.y.instructions.md", True),
        ("x.INSTRUCTIONS.md", False),
        ("x.instructions.MD", False),
        ("x.instructions.md.txt", False),
        ("x.instructions.md/a.txt", False),
        ("xinstructions.md", False),
        ("instructions.md", False),
        ("x.instructions.md\n", False),
    ],
)
def test_the_default_patterns(path: str, expected: bool) -> None:
    """By default `**/*.instructions.md` are guidelines: in any folder, dot folders included, case kept."""
    assert DEFAULT_GUIDELINE_PATTERNS == ("**/*.instructions.md",)
    assert GuidelinePatterns().matches(path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        # `**/` is zero or more folders, at the start, in the middle and at the end.
        ("**/a.md", "a.md", True),
        ("**/a.md", "x/a.md", True),
        ("**/a.md", "x/y/z/a.md", True),
        ("**/a.md", "xa.md", False),
        ("rules/**/a.md", "rules/a.md", True),
        ("rules/**/a.md", "rules/x/y/a.md", True),
        ("rules/**/a.md", "other/rules/a.md", False),
        ("rules/**/a.md", "rulesa.md", False),
        ("**/rules/**/a.md", "rules/a.md", True),
        ("**/rules/**/a.md", "x/rules/y/a.md", True),
        ("**/**/a.md", "a.md", True),
        ("rules/**", "rules/a.md", True),
        ("rules/**", "rules/x/y/a.md", True),
        ("rules/**", "rules2/a.md", False),
        ("rules/**", "x/rules/a.md", False),
        ("**", "a.md", True),
        ("**", "x/.y/a.md", True),
        # One star and one question mark stay inside a name.
        ("*.md", "a.md", True),
        ("*.md", "x/a.md", False),
        ("*/*.md", "x/a.md", True),
        ("*/*.md", "x/y/a.md", False),
        ("rules/*", "rules/a.md", True),
        ("rules/*", "rules/x/a.md", False),
        ("a?.md", "ab.md", True),
        ("a?.md", "a.md", False),
        ("a?b", "a/b", False),
        ("[ab].md", "b.md", True),
        ("[ab].md", "c.md", False),
        ("[!ab].md", "c.md", True),
        # Names that start with a dot are like any other.
        ("*", ".hidden", True),
        ("*/a.md", ".github/a.md", True),
        ("**/a.md", ".github/.x/a.md", True),
        (".github/**", ".github/x/a.md", True),
        ("?x", ".x", True),
        ("[.]x", ".x", True),
        # Braces.
        ("{a,b}.md", "a.md", True),
        ("{a,b}.md", "b.md", True),
        ("{a,b}.md", "c.md", False),
        ("{a,b}.md", "{a,b}.md", False),
        ("{docs,rules}/**/*.{md,txt}", "rules/x/y.txt", True),
        ("{docs,rules}/**/*.{md,txt}", "rules/x/y.py", False),
        ("{a,{b,c}}.md", "c.md", True),
        ("a{,b}.md", "a.md", True),
        ("a{,b}.md", "ab.md", True),
        ("x{1..3}.md", "x2.md", True),
        ("x{1..3}.md", "x4.md", False),
        # A leading `./` or `/` is the project root.
        ("./a.md", "a.md", True),
        ("/a.md", "a.md", True),
        ("./rules/*.md", "rules/a.md", True),
        ("/rules/*.md", "rules/a.md", True),
        ("/rules/*.md", "x/rules/a.md", False),
        ("/**/a.md", "x/a.md", True),
        # Case counts, and so does the whole path.
        ("*.MD", "a.md", False),
        ("*.md", "A.md", True),
        ("Rules/*.md", "rules/a.md", False),
        ("a.md", "x/a.md", False),
        ("a.md", "a.md.txt", False),
        ("a.md", "ba.md", False),
        ("a.md", "a.md\n", False),
        ("a.md", "aXmd", False),
        # What is special elsewhere is literal here.
        ("~/a.md", "~/a.md", True),
        ("-a.md", "-a.md", True),
        ("a+(b).md", "a+(b).md", True),
        ("a|b", "a|b", True),
        ("a|b", "a", False),
        ("\\*.md", "*.md", True),
        ("\\*.md", "a.md", False),
        ("é*.md", "été.md", True),
    ],
)
def test_one_pattern(pattern: str, path: str, expected: bool) -> None:
    """The rules of a single pattern; as an exclusion after `**` it takes out just what it matches."""
    assert matches([pattern], path) is expected
    assert matches(["**", f"!{pattern}"], path) is not expected


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        ([], "a.instructions.md", False),
        (["!a.md"], "a.md", False),
        (["!a.md"], "b.md", False),
        (["!a.md", "!**"], "b.md", False),
        (["*.md", "!a.md"], "a.md", False),
        (["*.md", "!a.md"], "b.md", True),
        (["!a.md", "*.md"], "a.md", True),
        (["*.md", "!a.md", "a.*"], "a.md", True),
        (["*.md", "!a.md", "a.*", "!**"], "a.md", False),
        (["*.md", "*.txt"], "a.md", True),
        (["*.md", "*.txt"], "a.txt", True),
        (["*.md", "*.txt"], "a.py", False),
        (["*.md", "!{a,b}.md"], "b.md", False),
        (["*.md", "!{a,b}.md"], "c.md", True),
        (["**/*.md", "!./drafts/**"], "drafts/a.md", False),
        (["**/*.md", "!/drafts/**"], "drafts/x/a.md", False),
        (["**/*.md", "!drafts/**"], "x/drafts/a.md", True),
        (["a.md", "a.md", "!a.md"], "a.md", False),
    ],
)
def test_lists_of_patterns(patterns: list[str], path: str, expected: bool) -> None:
    """`!` excludes, the last pattern that matches wins, and a list of exclusions alone matches nothing."""
    assert matches(patterns, path) is expected


PIECES = ["*.md", "a.*", "**/a.md", "x/**", "{a,b}.md", "**"]
PATHS = ["a.md", "b.md", "x/a.md", "x/b.txt", "y/b.md"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(PIECES)), max_size=5), st.sampled_from(PATHS))
@settings(max_examples=300, deadline=None)
def test_the_last_match_wins(patterns: list[tuple[bool, str]], path: str) -> None:
    """A list decides as its last matching entry does, and as nothing if none matches."""
    written = [("!" if exclude else "") + pattern for exclude, pattern in patterns]
    matching = [exclude for exclude, pattern in patterns if matches([pattern], path)]
    assert matches(written, path) is (bool(matching) and not matching[-1])


@pytest.mark.parametrize("pattern", ["", "!", "/", "./", "!/", "!./"])
def test_an_empty_pattern_is_an_error(pattern: str) -> None:
    """A pattern that names nothing is refused."""
    with pytest.raises(PatternError, match="empty"):
        matches([pattern], "a.md")


@pytest.mark.parametrize(
    "pattern",
    [
        "{a,b}" * 40,
        "{1..1000000000}.md",
        "{{1..100},{1..100}}{1..100}",
        "{" + ",".join(str(number) for number in range(5000)) + "}",
    ],
    ids=["product", "range", "nested", "list"],
)
def test_a_huge_expansion_is_refused_at_once(pattern: str) -> None:
    """Braces that expand beyond a bound are an error, not minutes of work."""
    start = time.perf_counter()
    with pytest.raises(PatternError, match="cannot be read"):
        matches([pattern], "a.md")
    assert time.perf_counter() - start < 5


@given(st.text(alphabet="ab*?[]{},!/.\\-^|()+~ é\n1", max_size=12), st.sampled_from(PATHS))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_pattern_or_a_pattern_error(pattern: str, path: str) -> None:
    """A pattern either decides or is refused with a `PatternError`; nothing else is raised."""
    with suppress(PatternError):
        assert matches([pattern], path) in (True, False)


def test_used_patterns_are_known() -> None:
    """Each pattern that matched any file is marked as used, winner or not, so that the others can be reported."""
    patterns = GuidelinePatterns(["*.md", "!draft.md", "rules/**", "*.txt"])
    assert patterns.used == set()
    for path in ("a.md", "draft.md", "b.py"):
        patterns.matches(path)
    assert patterns.used == {0, 1}
    patterns.matches("x.txt")
    assert patterns.used == {0, 1, 3}


def test_decisions_stay_equal_over_many_paths() -> None:
    """However many paths were asked for, the same path gets the same answer."""
    patterns = GuidelinePatterns(["**/*.md", "!**/7*"])
    for _ in range(2):
        for number in range(12_000):
            assert patterns.matches(f"x/{number}.md") is not str(number).startswith("7")


# In a conversation


def guidelines_of(root: Path, patterns: list[str] | None, *written: str, folder: Path | None = None) -> Any:
    message = {"role": "user", "content": ["x", *({"type": "file", "value": path} for path in written)]}
    return Conversation.from_messages(
        [message],
        folder=folder or root,
        root=root,
        guideline_patterns=patterns,
    ).guidelines


def test_the_match_is_made_on_the_resolved_path(tmp_path: Path) -> None:
    """`./x`, `../x` and `x` behave alike: the path from the project root decides, not the spelling."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "rules" / "style.md").write_text("Styled.")
    for written in ("../rules/style.md", "rules/style.md", "./rules/style.md", "/rules/style.md"):
        assert guidelines_of(tmp_path, ["rules/*"], written, folder=tmp_path / "evals") == ["Styled."]
        assert guidelines_of(tmp_path, ["../rules/*", "evals/**"], written, folder=tmp_path / "evals") == []


def test_a_symlink_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    """A link's own name does not make a guideline, and two names of one guideline are one."""
    (tmp_path / "plain.txt").write_text("Plain.")
    (tmp_path / "link.instructions.md").symlink_to(tmp_path / "plain.txt")
    (tmp_path / "real.instructions.md").write_text("Real.")
    (tmp_path / "alias.txt").symlink_to(tmp_path / "real.instructions.md")
    assert guidelines_of(tmp_path, None, "link.instructions.md") == []
    assert guidelines_of(tmp_path, None, "alias.txt", "real.instructions.md") == ["Real."]


def test_an_empty_list_means_no_guidelines(tmp_path: Path) -> None:
    """With no patterns every file is embedded inline."""
    (tmp_path / "a.instructions.md").write_text("Rule.")
    assert guidelines_of(tmp_path, [], "a.instructions.md") == []
    assert guidelines_of(tmp_path, None, "a.instructions.md") == ["Rule."]


def test_equal_texts_of_two_guidelines_are_two(tmp_path: Path) -> None:
    """Each file counts once; that two files hold the same text does not make them one."""
    (tmp_path / "a.instructions.md").write_text("Rule.")
    (tmp_path / "b.instructions.md").write_text("Rule.\n")
    assert guidelines_of(tmp_path, None, "b.instructions.md", "a.instructions.md", "b.instructions.md") == [
        "Rule.",
        "Rule.",
    ]


# A leading `./` is dropped before matching, which wcmatch does not do.
NAMES = st.text("ab.-_*?", min_size=1, max_size=5).filter(lambda name: name not in (".", ".."))
PATTERN_PIECES = st.one_of(
    NAMES, st.sampled_from(["{a,b}", "{a,b*}x", "[ab]", "[!a]*", "a{,b}", "{1..3}", "\\*a", "x[-_]?"])
)
RELATIVE_PATHS = st.lists(
    st.text("ab123.-_x*", min_size=1, max_size=4).filter(lambda name: name not in (".", "..")), min_size=1, max_size=4
)


@given(st.lists(st.one_of(st.just("**"), PATTERN_PIECES), max_size=3), PATTERN_PIECES, RELATIVE_PATHS)
def test_patterns_mean_what_wcmatch_says(folders: list[str], name: str, path: list[str]) -> None:
    """A pattern matches the very paths that a well-known library says it does."""
    from wcmatch import glob

    pattern = "/".join([*folders, name])
    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX | glob.CASE
    expected = bool(glob.globmatch("/".join(path), pattern, flags=flags))
    assert GuidelinePatterns([pattern]).matches("/".join(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "*b", "a" * 250 + ".md"),
        ("{" + "*a" * 20 + "*b,x}", "a" * 250 + ".md"),
        ("**/a/" * 20 + "b", "a/" * 1000 + "c"),
        ("**/*a*/" * 10 + "b", "aa/" * 500 + "c"),
    ],
)
def test_no_pattern_keeps_the_machine_busy(pattern: str, path: str) -> None:
    """A hostile pattern is decided at once, where a regular expression over the whole path would take for ever."""
    assert GuidelinePatterns([pattern]).matches(path) is False


def test_a_folder_outside_the_root_is_matched_by_what_is_inside() -> None:
    """`**/x` means any folder, one of `allow_paths` outside the project too."""
    assert GuidelinePatterns().matches("../../shared/x.instructions.md")
    assert GuidelinePatterns(["shared/**"]).matches("../shared/a/b.md")


@pytest.mark.parametrize("pattern", ["{" * 5000, "{a," * 2000])
def test_deep_braces_are_refused_or_read_but_never_crash(pattern: str) -> None:
    """A hostile pattern gives a decision or a `PatternError`."""
    with suppress(PatternError):
        assert GuidelinePatterns([pattern]).matches("x.md") is False


def test_both_spellings_of_none_of_these() -> None:
    """`[!a]` and `[^a]` mean the same, as in shells."""
    for pattern in ("[!a].md", "[^a].md"):
        assert GuidelinePatterns([pattern]).matches("b.md")
        assert not GuidelinePatterns([pattern]).matches("a.md")
