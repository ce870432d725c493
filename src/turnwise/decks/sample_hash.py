"""The hash of samples: what tells whether a calibration was made on those that there are now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sample import Sample

__all__ = ["samples_hash"]

# Made once: `json.dumps` would make one for every sample.
_encode = json.JSONEncoder(sort_keys=True).encode


def samples_hash(samples: Iterable[Sample]) -> str:
    """The hash of what samples say: conversations and labels, whatever file and order they are in."""
    digests = sorted(_sample_digest(each) for each in samples)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _sample_digest(sample: Sample) -> bytes:
    labels = sample.labels or ((sample.expected,) if sample.expected is not None else ())
    said = [[label.rater, label.value] for label in labels]
    text = _encode([sample.id, sample.cluster, list(sample.tags), sample.messages, said])
    return hashlib.sha256(text.encode()).digest()
