"""Reports of many different labels, of clusters among people and of repeats: bounded memory, and figures that fit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from replay_fixtures import Row, judge_lines, replay_report, sample_row
from turnwise.stats.agreement import agreement
from turnwise.stats.repeats import flip_rate, self_agreement
from turnwise.stats.weighted_kappa import cohen_kappa


def _judges(folder: Path, labels: int, n: int) -> tuple[Row, dict[str, list[str]]]:
    """The report of two judges on words, each of which occurs, and what people and judges said."""
    rng = np.random.default_rng(1)
    human = np.arange(n) % labels
    said = {name: np.where(rng.random(n) < right, human, rng.integers(0, labels, n))
            for name, right in (("a", 0.8), ("b", 0.6))}  # fmt: skip
    words = {name: [f"word {code}" for code in column] for name, column in {"people": human, **said}.items()}
    samples = [sample_row(f"s{place}", word) for place, word in enumerate(words["people"])]
    given = {name: {f"s{place}": word for place, word in enumerate(words[name])} for name in said}
    outputs = [line for name in said for line in judge_lines(name, given[name])]
    return replay_report(folder, samples, outputs, draws=50), words


def _differences(report: Row) -> dict[str, Row]:
    return {each["statistic"]: each for each in report["models"][0]["differences"]}


def test_kappa_of_a_hundred_labels_differs(tmp_path: Path) -> None:
    """The difference of κ is that of scikit-learn's two values, and has an interval."""
    report, words = _judges(tmp_path, 100, 300)
    found = _differences(report)["kappa"]
    values = [cohen_kappa_score(words["people"], words[name]) for name in ("a", "b")]
    assert found["value"] == pytest.approx(values[0] - values[1])
    assert found["lo"] < found["value"] < found["hi"]
    assert (found["method"], found["p_method"], found["reason"]) == ("paired-bootstrap", "paired-bootstrap", None)


def test_kappa_of_too_many_labels_has_no_difference(tmp_path: Path) -> None:
    """Above 300 labels κ has no difference, and says why; agreement has one, whose p is McNemar's."""
    report, _ = _judges(tmp_path, 301, 310)
    found = _differences(report)
    assert (found["kappa"]["value"], found["kappa"]["lo"], found["kappa"]["p"]) == (None, None, None)
    assert found["kappa"]["reason"] == "κ needs a table of labels, and there are more than 300 different ones"
    assert (found["agreement"]["method"], found["agreement"]["p_method"]) == ("paired-bootstrap", "mcnemar-exact")


def test_kappa_of_too_many_samples_has_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that would not fit into memory are never made."""
    monkeypatch.setattr("turnwise.calibration.differences._MOST_CELLS", 100)
    report, _ = _judges(tmp_path, 10, 40)
    found = _differences(report)["kappa"]
    assert found["value"] is None
    assert "memory" in found["reason"]


def test_people_with_continuous_scores(tmp_path: Path) -> None:
    """Two people's scores of 200 samples, all different: α has an interval, κ of the pair a reason for having none."""
    rng = np.random.default_rng(2)
    truth = rng.normal(size=200)
    scores = {name: (truth + 0.2 * rng.normal(size=200)).tolist() for name in ("ann", "ben")}
    samples = [
        sample_row(f"s{place}", labels=[{"rater": name, "score": scores[name][place]} for name in scores])
        for place in range(200)
    ]
    outputs = judge_lines("judge", {f"s{place}": float(value) for place, value in enumerate(truth)})
    ceiling = replay_report(tmp_path, samples, outputs)["ceiling"]
    alpha = ceiling["krippendorff_alpha"]
    # The true α is the share of the truth in the variance.
    assert alpha["lo"] < 1 / 1.04 < alpha["hi"]
    (pair,) = ceiling["pairs"]
    assert (pair["kappa"]["value"], pair["agreement"]["value"]) == (None, 0.0)


def test_pairs_of_people_know_clusters(tmp_path: Path) -> None:
    """Twelve conversations of five alike samples: κ and agreement of two people are those with these clusters."""
    rng = np.random.default_rng(3)
    ann = np.repeat(rng.integers(0, 2, 12), 5)
    ben = np.where(np.repeat(rng.random(12) < 0.7, 5), ann, 1 - ann)
    samples = [
        sample_row(f"s{place}", cluster=f"c{place // 5}",
                   labels=[{"rater": "ann", "score": int(one)}, {"rater": "ben", "score": int(other)}])
        for place, (one, other) in enumerate(zip(ann, ben, strict=True))
    ]  # fmt: skip
    outputs = judge_lines("judge", {f"s{place}": int(code) for place, code in enumerate(ann)})
    (pair,) = replay_report(tmp_path, samples, outputs)["ceiling"]["pairs"]
    clusters = [place // 5 for place in range(60)]
    kappa, share = cohen_kappa(ann, ben, 2, clusters), agreement(ann, ben, clusters)
    assert (pair["kappa"]["lo"], pair["kappa"]["method"]) == (pytest.approx(kappa.lo), "fisher-z-clustered")
    assert (pair["agreement"]["lo"], pair["agreement"]["method"]) == (pytest.approx(share.lo), "wilson-clustered")


def test_repeats_are_of_labelled_samples_in_their_clusters(tmp_path: Path) -> None:
    """Only samples with a label tell how often the judge agrees with itself, and their clusters count."""
    samples = [sample_row(f"s{place}", place % 2, cluster=f"c{place // 3}") for place in range(12)]
    samples += [sample_row(f"u{place}") for place in range(8)]
    answers = [{f"s{place}": int(place % 2 and not (place < 6 and repeat)) for place in range(12)} for repeat in (0, 1)]
    unlabelled = [{f"u{place}": repeat for place in range(8)} for repeat in (0, 1)]
    outputs = [line for said in (*answers, *unlabelled) for line in judge_lines("judge", said)]
    figures = replay_report(tmp_path, samples, outputs)["models"][0]["statistics"]
    values, clusters = [[one[f"s{place}"] for one in answers] for place in range(12)], [n // 3 for n in range(12)]
    for name, expected in (
        ("flip_rate", flip_rate(values, clusters)),
        ("self_agreement", self_agreement(values, clusters)),
    ):
        assert (figures[name]["k"], figures[name]["n"]) == (expected.k, 12)
        assert figures[name]["method"] == "wilson-clustered"
        assert figures[name]["lo"] == pytest.approx(expected.lo)
    # Of the first six samples three are odd, and flip.
    assert figures["flip_rate"]["k"] == 3


def test_perfect_scores_have_a_bound(tmp_path: Path) -> None:
    """A judge that repeats 60 different scores has a concordance of 1 with a lower bound: z² / (n + z²) below 1."""
    scores = [place / 7 for place in range(60)]
    samples = [sample_row(f"s{place}", score) for place, score in enumerate(scores)]
    report = replay_report(tmp_path, samples, judge_lines("judge", {f"s{n}": score for n, score in enumerate(scores)}))
    lin = report["models"][0]["statistics"]["lin_ccc"]
    least, chance = 60 / (60 + 1.959963984540054**2), 1 / 60
    assert (lin["value"], lin["method"]) == (1.0, "wilson-agreement")
    assert math.isclose(lin["lo"], (least - chance) / (1 - chance), rel_tol=1e-12)
