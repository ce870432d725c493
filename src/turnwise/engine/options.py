"""What a run is asked to do: what its plan holds, which a resumed run keeps, and how it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .selection import Selection

if TYPE_CHECKING:
    from ..targets.format import Target

__all__ = ["Execution", "PlanOptions"]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What to do: the same when the run is resumed.

    `suites` are files, folders and globs, `targets` names, `provider/model` or targets themselves; without them, those
    that suites and cases name are asked. `variants` are the names of those to take, all if empty; `system_prompts` are
    files, each a variant of its own, and with `as_written` the cases also run without any variant. `trials` goes before
    what cases and suites say. `threshold` bounds the pass rate. Without `graded`, answers are only collected. `only`
    are the results to have, as suite, case, target and variant; all trials of them.
    """

    suites: tuple[str, ...]
    targets: tuple[str | Target, ...] = ()
    selection: Selection = field(default_factory=Selection)
    variants: tuple[str, ...] = ()
    system_prompts: tuple[str, ...] = ()
    as_written: bool = False
    trials: int | None = None
    threshold: float | None = None
    graded: bool = True
    only: frozenset[tuple[str, str, str, str | None]] | None = None

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise UsageError(f"--trials must be at least 1, found {self.trials}", "leave it out for what suites say")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            hint = "it is the share of results that must pass, such as 0.9"
            raise UsageError(f"--threshold must lie between 0 and 1, found {self.threshold:g}", hint)

    @property
    def takes_everything(self) -> bool:
        """Whether no case of the suites is left out."""
        return self.only is None and self.selection.is_everything

    def saved(self) -> dict[str, Any]:
        """Everything but the suites, which are saved with their contents, as plain JSON."""
        pairs = self.selection.only
        chosen = {**asdict(self.selection), "only": None if pairs is None else sorted(map(list, pairs))}
        return {
            "targets": [each if isinstance(each, str) else each.name for each in self.targets],
            "selection": {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()},
            "variants": list(self.variants),
            "system_prompts": list(self.system_prompts),
            "as_written": self.as_written,
            "trials": self.trials,
            "threshold": self.threshold,
            "graded": self.graded,
            "only": None if self.only is None else sorted(map(list, self.only), key=repr),
        }

    @classmethod
    def of(cls, suites: tuple[str, ...], saved: Mapping[str, Any]) -> PlanOptions:
        """The options that were saved. Raises `KeyError`, `TypeError` or `ValueError` if they are damaged."""
        chosen = dict(saved["selection"])
        only = chosen.pop("only")
        pairs = None if only is None else frozenset((suite, case_id) for suite, case_id in only)
        names = {each.name for each in fields(cls)} - {"suites", "selection", "only"}
        rest = _with_tuples({name: saved[name] for name in names})
        results = None if saved["only"] is None else frozenset(map(tuple, saved["only"]))
        return cls(suites=suites, selection=Selection(**_with_tuples(chosen), only=pairs), only=results, **rest)


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How to do it: may be another each time that the run is resumed.

    `workers` bounds all requests at once; without it, the sum of the targets' own `workers` does, or 16. `timeout` are
    the seconds that one result may take, retries and grading included. Without `cache`, the project's config decides
    whether answers of before are used. `durable` waits for the disk after each result.
    """

    workers: int | None = None
    timeout: float | None = None
    budget_usd: float | None = None
    max_tokens_total: int | None = None
    cache: bool | None = None
    durable: bool = False

    def __post_init__(self) -> None:
        for option, number in (
            ("workers", self.workers),
            ("timeout", self.timeout),
            ("budget-usd", self.budget_usd),
            ("max-tokens-total", self.max_tokens_total),
        ):
            if number is not None and not 0 < number < float("inf"):
                raise UsageError(f"--{option} must be above 0, found {number:g}", "give more, or leave it out")
