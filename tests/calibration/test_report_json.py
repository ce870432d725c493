"""The JSON report: every key that is promised, what is null, what counts what, and what a seed or an order changes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from replay_fixtures import Row, binary_cells, deck_text, judge_lines, replay_report, sample_row

STATISTICS = {
    "agreement", "agreement_no_ties", "within_1", "kappa", "kappa_linear", "kappa_quadratic", "tpr", "tnr",
    "balanced_accuracy", "mcc", "lin_ccc", "pearson", "spearman", "kendall", "mae", "rmse", "bias", "loa",
    "self_agreement", "flip_rate",
}  # fmt: skip
BY_KIND = {
    "binary": {"agreement", "kappa", "tpr", "tnr", "balanced_accuracy", "mcc"},
    "ordinal": {
        "agreement", "within_1", "kappa", "kappa_linear", "kappa_quadratic", "lin_ccc", "pearson", "spearman",
        "kendall", "mae", "rmse", "bias", "loa",
    },
    "continuous": {"lin_ccc", "pearson", "spearman", "kendall", "mae", "rmse", "bias", "loa"},
    "categorical": {"agreement", "agreement_no_ties", "kappa"},
}  # fmt: skip
PROPORTIONS = {"agreement", "agreement_no_ties", "within_1", "tpr", "tnr"}
TOP = {
    "schema_version", "generated_at", "deck", "scale", "samples", "models", "baseline", "ceiling", "slices",
    "warnings", "seed", "versions",
}  # fmt: skip
MODEL = {
    "model", "total", "valid", "invalid", "repaired", "bounds", "statistics", "statistics_majority", "confusion",
    "design_effect", "differences", "disagreements", "usage", "cost_usd", "latency_ms", "verdict",
}  # fmt: skip
LABELS: dict[str, list[Any]] = {
    "binary": ["no", "yes"],
    "ordinal": [1, 2, 3, 4],
    "continuous": [place / 7 for place in range(1, 14)],
    "categorical": ["A", "B", "tie"],
}


def _of_kind(folder: Path, kind: str, **options: Any) -> Row:
    """Sixty samples of the kind, three quarters of which the judge has right."""
    labels = LABELS[kind]
    human = [labels[place % len(labels)] for place in range(60)]
    judge = [labels[(place + (place % 4 == 0)) % len(labels)] for place in range(60)]
    samples = [sample_row(f"s{place}", label, tags=["all"]) for place, label in enumerate(human)]
    said = judge_lines("judge", {f"s{place}": label for place, label in enumerate(judge)})
    return replay_report(folder, samples, said, **options)


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_every_promised_key_is_there(tmp_path: Path, kind: str) -> None:
    """The object, its models, its slices and its scale have all the keys that readers may rely on."""
    report = _of_kind(tmp_path, kind)
    assert report.keys() >= TOP
    assert report["deck"] == {"path": None, "hash": None}
    assert report["samples"].keys() >= {"total", "labelled", "skipped", "clusters", "raters"}
    assert report["scale"].keys() >= {"kind", "values", "labels", "min", "max", "pass", "tie", "declared"}
    [model], part = report["models"], report["slices"]["all"]
    assert part.keys() >= {"models", "baseline", "ceiling"}
    for each in (model, part["models"][0]):
        assert each.keys() >= MODEL
        assert each["statistics"].keys() == STATISTICS
        assert each["bounds"].keys() == {"all_wrong", "all_right"}
        assert each["verdict"].keys() == {"use", "reason", "labels_needed"}
    assert report["baseline"].keys() == {"answer", "statistics"}
    assert all(each.keys() >= {"code", "message"} for each in report["warnings"])


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_figures_of_other_scales_are_null(tmp_path: Path, kind: str) -> None:
    """A scale has its own figures; all others are null, and never 0."""
    figures = _of_kind(tmp_path, kind)["models"][0]["statistics"]
    assert {name for name, figure in figures.items() if figure is not None} == BY_KIND[kind]


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_a_figure_has_value_n_interval_and_method(tmp_path: Path, kind: str) -> None:
    """Each figure says over how many pairs and by which method; proportions say of how many, too."""
    figures = _of_kind(tmp_path, kind)["models"][0]["statistics"]
    for name in BY_KIND[kind]:
        figure = figures[name]
        assert figure.keys() >= {"value", "n", "lo", "hi", "method"}
        assert figure["lo"] <= figure["value"] <= figure["hi"]
        assert ("k" in figure) == (name in PROPORTIONS)
        if name in PROPORTIONS:
            assert figure["value"] == figure["k"] / figure["n"]
    kappas = [name for name in BY_KIND[kind] if name.startswith("kappa") or name == "lin_ccc"]
    assert all(figures[name]["se"] > 0 for name in kappas)


def test_what_cannot_be_computed_is_null_with_a_reason(tmp_path: Path) -> None:
    """Where people gave one label only, κ has no value; JSON has no NaN."""
    samples = [sample_row(f"s{place}", "yes") for place in range(12)]
    said = judge_lines("judge", {f"s{place}": "yes" for place in range(12)})
    report = replay_report(tmp_path, samples, said, deck_text('kind = "binary"\nlabels = ["no", "yes"]'))
    kappa = report["models"][0]["statistics"]["kappa"]
    assert (kappa["value"], kappa["lo"], kappa["hi"]) == (None, None, None)
    assert kappa["reason"]
    json.dumps(report, allow_nan=False)


def test_one_label_for_each_sample_has_no_majority_and_no_ceiling(tmp_path: Path) -> None:
    """With one label a sample, the figures against the majority and those among people are null."""
    report = _of_kind(tmp_path, "binary")
    assert report["models"][0]["statistics_majority"] is None
    assert report["ceiling"] is None


def _votes(*labels: str) -> list[Row]:
    return [{"rater": f"r{place}", "label": label} for place, label in enumerate(labels)]


def test_several_raters_are_pooled_and_the_majority_is_the_extra(tmp_path: Path) -> None:
    """Pooled n counts pairs of judge and vote; a sample without majority is left out of the extra, and counted."""
    votes = [("yes", "yes", "no"), ("no", "no", "no"), ("yes", "no"), ("yes", "yes")]
    samples = [sample_row(f"s{place}", labels=_votes(*each)) for place, each in enumerate(votes)]
    said = judge_lines("judge", {"s0": "yes", "s1": "yes", "s2": "yes", "s3": "yes"})
    model = replay_report(tmp_path, samples, said)["models"][0]
    pooled, majority = model["statistics"]["agreement"], model["statistics_majority"]["agreement"]
    # Right on 2 of 3, 0 of 3, 1 of 2 and 2 of 2 votes; of the majorities yes, no and yes, on two.
    assert (pooled["k"], pooled["n"]) == (5, 10)
    assert (majority["k"], majority["n"], model["without_majority"]) == (2, 3, 1)
    assert pooled["method"] == "wilson-clustered"
    assert majority["method"] == "wilson"


def test_ceiling_counts_pairs_of_people_and_names_those_who_share_ten(tmp_path: Path) -> None:
    """People are compared with each other on the same samples; κ of two of them needs ten samples of both."""
    samples = [sample_row(f"s{place}", labels=_votes("yes", "no" if place < 3 else "yes")) for place in range(10)]
    samples += [sample_row("t0", labels=[*_votes("no"), {"rater": "late", "label": "no"}])]
    said = judge_lines("judge", {each["id"]: "yes" for each in samples})
    ceiling = replay_report(tmp_path, samples, said)["ceiling"]
    agreement = ceiling["statistics"]["agreement"]
    assert (agreement["k"], agreement["n"]) == (8, 11)
    assert [(each["raters"], each["n"], each["agreement"]["k"]) for each in ceiling["pairs"]] == [(["r0", "r1"], 10, 7)]


def test_unlabelled_samples_are_judged_and_in_no_figure(tmp_path: Path) -> None:
    """A sample without label counts in the totals only; it is never given a label."""
    samples, said = binary_cells((6, 1, 2, 6))
    samples.append(sample_row("open"))
    report = replay_report(tmp_path, samples, said + judge_lines("judge", {"open": "pass"}))
    model = report["models"][0]
    assert (report["samples"]["total"], report["samples"]["labelled"]) == (16, 15)
    assert (model["total"], model["valid"], model["statistics"]["agreement"]["n"]) == (16, 16, 15)
    assert sum(map(sum, model["confusion"]["counts"])) == 15


def test_bounds_if_all_invalid_outputs_were_wrong_or_right(tmp_path: Path) -> None:
    """Of 15 labelled samples 12 are judged right and 2 not at all: 12/15 if these are wrong, 14/15 if right."""
    samples, said = binary_cells((6, 1, 0, 8))
    said[0]["output"], said[-1]["output"] = "", "no idea"
    model = replay_report(tmp_path, samples, said)["models"][0]
    assert model["bounds"] == {"all_wrong": 12 / 15, "all_right": 14 / 15}
    assert model["invalid"] == {"empty": 1, "not_json": 1}


def test_slices_hold_the_samples_of_a_tag(tmp_path: Path) -> None:
    """Each tag has its own figures, baseline and counts."""
    samples, said = binary_cells((6, 2, 3, 9))
    for place, each in enumerate(samples):
        each["tags"] = ["first"] if place < 8 else ["second", "late"]
    slices = replay_report(tmp_path, samples, said)["slices"]
    found = {tag: part["models"][0]["statistics"]["agreement"] for tag, part in slices.items()}
    assert {tag: (each["k"], each["n"]) for tag, each in found.items()} == {
        "first": (6, 8),
        "late": (9, 12),
        "second": (9, 12),
    }
    assert [slices[tag]["baseline"]["answer"] for tag in ("first", "second")] == ["pass", "fail"]


def _without_time(report: Row) -> Row:
    return {name: value for name, value in report.items() if name != "generated_at"}


def test_the_same_seed_gives_the_same_report(tmp_path: Path) -> None:
    """Nothing but the time of its making differs between two reports with one seed."""
    first, second = (_without_time(_of_kind(tmp_path, "ordinal", seed=5)) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_another_seed_changes_bootstrap_intervals_only(tmp_path: Path) -> None:
    """Values and formula intervals do not depend on the seed; intervals of the bootstrap do."""
    first, second = (_of_kind(tmp_path, "ordinal", seed=seed, draws=500)["models"][0]["statistics"] for seed in (1, 2))
    changed = {name for name, figure in first.items() if figure != second[name]}
    drawn = {name for name, figure in first.items() if figure and figure["method"].startswith("bootstrap")}
    assert changed == drawn == {"mae", "rmse"}
    assert all(first[name]["value"] == second[name]["value"] for name in drawn)


def _to_ten_places(value: Any) -> Any:
    """Sums in another order may differ in the last bit."""
    if isinstance(value, dict):
        return {name: _to_ten_places(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_to_ten_places(each) for each in value]
    return round(value, 10) if isinstance(value, float) else value


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_the_order_of_files_changes_no_figure(tmp_path: Path, kind: str) -> None:
    """Samples and outputs in another order give the same figures."""
    labels, chance = LABELS[kind], random.Random(3)
    samples = [
        sample_row(f"s{place}", chance.choice(labels), cluster=f"c{place % 17}", tags=["t"]) for place in range(60)
    ]
    outputs = [
        line for model in ("one", "two")
        for line in judge_lines(model, {each["id"]: chance.choice(labels) for each in samples})
    ]  # fmt: skip
    before = replay_report(tmp_path, samples, outputs)
    shuffled = outputs[:]
    chance.shuffle(shuffled)
    shuffled.sort(key=lambda line: line["model"])
    after = replay_report(tmp_path, chance.sample(samples, len(samples)), shuffled)
    for name in ("baseline", "ceiling", "scale", "samples", "warnings"):
        assert _to_ten_places(after[name]) == _to_ten_places(before[name])
    for one, other in zip(before["models"], after["models"], strict=True):
        for name in ("statistics", "confusion", "differences", "verdict", "design_effect", "bounds"):
            assert _to_ten_places(other[name]) == _to_ten_places(one[name])


def test_results_stand_in_the_order_of_samples(tmp_path: Path) -> None:
    """Equally bad disagreements and invalid outputs are listed as the samples are, whatever order outputs came in."""
    samples, said = binary_cells((5, 0, 4, 5))
    for line in said[9:11]:
        line["output"] = "?"
    report = replay_report(tmp_path, samples, said[::-1])["models"][0]
    assert [each["id"] for each in report["disagreements"]] == ["s5", "s6", "s7", "s8"]
    assert [each["id"] for each in report["invalid_outputs"]] == ["s9", "s10"]


def test_repeats_are_one_verdict_for_each_sample(tmp_path: Path) -> None:
    """Three outputs of a sample are their majority; n counts samples, and how steady they are is said beside it."""
    samples, _ = binary_cells((2, 0, 0, 2))
    said = [("pass", "pass", "fail"), ("pass", "pass", "pass"), ("fail", "pass", "fail"), ("fail", "fail", "fail")]
    outputs = [line for place, each in enumerate(said) for word in each
               for line in judge_lines("judge", {f"s{place}": word})]  # fmt: skip
    model = replay_report(tmp_path, samples, outputs)["models"][0]
    assert (model["statistics"]["agreement"]["k"], model["statistics"]["agreement"]["n"]) == (4, 4)
    # Pairs of repeats that agree: 1 of 3, 3 of 3, 1 of 3 and 3 of 3.
    assert model["statistics"]["self_agreement"]["value"] == pytest.approx((1 / 3 + 1 + 1 / 3 + 1) / 4)
    assert model["statistics"]["flip_rate"]["value"] == pytest.approx(2 / 4)
    assert model["repeats"] == {"repeats": 3, "outputs": 12, "valid_outputs": 12, "undecided": 0}


def test_repeats_of_scores_are_averaged(tmp_path: Path) -> None:
    """Scores 3 and 4 of one sample are 3.5: half a step from the label 4."""
    samples = [sample_row("s0", 4), sample_row("s1", 1), sample_row("s2", 2)]
    outputs = judge_lines("judge", {"s0": 3, "s1": 1, "s2": 2}) + judge_lines("judge", {"s0": 4, "s1": 1, "s2": 2})
    model = replay_report(tmp_path, samples, outputs)["models"][0]
    assert model["statistics"]["mae"]["value"] == pytest.approx(0.5 / 3)
    assert [each["judge"] for each in model["disagreements"]] == [3.5]


def test_undecided_repeats_have_no_verdict(tmp_path: Path) -> None:
    """One pass and one fail are no majority: the sample is counted as undecided, not as wrong."""
    samples, said = binary_cells((3, 0, 0, 3))
    model = replay_report(tmp_path, samples, said + judge_lines("judge", {"s0": "fail"}))["models"][0]
    assert (model["invalid"], model["valid"], model["repeats"]["undecided"]) == ({}, 7, 1)
    assert model["statistics"]["agreement"]["n"] == 5


def test_samples_that_people_could_not_grade_are_left_out_and_counted(tmp_path: Path) -> None:
    """The label that means "cannot be graded" is in no statistic, nor is that answer of the judge."""
    samples = [sample_row(f"s{place}", label) for place, label in enumerate([1, 2, 3, 0, 2, 1])]
    said = judge_lines("judge", {"s0": 1, "s1": 2, "s2": 3, "s3": 2, "s4": 0, "s5": 1})
    deck = deck_text('kind = "ordinal"\nmin = 0\nmax = 3\nungradable = 0')
    report = replay_report(tmp_path, samples, said, deck)
    assert (report["samples"]["labelled"], report["samples"]["ungradable"]) == (5, 1)
    model = report["models"][0]
    assert (model["invalid"], model["statistics"]["agreement"]["n"]) == ({"ungradable": 1}, 4)
    assert 0 not in model["confusion"]["labels"]


def test_disagreements_that_do_harm_come_first(tmp_path: Path) -> None:
    """A bad answer that the judge passes stands before a good one that it fails; reasons of both sides are kept."""
    samples, said = binary_cells((5, 1, 1, 5))
    samples[5]["expected"] = {"label": "pass", "reason": "fine"}
    said[6]["output"] = json.dumps({"label": "pass", "reason": "looks right"})
    found = replay_report(tmp_path, samples, said)["models"][0]["disagreements"]
    assert [(each["id"], each["dangerous"]) for each in found] == [("s6", True), ("s5", False)]
    assert (found[0]["judge_reason"], found[1]["human_reason"]) == ("looks right", "fine")


def test_usage_cost_and_latency_of_recorded_outputs(tmp_path: Path) -> None:
    """Tokens, cost and times that were recorded are added up; a cost that is not known for all is null."""
    samples, said = binary_cells((2, 0, 0, 2))
    for place, line in enumerate(said):
        line |= {"usage": {"input_tokens": 10, "output_tokens": 2}, "cost_usd": 0.25, "latency_ms": 100.0 * place}
    model = replay_report(tmp_path, samples, said)["models"][0]
    assert model["usage"] == {"input_tokens": 40, "output_tokens": 8, "counted": 4}
    assert (model["cost_usd"], model["latency_ms"]["mean"], model["latency_ms"]["n"]) == (1.0, 150.0, 4)
    del said[0]["cost_usd"]
    assert replay_report(tmp_path, samples, said)["models"][0]["cost_usd"] is None
