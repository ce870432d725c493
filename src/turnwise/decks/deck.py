"""Reading a deck: the text that becomes the grader's prompt, with all that its files bring along."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..conversation.files import shown_file
from ..diagnostics import Diagnostic, Place, has_errors
from ..errors import InputError
from ..suite.explain import did_you_mean
from ..suite.paths import shown_path
from ..suite.reading import read_source_text
from .checking import validated
from .contexts import Context
from .front_matter import FrontMatter
from .includes import Expansion, unterminated
from .markdown import Body, split_front_matter
from .samples import Sample, no_sample_left
from .scale import ScaleSpec
from .toml_source import TomlSource, read_toml

__all__ = ["Deck", "read_deck"]

_YAML_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:[ \t]*#.*\n)*[A-Za-z_$][\w$-]*:(?:.*\n)*?---[ \t]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Deck:
    """A grader written in Markdown.

    `text` has its includes in place and its embeds taken out; `contexts` are in order of definition; `included` are
    all other files that it was made of, in the order in which they were met.
    """

    path: Path
    file: str
    text: str
    front_matter: FrontMatter
    contexts: tuple[Context, ...]
    samples: tuple[Sample, ...]
    included: tuple[Path, ...]

    @property
    def scale(self) -> ScaleSpec | None:
        """The declared scale, if there is one."""
        return self.front_matter.scale


def read_deck(path: Path) -> tuple[Deck | None, list[Diagnostic]]:
    """The deck, or None if anything is wrong with it, and all that there is to say. Never raises for a bad file.

    >>> read_deck(Path("no-such.deck.md"))[1][0].message
    'the file does not exist'
    """
    file = shown_file(path)
    try:
        text = read_source_text(path, file).replace("\r\n", "\n")
    except InputError as error:
        return None, list(error.diagnostics)
    body = split_front_matter(text)
    if body is None:
        return None, [unterminated(file)]
    expansion = Expansion(path)
    front, source = _front_matter(body, path, expansion)
    prompt = expansion.expand(body).strip()
    diagnostics = expansion.diagnostics
    diagnostics += _rendered_samples_problems(front, source, expansion)
    if expansion.samples.seen and not expansion.samples.samples and not has_errors(diagnostics):
        diagnostics.append(no_sample_left(file, expansion.samples.seen))
    if not prompt and not has_errors(diagnostics):
        hint = "write what the grader is to do"
        diagnostics.append(Diagnostic("warning", "empty-deck", "the deck has no text", file, Place(1, 1), hint))
    # A file that is included twice says everything twice.
    diagnostics = list(dict.fromkeys(diagnostics))
    if front is None or has_errors(diagnostics):
        return None, diagnostics
    samples = tuple(expansion.samples.samples)
    return Deck(path, file, prompt, front, expansion.contexts, samples, expansion.included), diagnostics


def _front_matter(body: Body, path: Path, expansion: Expansion) -> tuple[FrontMatter | None, TomlSource]:
    file = expansion.file
    source = TomlSource(file, body.front_matter or "", 2)
    if body.front_matter is None:
        if _YAML_FRONT_MATTER.match(body.text):
            message = "front matter between `---` lines is not read: it is sent to the model as it stands"
            hint = "write TOML between `+++` lines"
            expansion.diagnostics.append(Diagnostic("warning", "front-matter", message, file, Place(1, 1, "---"), hint))
        return FrontMatter(), source
    try:
        data, source = read_toml(body.front_matter, file, 2)
    except InputError as error:
        expansion.diagnostics += error.diagnostics
        return None, source
    front, problems = validated(FrontMatter, data, source)
    expansion.diagnostics += problems
    expansion.add_data(data, source, path.stem)
    return front, source


def _rendered_samples_problems(front: FrontMatter | None, source: TomlSource, expansion: Expansion) -> list[Diagnostic]:
    """Ids that no sample has; nothing is said where the samples are not all known."""
    known = expansion.samples.known_ids
    if front is None or not known or has_errors(expansion.diagnostics):
        return []
    problems = []
    for index, sample_id in enumerate(front.meta.rendered_samples or ()):
        if sample_id not in known:
            path = ("meta", "rendered_samples", index)
            message = f"`rendered_samples` names {sample_id!r}, which no sample has as its id"
            hint = did_you_mean(sample_id, known[:50], "known ids")
            problems.append(
                Diagnostic("error", "unknown-sample", message, source.file, source.place(path), hint, shown_path(path))
            )
    return problems
