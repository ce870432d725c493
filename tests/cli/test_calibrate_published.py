"""Published tables, from the files that people and judges left behind to the report that is printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Turnwise
from rater_data import PUBLISHED, TABLE, columns
from replay_fixtures import calibration_files, deck_text, judge_lines, sample_row

Report = dict[str, Any]
_T = {
    "kappa": 0.603102,
    "kappa_linear": 0.772400,
    "kappa_quadratic": 0.887314,
    "lin_ccc": 0.887314,
    "spearman": 0.885793,
    "kendall": 0.814587,
    "agreement": 0.684524,
    "within_1": 0.964286,
    "mae": 0.351190,
    "bias": 0.029762,
}
_SE_OF_T = {"kappa": 0.045233, "kappa_linear": 0.029471, "kappa_quadratic": 0.019096}
_RATINGS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def _printed(turnwise: Turnwise, *arguments: str) -> Report:
    said = turnwise("calibrate", *arguments, "--format", "json")
    assert said.code == 0, said.err
    report: Report = json.loads(said.out)
    return report


def _published(turnwise: Turnwise, samples: str, replay: str) -> Report:
    return _printed(turnwise, "--samples", str(PUBLISHED / samples), "--replay", str(PUBLISHED / replay))


@pytest.mark.parametrize(
    ("tag", "judge", "people"),
    [
        ("turn-1", ((886, 1343), (727, 859)), ((454, 721), (388, 479))),
        ("turn-2", ((871, 1325), (731, 864)), ((471, 707), (388, 474))),
    ],
)
def test_mt_bench_agreement_by_turn(
    turnwise: Turnwise, tag: str, judge: Sequence[tuple[int, int]], people: Sequence[tuple[int, int]]
) -> None:
    """Table 5 of the paper: judge with people and people among themselves, with and without ties, as counts."""
    part = _published(turnwise, "mtbench/samples.jsonl", "mtbench/replay.jsonl")["slices"][tag]
    names = ("agreement", "agreement_no_ties")
    for figures, counts in ((part["models"][0]["statistics"], judge), (part["ceiling"]["statistics"], people)):
        assert [(figures[name]["k"], figures[name]["n"]) for name in names] == list(counts)
        assert [figures[name]["value"] for name in names] == [k / n for k, n in counts]


def test_pandalm_annotators_and_judge(turnwise: Turnwise) -> None:
    """κ of each two annotators, and of gpt-3.5-turbo with their majority, over the outputs that are verdicts."""
    report = _published(turnwise, "pandalm/samples.jsonl", "pandalm/replay.jsonl")
    kappas = [round(pair["kappa"]["value"], 6) for pair in report["ceiling"]["pairs"]]
    assert kappas == [0.852023, 0.878944, 0.861661]
    judge = next(each for each in report["models"] if each["model"] == "gpt-3.5-turbo")
    kappa = judge["statistics_majority"]["kappa"]
    assert [round(kappa[name], 6) for name in ("value", "se", "lo", "hi")] == [0.492865, 0.023749, 0.444924, 0.537988]


def test_pandalm_unusable_outputs_are_listed_and_in_no_figure(turnwise: Turnwise) -> None:
    """The 25 outputs that are no verdict are shown with their text; every figure is over the other 974."""
    report = _published(turnwise, "pandalm/samples.jsonl", "pandalm/replay.jsonl")
    judge = next(each for each in report["models"] if each["model"] == "gpt-3.5-turbo")
    assert (judge["total"], judge["valid"], sum(judge["invalid"].values())) == (999, 974, 25)
    assert len({each["id"] for each in judge["invalid_outputs"]}) == 25
    assert all(each["raw"] for each in judge["invalid_outputs"])
    assert judge["statistics"]["agreement"]["n"] == 3 * 974
    assert judge["statistics_majority"]["agreement"]["n"] + judge["without_majority"] == 974


def test_topical_chat_correlations(turnwise: Turnwise) -> None:
    """Pearson, Spearman and Kendall of the published coherence scores."""
    report = _published(turnwise, "topical-chat/coherence.samples.jsonl", "topical-chat/coherence.replay.jsonl")
    figures = report["models"][0]["statistics"]
    found = [round(figures[name]["value"], 6) for name in ("pearson", "spearman", "kendall")]
    assert found == [0.595143, 0.612942, 0.465915]


def _table_files(folder: Path, deck: str | None = None) -> None:
    human, judge = columns(TABLE)
    samples = [sample_row(f"t{place}", int(code) + 1) for place, code in enumerate(human)]
    outputs = judge_lines("judge", {f"t{place}": int(code) + 1 for place, code in enumerate(judge)})
    calibration_files(folder, samples, outputs, deck)


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "inferred"])
def test_table_t_comes_out_of_the_report(turnwise: Turnwise, tmp_path: Path, declared: bool) -> None:
    """The worked table of 168 scores, with a scale that the deck declares and with one that the labels suggest."""
    _table_files(tmp_path, deck_text('kind = "ordinal"\nmin = 1\nmax = 5'))
    report = _printed(turnwise, *(["d.deck.md"] if declared else []), "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert (report["scale"]["kind"], report["scale"]["declared"]) == ("ordinal", declared)
    figures = report["models"][0]["statistics"]
    assert {name: round(figures[name]["value"], 6) for name in _T} == _T
    assert {name: round(figures[name]["se"], 6) for name in _SE_OF_T} == _SE_OF_T
    quadratic = figures["kappa_quadratic"]
    assert (round(quadratic["lo"], 6), round(quadratic["hi"], 6)) == (0.843496, 0.919401)
    assert report["models"][0]["confusion"] == {"labels": [1, 2, 3, 4, 5], "counts": TABLE.tolist()}


@pytest.mark.parametrize(("k", "n", "lo", "hi"), [(17, 20, 0.639581, 0.947631), (0, 30, 0.0, 0.113513)])
def test_wilson_intervals_of_the_report(
    turnwise: Turnwise, tmp_path: Path, k: int, n: int, lo: float, hi: float
) -> None:
    """Agreement of 17 of 20 and of 0 of 30 has Wilson's interval."""
    samples = [sample_row(f"w{place}", "yes" if place % 2 else "no") for place in range(n)]
    right = {each["id"]: each["expected"] for each in samples}
    said = {name: label if place < k else {"yes": "no", "no": "yes"}[label]
            for place, (name, label) in enumerate(right.items())}  # fmt: skip
    calibration_files(tmp_path, samples, judge_lines("judge", said))
    figure = _printed(turnwise, "--samples", "s.jsonl", "--replay", "r.jsonl")["models"][0]["statistics"]["agreement"]
    assert (figure["k"], figure["n"], figure["method"]) == (k, n, "wilson")
    assert (round(figure["lo"], 6), round(figure["hi"], 6)) == (lo, hi)


