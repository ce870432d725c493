"""The resolved messages of a case, and the views that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .chat import ChatPrompt, chat_prompt, guideline_files
from .transcript import transcript
from .values import File, Image, Message

__all__ = ["Conversation"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said, with files read and guidelines found.

    `system_prompt` is what the case (or else its suite) configures; explicit system messages replace it.
    Each view is made from the messages alone, never from another view.

    >>> talk = Conversation.from_messages([
    ...     {"role": "user", "content": "Hello"},
    ...     {"role": "assistant", "content": "Hi"},
    ...     {"role": "user", "content": ["Help me", "please"]},
    ... ])
    >>> talk.chat_prompt()[2]
    {'role': 'user', 'content': 'Help me\\nplease'}
    >>> print(talk.transcript())
    [User]:
    Hello
    <BLANKLINE>
    [Assistant]:
    Hi
    <BLANKLINE>
    [User]:
    Help me
    please
    """

    messages: tuple[Message, ...]
    system_prompt: str | None = None

    @classmethod
    def from_messages(
        cls,
        messages: Iterable[Mapping[str, Any]],
        *,
        system_prompt: str | None = None,
        folder: str | Path = ".",
        root: str | Path | None = None,
        guideline_patterns: Sequence[str] | None = None,
    ) -> Conversation:
        """Make a conversation from messages written as in a suite; files are looked up from `folder`.

        `root` is the project's, or else `folder`: no file outside of it is read. Without `guideline_patterns`,
        guidelines are told by the default pattern.
        Raises `pydantic.ValidationError` for messages that are not well formed, `ResolutionError` for files that
        cannot be read, and `PatternError` for patterns that cannot.
        """
        from .authored import authored_messages
        from .files import ProjectFiles
        from .guidelines import GuidelinePatterns
        from .resolve import resolve

        return resolve(
            authored_messages([_copied(message) for message in messages]),
            files=ProjectFiles(Path(folder if root is None else root)),
            guidelines=GuidelinePatterns() if guideline_patterns is None else GuidelinePatterns(guideline_patterns),
            folder=Path(folder),
            system_prompt=system_prompt,
        )

    def chat_prompt(self, system_prompt: str | None = None, default_system_prompt: str | None = None) -> ChatPrompt:
        """The messages for a model API. `system_prompt` is the target's: it counts where the case, its suite
        and its messages have none. `default_system_prompt` comes before guidelines that would stand alone.
        """
        configured = self.system_prompt
        if configured is None or not configured.strip():
            configured = system_prompt
        return chat_prompt(self.messages, configured, default_system_prompt)

    def transcript(self) -> str:
        """The text that people, judges and agents read: the question."""
        return transcript(self.messages)

    @property
    def guidelines(self) -> list[str]:
        """The texts of the guidelines, in order of first appearance, each once."""
        return [file.content for file in guideline_files(self.messages)]

    @property
    def files(self) -> list[File | Image]:
        """Every file and image that the messages refer to, in order of first appearance, each once."""
        found: dict[str, File | Image] = {}
        for message in self.messages:
            for part in message.parts:
                if isinstance(part, File | Image):
                    found.setdefault(part.path or part.written, part)
        return list(found.values())


def _copied(message: Any) -> Any:
    """A message of the caller's own, which may change later; what is no mapping is left for the validator to name."""
    from copy import deepcopy

    return deepcopy(dict(message)) if isinstance(message, Mapping) else message
