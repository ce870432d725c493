"""Every figure of a report on random labels of each kind, against statsmodels, scikit-learn and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from replay_fixtures import Row, judge_lines, replay_report, sample_row

Column = NDArray[Any]
SEEDS = (1, 2, 3)
N = 90
_STEP = 1e-5
_WORDS = np.array(["A", "B", "tie"])


def _noisy(kind: str, seed: int) -> tuple[Column, Column]:
    chance = np.random.default_rng(seed)
    human: Column
    if kind == "continuous":
        human = np.round(chance.normal(5.0, 2.0, N), 3)
        return human, np.round(human + chance.normal(0.3, 1.0, N), 3)
    size = {"binary": 2, "ordinal": 5, "categorical": 3}[kind]
    human = chance.integers(0, size, N)
    judge = np.where(chance.random(N) < 0.7, human, chance.integers(0, size, N))
    return (_WORDS[human], _WORDS[judge]) if kind == "categorical" else (human, judge)


def _reported(folder: Path, human: Column, judge: Column, clusters: Column | None = None) -> Row:
    """The figures of one judge."""
    samples = [
        sample_row(f"s{place}", label, **({} if clusters is None else {"cluster": f"c{clusters[place]}"}))
        for place, label in enumerate(human.tolist())
    ]
    outputs = judge_lines("judge", {f"s{place}": said for place, said in enumerate(judge.tolist())})
    report = replay_report(folder, samples, outputs)
    figures: Row = report["models"][0]["statistics"]
    return figures


def _values(figures: Row, *names: str) -> list[float]:
    return [figures[name]["value"] for name in names]


def _kappa_matches(figure: Row, human: Column, judge: Column, weights: str | None = None) -> None:
    found = cohens_kappa(metrics.confusion_matrix(human, judge), wt=weights)
    assert (figure["value"], figure["se"]) == pytest.approx((found.kappa, found.std_kappa))
    middle, half = math.atanh(found.kappa), 1.959963984540054 * found.std_kappa / (1 - found.kappa**2)
    assert (figure["lo"], figure["hi"]) == pytest.approx((math.tanh(middle - half), math.tanh(middle + half)))


def _agreement_matches(figure: Row, human: Column, judge: Column) -> None:
    k = int((human == judge).sum())
    lo, hi = proportion_confint(k, human.size, method="wilson")
    assert (figure["k"], figure["n"]) == (k, human.size)
    assert (figure["value"], figure["lo"], figure["hi"]) == pytest.approx((k / human.size, lo, hi))


@pytest.mark.parametrize("seed", SEEDS)
def test_binary_figures(tmp_path: Path, seed: int) -> None:
    """Agreement, κ, TPR, TNR, balanced accuracy and MCC are those of scikit-learn and statsmodels."""
    human, judge = _noisy("binary", seed)
    figures = _reported(tmp_path, human, judge)
    _agreement_matches(figures["agreement"], human, judge)
    _kappa_matches(figures["kappa"], human, judge)
    assert _values(figures, "tpr", "tnr", "balanced_accuracy", "mcc") == pytest.approx(
        [
            metrics.recall_score(human, judge),
            metrics.recall_score(human, judge, pos_label=0),
            metrics.balanced_accuracy_score(human, judge),
            metrics.matthews_corrcoef(human, judge),
        ]
    )
    for name, good in (("tpr", 1), ("tnr", 0)):
        k, n = int(((human == good) & (judge == good)).sum()), int((human == good).sum())
        assert (figures[name]["k"], figures[name]["n"]) == (k, n)
        assert (figures[name]["lo"], figures[name]["hi"]) == pytest.approx(proportion_confint(k, n, method="wilson"))


@pytest.mark.parametrize("seed", SEEDS)
def test_ordinal_figures(tmp_path: Path, seed: int) -> None:
    """Exact and ±1 agreement, three κ, correlations and errors of scores from 0 to 4."""
    human, judge = _noisy("ordinal", seed)
    figures = _reported(tmp_path, human, judge)
    _agreement_matches(figures["agreement"], human, judge)
    for name, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        _kappa_matches(figures[name], human, judge, weights)
    assert figures["within_1"]["k"] == int((np.abs(human - judge) <= 1).sum())
    _numeric_matches(figures, human, judge)


@pytest.mark.parametrize("seed", SEEDS)
def test_continuous_figures(tmp_path: Path, seed: int) -> None:
    """Concordance, correlations, errors, bias and limits of agreement of real numbers."""
    human, judge = _noisy("continuous", seed)
    figures = _reported(tmp_path, human, judge)
    _numeric_matches(figures, human, judge)
    spread = np.cov(human, judge, bias=True)
    lin = 2 * spread[0, 1] / (spread[0, 0] + spread[1, 1] + (human.mean() - judge.mean()) ** 2)
    assert figures["lin_ccc"]["value"] == pytest.approx(lin)
    limits = np.mean(judge - human) + np.array([-1, 1]) * 1.959963984540054 * np.std(judge - human, ddof=1)
    assert (figures["loa"]["lo"], figures["loa"]["hi"]) == pytest.approx(tuple(limits))


def _numeric_matches(figures: Row, human: Column, judge: Column) -> None:
    expected = [
        stats.pearsonr(human, judge).statistic,
        stats.spearmanr(human, judge).statistic,
        stats.kendalltau(human, judge).statistic,
        metrics.mean_absolute_error(human, judge),
        metrics.root_mean_squared_error(human, judge),
    ]
    assert _values(figures, "pearson", "spearman", "kendall", "mae", "rmse") == pytest.approx(expected)
    bounds = stats.pearsonr(human, judge).confidence_interval()
    assert (figures["pearson"]["lo"], figures["pearson"]["hi"]) == pytest.approx(tuple(bounds))
    paired = stats.ttest_rel(judge, human).confidence_interval()
    found = figures["bias"]
    expected_bias = (float(np.mean(judge - human)), *paired)
    assert (found["value"], found["lo"], found["hi"]) == pytest.approx(expected_bias)


@pytest.mark.parametrize("seed", SEEDS)
def test_categorical_figures_with_ties(tmp_path: Path, seed: int) -> None:
    """Agreement with and without ties, and κ, of the words A, B and tie."""
    human, judge = _noisy("categorical", seed)
    figures = _reported(tmp_path, human, judge)
    _agreement_matches(figures["agreement"], human, judge)
    _kappa_matches(figures["kappa"], human, judge)
    kept = (human != "tie") & (judge != "tie")
    _agreement_matches(figures["agreement_no_ties"], human[kept], judge[kept])


Weighted = Callable[[Column, Column, Column], float]


def _kappa_of(weights: str | None) -> Weighted:
    def value(human: Column, judge: Column, weight: Column) -> float:
        return float(metrics.cohen_kappa_score(human, judge, weights=weights, sample_weight=weight))

    return value


def _pearson(human: Column, judge: Column, weight: Column) -> float:
    spread = np.cov(human, judge, aweights=weight, bias=True)
    return float(spread[0, 1] / math.sqrt(spread[0, 0] * spread[1, 1]))


def _robust_error(statistic: Weighted, human: Column, judge: Column, clusters: Column) -> float:
    """The standard error from numeric influence values, summed by cluster, times G/(G−1)."""
    n = human.size
    influence = np.empty(n)
    for place in range(n):
        ends = []
        for step in (_STEP, -_STEP):
            weight = np.full(n, (1 - step) / n)
            weight[place] += step
            ends.append(statistic(human, judge, weight))
        influence[place] = (ends[0] - ends[1]) / (2 * _STEP)
    sums = np.array([influence[clusters == each].sum() for each in np.unique(clusters)])
    return math.sqrt(sums.size / (sums.size - 1) * float((sums**2).sum())) / n


def _clusters(seed: int) -> Column:
    return np.random.default_rng(seed + 100).integers(0, 25, N)


@pytest.mark.parametrize(
    ("kind", "name", "statistic"),
    [
        ("binary", "kappa", _kappa_of(None)),
        ("categorical", "kappa", _kappa_of(None)),
        ("ordinal", "kappa_linear", _kappa_of("linear")),
        ("ordinal", "kappa_quadratic", _kappa_of("quadratic")),
        ("continuous", "pearson", _pearson),
    ],
)
def test_clustered_errors_are_sums_of_influence(tmp_path: Path, kind: str, name: str, statistic: Weighted) -> None:
    """Samples in clusters leave the value as it is and give the cluster-robust error of its influence values."""
    human, judge = _noisy(kind, 4)
    clusters = _clusters(4)
    clustered, plain = _reported(tmp_path, human, judge, clusters)[name], _reported(tmp_path, human, judge)[name]
    assert clustered["value"] == plain["value"]
    assert clustered["se"] == pytest.approx(_robust_error(statistic, human, judge, clusters), rel=1e-4)
    assert clustered["method"].endswith("-clustered")


@pytest.mark.parametrize("kind", ["binary", "ordinal", "categorical"])
def test_clustered_agreement_is_that_of_a_regression(tmp_path: Path, kind: str) -> None:
    """The error of the agreement is the cluster-robust one of a regression on a constant; the design effect its square
    over that of independent samples."""
    human, judge = _noisy(kind, 5)
    clusters = _clusters(5)
    figure = _reported(tmp_path, human, judge, clusters)["agreement"]
    hits = (human == judge).astype(float)
    fit = OLS(hits, np.ones((N, 1))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert (figure["value"], figure["se"]) == pytest.approx((fit.params[0], fit.bse[0]))
    plain = OLS(hits, np.ones((N, 1))).fit().bse[0]
    assert figure["design_effect"] == pytest.approx((fit.bse[0] / plain) ** 2)


def test_differences_of_three_judges(tmp_path: Path) -> None:
    """p is McNemar's exact one for every pair of judges, and adjusted by Holm over all of them."""
    chance = np.random.default_rng(9)
    human = chance.integers(0, 2, 120)
    judges = {name: np.where(chance.random(120) < right, human, 1 - human)
              for name, right in (("a", 0.95), ("b", 0.8), ("c", 0.7))}  # fmt: skip
    samples = [sample_row(f"s{place}", int(label)) for place, label in enumerate(human)]
    outputs = [line for name, said in judges.items()
               for line in judge_lines(name, {f"s{place}": int(each) for place, each in enumerate(said)})]  # fmt: skip
    report = replay_report(tmp_path, samples, outputs)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    found = {(model["model"], each["against"]): each for model in report["models"] for each in model["differences"]
             if each["statistic"] == "agreement"}  # fmt: skip
    tables = [metrics.confusion_matrix(judges[one] == human, judges[other] == human) for one, other in pairs]
    exact = [mcnemar(table, exact=True).pvalue for table in tables]
    assert [found[pair]["p"] for pair in pairs] == pytest.approx(exact)
    assert [found[pair]["p_holm"] for pair in pairs] == pytest.approx(multipletests(exact, method="holm")[1])
    assert [found[pair[::-1]]["value"] for pair in pairs] == [-found[pair]["value"] for pair in pairs]
    assert [found[pair]["reliable"] for pair in pairs] == [
        each < 0.05 for each in multipletests(exact, method="holm")[1]
    ]


def test_differences_are_over_common_valid_samples(tmp_path: Path) -> None:
    """A sample that one of two judges could not judge counts for neither of them."""
    samples = [sample_row(f"s{place}", "yes" if place % 2 else "no") for place in range(20)]
    right = {each["id"]: each["expected"] for each in samples}
    torn = {**right, **{f"s{place}": "no idea at all" for place in range(6)}}
    report = replay_report(tmp_path, samples, judge_lines("whole", right) + judge_lines("torn", torn))
    assert [each["n"] for model in report["models"] for each in model["differences"]] == [14] * 4
    assert report["models"][1]["statistics"]["agreement"]["n"] == 14
