"""Targets that answer without a model: by a script, or from a recording."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, Tag, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .settings import OR_VARIABLE, Count, Delay, Status, Switch, TargetBase, Variable
from .texts import Pattern

__all__ = ["MockRule", "MockTarget", "ReplayTarget"]

_REMOVE_ONE = {"hint": "remove one of them"}
_ONE_ANSWER: JsonDict = {
    "not": {
        "required": ["response", "echo"],
        "properties": {"response": {"type": "string"}, "echo": {"const": True}},
    }
}
_ONE_RECORDING: JsonDict = {
    "oneOf": [
        {"required": ["path"], "properties": {"path": {"type": "string"}, "sessions": {"type": "null"}}},
        {
            "required": ["sessions"],
            "properties": {
                "sessions": {"type": "string"},
                "path": {"type": "null"},
                "match_by": {"const": "request"},
            },
        },
    ]
}
MatchBy = Annotated[Annotated[Literal["request", "case"], Tag("value")] | Variable, OR_VARIABLE]
Fault = Annotated[Annotated[Literal["status", "reset", "truncated", "slow"], Tag("value")] | Variable, OR_VARIABLE]


class MockRule(FormatModel):
    """One scripted answer; the first rule whose conditions all hold is used."""

    case: Word | None = Field(None, description="Only for the case with this id.")
    turn: Count | None = Field(None, description="Only for the request of this number in its conversation, from 1.")
    pattern: Pattern | None = Field(
        None, description="Only if this regular expression is found in the last user message."
    )
    response: str | None = Field(None, description="The answer.")
    delay: Delay | None = Field(None, description="Seconds before the answer.")
    fault: Fault | None = Field(None, description="A failure to show instead of a whole answer.")
    status: Status | None = Field(None, description="The HTTP status of the fault `status`; 500 if absent.")
    times: Count | None = Field(None, description="How often the rule applies; always if absent.")

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Self:
        if isinstance(self.status, int) and self.status < 400:
            rule = f"{self.status} is no status of a failure"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, "hint": "400 to 599 are"})
        if self.status is not None and self.fault not in (None, "status"):
            rule = f"`status` goes with `fault: status`, not with `fault: {self.fault}`"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, **_REMOVE_ONE})
        failing = "reset" if self.fault == "reset" else "status" if self.fault == "status" or self.status else None
        if failing is not None and self.response is not None:
            rule = f"a rule that fails with `{failing}` has no `response`"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, **_REMOVE_ONE})
        return self


class MockTarget(TargetBase):
    """Answers without a model, for testing your own evals offline."""

    model_config = ConfigDict(json_schema_extra=_ONE_ANSWER)

    provider: Literal["mock"] = Field(description="Answers without a model.")
    response: str | None = Field(None, description="The answer where no rule of `script` applies.")
    echo: Switch = Field(False, description="Whether the answer is the last user message.")
    script: Annotated[list[MockRule], Field(min_length=1)] | None = Field(
        None, description="Answers by case, turn or pattern."
    )
    delay: Delay = Field(0.0, description="Seconds before each answer.")

    @model_validator(mode="after")
    def _has_one_answer(self) -> Self:
        if self.echo is True and self.response is not None:
            raise PydanticCustomError("two_answers", "give `response` or `echo: true`, not both", _REMOVE_ONE)
        return self


class ReplayTarget(TargetBase):
    """Answers that were recorded before."""

    model_config = ConfigDict(json_schema_extra=_ONE_RECORDING)

    provider: Literal["replay"] = Field(description="Answers that were recorded before.")
    path: Word | None = Field(
        None, description="The recording: a run's folder or a JSONL file; relative to the project root."
    )
    sessions: Word | None = Field(
        None,
        description="A folder of recorded sessions of agents, instead of `path`: `CASE.jsonl` or `CASE-TRIAL.jsonl`, "
        "or a run's logs; relative to the project root.",
    )
    match_by: MatchBy = Field(
        "request", description="Whether an answer of `path` is found by its whole request or by its case."
    )

    @model_validator(mode="after")
    def _has_one_recording(self) -> Self:
        if (self.path is None) == (self.sessions is None):
            raise PydanticCustomError(
                "one_recording",
                "a replay target needs `path` or `sessions`, and only one of them",
                {
                    "hint": "`path` is a recording of answers, `sessions` a folder with an agent's sessions",
                    "at": "sessions",
                },
            )
        if self.sessions is not None and self.match_by != "request":
            raise PydanticCustomError(
                "match_by",
                "`match_by` goes with `path`, not with `sessions`",
                {"hint": "remove it: a session is found by the name of its case", "at": "match_by"},
            )
        return self
