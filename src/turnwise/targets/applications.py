"""Targets that are applications rather than models: an HTTP endpoint, a Python function."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import Word
from .placeholders import PLACEHOLDERS, placeholders
from .settings import OR_VARIABLE, Http, TargetBase, Variable
from .texts import FunctionName, JsonPointer, RequestAddress

__all__ = ["HttpTarget", "PythonTarget"]

Method = Annotated[Annotated[Literal["GET", "POST", "PUT", "PATCH"], Tag("value")] | Variable, OR_VARIABLE]


class HttpTarget(Http, TargetBase):
    """Any HTTP endpoint: for testing an application rather than a model."""

    provider: Literal["http"] = Field(description="Any HTTP endpoint.")
    url: RequestAddress = Field(
        description="The address to ask, in which `{{ question }}` and `{{ vars.NAME }}` are filled in, quoted for it."
    )
    method: Method = Field("POST", description="The HTTP method.")
    body: Any = Field(
        None,
        description="The JSON body, in which `{{ question }}`, `{{ messages }}` and `{{ vars.NAME }}` are filled in.",
    )
    answer_pointer: JsonPointer | None = Field(
        None, description="A JSON pointer to the answer in the response; the whole response is the answer if absent."
    )

    @model_validator(mode="after")
    def _knows_its_placeholders(self) -> Self:
        from difflib import get_close_matches

        for text in placeholders((self.url, self.headers, self.body)):
            name = text.partition(".")[0]
            if name not in PLACEHOLDERS:
                near = get_close_matches(name, PLACEHOLDERS, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(PLACEHOLDERS)}"
                raise PydanticCustomError(
                    "unknown_placeholder", "{shown} stands for nothing", {"shown": f"`{{{{ {text} }}}}`", "hint": hint}
                )
        return self


class PythonTarget(TargetBase):
    """A Python function of yours, sync or async, that takes the request and returns text or messages."""

    provider: Literal["python"] = Field(description="A Python function of yours.")
    function: FunctionName = Field(description="The function, as `module:function`.")
    path: Word | None = Field(None, description="A folder to import from; relative to the project root.")