def _rated(spell: Any) -> list[Report]:
    columns_of_units = zip(*(line.split() for line in _RATINGS), strict=True)
    return [
        sample_row(
            f"u{unit}",
            labels=[{"rater": f"r{who}", **spell(value)} for who, value in enumerate(column) if value != "."],
        )
        for unit, column in enumerate(columns_of_units)
    ]


def _as_score(value: str) -> Report:
    return {"score": int(value)}


def _as_word(value: str) -> Report:
    return {"label": f"step {value}"}


@pytest.mark.parametrize(
    ("scale", "spell", "alpha"),
    [
        ('kind = "ordinal"\nmin = 1\nmax = 5', _as_score, 0.815388),
        ('kind = "continuous"\nmin = 1\nmax = 5', _as_score, 0.849107),
        ("", _as_word, 0.743421),
    ],
    ids=["ordinal", "interval", "nominal"],
)
def test_krippendorff_alpha_of_the_ceiling(
    turnwise: Turnwise, tmp_path: Path, scale: str, spell: Any, alpha: float
) -> None:
    """Four raters of twelve units have the published α of the scale's metric."""
    samples = _rated(spell)
    verdict = "step 1" if spell is _as_word else 1
    calibration_files(
        tmp_path, samples, judge_lines("judge", dict.fromkeys((each["id"] for each in samples), verdict)),
        deck_text(scale),
    )  # fmt: skip
    report = _printed(turnwise, "d.deck.md", "--samples", "s.jsonl", "--replay", "r.jsonl")
    assert round(report["ceiling"]["krippendorff_alpha"]["value"], 6) == alpha


def test_mcnemar_and_holm_of_differences(turnwise: Turnwise, tmp_path: Path) -> None:
    """Two judges with 154 and 111 samples that only one has right differ with p = .009747; one pair needs no Holm."""
    samples = [sample_row(f"s{place}", "yes" if place % 2 else "no") for place in range(300)]
    wrong = {"yes": "no", "no": "yes"}
    first = {each["id"]: each["expected"] if place < 154 or place >= 265 else wrong[each["expected"]]
             for place, each in enumerate(samples)}  # fmt: skip
    second = {each["id"]: wrong[each["expected"]] if place < 154 else each["expected"]
              for place, each in enumerate(samples)}  # fmt: skip
    calibration_files(tmp_path, samples, judge_lines("one", first) + judge_lines("two", second))
    report = _printed(turnwise, "--samples", "s.jsonl", "--replay", "r.jsonl")
    found = next(each for each in report["models"][0]["differences"] if each["statistic"] == "agreement")
    assert (found["against"], round(found["p"], 6), found["p_holm"]) == ("two", 0.009747, found["p"])
    assert found["value"] == pytest.approx((154 - 111) / 300)
    assert found["reliable"] is True
