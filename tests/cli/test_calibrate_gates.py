"""Gates of `turnwise calibrate`: bars for figures and their bounds, which decide the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_fixtures import Said, Turnwise
from replay_fixtures import binary_cells, calibration_files, deck_text, judge_lines, sample_row

# 18 of 20 right in either class: agreement .9, κ .8, TPR and TNR .9 with Wilson's bounds .699 and .972.
CELLS = (18, 2, 2, 18)


@pytest.fixture
def gated(turnwise: Turnwise, tmp_path: Path) -> Turnwise:
    """`turnwise calibrate` on a good judge and on a poor one, with these gates."""
    samples, said = binary_cells(CELLS, model="good")
    _, poor = binary_cells((10, 10, 8, 12), model="poor")
    calibration_files(tmp_path, samples, [*said, *poor])

    def called(*gates: str) -> Said:
        bars = [part for gate in gates for part in ("--gate", gate)]
        return turnwise("calibrate", "--samples", "s.jsonl", "--replay", "r.jsonl", "--format", "json", *bars)

    return called


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("kappa>=0.79", 0), ("kappa>=0.81", 1), ("kappa<0.81", 0), ("kappa > 0.79", 0), ("kappa<=0.5", 1),
        ("kappa_lo>=0.5", 0), ("kappa_lo>=0.8", 1), ("kappa_hi<=0.95", 0), ("kappa_hi<0.8", 1),
        ("tpr_lo>=0.69", 0), ("tpr_lo>=0.70", 1), ("tnr_hi<=0.973", 0), ("tnr_hi<=0.972", 1),
        ("headline>=.79", 0), ("headline_lo>=8e-1", 1), ("agreement>=0.9", 0), ("agreement>0.9", 1),
        ("mcc>=-1", 0), ("mae<=1", 3), ("self_agreement>=0.5", 3), ("majority.kappa>=0.1", 3),
    ],
)  # fmt: skip
def test_a_gate_is_met_missed_or_undefined(turnwise: Turnwise, tmp_path: Path, gate: str, code: int) -> None:
    """0 where the bar is met, 1 where it is not, 3 where the scale or the data do not have the figure."""
    calibration_files(tmp_path, *binary_cells(CELLS))
    said = turnwise("calibrate", "--samples", "s.jsonl", "--replay", "r.jsonl", "--format", "json", "--gate", gate)
    assert said.code == code
    [result] = json.loads(said.out)["gates"]
    assert (result["gate"], result["met"]) == (gate, {0: True, 1: False, 3: None}[code])
    assert (result["value"] is None) == (code == 3)


def test_every_model_must_meet_the_gate(gated: Turnwise) -> None:
    """One of two judges that misses the bar is enough for 1, and the report says which."""
    said = gated("kappa>=0.5")
    assert said.code == 1
    results = {each["model"]: each["met"] for each in json.loads(said.out)["gates"]}
    assert results == {"good": True, "poor": False}


def test_several_gates_and_the_worst_of_them(gated: Turnwise) -> None:
    """All bars are looked at: a missed one goes before an undefined one, and that before those that are met."""
    assert gated("kappa>=-1", "tpr>=0").code == 0
    assert gated("kappa>=-1", "mae<=1").code == 3
    assert gated("mae<=1", "kappa>=0.99").code == 1


def test_majority_gates_are_about_the_majority(turnwise: Turnwise, tmp_path: Path) -> None:
    """Where two of three people say `yes` and the judge does, it agrees with all majorities and with 2/3 of votes."""
    votes = ("a", "yes"), ("b", "yes"), ("c", "no")
    flipped = {"yes": "no", "no": "yes"}
    samples = [
        sample_row(f"s{place}", labels=[{"rater": who, "label": word if place % 2 else flipped[word]}
                                        for who, word in votes])
        for place in range(12)
    ]  # fmt: skip
    calibration_files(
        tmp_path, samples, judge_lines("judge", {f"s{place}": "yes" if place % 2 else "no" for place in range(12)})
    )
    common = ("calibrate", "--samples", "s.jsonl", "--replay", "r.jsonl", "--quiet")
    assert turnwise(*common, "--gate", "majority.agreement>=1").code == 0
    assert turnwise(*common, "--gate", "agreement>0.67").code == 1


def test_gates_of_the_deck_count_too(turnwise: Turnwise, tmp_path: Path) -> None:
    """A bar in the deck's front matter decides as one of the command line does."""
    calibration_files(tmp_path, *binary_cells(CELLS), deck_text(more='gates = ["kappa>=0.95"]'))
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl", "--quiet")
    assert said.code == 1


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("kapa>=0.6", ["'kapa'", "kappa"]),
        ("kappa_low>=0.6", ["'kappa_low'"]),
        ("kappa=0.6", ["is not a gate", "kappa_lo>=0.6"]),
        ("kappa>=high", ["is not a gate"]),
        ("kappa>=nan", ["is not a gate"]),
        ("", ["is not a gate"]),
    ],
)
def test_a_gate_that_is_none_is_a_usage_error(gated: Turnwise, gate: str, words: list[str]) -> None:
    """A misspelt figure or comparison ends with 2 before anything is read, and says what there is."""
    said = gated(gate)
    assert (said.code, said.out) == (2, "")
    assert all(word in said.err for word in words)


def test_a_misspelt_gate_of_a_deck_names_the_deck(turnwise: Turnwise, tmp_path: Path) -> None:
    """The error about a bar in a deck says which deck it is."""
    calibration_files(tmp_path, *binary_cells(CELLS), deck_text(more='gates = ["kapa>=0.95"]'))
    said = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert said.code == 2
    assert "d.deck.md" in said.err
    assert "kappa" in said.err


def test_no_valid_verdict_at_all_is_undefined(turnwise: Turnwise, tmp_path: Path) -> None:
    """Without a single verdict every gate is undefined; a judge that was asked just now could not be measured."""
    samples, said = binary_cells(CELLS)
    calibration_files(tmp_path, samples, [{**line, "output": "hm"} for line in said], deck_text())
    recorded = ("calibrate", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert turnwise(*recorded).code == 0
    assert turnwise(*recorded, "--gate", "kappa>=0").code == 3
    assert turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "-m", "mock/hm").code == 3
