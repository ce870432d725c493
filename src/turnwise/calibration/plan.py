"""What a calibration asks: every sample of every deck, of every model, as often as wanted. The engine does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..engine.planned_targets import PlannedTarget
from ..engine.result_keys import ResultKey
from ..errors import UsageError
from ..graders.deck_request import Judging, asked_with, judging_by, with_deck_options
from ..graders.scoring import CaseScore
from ..targets.choose import find_target, load_project_targets
from ..targets.dotenv import environment

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..graders.base import Grade
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.project import Project
    from ..targets.format import Target
    from ..targets.settings import Prices
    from .loading import LoadedDeck

__all__ = ["CalibrationPlan", "JudgeOptions", "make_calibration_plan"]

_COLLECTED = CaseScore(None, "ungraded", "the answer is compared with the labels when all are there")
_DECK = "deck"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How judges are asked. `temperature` counts where neither deck nor target sets one; None: the API's own."""

    repeats: int = 1
    temperature: float | None = 0.0
    structured: bool = True

    def __post_init__(self) -> None:
        repeats: Any = self.repeats  # of a caller in Python, who may give anything
        if not isinstance(repeats, int) or repeats < 1:
            raise UsageError(f"repeats must be a whole number from 1, found {repeats!r}", "leave it out to ask once")
        warmth: Any = self.temperature
        if warmth is not None and not (isinstance(warmth, int | float) and 0 <= warmth <= 10):
            raise UsageError(f"a temperature is a number from 0 to 10, found {warmth!r}", "None is the API's own")


@dataclass(slots=True, eq=False)
class SampleWork:
    """One sample for one judge."""

    deck: LoadedDeck
    judging: Judging
    sample: Sample
    target: PlannedTarget
    repeat: int
    attempts: int = 0
    returns: int = 0
    tried: int = 0
    is_answered: bool = False
    trouble: str | None = None

    @property
    def key(self) -> ResultKey:
        """What makes it this piece of work."""
        return ResultKey(self.deck.name, self.sample.id, self.target.name, None, self.repeat)

    @property
    def settings_key(self) -> tuple[str, str] | None:
        """The settings that the deck gives the target, if it gives any."""
        key = (self.deck.name, _DECK)
        return key if key in self.target.overrides else None

    @property
    def prefix(self) -> str:
        """Samples refer to no files."""
        return ""

    @property
    def conversation_id(self) -> str | None:
        """The samples that belong together."""
        return self.sample.cluster

    @property
    def threshold(self) -> float:
        """Nothing passes or fails here."""
        return 0.0

    def request(self, system_prompt: str | None) -> ProviderRequest:  # noqa: ARG002  (the deck is the system prompt)
        """What the judge is asked."""
        return self.judging.request(self.sample, repeat=self.repeat)

    async def grade(
        self,
        request: ProviderRequest,  # noqa: ARG002
        response: ProviderResponse,  # noqa: ARG002
        prices: Prices | None,  # noqa: ARG002
    ) -> tuple[Sequence[Grade], CaseScore]:
        """Answers are only collected: what they are worth shows when they are compared with the labels."""
        return (), _COLLECTED


@dataclass
class CalibrationPlan:
    """The decks with their samples, and the models that judge them."""

    project: Project
    decks: Sequence[LoadedDeck]
    targets: Sequence[PlannedTarget]
    options: JudgeOptions
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """The decks."""
        return [deck.name for deck in self.decks]

    @property
    def results(self) -> int:
        """How many answers are wanted."""
        return len(self.targets) * self.options.repeats * sum(len(deck.samples) for deck in self.decks)

    def work(self, target: PlannedTarget) -> Iterator[SampleWork]:
        """All samples for one model: the decks take turns, so that all of them come along."""
        asked = [(deck, self._judging(deck, target)) for deck in self.decks]
        for repeat in range(1, self.options.repeats + 1):
            for place in range(max((len(deck.samples) for deck in self.decks), default=0)):
                for deck, how in asked:
                    if place < len(deck.samples):
                        yield SampleWork(deck, how, deck.samples[place], target, repeat)

    def settings_of(self, deck: LoadedDeck, target: PlannedTarget) -> dict[str, Any]:
        """The settings that a model is asked with, for the report: its own, the deck's, and ours."""
        return asked_with(self._judging(deck, target), target.spec)

    def _judging(self, deck: LoadedDeck, target: PlannedTarget) -> Judging:
        options = self.options
        return judging_by(
            deck.deck, deck.scale, target.spec, temperature=options.temperature, structured=options.structured
        )


def make_calibration_plan(
    project: Project, decks: Sequence[LoadedDeck], models: Sequence[str | Target], options: JudgeOptions
) -> CalibrationPlan:
    """Find the models. Raises `UsageError` for one that there is not, or where none is named."""
    wanted = list(models) or _named_by(decks)
    if not wanted:
        raise UsageError(
            "no model is named", "add -m NAME: a target of the project, or provider/model; -m local needs no key"
        )
    targets, variables = load_project_targets(project), dict(environment(project.root))
    found: dict[str, PlannedTarget] = {}
    for each in wanted:
        name = each if isinstance(each, str) else each.name
        spec = find_target(each, targets, file=str(project.targets_file)) if isinstance(each, str) else each
        found.setdefault(name, PlannedTarget(name, spec, project, variables))
    for target in found.values():
        for deck in decks:
            _give_options(target, deck)
    return CalibrationPlan(project, decks, list(found.values()), options)


def _named_by(decks: Sequence[LoadedDeck]) -> list[str]:
    """The models that all decks name, if each names one."""
    named = [str(deck.deck.front_matter.model_options.get("model", "")) for deck in decks]
    return list(dict.fromkeys(named)) if all(named) and len(set(named)) == 1 else []


def _give_options(target: PlannedTarget, deck: LoadedDeck) -> None:
    changed = with_deck_options(target.spec, deck.deck)
    if changed is not None:
        target.overrides[deck.name, _DECK] = changed
