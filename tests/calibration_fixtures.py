"""Small calibrations that the tests of reports share: samples by hand, and the real analysis of what judges said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from turnwise.calibration.analysis import Context, analyse
from turnwise.calibration.judgement import Output
from turnwise.calibration.report import (
    Bounds,
    Calibration,
    DeckIdentity,
    Disagreement,
    ModelReport,
    PairedDifference,
    Recommendation,
    SampleCounts,
)  # fmt: skip
from turnwise.decks.sample import HumanLabel, Sample
from turnwise.decks.scale import ScaleSpec
from turnwise.graders.verdict_scale import Scale
from turnwise.stats.statistic import Statistic, undefined
from turnwise.suite.sources import WholeFile

__all__ = [
    "BINARY",
    "HARM",
    "bare_calibration",
    "binary_calibration",
    "calibrated",
    "difference",
    "figure_of",
    "hostile_calibration",
    "miss",
    "model_report",
    "sample",
    "tied_calibration",
    "verdict_output",
]

BINARY = ScaleSpec.model_validate({"kind": "binary", "labels": ["fail", "pass"], "pass": "pass"})
HARM = "a\x1b[2J\r\n\t|`<script>@root #1 [x](http://x) \u202eb\u2028"
"""What a model may write to clear screens, break tables, run scripts and call people."""
DECK = DeckIdentity("graders/tone.deck.md", "0" * 64)


def sample(name: str, label: float | str | None, tags: Sequence[str] = (), **fields: Any) -> Sample:
    """A sample of two turns with one label, or `labels` by rater."""
    expected = None
    if label is not None:
        score, word = (None, label) if isinstance(label, str) else (label, None)
        expected = HumanLabel(score, word, fields.get("reason", f"people say so of {name}"))
    labels = tuple(
        HumanLabel(None if isinstance(value, str) else value, value if isinstance(value, str) else None, None, rater)
        for rater, value in fields.get("labels", {}).items()
    )
    messages: Any = fields.get("messages") or (
        {"role": "user", "content": f"question of {name}"},
        {"role": "assistant", "content": f"answer of {name}"},
    )
    source = WholeFile("samples.toml")
    return Sample(name, tuple(messages), expected, labels, None, tuple(tags), source, ("samples", 0))


def verdict_output(value: float | str | None, reason: str = "the judge says so", **fields: Any) -> Output:
    """An output with a verdict; None is an output that is none."""
    key = "label" if isinstance(value, str) else "score"
    text = "no idea" if value is None else json.dumps({key: value, "reason": reason})
    return Output(text, **fields)


def calibrated(
    samples: Sequence[Sample],
    said: Mapping[str, Sequence[float | str | None]],
    spec: ScaleSpec | None = BINARY,
    **context: Any,
) -> Calibration:
    """The analysis of what each model said of the samples, in their order; few draws, as nobody looks at those."""
    outputs = {
        model: {each.id: [verdict_output(value)] for each, value in zip(samples, values, strict=True)}
        for model, values in said.items()
    }
    known = {"deck": DECK, "settings": {model: {"temperature": 0} for model in said}, **context}
    return analyse(samples, outputs, spec, Context(**known), draws=50)


def binary_calibration() -> Calibration:
    """Twenty samples, ten of each label. `good` misses two, `bad` always passes and `torn` has three invalid outputs.

    `good` agrees on 18 of 20, κ = (.9 − .5) / .5 = .8; `bad` on 10, κ = 0.
    """
    labels = ["pass"] * 10 + ["fail"] * 10
    samples = [
        sample(f"s{place}", label, ["long"] if place % 2 else ["long", "even"]) for place, label in enumerate(labels)
    ]
    good = ["fail", *labels[1:-1], "pass"]
    torn: list[str | None] = [None, None, None, *labels[3:]]
    return calibrated(samples, {"good": good, "bad": ["pass"] * 20, "torn": torn})


def figure_of(value: float | None, lo: float | None = None, hi: float | None = None, n: int = 100) -> Statistic:
    """A statistic with an interval."""
    return undefined(n, "all labels are the same") if value is None else Statistic(value, n, lo, hi, "wilson")


def model_report(model: str, **fields: Any) -> ModelReport:
    """A judge of a hundred samples with κ .71 [.62, .79] and agreement .85 [.78, .90]."""
    figures = {"agreement": figure_of(0.85, 0.78, 0.90), "kappa": figure_of(0.71, 0.62, 0.79)}
    settled = {
        "total": 100, "valid": 100, "invalid": {}, "repaired": {}, "bounds": Bounds(None, None), "headline": "kappa",
        "statistics": figures, "statistics_majority": None, "without_majority": 0, "confusion": None,
        "design_effect": None, "verdict": Recommendation("trends", "κ is at least 0.62"),
        "settings": {"temperature": 0},
    }  # fmt: skip
    return ModelReport(model, **{**settled, **fields})


def difference(
    against: str, value: float, reliable: bool, statistic: str = "kappa", p: float = 0.5
) -> PairedDifference:
    """A paired difference with an interval of ± .1."""
    return PairedDifference(
        against, statistic, value, value - 0.1, value + 0.1, p, p, reliable, 100, "paired-bootstrap"
    )


def miss(name: str, human: float | str, judge: float | str, dangerous: bool = False, **fields: Any) -> Disagreement:
    """A disagreement."""
    distance = 1.0 if isinstance(human, str) or isinstance(judge, str) else abs(judge - human)
    reasons = {"human_reason": "people say so", "judge_reason": "the judge says so", **fields}
    return Disagreement(name, human, judge, distance, dangerous, **reasons)


def bare_calibration(*models: ModelReport, **fields: Any) -> Calibration:
    """A calibration of these judges, with nothing else in it."""
    settled = {
        "generated_at": "2026-01-01T00:00:00+00:00", "deck": DECK,
        "scale": Scale("binary", labels=("fail", "pass"), pass_="pass"),
        "samples": SampleCounts(total=100, labelled=100, skipped=0, clusters=100, raters=1), "baseline": None,
        "ceiling": None, "slices": {}, "warnings": (), "seed": 0, "draws": 50, "versions": {},
    }  # fmt: skip
    return Calibration(models=models, **{**settled, **fields})


def tied_calibration() -> Calibration:
    """Three judges: `large` is reliably better than `small`, of `other` nobody can tell."""
    return bare_calibration(
        model_report("large", differences=(difference("small", 0.2, True, p=0.004), difference("other", 0.02, False))),
        model_report(
            "small", differences=(difference("large", -0.2, True, p=0.004), difference("other", -0.05, False))
        ),
        model_report("other", differences=(difference("large", -0.02, False), difference("small", 0.05, False))),
    )


def hostile_calibration() -> Calibration:
    """Every text that others wrote is meant to do harm."""
    messages = ({"role": HARM, "content": HARM}, {"role": "assistant", "content": f"</pre>{HARM}"})
    samples = [
        sample(f"{HARM}{place}", "fail" if place else "pass", [HARM], messages=messages, reason=HARM)
        for place in range(4)
    ]
    outputs = {f"{HARM}m": {each.id: [verdict_output("pass", HARM)] for each in samples}}
    return analyse(samples, outputs, BINARY, Context(deck=DeckIdentity(HARM, HARM)), draws=50)
