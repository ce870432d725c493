"""Functions that grade: each takes what is known of an answer, and returns a score, a truth value or a mapping."""

import re

LONGEST_SENTENCE = 15


def has_short_sentences(given):
    """The share of sentences that are short enough."""
    sentences = [each for each in re.split(r"[.!?]+", given["answer"]) if each.strip()]
    if not sentences:
        return {"error": "the answer has no sentence"}
    long = [each.strip() for each in sentences if len(each.split()) > LONGEST_SENTENCE]
    return {"score": 1 - len(long) / len(sentences), "misses": long, "evidence": {"sentences": len(sentences)}}


async def keeps_to_the_limit(given):
    """Whether there are no more words than the case allows."""
    return len(given["answer"].split()) <= given["vars"]["most"]
