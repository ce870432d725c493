"""Asking for the vectors of texts: within the bound and the time of judges, and never with an error that breaks the
run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic
from ..errors import ProviderError
from ..graders.base import GradeError
from ..graders.embedding import EmbeddingAnswer
from ..providers.cost import cost_usd
from ..providers.embeddings import EMBEDDING_PROVIDERS
from ..suite.paths import DataPath, shown_path
from .cut_short import cut_short_by
from .judge_asking import judging

if TYPE_CHECKING:
    from ..providers.embeddings import Embedder
    from ..suite.sources import Source
    from ..targets.settings import Prices

__all__ = ["ask_embedder", "without_embeddings"]


async def ask_embedder(
    embedder: Embedder, prices: Prices | None, room: asyncio.Semaphore, texts: Sequence[str]
) -> EmbeddingAnswer:
    """The vectors, or why there are none. Raises nothing but `CancelledError`."""
    try:
        with judging() as until:
            async with asyncio.timeout_at(until), room:
                found = await embedder.embed(texts)
    except TimeoutError:
        why = "no time was left of what one result may take; raise --timeout"
        return EmbeddingAnswer(failure=GradeError("timeout", why))
    except asyncio.CancelledError:
        if (error := cut_short_by()) is None:
            raise
        return _failed(error)
    except ProviderError as error:
        return _failed(error)
    cost = cost_usd(found.usage, prices)
    return EmbeddingAnswer(
        vectors=found.vectors,
        model=found.model,
        usage=found.usage,
        cost_usd=cost,
        latency_ms=found.latency_ms,
        attempts=found.attempts,
    )


def _failed(error: ProviderError) -> EmbeddingAnswer:
    hint = f" ({error.hint})" if error.hint else ""
    failure = GradeError("timeout" if error.kind == "timeout" else "api_error", f"{error}{hint}")
    return EmbeddingAnswer(failure=failure, attempts=error.attempts)


def without_embeddings(target: Any, place: tuple[Source, DataPath, str | None]) -> Diagnostic | None:
    """The error, at the grader, if the target's provider cannot give vectors."""
    if target.provider in EMBEDDING_PROVIDERS:
        return None
    source, path, case_id = place
    message = f"the target {target.name!r} has the provider {target.provider!r}, which has no embeddings"
    hint = f"name a target of {', '.join(sorted(EMBEDDING_PROVIDERS))} whose `model` is an embedding model"
    where = source.place(path)
    return Diagnostic("error", "no-embeddings", message, source.file, where, hint, shown_path(path), case_id)
