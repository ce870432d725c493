"""What a calibration found: every figure with its interval, as plain values. `report_record` makes JSON of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..decks.sample import Sample
    from ..graders.human_labels import CodedLabel
    from ..graders.verdict_scale import Code, Scale
    from ..stats.statistic import Statistic
    from .judgement import SampleVerdict

__all__ = [
    "STATISTICS",
    "Baseline",
    "Bounds",
    "Calibration",
    "Ceiling",
    "Confusion",
    "DeckIdentity",
    "Disagreement",
    "Figures",
    "GateResult",
    "InvalidOutput",
    "Item",
    "Latency",
    "ModelReport",
    "PairedDifference",
    "RaterPairReport",
    "Recommendation",
    "RepeatCounts",
    "SampleCounts",
    "Slice",
    "TokenUsage",
    "Use",
    "Warned",
]

STATISTICS = (
    "agreement",
    "agreement_no_ties",
    "within_1",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "tpr",
    "tnr",
    "balanced_accuracy",
    "mcc",
    "lin_ccc",
    "pearson",
    "spearman",
    "kendall",
    "mae",
    "rmse",
    "bias",
    "loa",
    "self_agreement",
    "flip_rate",
)
"""The names of all figures, in the order in which they are shown. Not every scale has each of them."""

Figures = Mapping[str, "Statistic"]
"""Figures by name. A name that is absent does not belong to the scale."""
Use = Literal["gating", "trends", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class DeckIdentity:
    """Which deck: its path from the project's root, and the hash of all that reaches the grader."""

    path: str
    hash: str
    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """The samples: `skipped` could not be read, `ungradable` have only labels that say there is nothing to grade."""

    total: int
    labelled: int
    skipped: int
    clusters: int
    raters: int
    ungradable: int = 0
    ungradable_labels: int = 0
    hash: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """The agreement if all labelled samples without a valid verdict were wrong, and if all were right."""

    all_wrong: float | None
    all_right: float | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Who said what: rows are people's labels, columns the judge's."""

    labels: tuple[Code, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A statistic of this model less that of another, on the samples that both have judged."""

    against: str
    statistic: str
    value: float | None
    lo: float | None
    hi: float | None
    p: float | None
    p_holm: float | None
    reliable: bool
    n: int
    method: str
    p_method: str = "none"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sample of which people and judge think differently. `dangerous`: acting on the judge would do harm. `split`: no
    label is that of most people, and `human` is the one of them that is furthest from the judge."""

    id: str
    human: Code
    judge: Code
    distance: float
    dangerous: bool
    human_reason: str | None
    judge_reason: str | None
    split: bool = False


@dataclass(frozen=True, slots=True)
class InvalidOutput:
    """An output that is no verdict: `status` says of what kind, `detail` why, `raw` is what the judge wrote."""

    id: str
    repeat: int
    status: str
    detail: str
    raw: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens over all requests whose provider counted them, `counted` of them."""

    input_tokens: int
    output_tokens: int
    counted: int


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that answers took."""

    mean: float
    p50: float
    p95: float
    n: int


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """Outputs where each sample was judged several times. `undecided` samples have no majority, and no verdict."""

    repeats: int
    outputs: int
    valid_outputs: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What the judge may be used for, why, and how many labels it would take to know."""

    use: Use
    reason: str
    labels_needed: int | None = None


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One judge: a deck with a model. `total`, `valid` and `invalid` count outputs, of samples labelled or not: with
    repeats, there are several for each sample."""

    model: str
    total: int
    valid: int
    invalid: Mapping[str, int]
    repaired: Mapping[str, int]
    bounds: Bounds
    headline: str
    statistics: Figures
    statistics_majority: Figures | None
    without_majority: int
    confusion: Confusion | None
    design_effect: float | None
    verdict: Recommendation
    differences: tuple[PairedDifference, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    invalid_outputs: tuple[InvalidOutput, ...] = ()
    repeats: RepeatCounts | None = None
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    cost_usd_per_1000: float | None = None
    latency_ms: Latency | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    hash: str | None = None

    @property
    def headline_statistic(self) -> Statistic | None:
        """The figure that sums the judge up."""
        return self.statistics.get(self.headline)

    @property
    def worst(self) -> Disagreement | None:
        """The disagreement that matters most."""
        return self.disagreements[0] if self.disagreements else None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The best constant answer, and how well it does without looking at anything."""

    answer: Code
    statistics: Figures


@dataclass(frozen=True, slots=True)
class RaterPairReport:
    """Two people who have labelled the same samples."""

    raters: tuple[str, str]
    kappa: Statistic
    agreement: Statistic
    n: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How far people agree among themselves: no judge can be expected to agree with them much more."""

    statistics: Figures
    pairs: tuple[RaterPairReport, ...]
    krippendorff_alpha: Statistic


@dataclass(frozen=True, slots=True)
class Slice:
    """The samples of one tag."""

    models: tuple[ModelReport, ...]
    baseline: Baseline | None
    ceiling: Ceiling | None


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that the reader of the figures must know, and what to do about it."""

    code: str
    message: str
    hint: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A bar, as it was written, and whether a model met it; None where its figure is not defined."""

    gate: str
    model: str
    value: float | None
    met: bool | None


@dataclass(frozen=True, slots=True)
class Item:
    """A sample with what people and the judges said of it. `human` is the label that most gave, if there is one."""

    sample: Sample
    labels: tuple[CodedLabel, ...]
    human: Code | None
    verdicts: Mapping[str, SampleVerdict]


@dataclass(frozen=True, slots=True)
class Calibration:
    """All that is known of one deck with its models. `items` are in the order of the samples."""

    generated_at: str
    deck: DeckIdentity | None
    scale: Scale
    samples: SampleCounts
    models: tuple[ModelReport, ...]
    baseline: Baseline | None
    ceiling: Ceiling | None
    slices: Mapping[str, Slice]
    warnings: tuple[Warned, ...]
    seed: int
    draws: int
    versions: Mapping[str, str]
    items: Sequence[Item] = ()
    gates: tuple[GateResult, ...] = ()
    replayed: bool = False
