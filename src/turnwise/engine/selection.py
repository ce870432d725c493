"""Which cases a run takes: by name, by tag, a sample, the first so many, those that failed before. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Protocol, TypeVar

from ..errors import UsageError

__all__ = ["CaseLike", "Selection"]


class CaseLike(Protocol):
    """What is looked at in a case."""

    @property
    def id(self) -> str: ...

    @property
    def tags(self) -> Collection[str]: ...


_MOST_NAMES = 200

AnyCase = TypeVar("AnyCase", bound=CaseLike)


@dataclass(frozen=True)
class Selection:
    """What to take. An empty condition takes everything; all conditions must hold.

    `cases` and `exclude` are ids or globs. A case needs one of `tags`. `only` are pairs of suite and case id, such as
    those that failed in another run. `sample` draws so many of what is left, the same ones for the same `seed`,
    whatever their order is; `limit` takes the first so many.
    """

    cases: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    only: frozenset[tuple[str, str]] | None = None
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        for name, number in (("sample", self.sample), ("limit", self.limit)):
            if number is not None and number < 1:
                raise UsageError(f"--{name} must be at least 1, found {number}", "leave it out to take all cases")

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self == Selection(seed=self.seed)

    def takes(self, suite: str, case: CaseLike) -> bool:
        """Whether the conditions on a single case hold; `sample` and `limit` look at all of them."""
        if self.only is not None and (suite, case.id) not in self.only:
            return False
        if self.tags and not set(self.tags) & set(case.tags):
            return False
        if self.cases and not _fits(case.id, self.cases):
            return False
        return not _fits(case.id, self.exclude)

    def require_matches(self, cases: Iterable[CaseLike]) -> None:
        """Raise `UsageError` for a name or a tag that no case has: it is misspelt, or the case is gone."""
        wanted = {("--case", each) for each in self.cases} | {("--exclude", each) for each in self.exclude}
        wanted |= {("--tag", each) for each in self.tags}
        if not wanted:
            return
        ids: list[str] = []
        tags: set[str] = set()
        for case in cases:
            ids += [case.id] if len(ids) < _MOST_NAMES else []
            tags.update(case.tags)
            wanted = {(option, name) for option, name in wanted if not _matches(option, name, case)}
            if not wanted:
                return
        from ..suite.explain import did_you_mean

        option, name = min(wanted)
        known = sorted(tags) if option == "--tag" else ids
        what = "no case has the tag" if option == "--tag" else "no case has an id like"
        hint = did_you_mean(name, known, "there are") if known else "no case has tags"
        raise UsageError(f"{option}: {what} {name!r}", hint)

    def of(self, cases: Callable[[], Iterable[tuple[str, AnyCase]]]) -> Iterator[tuple[str, AnyCase]]:
        """The cases to take, with their suites, in their order. `cases` is called anew for each pass over them.

        A sample needs a first pass, in which it keeps as many ids as it draws, and no case.
        """
        taken = ((suite, case) for suite, case in cases() if self.takes(suite, case))
        if self.sample is not None:
            drawn = self._drawn((suite, case.id) for suite, case in taken)
            taken = ((suite, case) for suite, case in cases() if (suite, case.id) in drawn)
        for count, pair in enumerate(taken):
            if self.limit is not None and count >= self.limit:
                return
            yield pair

    def _drawn(self, ids: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        assert self.sample is not None
        return set(heapq.nsmallest(self.sample, ids, key=lambda pair: _lot(self.seed, *pair)))


def _matches(option: str, name: str, case: CaseLike) -> bool:
    return name in case.tags if option == "--tag" else _fits(case.id, (name,))


def _fits(case_id: str, patterns: tuple[str, ...]) -> bool:
    return any(case_id == pattern or fnmatchcase(case_id, pattern) for pattern in patterns)


def _lot(seed: int, suite: str, case_id: str) -> bytes:
    """A case's place in the draw: it depends on nothing but the seed and the case, so that adding a case to a suite
    changes a sample by one case at most."""
    return sha256(f"{seed}\0{suite}\0{case_id}".encode("utf-8", "surrogatepass")).digest()
