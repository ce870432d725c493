"""A case as the rest of the product sees it: the file's words with the suite's defaults filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.conversation import Conversation
from ..conversation.files import ProjectFiles
from ..conversation.guidelines import GuidelinePatterns
from ..conversation.resolve import resolve_messages
from ..diagnostics import Place
from ..errors import ResolutionError
from .paths import DataPath
from .sources import Source
from .template import Filler

if TYPE_CHECKING:
    from ..conversation.authored import MessageDict
    from ..conversation.values import Message
    from .format import AuthoredTool, CaseSpec, GraderSpec, SuiteHeader, ToolSpec, TurnSpec
    from .live_format import UserSpec

__all__ = ["Case", "CaseContext", "make_case"]


def _as_written(path: DataPath) -> DataPath:
    return path


_SHAREABLE = ("input_messages", "expected_messages", "outcome", "system_prompt", "graders", "turns", "user", "tools")
_TOOL_ROUNDS = 10


@dataclass(frozen=True)
class CaseContext:
    """What the cases of a suite share: its defaults, and where and how files are found. `authored` leads from a path in
    our words to the one in the file, where that is of another format."""

    suite: SuiteHeader
    folder: Path
    files: ProjectFiles
    guidelines: GuidelinePatterns
    default_system_prompt: str | None
    source: Source
    authored: Callable[[DataPath], DataPath] = _as_written


@dataclass(eq=False)
class Case:
    """One conversation to be continued, with what is expected of the answer.

    `conversation` reads the files that the messages refer to, when it is first asked for. `spec` is the case as it
    stands in its file; `inherited_graders` counts the graders that stand in the suite instead.
    """

    id: str
    input_messages: Sequence[MessageDict]
    expected_messages: Sequence[MessageDict]
    conversation_id: str | None
    outcome: str | None
    system_prompt: str | None
    target: str | None
    graders: Sequence[GraderSpec]
    threshold: float | None
    trials: int | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    vars: Mapping[str, Any]
    tools: Sequence[ToolSpec]
    output_schema: Mapping[str, Any] | None
    inherited_graders: int = field(repr=False, compare=False)
    spec: CaseSpec = field(repr=False, compare=False)
    context: CaseContext = field(repr=False, compare=False)
    source: Source = field(repr=False, compare=False)
    path: DataPath = field(default=(), repr=False, compare=False)
    turns: Sequence[TurnSpec] = ()
    user: UserSpec | None = None
    max_tool_rounds: int = _TOOL_ROUNDS

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation with its files read. Raises `ResolutionError`."""
        return Conversation(self._resolved(self.input_messages, "input_messages"), self.system_prompt)

    @cached_property
    def expected(self) -> Conversation:
        """The expected messages with their files read. Raises `ResolutionError`."""
        return Conversation(self._resolved(self.expected_messages, "expected_messages"))

    @cached_property
    def turn_messages(self) -> Sequence[Message]:
        """The messages of `turns` with their files read. Raises `ResolutionError`."""
        resolved: Sequence[Message] = self._resolved([turn.message for turn in self.turns], "turns")
        return resolved

    @property
    def is_live(self) -> bool:
        """Whether its conversation goes on after the first answer: by turns, a simulated user or canned tools."""
        return bool(self.turns or self.user) or self.has_canned_tools

    @property
    def has_canned_tools(self) -> bool:
        """Whether calls of one of its tools are answered."""
        return bool(self.tools) and any(tool.is_canned for tool in self.tools)

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it but the record of its answers."""
        return False

    @property
    def has_vars(self) -> bool:
        """Whether its texts were filled from variables."""
        return self.spec.vars is not None or self.context.suite.vars is not None

    @property
    def place(self) -> Place:
        """Where the case stands in its file."""
        return self.source.place(self.path)

    def where(self, path: DataPath) -> tuple[Source, DataPath, str | None]:
        """Where a path of this case is written: in the case, or in the suite, and then it is not this case's own.

        What variables have made of the suite's words is the case's own again.
        """
        if path and not self.has_vars and path[0] in shared_fields(self.spec):
            return self.context.source, self.context.authored(path), None
        if not self.path:  # a row of a dataset, which is never of another format
            return self.source, path, self.id
        return self.source, self.context.authored((*self.path, *path)), self.id

    def _resolved(self, messages: Sequence[MessageDict], field: str) -> Any:
        context = self.context
        return resolve_messages(
            messages, field, files=context.files, guidelines=context.guidelines, folder=context.folder
        )


def make_case(spec: CaseSpec, context: CaseContext, source: Source, path: DataPath = ()) -> Case:
    """Combine a case with its suite: own settings go first. Raises `ResolutionError` for unknown variables."""
    suite = context.suite
    messages: Sequence[MessageDict] = spec.input_messages or suite.input_messages or ()
    expected = spec.expected_messages if spec.expected_messages is not None else suite.expected_messages or ()
    outcome = spec.outcome if spec.outcome is not None else suite.outcome
    system_prompt = _system_prompt(spec, suite)
    graders = _graders(spec, suite)
    turns, user = spec.turns or suite.turns or (), spec.user or suite.user
    tools = (spec.tools if spec.tools is not None else suite.tools) or ()
    values: Mapping[str, Any] = {}
    if suite.vars is not None or spec.vars is not None:
        values = {**(suite.vars or {}), **(spec.vars or {})}
        filler = Filler(values)
        messages = filler.messages(messages, "input_messages")
        expected = filler.messages(expected, "expected_messages")
        outcome = outcome and filler.text(outcome, ("outcome",))
        system_prompt = system_prompt and filler.text(system_prompt, ("system_prompt",))
        graders = filler.graders(graders)
        turns, user = filler.turns(turns), user and filler.user(user)
        tools = filler.tools(tools)
        if filler.problems:
            raise ResolutionError(filler.problems)
    return Case(
        id=spec.id,
        input_messages=messages,
        expected_messages=expected,
        conversation_id=spec.conversation_id,
        outcome=outcome,
        system_prompt=system_prompt,
        target=spec.target if spec.target is not None else suite.target,
        graders=graders,
        threshold=spec.threshold if spec.threshold is not None else suite.threshold,
        trials=spec.trials if spec.trials is not None else suite.trials,
        tags=tuple(dict.fromkeys((*(suite.tags or ()), *(spec.tags or ())))) if suite.tags or spec.tags else (),
        metadata=spec.metadata or {},
        vars=values,
        tools=_unwrapped(tools) if tools else (),
        output_schema=spec.output_schema if spec.output_schema is not None else suite.output_schema,
        inherited_graders=len(graders) - len(spec.graders or ()),
        spec=spec,
        context=context,
        source=source,
        path=path,
        turns=turns,
        user=user,
        max_tool_rounds=spec.max_tool_rounds or suite.max_tool_rounds or _TOOL_ROUNDS,
    )


def shared_fields(spec: CaseSpec) -> frozenset[str]:
    """The fields that a case takes from its suite, as far as the suite has them."""
    shared = {name for name in _SHAREABLE if getattr(spec, name) is None}
    if isinstance((spec.metadata or {}).get("systemPrompt"), str):
        shared.discard("system_prompt")
    return frozenset(shared)


def _graders(spec: CaseSpec, suite: SuiteHeader) -> Sequence[GraderSpec]:
    if spec.graders is None:
        return suite.graders or ()
    return [*(suite.graders or ()), *spec.graders] if spec.inherit_graders else spec.graders


def _unwrapped(tools: Sequence[AuthoredTool]) -> Sequence[ToolSpec]:
    from .format import WrappedTool

    return [tool.function if isinstance(tool, WrappedTool) else tool for tool in tools]


def _system_prompt(spec: CaseSpec, suite: SuiteHeader) -> str | None:
    """The first that says something: the case's, its metadata's, the suite's."""
    for prompt in (spec.system_prompt, (spec.metadata or {}).get("systemPrompt"), suite.system_prompt):
        if isinstance(prompt, str) and prompt.strip():
            return prompt
    return None
