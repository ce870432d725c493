"""Calibrations for the tests of the HTML report, made from samples and outputs as users have them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rater_data import TABLE
from turnwise.calibration.analysis import Context, analyse
from turnwise.calibration.gates import parse_gate
from turnwise.calibration.judgement import Output
from turnwise.calibration.report import Calibration, DeckIdentity
from turnwise.decks.sample import HumanLabel, Sample
from turnwise.decks.scale import ScaleSpec
from turnwise.suite.sources import JsonSource

HOSTILE = (
    "</script><script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    "\"'><svg onload=window.hit=3>",
    "]]><!-- {{constructor.constructor('window.hit=4')()}} ${window.hit=5} %s {0}",
    "</style></title></textarea><iframe srcdoc='<script>parent.hit=6</script>'>",
    "a\x1b[31m\x00\u202eb\u2066c\ud800",
    "javascript:window.hit=7",
)
"""Texts that must be shown and must do nothing."""

FIVE = ScaleSpec.model_validate({"kind": "ordinal", "min": 1, "max": 5, "pass": 4})


def sample(
    name: str, said: str = "What is 2 + 2?", label: Any = None, *, labels: Sequence[HumanLabel] = (), **more: Any
) -> Sample:
    """A sample of two turns; `label` is one person's score or label with a reason."""
    kind = "label" if isinstance(label, str) else "score"
    expected = None if label is None else HumanLabel(**{kind: label, "reason": f"people’s reason for {name}"})
    turns = ({"role": "user", "content": said}, {"role": "assistant", "content": f"Answer to {name}: four."})
    fields = {"cluster": None, "tags": (), **more}
    return Sample(name, turns, expected, tuple(labels), source=JsonSource("evals/tone.jsonl", "[]"), path=(), **fields)  # type: ignore[arg-type]


def answer(score: Any, reason: str = "because it reads well") -> Output:
    """What a judge that keeps to the form answers."""
    fields = {"label" if isinstance(score, str) else "score": score, "reason": reason}
    return Output(json.dumps(fields), input_tokens=100, output_tokens=20, cost_usd=0.0005, latency_ms=420.0)


def table_samples() -> tuple[list[Sample], dict[str, Sequence[Output]]]:
    """The 168 samples of the worked table, and the judge's answers to them."""
    samples: list[Sample] = []
    outputs: dict[str, Sequence[Output]] = {}
    for human, row in enumerate(TABLE.tolist(), 1):
        for judge, count in enumerate(row, 1):
            for _ in range(count):
                name = f"s-{len(samples) + 1}"
                tag = "easy" if len(samples) % 3 else "hard"
                samples.append(sample(name, label=human, tags=(tag,)))
                outputs[name] = [answer(judge, f"judge’s reason for {name}")]
    return samples, outputs


def table_calibration(**context: Any) -> Calibration:
    """The worked table as a calibration of two models: one gives the table, the other always a point too much."""
    samples, outputs = table_samples()
    kind = {each.id: [answer(min(5, int(each.expected.score) + 1))] for each in samples if each.expected}  # type: ignore[arg-type]
    kind["s-1"] = [Output("I am sorry, but I cannot grade this.")]
    kind["s-2"] = [Output("great!" * 500)]
    known = {
        "deck": DeckIdentity("decks/tone.deck.md", "0123456789abcdef" * 4, "Tone", "Is the answer friendly?"),
        "gates": [parse_gate("kappa_quadratic_lo>=0.8"), parse_gate("agreement>=0.9")],
        "settings": {"steady": {"temperature": 0, "max_tokens": 512}},
        **context,
    }
    return analyse(samples, {"steady": outputs, "kind": kind}, FIVE, Context(**known), draws=200)


def rated_calibration() -> Calibration:
    """Thirty samples that three people labelled, all of the same mind but for every fifth sample of cy's."""
    samples: list[Sample] = []
    for place in range(30):
        own = "good" if place % 2 else "bad"
        other = "bad" if own == "good" else "good"
        votes = {"ann": own, "ben": own, "cy": other if place % 5 == 0 else own}
        labels = [HumanLabel(None, label, f"{rater} says so", rater) for rater, label in votes.items()]
        samples.append(sample(f"r-{place}", labels=labels))
    outputs = {each.id: [answer("bad" if place % 3 == 0 else "good")] for place, each in enumerate(samples)}
    return analyse(samples, {"judge": outputs}, ScaleSpec(kind="binary", labels=["bad", "good"]), draws=200)


def hostile_calibration() -> Calibration:
    """Hostile text wherever text of others can stand: ids, tags, roles, contents, reasons, names and raw outputs."""
    samples = [
        sample(f"{text} {place}", text, place % 2, tags=(text,), cluster=None) for place, text in enumerate(HOSTILE)
    ]
    votes = [HumanLabel(1, None, HOSTILE[0], HOSTILE[1]), HumanLabel(1, None, HOSTILE[2], HOSTILE[3])]
    samples.append(sample("voted", HOSTILE[4], labels=votes))
    good = {each.id: [answer(1, HOSTILE[place % 7])] for place, each in enumerate(samples)}
    bad = {each.id: [Output(text)] for each, text in zip(samples, HOSTILE, strict=False)}
    deck = DeckIdentity(HOSTILE[1], HOSTILE[0], HOSTILE[0], HOSTILE[4])
    context = Context(deck, settings={HOSTILE[0]: {HOSTILE[1]: HOSTILE[2]}})
    return analyse(
        samples, {HOSTILE[0]: good, HOSTILE[2]: bad}, ScaleSpec(kind="binary", values=[0, 1]), context, draws=50
    )
