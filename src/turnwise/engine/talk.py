"""A conversation under way: what was said, what comes next, and what it took so far. Nothing here is asked or read.

A talk only changes when something was said. So it can be taken up again where a rate limit has stopped it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ..conversation.chat import ChatMessage, chat_prompt
from ..conversation.conversation import Conversation
from ..conversation.values import Message, Text, is_blank
from .talk_sums import sum_known, sum_usage
from .tool_replies import are_answers, tool_messages

if TYPE_CHECKING:
    from ..graders.judges import JudgeAnswer
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case

__all__ = ["BROKEN_OFF", "EndKind", "Exchange", "Talk", "message_of"]

EndKind = Literal["answered", "tool-call", "stop-word", "max-turns", "no-tool-reply", "tool-rounds"]
BROKEN_OFF = ("no-tool-reply", "tool-rounds")
"""How a conversation ends that was not over: by a hole in its suite, or by a model that calls without end."""


@dataclass(slots=True)
class Exchange:
    """One request and its answer. `turn` counts the replies to the user, from 1; `start` is where the reply to that
    turn begins among the messages that were added, and `end` is where this answer ends."""

    request: ProviderRequest
    response: ProviderResponse
    cost_usd: float | None
    turn: int
    start: int
    end: int


@dataclass(slots=True)
class Talk:
    """A conversation. `messages` are all that was added to the case's own, by anybody; `values` are the same, as the
    conversion takes them. `is_users` says whose turn it is, and `ended` and `why` how it came to an end. `own` stands
    in for the case's conversation where that is another one now; `last_words` are those that a simulated user ended
    with."""

    case: Case
    first: ProviderRequest
    system_prompt: str | None = None
    messages: list[ChatMessage] = field(default_factory=list)
    values: list[Message] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    played: list[JudgeAnswer] = field(default_factory=list)
    turn: int = 1
    is_users: bool = False
    ended: EndKind | None = None
    why: str = ""
    own: Conversation | None = None
    last_words: str | None = None
    _start: int = 0
    _rounds: int = 0
    _simulated: int = 0

    def request(self) -> ProviderRequest:
        """What the model is asked next: the same as for a case whose messages are all that was said so far."""
        if not self.values:
            return self.first
        whole = self.conversation()
        return replace(
            self.first,
            question=whole.transcript(),
            chat_prompt=whole.chat_prompt(self.system_prompt, self.case.context.default_system_prompt),
            guidelines=whole.guidelines,
            files=whole.files,
        )

    def conversation(self, added: int | None = None) -> Conversation:
        """The case's conversation with what was added, or with so many of the messages that were."""
        own = self.own or self.case.conversation
        return Conversation((*own.messages, *self.values[:added]), own.system_prompt)

    def take(self, request: ProviderRequest, response: ProviderResponse, cost_usd: float | None) -> Exchange:
        """Add what the model says, and what its tools bring."""
        said: Sequence[ChatMessage] = response.messages or [{"role": "assistant", "content": response.text}]
        exchange = self.add_answer(said, request, response, cost_usd)
        if said[-1].get("tool_calls"):
            self._answer_calls(said[-1])
        else:
            self.is_users = True
        return exchange

    def add_answer(
        self, said: Sequence[ChatMessage], request: ProviderRequest, response: ProviderResponse, cost_usd: float | None
    ) -> Exchange:
        """Add what the model says, and nothing else."""
        self.add(said)
        exchange = Exchange(request, response, cost_usd, self.turn, self._start, len(self.messages))
        self.exchanges.append(exchange)
        return exchange

    def scripted(self) -> Message | None:
        """What the user says next by the script; None if it is at its end."""
        turns = self.case.turn_messages
        return turns[self.turn - 1] if self.turn <= len(turns) else None

    def say(self, message: Message, *, simulated: bool = False) -> None:
        """Add what the user says."""
        self.messages.append(chat_prompt((message,))[-1])
        self.values.append(message)
        self._simulated += simulated
        self._start, self._rounds, self.turn, self.is_users = len(self.messages), 0, self.turn + 1, False

    def end(self, kind: EndKind, why: str) -> None:
        """Say that nothing more is asked."""
        self.ended, self.why = kind, why

    @property
    def broken_off(self) -> str | None:
        """Why it ended before it was over; None if it did not."""
        return self.why if self.ended in BROKEN_OFF else None

    @property
    def simulated(self) -> int:
        """How many messages the simulated user has written."""
        return self._simulated

    @property
    def attempts(self) -> int:
        """How often anything was sent for the answers so far."""
        return sum(each.response.attempts for each in self.exchanges)

    @property
    def cost_usd(self) -> float | None:
        """What the answers so far have cost; None if one of the costs is not known."""
        return sum_known([each.cost_usd for each in self.exchanges])

    @property
    def replies(self) -> list[list[Exchange]]:
        """The exchanges of each turn."""
        found: dict[int, list[Exchange]] = {}
        for each in self.exchanges:
            found.setdefault(each.turn, []).append(each)
        return list(found.values())

    def response(self) -> ProviderResponse:
        """All answers as one: the text is the last one's, the messages are all, and what was counted is summed."""
        answers = [each.response for each in self.exchanges]
        return replace(
            answers[-1],
            messages=list(self.messages),
            usage=sum_usage([each.usage for each in answers]),
            latency_ms=sum_known([each.latency_ms for each in answers]),
            first_token_ms=answers[0].first_token_ms,
            attempts=self.attempts,
        )

    def _answer_calls(self, asking: ChatMessage) -> None:
        brought = tool_messages(asking, self.case.tools)
        most = self.case.max_tool_rounds
        if isinstance(brought, str):
            self._end_with_call(asking, brought)
        elif self._rounds >= most:
            why = f"the model still calls tools after {most} rounds, which is `max_tool_rounds`"
            self.end("tool-rounds", why + self._unsaid)
        else:
            self._rounds += 1
            self.add(brought)

    def _end_with_call(self, asking: ChatMessage, why: str) -> None:
        """A call of a tool that is only declared is an answer, unless the script goes on; any other is a hole."""
        if not self._unsaid and are_answers(asking, self.case.tools):
            self.end("tool-call", f"{why}: the call is the answer")
        else:
            self.end("no-tool-reply", why + self._unsaid)

    @property
    def _unsaid(self) -> str:
        left = len(self.case.turns) - self.turn + 1
        return "" if left <= 0 else "; 1 turn was not said" if left == 1 else f"; {left} turns were not said"

    def add(self, messages: Sequence[ChatMessage]) -> None:
        """Add messages of the model or its tools."""
        self.messages += messages
        self.values += map(message_of, messages)


def message_of(message: ChatMessage) -> Message:
    """A message of an API, as the conversion takes it."""
    content: Any = message["content"]
    parts = [content] if isinstance(content, str) else [part.get("text") for part in content or ()]
    texts = tuple(Text(part) for part in parts if isinstance(part, str) and not is_blank(part))
    calls = tuple(message.get("tool_calls") or ())
    return Message(message["role"], texts, message.get("name"), calls, message.get("tool_call_id"))
