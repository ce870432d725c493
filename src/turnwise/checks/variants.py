"""Settings of variants, held against the targets that a suite names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..errors import UsageError
from ..suite.paths import DataPath, shown_path
from ..suite.suite import Suite
from ..suite.variants import Variant, variants_of

if TYPE_CHECKING:
    from ..targets.format import Target
    from ..targets.targets_file import Targets

__all__ = ["settings_problems"]


def settings_problems(suite: Suite, targets: Targets | None) -> list[Diagnostic]:
    """Settings that a target of the suite does not take; a target that is not known yet is passed over."""
    variants = [variant for variant in variants_of(suite.spec) if variant.settings]
    named = [suite.spec.target] if suite.spec.target is not None else suite.spec.targets or []
    specs = [spec for name in named if (spec := _known(name, targets)) is not None] if variants else []
    return [found for variant in variants for spec in specs for found in _problems(suite, variant, spec)]


def _known(name: str, targets: Targets | None) -> Target | None:
    from ..targets.choose import find_target

    try:
        return find_target(name, targets, file="targets.yaml")
    except UsageError:
        return None  # a name that nothing defines has a warning of its own


def _problems(suite: Suite, variant: Variant, spec: Target) -> list[Diagnostic]:
    from ..targets.override import with_settings

    try:
        with_settings(spec, variant.settings, where=f"the variant {variant.name!r}")
    except UsageError as error:
        path: DataPath = ("variants", variant.name, "settings")
        place = suite.source.place(path, key=True)
        shown = shown_path(path)
        return [Diagnostic("error", "variant-settings", str(error), suite.source.file, place, error.hint, shown)]
    return []
