"""HTML as a tree, for tests: every element must be closed, in order, where HTML asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Element", "parsed"]

_VOID = {"br", "input", "link", "meta"}


@dataclass(slots=True)
class Element:
    """A tag with its attributes, and in order the texts and elements inside."""

    tag: str
    attributes: dict[str, str | None]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside."""
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def classes(self) -> list[str]:
        """The words of its class."""
        return (self.attributes.get("class") or "").split()

    def all(self, tag: str | None = None, class_: str | None = None) -> Iterator[Element]:
        """The elements inside with that tag and class, in the order of the page."""
        for each in self.inside:
            if isinstance(each, str):
                continue
            if tag in (None, each.tag) and (class_ is None or class_ in each.classes):
                yield each
            yield from each.all(tag, class_)

    def one(self, tag: str | None = None, class_: str | None = None) -> Element:
        """The first of them."""
        return next(self.all(tag, class_))


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice in <{tag}>"
        element = Element(tag, dict(attrs))
        self.open[-1].inside.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parsed(page: str) -> Element:
    """The tree of a page. An element that is not closed, or closed out of order, is an error."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert [each.tag for each in builder.open] == ["page"]
    return builder.open[0]
