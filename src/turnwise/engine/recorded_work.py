"""A piece of work whose answer is there already: nothing is asked, and the recorded answer is graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..errors import ProviderError, RunError
from ..graders.base import GradeError
from ..providers.base import Preview, ProviderRequest, ProviderResponse, Rewrite
from ..providers.recording import check_answer, is_failure
from ..providers.replay import recorded_response
from ..providers.requests import request_for
from .plan import Work
from .recorded_question import recorded_conversation
from .recorded_talk import recorded_talk

if TYPE_CHECKING:
    from ..graders.base import Grade
    from ..graders.scoring import CaseScore
    from ..targets.settings import Prices
    from .recorded_run import RecordedResult, RecordedRun
    from .talk import Talk

__all__ = ["RecordedProvider", "RecordedWork"]

_ALWAYS = ("agent", "live", "masked")
_MASKED = GradeError(
    "masked-answer",
    "secrets were taken out of the recorded answer: it is not what was said; run the case again to grade it",
)
_OF_ERRORS = ("output_messages", "usage", "raw_request")


class _RecordedError(ProviderError):
    """An error that was recorded: it is of the same kind, and asking again would not help."""

    def __init__(self, error: Any, attempts: int) -> None:
        said: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
        status, hint = said.get("status"), said.get("hint")
        super().__init__(
            str(said.get("message") or "no answer was recorded"),
            status=status if isinstance(status, int) else None,
            retryable=False,
            hint=hint if isinstance(hint, str) else None,
        )
        # Of the class everywhere else: here it is what the record says.
        self.__dict__["kind"] = str(said.get("kind") or self.kind)
        self.attempts = attempts


class RecordedProvider:
    """Gives the answer of one line of results, and asks nobody."""

    def __init__(self, record: dict[str, Any]) -> None:
        self._record = record

    async def ask(self, request: ProviderRequest) -> ProviderResponse:  # noqa: ARG002
        """The recorded answer. Raises the recorded error, if there is no answer."""
        if is_failure(self._record):
            raise _RecordedError(self._record.get("error"), _attempts(self._record))
        check_answer(self._record, f"the result of {self._record.get('case_id')!r}")
        response = recorded_response(self._record, self._sent(), _number(self._record.get("latency_ms")))
        first = _number(self._record.get("first_token_ms"))
        return replace(response, attempts=_attempts(self._record), first_token_ms=first, rewrites=self._rewrites())

    def preview(self, request: ProviderRequest) -> Preview:  # noqa: ARG002
        """What was sent then."""
        return Preview(messages=self._sent(), rewrites=self._rewrites(), request=None)

    async def close(self) -> None:
        """Nothing is open."""

    def _sent(self) -> list[Any]:
        return _dicts(_asked(self._record).get("messages"))

    def _rewrites(self) -> list[Rewrite]:
        found = _dicts(_asked(self._record).get("rewrites"))
        return [Rewrite(*(each.get(name) for name in Rewrite.__dataclass_fields__)) for each in found]


@dataclass(slots=True, eq=False, kw_only=True)
class RecordedWork(Work):
    """The same, with the line of the run that is graded again. Graders are given the question that was asked then."""

    run: RecordedRun
    result: RecordedResult
    _record: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def settings_key(self) -> tuple[str, str] | None:
        """Nothing is asked, so that settings do not matter."""
        return None

    @property
    def is_judged(self) -> bool:
        """It keeps its place until it is graded: nothing else slows the next ones down."""
        return True

    @property
    def is_live(self) -> bool:
        """Nothing is asked, so that nothing goes on."""
        return False

    @property
    def provider(self) -> RecordedProvider:
        """Who has the answer."""
        return RecordedProvider(self._line())

    def request(self, system_prompt: str | None) -> ProviderRequest:
        """What was asked then, with the files of the case as it is now."""
        request = request_for(self.case, system_prompt=system_prompt, attempt=self.trial)
        asked = _asked(self._line())
        question, guidelines = asked.get("question"), asked.get("guidelines")
        if isinstance(question, str):
            request.question = question
        if isinstance(guidelines, list):
            request.guidelines = [each for each in guidelines if isinstance(each, str)]
        if prompt := _dicts(asked.get("chat_prompt")):
            request.chat_prompt = prompt
        return request

    async def grade(
        self, request: ProviderRequest, response: ProviderResponse, prices: Prices | None
    ) -> tuple[list[Grade], CaseScore]:
        """What its graders say of the answer."""
        record = self._line()
        cost = record.get("cost_usd") if _attempts(record) else None  # one of the cache cost nothing then
        return await self.grading.grade(
            self.case,
            request,
            response,
            self.threshold,
            prices,
            target=self.target.name,
            variant=self.key.variant,
            cost=_number(cost),
            talk=self._recorded_talk(request, response),
            unfit=_MASKED if record.get("masked") else None,
            asked=recorded_conversation(self.case, record),
        )

    @property
    def as_recorded(self) -> dict[str, Any]:
        """What the new line keeps of the old one: what the answer took was taken then. Of an error, that is all that
        was said and taken before it."""
        record = self._line()
        kept = (*_ALWAYS, *_OF_ERRORS) if is_failure(record) else _ALWAYS
        found = {name: record[name] for name in kept if record.get(name)}
        return {"cost_usd": _number(record.get("cost_usd")), "paid": record.get("paid") is not False, **found}

    def _recorded_talk(self, request: ProviderRequest, response: ProviderResponse) -> Talk | None:
        """The live conversation that was recorded; None for a case of one answer."""
        live = self._line().get("live")
        if not live and not self.case.turns:
            return None
        own, default = recorded_conversation(self.case, self._line()), self.case.context.default_system_prompt
        first = replace(
            request_for(self.case, system_prompt=None, attempt=self.trial),
            question=own.transcript(),
            chat_prompt=own.chat_prompt(None, default),
        )
        return recorded_talk(self.case, own, first, request, response, live)

    def _line(self) -> dict[str, Any]:
        if self._record is None:
            try:
                self._record = self.run.record(self.result)
            except RunError as error:
                self._record = {"status": "error", "error": {"kind": "recording", "message": str(error)}}
        return self._record


def _asked(record: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = record.get("raw_request")
    return asked if isinstance(asked, Mapping) else {}


def _attempts(record: Mapping[str, Any]) -> int:
    attempts = record.get("attempts")
    return attempts if isinstance(attempts, int) and attempts >= 0 else 1


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _dicts(value: Any) -> list[Any]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
