"""The front matter of a deck: how it scores, what it talks about, and how the model is asked."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel
from .model_options import ModelChoice, ModelOptions, ModelTable
from .scale import ScaleSpec

__all__ = ["FrontMatter", "MetaSpec", "ThresholdSpec"]

Share = Annotated[float, Field(ge=0, lt=1)]


class MetaSpec(FormatModel):
    """Anything about the deck; only `rendered_samples` has a meaning here."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    rendered_samples: list[str] | None = Field(None, description="Ids of the samples that the deck's text talks about.")


class ThresholdSpec(FormatModel):
    """Bounds by which a calibration says what the deck may be used for."""

    gating: Share | None = Field(
        None, description="Lower bound of κ, or of the concordance, for gating; 0.6 if absent."
    )
    trends: Share | None = Field(None, description="The same for trends; 0.4 if absent.")
    rates: Share | None = Field(None, description="Lower bound of TPR and TNR for gating; 0.8 if absent.")
    least_per_class: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Labels that each class needs before anything is said; 5 if absent."
    )

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        trends, gating = (0.4 if self.trends is None else self.trends), (0.6 if self.gating is None else self.gating)
        if trends > gating:
            context = {"hint": "gating asks for more than trends"}
            raise PydanticCustomError("thresholds", "[thresholds]: `trends` must not be above `gating`", context)
        return self


class FrontMatter(ModelOptions):
    """The TOML between the `+++` lines at the top of a deck. It never reaches the model."""

    scale: ScaleSpec | None = Field(None, description="The scores that the grader gives; inferred if absent.")
    meta: MetaSpec = Field(default_factory=MetaSpec, description="Anything about the deck.")
    tools: list[dict[str, Any]] = Field([], description="Tools that are offered to the model, in OpenAI's form.")
    contexts: Any = Field(None, description="`[contexts.name]`: what the deck asks for.")
    samples: Any = Field(None, description="`[[samples]]`: conversations that people have labelled.")
    gates: list[str] | None = Field(
        None, description="Bars that a calibration of the deck must meet, such as `kappa_lo>=0.6`."
    )
    thresholds: ThresholdSpec | None = Field(None, description="Bounds for the verdict of a calibration.")
    name: str | None = Field(None, description="A title for people.")
    description: str | None = Field(None, description="What the deck grades, for people.")
    model: ModelChoice | None = Field(None, description="The model to ask, or a table of model options.")
    options: ModelTable | None = Field(None, description="Model options.")

    @model_validator(mode="after")
    def _has_each_option_once(self) -> Self:
        seen: set[str] = set()
        for table in self._option_tables():
            twice = sorted(seen & table.keys())
            if twice:
                raise PydanticCustomError(
                    "option_twice", "the model option `{name}` is given twice", {"name": twice[0], "hint": "remove one"}
                )
            seen |= table.keys()
        return self

    @property
    def model_options(self) -> dict[str, Any]:
        """All model options, from the top level, `[model]` and `[options]`; a model's name is `model`."""
        return {name: value for table in self._option_tables() for name, value in table.items()}

    def _option_tables(self) -> list[dict[str, Any]]:
        top = {name: value for name in ModelOptions.model_fields if (value := getattr(self, name)) is not None}
        model = (
            _given(self.model) if isinstance(self.model, ModelTable) else {"model": self.model} if self.model else {}
        )
        return [top, model, _given(self.options)]


def _given(table: ModelTable | str | None) -> dict[str, Any]:
    return {} if not isinstance(table, ModelTable) else table.model_dump(exclude_unset=True, exclude_none=True)
