"""`turnwise.calibrate` and `turnwise.calibrate_recorded`: what the command `turnwise calibrate` does, from Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from typing_extensions import Unpack

from ..engine.options import Execution
from ..errors import RunError, UsageError
from ..suite.explain import did_you_mean
from .options import CalibrationOptions
from .plan import JudgeOptions
from .replaying import replayed
from .reporting import reports_of
from .session import begin_calibration
from .store import CalibrationStore

if TYPE_CHECKING:
    from ..engine.events import Event, Observer
    from ..targets.format import Target
    from .report import Calibration

__all__ = ["CalibrateSettings", "calibrate", "calibrate_recorded"]

Paths = str | Path | Sequence[str | Path]


class CalibrateSettings(TypedDict, total=False):
    """What `calibrate` takes besides decks and models: the options of `turnwise calibrate` of these names, and where
    calibrations are kept."""

    samples: Paths
    repeats: int
    temperature: float | None
    structured: bool
    gates: Sequence[str]
    seed: int
    strict: bool
    allow_label_leak: bool
    workers: int
    timeout: float
    budget_usd: float
    max_tokens_total: int
    cache: bool
    durable: bool
    folder: str | Path


_JUDGES = ("repeats", "temperature", "structured")
_EXECUTION = ("workers", "timeout", "budget_usd", "max_tokens_total", "cache", "durable")


async def calibrate(
    decks: Paths,
    models: str | Target | Sequence[str | Target] = (),
    *,
    on_event: Observer | None = None,
    **settings: Unpack[CalibrateSettings],
) -> list[Calibration]:
    """Have models judge the samples of decks, and say for each deck how far they agree with people.

    The answers and the report are kept in the project's `.turnwise/calibrations`, or in `folder`. Raises
    `InputError`, `UsageError` or `MissingVariablesError` if it cannot start, and `RunError` if it ends early, such as
    for a budget.

    >>> deck = "examples/hello-world/greeting.deck.md"
    >>> reports = asyncio.run(calibrate(deck, "mock/3", folder=getfixture("tmp_path")))
    >>> reports[0].models[0].verdict.use
    'none'
    """
    named = [models] if not isinstance(models, Sequence) or isinstance(models, str) else list(models)
    objects = [each for each in named if not isinstance(each, str)]
    names = tuple(each if isinstance(each, str) else each.name for each in named)
    options = _options(decks, names, settings)
    execution = Execution(**{name: settings[name] for name in _EXECUTION if name in settings})  # type: ignore[literal-required]
    folder = Path(settings["folder"]) if "folder" in settings else None
    with await asyncio.to_thread(begin_calibration, options, execution, models=objects, folder=folder) as session:
        ended = await session.runner(on_event or _ignore).run()
        if ended.left:
            message = f"{ended.left:,} answers of the calibration {session.folder.id} are missing"
            raise RunError(message, f"go on with `turnwise calibrate --resume {session.folder.id}`")
        reports = reports_of(session)
        CalibrationStore(session.folder.path.parent).keep(session.folder.id, reports)
        return reports


def calibrate_recorded(
    samples: Paths, outputs: str | Path, *, deck: str | Path | None = None, seed: int = 0
) -> Calibration:
    """Compare recorded outputs with labelled samples, without asking any model. A deck gives the scale.

    Raises `DeckError` or `UsageError`.

    >>> folder = "tests/data/published/topical-chat"
    >>> report = calibrate_recorded(f"{folder}/coherence.samples.jsonl", f"{folder}/coherence.replay.jsonl")
    >>> round(report.models[0].statistics["pearson"].value, 6)
    0.595143
    """
    decks = () if deck is None else (str(deck),)
    options = CalibrationOptions(decks=decks, samples=_listed(samples), seed=seed)
    return replayed(options, str(outputs))[0][0]


def _options(decks: Paths, models: tuple[str, ...], settings: CalibrateSettings) -> CalibrationOptions:
    known = CalibrateSettings.__annotations__
    for name in settings:
        if name not in known:
            raise UsageError(f"unknown setting {name!r}", did_you_mean(name, sorted(known), "there are"))
    gates = settings.get("gates", ())
    if isinstance(gates, str):
        raise UsageError(f"`gates` is a list of texts, found the text {gates!r}", "put it in a list")
    files = _listed(decks)
    if not files:
        raise UsageError("there is no deck to calibrate", "name one")
    judges = JudgeOptions(**{name: settings[name] for name in _JUDGES if name in settings})  # type: ignore[literal-required]
    return CalibrationOptions(
        decks=files,
        samples=_listed(settings.get("samples", ())),
        models=models,
        judges=judges,
        gates=tuple(gates),
        strict=settings.get("strict", False),
        allow_label_leak=settings.get("allow_label_leak", False),
        seed=settings.get("seed", 0),
    )


def _listed(paths: Paths) -> tuple[str, ...]:
    return (str(paths),) if isinstance(paths, str | Path) else tuple(str(each) for each in paths)


def _ignore(event: Event) -> None:
    """Nobody watches."""
