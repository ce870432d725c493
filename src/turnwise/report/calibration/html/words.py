"""What every figure, method, status and use means, in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ....calibration.report import Use

__all__ = ["METHODS", "STATISTIC_WORDS", "STATUS_WORDS", "USE_WORDS", "StatisticWords", "UseWords", "words_of"]


class StatisticWords(NamedTuple):
    """The name of a figure, and what it says."""

    name: str
    meaning: str


class UseWords(NamedTuple):
    """A mark that is told apart without colour, a word, and what it allows."""

    mark: str
    word: str
    meaning: str


USE_WORDS: dict[Use, UseWords] = {
    "gating": UseWords("●", "gating", "good enough to decide alone whether something passes"),
    "trends": UseWords("◐", "trends", "good enough to see whether things get better, not to decide single cases"),
    "none": UseWords("✕", "none", "not to be used"),
    "unknown": UseWords("?", "unknown", "too few labels to tell"),
}

STATISTIC_WORDS = {
    "agreement": StatisticWords("Agreement", "How often judge and people say exactly the same."),
    "agreement_no_ties": StatisticWords("Agreement without ties", "The same, where neither of them called it a tie."),
    "within_1": StatisticWords("Agreement within 1", "How often the judge is at most one point away from people."),
    "kappa": StatisticWords("Cohen’s κ", "Agreement beyond chance: 0 is guessing with the same habits, 1 is perfect."),
    "kappa_linear": StatisticWords("Linear κ", "κ that counts a miss by its distance: two points off is twice as bad."),
    "kappa_quadratic": StatisticWords(
        "Quadratic κ", "κ that counts a miss by the square of its distance: far misses weigh most."
    ),
    "tpr": StatisticWords("True positive rate", "Of what people call good, the share that the judge calls good too."),
    "tnr": StatisticWords("True negative rate", "Of what people call bad, the share that the judge catches."),
    "balanced_accuracy": StatisticWords(
        "Balanced accuracy", "The mean of both rates, so that a frequent class cannot hide a rare one."
    ),
    "mcc": StatisticWords("Matthews correlation", "Correlation of two yes-or-no answers: 0 is chance, 1 is perfect."),
    "lin_ccc": StatisticWords(
        "Lin’s concordance", "How close the scores lie to the line where judge and people give the same."
    ),
    "pearson": StatisticWords("Pearson’s r", "Whether scores rise together in a line; blind to a constant shift."),
    "spearman": StatisticWords("Spearman’s ρ", "Whether judge and people put the samples in the same order."),
    "kendall": StatisticWords(
        "Kendall’s τ-b", "Of all pairs of samples, how many more are ordered alike than the other way round."
    ),
    "mae": StatisticWords("Mean absolute error", "How many points the judge is off on average."),
    "rmse": StatisticWords("Root mean square error", "The same, with far misses counting more."),
    "bias": StatisticWords("Bias", "Judge less people, on average: above 0 the judge is too kind."),
    "loa": StatisticWords("Limits of agreement", "Where 95 % of the differences between judge and people lie."),
    "self_agreement": StatisticWords("Self-agreement", "How often the judge repeats its own answer."),
    "flip_rate": StatisticWords(
        "Flip rate", "The share of samples on which the judge’s answers differ from each other."
    ),
    "krippendorff_alpha": StatisticWords("Krippendorff’s α", "Agreement of all people at once, beyond chance."),
}

METHODS = {
    "wilson": "Wilson interval of a proportion",
    "wilson-clustered": "Wilson interval, with the effective number of independent samples",
    "wilson-agreement": "lower bound from the Wilson interval of the agreement",
    "t": "Student’s t interval of a mean",
    "t-clustered": "Student’s t interval, robust against clusters",
    "fleiss-cohen-everitt": "Fleiss–Cohen–Everitt standard error, on Fisher’s z",
    "influence": "standard error from influence values, on Fisher’s z",
    "fisher-z": "Fisher’s z",
    "fisher-z-clustered": "Fisher’s z, robust against clusters",
    "bonett-wright": "Bonett–Wright, on Fisher’s z",
    "fieller": "Fieller, on Fisher’s z",
    "limits-of-agreement": "range of single differences, not an interval of their mean",
    "bootstrap-bca": "seeded bootstrap (BCa)",
    "bootstrap-bca-clustered": "seeded bootstrap (BCa), clusters drawn whole",
    "mcnemar-exact": "McNemar’s exact test",
    "paired-bootstrap": "paired bootstrap",
    "paired-bootstrap-clustered": "paired bootstrap, clusters drawn whole",
    "none": "no interval",
}
"""How intervals were made; a method that is not here is shown by its own name."""

STATUS_WORDS = {
    "empty": "empty answer",
    "not_json": "no JSON, number or label",
    "no_score": "no score in the answer",
    "wrong_type": "a score of the wrong type",
    "out_of_range": "a score that is not on the scale",
    "ungradable": "the judge says it cannot grade this",
    "refusal": "refused to answer",
    "truncated": "cut off",
    "api_error": "the request failed",
    "timeout": "no answer in time",
    "missing": "no recorded output",
    "undecided": "repeats without a majority",
}


def words_of(statistic: str) -> StatisticWords:
    """Name and meaning of a figure; one that is not known goes by its own name.

    >>> words_of("kappa").name, words_of("new").name
    ('Cohen’s κ', 'new')
    """
    return STATISTIC_WORDS.get(statistic, StatisticWords(statistic, ""))
