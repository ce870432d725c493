"""What a judge may be used for: at and around every threshold, and how many labels it takes to know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calibration_fixtures import figure_of
from replay_fixtures import Row, binary_cells, deck_text, judge_lines, replay_report, sample_row
from turnwise.calibration.measure import Measure
from turnwise.calibration.recommendation import Thresholds, no_better_than_constant, recommend
from turnwise.calibration.report import Baseline, Recommendation
from turnwise.graders.verdict_scale import Scale
from turnwise.stats.statistic import Statistic, undefined

_CLASSES = {"binary": ("fail", "pass"), "categorical": ("A", "B", "tie"), "ordinal": (1, 2, 3), "continuous": ()}
_DECISIVE = {"binary": "kappa", "categorical": "kappa", "ordinal": "kappa_quadratic", "continuous": "lin_ccc"}


def _recommended(kind: Any = "binary", least: int = 50, agreement: float = 0.9, **figures: Any) -> Recommendation:
    """The decision where the constant answer agrees on half, or errs by .5, and each class has `least` labels."""
    measure = Measure(Scale(kind), _CLASSES[kind], None, "pass" if kind == "binary" else None)
    error = "mae" if kind == "continuous" else "agreement"
    own = 1 - agreement if kind == "continuous" else agreement
    baseline = Baseline("pass", {error: figure_of(0.5)})
    known = {error: figure_of(own, own - 0.05, own + 0.05), **figures}
    return recommend(known, baseline, dict.fromkeys(measure.classes, least), measure, Thresholds())


def _decisive(kind: str, lo: float, hi: float) -> dict[str, Any]:
    return {_DECISIVE[kind]: _kappa(lo, hi)}


def _kappa(lo: float, hi: float) -> Statistic:
    return Statistic((lo + hi) / 2, 100, lo, hi, "fleiss-cohen-everitt", se=0.05)


@pytest.mark.parametrize("kind", list(_DECISIVE))
@pytest.mark.parametrize(
    ("lo", "hi", "use"),
    [
        (0.6, 0.8, "gating"),
        (0.599999, 0.8, "trends"),
        (0.4, 0.7, "trends"),
        (0.399999, 0.7, "unknown"),
        (0.1, 0.4, "unknown"),
        (0.1, 0.399999, "none"),
        (-0.5, -0.1, "none"),
    ],
)
def test_the_bounds_of_the_decisive_figure(kind: str, lo: float, hi: float, use: str) -> None:
    """From a lower bound of .6 for gating, from .4 for trends, for nothing with an upper bound below .4."""
    found = _recommended(kind, **_decisive(kind, lo, hi))
    assert found.use == use
    assert found.reason
    assert (found.labels_needed is not None) == (use == "unknown")


@pytest.mark.parametrize(
    ("tpr", "tnr", "use"),
    [(0.8, 0.8, "gating"), (0.799999, 0.9, "trends"), (0.9, 0.799999, "trends"), (0.3, 0.3, "trends")],
)
def test_gating_needs_both_rates(tpr: float, tnr: float, use: str) -> None:
    """A lower bound of TPR or TNR below .8 leaves trends, however good κ is; the reason names the rate."""
    rates: dict[str, Any] = {"tpr": figure_of(0.95, tpr, 0.99), "tnr": figure_of(0.95, tnr, 0.99)}
    found = _recommended(kappa=_kappa(0.7, 0.9), **rates)
    assert found.use == use
    for name, bound in (("TPR", tpr), ("TNR", tnr)):
        assert (f"{name} may be as low as" in found.reason) == (bound < 0.8)


def test_gating_needs_rates_that_are_known() -> None:
    """A rate without interval is no rate of .8."""
    rates: dict[str, Any] = {"tpr": figure_of(0.95, 0.9, 0.99), "tnr": undefined(0, "no bad answers")}
    assert _recommended(kappa=_kappa(0.7, 0.9), **rates).use == "trends"


@pytest.mark.parametrize("kind", list(_DECISIVE))
@pytest.mark.parametrize(("agreement", "use"), [(0.5, "none"), (0.4, "none"), (0.500001, "gating")])
def test_no_better_than_the_constant_is_none(kind: str, agreement: float, use: str) -> None:
    """A judge that agrees no more, or errs no less, than the best constant answer is for nothing, whatever κ says."""
    found = _recommended(kind, agreement=agreement, **_decisive(kind, 0.9, 0.95))
    assert found.use == use
    assert ("always answering pass" in found.reason) == (use == "none")


@pytest.mark.parametrize(("least", "use"), [(5, "gating"), (4, "unknown"), (0, "unknown")])
def test_a_class_with_too_few_labels_is_unknown(least: int, use: str) -> None:
    """Below five labels of a class nobody knows, however good the rest looks, and even where κ is low."""
    assert _recommended(least=least, kappa=_kappa(0.7, 0.9)).use == use
    low = _recommended(least=least, kappa=_kappa(0.0, 0.2))
    assert low.use == ("none" if use == "gating" else "unknown")


def test_no_better_than_the_constant_goes_before_a_rare_class() -> None:
    """Whoever does no better than a constant answer is for nothing, also with four labels of a class."""
    assert _recommended(least=4, agreement=0.5, kappa=_kappa(0.7, 0.9)).use == "none"


@pytest.mark.parametrize(
    ("own", "constant", "expected"), [(0.5, 0.5, True), (0.5, 0.49, False), (None, 0.5, None), (0.5, None, None)]
)
def test_better_than_constant_is_only_said_of_what_is_known(
    own: float | None, constant: float | None, expected: bool | None
) -> None:
    """Where one of the two agreements is not defined, nothing is said."""
    baseline = Baseline("pass", {"agreement": figure_of(constant)})
    assert no_better_than_constant({"agreement": figure_of(own)}, baseline) is expected
    assert no_better_than_constant({"agreement": figure_of(own)}, None) is None


_SCALE = 'kind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"'


def _judged(folder: Path, cells: tuple[int, ...], thresholds: str = "") -> Row:
    samples, said = binary_cells(cells)
    model: Row = replay_report(folder, samples, said, deck_text(_SCALE, more=thresholds))["models"][0]
    return model


def test_a_catching_judge_of_rare_faults_that_is_no_better_than_always_pass(tmp_path: Path) -> None:
    """190 good and 10 bad answers: all bad ones caught with 12 false alarms agree on 94 %, always `pass` on 95 %."""
    model = _judged(tmp_path, (178, 12, 0, 10))
    assert model["statistics"]["kappa"]["lo"] > 0.3
    assert model["verdict"]["use"] == "none"


@pytest.mark.parametrize(
    ("thresholds", "use"),
    [
        ("", "gating"),
        ("[thresholds]\ngating = 0.9", "trends"),
        ("[thresholds]\nrates = 0.95", "trends"),
        ("[thresholds]\ngating = 0.95\ntrends = 0.9", "unknown"),
        ("[thresholds]\ngating = 0.99\ntrends = 0.98", "none"),
        ("[thresholds]\nleast_per_class = 101", "unknown"),
        ("[thresholds]\nleast_per_class = 100", "gating"),
    ],
)
def test_thresholds_of_the_deck(tmp_path: Path, thresholds: str, use: str) -> None:
    """A deck may set its own bounds: with 94 of 100 right in either class, κ is .88, from .79 to .93."""
    model = _judged(tmp_path, (94, 6, 6, 94), thresholds)
    kappa = model["statistics"]["kappa"]
    # √(.94 · .06 / 200) / .5 = .0336; on Fisher's z 1.3758 ± 1.96 · .0336 / (1 − .88²).
    assert [kappa[name] for name in ("value", "lo", "hi")] == pytest.approx([0.88, 0.794, 0.931], abs=1e-3)
    assert 0.85 < model["statistics"]["tpr"]["lo"] < 0.95
    assert model["verdict"]["use"] == use


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [((7, 2, 2, 9), "trends"), ((21, 4, 5, 20), "trends"), ((21, 4, 4, 17), "trends"), ((4, 2, 2, 4), "none")],
)
def test_labels_needed_are_those_that_decide(tmp_path: Path, cells: tuple[int, ...], wanted: str) -> None:
    """With so many more labels in the same proportions it is decided, and with five per cent fewer it is not."""
    before = _judged(tmp_path, cells)["verdict"]
    assert before["use"] == "unknown"
    size = sum(cells)
    total = size + before["labels_needed"]
    enough, short = -(-total // size), int(0.95 * total // size)
    assert _judged(tmp_path, tuple(enough * each for each in cells))["verdict"]["use"] == wanted
    assert _judged(tmp_path, tuple(short * each for each in cells))["verdict"]["use"] == "unknown"


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
def test_labels_needed_on_numeric_scales(tmp_path: Path, kind: str) -> None:
    """The same for quadratic κ and Lin's concordance: ten labels, repeated until the lower bound meets .4."""
    human = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    judge = [1, 3, 2, 1, 3, 4, 4, 2, 5, 5]
    deck = deck_text(f'kind = "{kind}"\nmin = 1\nmax = 5', more="[thresholds]\nleast_per_class = 1")

    def verdict(times: int) -> Row:
        samples = [sample_row(f"s{place}", label) for place, label in enumerate(human * times)]
        said = judge_lines("judge", {f"s{place}": score for place, score in enumerate(judge * times)})
        model = replay_report(tmp_path, samples, said, deck, draws=100)["models"][0]
        found: Row = model["verdict"]
        return found

    before = verdict(1)
    assert before["use"] == "unknown"
    total = 10 + before["labels_needed"]
    assert verdict(-(-total // 10))["use"] == "trends"
    assert verdict(int(0.95 * total // 10))["use"] == "unknown"


def test_labels_needed_of_a_rare_class(tmp_path: Path) -> None:
    """Two bad answers among 40 came at a rate of one in 20: three more take 60 labels."""
    verdict = _judged(tmp_path, (38, 0, 0, 2))["verdict"]
    assert (verdict["use"], verdict["labels_needed"]) == ("unknown", 60)


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (5, 0, 0, 0)])
def test_too_little_to_say_anything(tmp_path: Path, cells: tuple[int, ...]) -> None:
    """With no sample, one, two, or one class only, a perfect judge is not recommended, and nothing breaks."""
    samples, said = binary_cells(cells)
    samples.append(sample_row("open"))
    said += judge_lines("judge", {"open": "pass"})
    verdict = replay_report(tmp_path, samples, said, deck_text(_SCALE))["models"][0]["verdict"]
    assert verdict["use"] in ("unknown", "none")
    assert verdict["reason"]
