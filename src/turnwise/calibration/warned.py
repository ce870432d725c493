"""What the reader of a calibration must know before believing its figures, each with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .people import has_several
from .recommendation import no_better_than_constant, plain
from .report import Warned

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from ..decks.sample import Sample
    from ..graders.human_labels import LabelledSample
    from ..graders.verdict_scale import Code
    from .measure import Measure, Pairs
    from .report import Baseline, ModelReport

__all__ = ["about_model", "about_samples", "label_leak", "labels_changed", "quoted_samples"]

_FEW, _RARE, _MOST_INVALID = 30, 10, 0.05
_SHORTEST_QUOTE, _FEWEST_WORDS = 12, 3
_SPACES = re.compile(r"\s+")


def about_samples(
    samples: Sequence[LabelledSample], classes: Mapping[Code, int], measure: Measure, *, clustered: bool
) -> Iterator[Warned]:
    """What the labels themselves leave open."""
    labelled = sum(bool(each.labels) for each in samples)
    if not labelled:
        hint = "label some: `turnwise label SAMPLES`"
        yield Warned("few_samples", "no sample is labelled: nothing can be measured", hint)
    elif labelled < _FEW:
        message = f"only {labelled} {'sample is' if labelled == 1 else 'samples are'} labelled: every interval is wide"
        yield Warned("few_samples", message, f"label at least {_FEW}; `turnwise calibrate --plan` says how many")
    rare = [f"{label} ({count})" for label, count in classes.items() if count < _RARE]
    if rare:
        message = f"too few labels to tell how a judge does on them: {', '.join(rare)}"
        yield Warned("rare_class", message, f"label more samples of these kinds, at least {_RARE} of each")
    if labelled and not has_several(samples):
        message = "one person's label for each sample: how far people agree is not known, so there is no ceiling"
        yield Warned("single_rater", message, "have a second person label some: `turnwise label SAMPLES --rater NAME`")
    if clustered:
        message = "samples or votes belong together: they tell less than as many independent ones, as intervals show"
        yield Warned("clustered", message, "label samples of other clusters rather than more of these")
    if not measure.scale.declared:
        kind = f"the scale was inferred from the labels: {measure.scale.kind}"
        message = kind if labelled else "no scale is declared, and there are no labels to infer it from"
        yield Warned(
            "scale_inferred", message, "declare `[scale]` in the deck, so that values off the scale are caught"
        )


def about_model(
    report: ModelReport, pairs: Pairs, baseline: Baseline | None, measure: Measure, labels: int
) -> Iterator[Warned]:
    """What is wrong with one judge; `labels` are all that people gave."""
    model = report.model
    if no_better_than_constant(report.statistics, baseline):
        assert baseline is not None
        message = f"{model} does no better than always answering {plain(baseline.answer)}"
        yield Warned(
            "no_better_than_constant", message, "do not use it: improve the deck, or take another model", model
        )
    invalid = sum(report.invalid.values())
    if report.total and invalid > _MOST_INVALID * report.total:
        message = f"{invalid} of {report.total} outputs of {model} are no verdicts: the figures leave them out"
        yield Warned("invalid_outputs", message, _what_to_do(report.invalid), model)
    if len(pairs) < _FEW <= labels:
        message = f"only {len(pairs)} labels have a verdict of {model} beside them: its intervals are wide"
        yield Warned("few_samples", message, "mend what keeps its outputs from being verdicts", model)
    if measure.is_numeric and _is_compressed(pairs):
        message = f"{model} uses less than half of the spread that people use"
        hint = "describe in the deck what the ends of the scale mean, with an example of each"
        yield Warned("compressed_scale", message, hint, model)


def _what_to_do(kinds: Mapping[str, int]) -> str:
    """What helps against the most frequent kind of outputs that are no verdicts."""
    worst = max(kinds, key=lambda kind: kinds[kind], default="")
    return {
        "api_error": "see what the errors below say; `--resume` asks again",
        "timeout": "raise the target's `timeout`; `--resume` asks again",
        "missing": "record the outputs that are missing",
        "truncated": "raise `max_tokens` in the deck",
        "out_of_range": "say in the deck which scores there are",
        "wrong_type": "say in the deck which scores there are",
        "refusal": "say in the deck that the conversation is only to be judged; or take another model",
        "ungradable": "look whether these samples can be graded at all",
    }.get(worst, "look at the raw outputs below; ask for the JSON form more plainly")


def label_leak() -> Warned:
    """The grader sees the label."""
    message = "the deck asks for `expected`: the judge was shown the label, so that its agreement means nothing"
    return Warned("label_leak", message, "remove `[contexts.expected]` from the deck")


def labels_changed(files: Sequence[str]) -> Warned:
    """The labels are not those of the last calibration."""
    message = f"the samples have changed since this deck was calibrated last ({', '.join(files) or 'in the deck'})"
    return Warned("labels_changed", message, "do not compare these figures with the earlier ones")


def quoted_samples(deck: Deck, samples: Sequence[Sample]) -> Warned | None:
    """The samples whose words stand in the deck: on these a judge only repeats what it was told.

    What is shorter than three words is no quotation: a deck may well name the words that it looks for.
    """
    text = _flat(deck.text)
    named = set(deck.front_matter.meta.rendered_samples or ())
    quoted = [each.id for each in samples if each.id in named or _is_quoted(each, text)]
    if not quoted:
        return None
    shown = ", ".join(quoted[:5]) + (f" and {len(quoted) - 5} more" if len(quoted) > 5 else "")
    message = f"the deck's text quotes {len(quoted)} of its samples: {shown}"
    return Warned("deck_quotes_samples", message, "take examples for the deck from elsewhere, or these samples out")


def _is_quoted(sample: Sample, text: str) -> bool:
    for message in sample.messages:
        if len(message["content"]) > 2 * len(text) + 100:
            continue
        words = _flat(message["content"])
        if len(words) >= _SHORTEST_QUOTE and words.count(" ") + 1 >= _FEWEST_WORDS and words in text:
            return True
    return False


def _flat(text: str) -> str:
    return _SPACES.sub(" ", text).strip().casefold()


def _is_compressed(pairs: Pairs) -> bool:
    import numpy as np

    if len(pairs) < 2:
        return False
    human, judge = (float(np.std(np.array(column, dtype=np.float64))) for column in (pairs.human, pairs.judge))
    return human > 0 and judge < human / 2
