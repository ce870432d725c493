"""Around the figures of a deck: what it was measured on, what to beware of, the gates, and where all comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..gate_text import gate_reason
from .figures import EXACT, NOTHING, code_text, counted, figure_text
from .markup import Html, joined, tag, with_code

if TYPE_CHECKING:
    from ....calibration.report import Calibration, GateResult, ModelReport, SampleCounts, Warned
    from ....graders.verdict_scale import Scale

__all__ = ["about", "deck_name", "gates", "lead", "scale_text", "warnings"]

_SHORT = 12
_MOST_LABELS = 12


def deck_name(calibration: Calibration) -> str:
    """What people call the deck; recorded outputs may come without one."""
    deck = calibration.deck
    return "Recorded outputs" if deck is None else deck.name or deck.path


def lead(calibration: Calibration) -> Html:
    """What the deck is for, and what it was measured on, in a line each."""
    deck = calibration.deck
    description = tag("p", deck.description, class_="lead") if deck is not None and deck.description else None
    samples = calibration.samples
    parts = [_samples_text(samples), counted(samples.raters, "rater"), f"scale {scale_text(calibration.scale)}"]
    if calibration.replayed:
        parts.append("recorded outputs, no model was called")
    return joined([description, tag("p", "; ".join(parts), class_="lead")])


def about(calibration: Calibration) -> Html:
    """Where the figures come from, so that they can be found and made again."""
    facts = tag("dl", *(_fact(name, value) for name, value in _facts(calibration)), class_="facts")
    return joined([tag("h3", "How it was made"), facts, _settings(calibration.models)])


def scale_text(scale: Scale) -> str:
    """The scale in one line.

    >>> from ....graders.verdict_scale import Scale
    >>> scale_text(Scale("ordinal", min=1, max=5, pass_=4))
    'ordinal, 1 to 5, passes from 4; declared by the deck'
    """
    parts: list[str] = [scale.kind]
    steps: Sequence[float | str] = scale.labels or scale.values
    if steps:
        more = f" and {len(steps) - _MOST_LABELS} more" if len(steps) > _MOST_LABELS else ""
        parts.append(" / ".join(code_text(step) for step in steps[:_MOST_LABELS]) + more)
    elif scale.min is not None or scale.max is not None:
        parts.append(f"{code_text(scale.min)} to {code_text(scale.max)}")
    if scale.pass_ is not None:
        parts.append(f"passes from {code_text(scale.pass_)}")
    if scale.ungradable is not None:
        parts.append(f"{code_text(scale.ungradable)} means ungradable")
    origin = "declared by the deck" if scale.declared else "inferred from the labels"
    return f"{', '.join(parts)}; {origin}"


def _facts(calibration: Calibration) -> list[tuple[str, str | None]]:
    deck = calibration.deck
    return [
        ("Deck", None if deck is None else deck.path),
        ("Hash", None if deck is None else deck.hash.removeprefix("sha256:")[:_SHORT]),
        ("Made", calibration.generated_at.replace("T", " ").replace("+00:00", " UTC")),
        ("Files", ", ".join(calibration.samples.files) or None),
        ("Clusters", f"{calibration.samples.clusters:,}"),
        ("Seed", f"{calibration.seed}, {calibration.draws:,} bootstrap draws"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in calibration.versions.items()) or None),
    ]


def _fact(name: str, value: str | None) -> Html | None:
    return None if value is None else tag("div", tag("dt", name), tag("dd", value))


def _samples_text(samples: SampleCounts) -> str:
    parts = [counted(samples.total, "sample"), f"{samples.labelled:,} labelled"]
    if samples.ungradable:
        parts.append(f"{samples.ungradable:,} that people call ungradable")
    if samples.skipped:
        parts.append(f"{samples.skipped:,} skipped as unreadable")
    return ", ".join(parts)


def _settings(models: Sequence[ModelReport]) -> Html | None:
    """Temperature and the like. A request without settings leaves them to the provider, and that is said."""
    if not models:
        return None
    rows = [_fact(model.model, _settings_text(model)) for model in models]
    return tag(
        "details", tag("summary", "Settings of the models"), tag("dl", *rows, class_="facts wide"), class_="quiet"
    )


def _settings_text(model: ModelReport) -> str:
    return ", ".join(_setting(key, value) for key, value in model.settings.items()) or "not recorded"


def _setting(key: str, value: object) -> str:
    """One setting in words; a yes or no is a thing that is there or not."""
    name = key.replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {code_text(value) if isinstance(value, int | float) else value}"


def warnings(found: Sequence[Warned]) -> Html:
    """What to know before using the figures; that there is nothing is said, too."""
    if not found:
        return tag("p", tag("b", "✓ No warnings."), class_="calm")
    title = tag("h3", f"Before you use these figures: {counted(len(found), 'warning')}")
    return tag("div", title, tag("ul", *(_warning(each) for each in found)), class_="warnings")


def _warning(warned: Warned) -> Html:
    is_named = warned.model is None or warned.model in warned.message
    of_model = None if is_named else tag("b", f"{warned.model}: ")
    hint = tag("span", "→ ", with_code(warned.hint), class_="hint") if warned.hint else None
    return tag("li", tag("p", of_model, with_code(warned.message), " ", tag("code", warned.code)), hint)


def gates(calibration: Calibration) -> Html | None:
    """The bars, and whether they are met."""
    if not calibration.gates:
        return None
    names = tag("tr", *(tag("th", name, scope="col") for name in ("Gate", "Model", "Found", "Result")))
    rows = [_gate(each, calibration) for each in calibration.gates]
    return tag("div", tag("h3", "Gates"), tag("table", tag("thead", names), tag("tbody", *rows)), class_="scroll gates")


def _gate(result: GateResult, calibration: Calibration) -> Html:
    mark, word, kind = {
        True: ("✓", "met", "good"),
        False: ("✕", "not met", "bad"),
        None: ("?", "cannot be told", "unsure"),
    }[result.met]
    value = NOTHING if result.value is None else figure_text(EXACT, result.value)
    badge = tag("span", f"{mark} {word}", class_=f"badge {kind}")
    why = tag("small", gate_reason(result, calibration), class_="why") if result.value is None else None
    cells = (tag("td", tag("code", result.gate)), tag("td", result.model), tag("td", value, class_="number"))
    return tag("tr", *cells, tag("td", badge, why))
