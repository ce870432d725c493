"""Loading a targets file: every problem at once, and no secret in what is said about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..conversation.files import shown_file
from ..diagnostics import Diagnostic, has_errors
from ..errors import InputError, TargetsError, UsageError
from ..suite.explain import described, did_you_mean, explain
from ..suite.paths import DataPath, shown_path
from ..suite.reading import read_document, read_source_text
from ..suite.sources import Source
from .agentv import PROVIDER_ALIASES, Authored, is_agentv_targets, translate_target
from .elsewhere import said_of_provider
from .models import PROVIDERS
from .plugins import find_plugin, plugin_names
from .secrets import discreet, discreet_reading, private_texts
from .settings import TargetBase
from .targets_file import Targets, TargetsHeader
from .variables import malformed

__all__ = ["load_targets", "read_targets"]

# For problems whose sentence says already what is expected.
_HINTS = {
    "empty": "fill it in, or remove the key",
    "out-of-range": "change the number, or remove the key to have the default",
    "wrong-type": "change the value, or remove the key to have the default",
    "wrong-value": "choose one of these, or remove the key to have the default",
}


def load_targets(path: str | Path) -> Targets:
    """Load and validate a targets file, ours or AgentV's. Raises `TargetsError` with every problem found.

    Variables are not filled in: a target may be listed and checked where its keys are not known.
    """
    spec, diagnostics = read_targets(Path(path))
    if spec is None:
        raise TargetsError(diagnostics)
    return spec


def read_targets(path: Path) -> tuple[Targets | None, list[Diagnostic]]:
    """The targets of a file, or None, and all that there is to say about it. Never raises for what the file holds."""
    file = shown_file(path)
    try:
        raw, source = read_document(read_source_text(path, file), file)
    except InputError as error:
        return None, [discreet_reading(diagnostic) for diagnostic in error.diagnostics]
    reader = _Reader(raw, source, is_agentv_targets(raw, path))
    spec = reader.read()
    return spec, sorted(reader.diagnostics, key=lambda each: (each.place.line or 0, each.place.column or 0))


@dataclass
class _Reader:
    """One reading of one file: what it finds out on the way, it collects in `diagnostics`."""

    raw: Any
    source: Source
    is_agentv: bool
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def read(self) -> Targets | None:
        if not isinstance(self.raw, dict):
            found = "an empty file" if self.raw is None else _kind(self.raw)
            message = f"a targets file must be a mapping with `targets`, found {found}"
            self._error("wrong-type", message, (), "write `targets:` and a list below it")
            return None
        header = self._header()
        raw_targets = self.raw.get("targets")
        if not isinstance(raw_targets, list):
            return None
        targets: list[Any] = [self._target(value, ("targets", index)) for index, value in enumerate(raw_targets)]
        self._check_names(raw_targets)
        if header is None or has_errors(self.diagnostics):
            return None
        return Targets(targets)

    def _header(self) -> TargetsHeader | None:
        """The file's own keys; its targets are validated one by one, elsewhere."""
        try:
            return TargetsHeader.model_validate(self.raw)
        except ValidationError as error:
            self._add(explain(error, data=self.raw, model=TargetsHeader, source=self.source))
            return None

    def _target(self, value: Any, path: DataPath) -> TargetBase | None:
        if not isinstance(value, dict):
            message = f"a target must be a mapping, found {_kind(value)}"
            self._error("wrong-type", message, path, "write `name:` and `provider:`")
            return None
        target: dict[str, Any] = value
        authored: Authored = lambda inner: inner  # noqa: E731
        if self.is_agentv:
            target, authored = translate_target(value)
        broken = self._check_variables(value, path)
        model = self._model(target, path)
        if model is None:
            if "name" not in target:
                self._error("missing-key", "`name` is missing", path, "add `name: …` here")
            return None
        depth = len(path)
        try:
            return model.model_validate(target)
        except ValidationError as error:
            found_all = explain(
                error, data=target, model=model, source=self.source, prefix=path,
                authored=lambda inner: (*path, *authored(inner[depth:])),
            )  # fmt: skip
            # A malformed variable has been named already.
            fresh = [each for each in found_all if each.path not in broken or not each.code.startswith("variable-")]
            self._add([said_of_provider(each, str(target["provider"]), shown_path(path)) for each in fresh])
            return None

    def _model(self, target: dict[str, Any], path: DataPath) -> type[TargetBase] | None:
        provider = target.get("provider")
        if provider is None and "provider" not in target:
            self._error("missing-key", "`provider` is missing", path, f"one of: {', '.join(sorted(PROVIDERS))}")
            return None
        if not isinstance(provider, str):
            message = f"`provider` must be text, found {described(provider)}"
            self._error("wrong-type", message, (*path, "provider"), "name a provider, such as `openai`")
            return None
        return PROVIDERS[provider] if provider in PROVIDERS else self._foreign_model(provider, (*path, "provider"))

    def _foreign_model(self, provider: str, path: DataPath) -> type[TargetBase] | None:
        """The model of a provider that another package brings."""
        try:
            plugin = find_plugin(provider)
        except UsageError as error:
            self._error("bad-plugin", str(error), path, error.hint)
            return None
        if plugin is not None:
            return plugin.target_model
        alias = PROVIDER_ALIASES.get(provider)
        known = [*PROVIDERS, *plugin_names()]
        hint = f"did you mean `{alias}`?" if alias else did_you_mean(provider, known, "expected one of")
        self._error("unknown-provider", f"unknown provider {provider[:40]!r}", path, hint)
        return None

    def _check_variables(self, value: dict[str, Any], path: DataPath) -> set[str]:
        """Report malformed references; the paths of those."""
        problems = malformed(value, path)
        for problem in problems:
            self._error(problem.code, problem.message, problem.path, problem.hint)
        return {shown_path(problem.path) for problem in problems}

    def _check_names(self, raw_targets: list[Any]) -> None:
        """Names must differ, and judges exist. A target that is wrong otherwise still has its name."""
        first: dict[str, int] = {}
        for index, value in enumerate(raw_targets):
            name = value.get("name") if isinstance(value, dict) else None
            if isinstance(name, str) and first.setdefault(name, index) != index:
                line = self.source.place(("targets", first[name], "name")).line
                message = f"the name {name!r} is used twice, first in line {line}"
                self._error("duplicate-name", message, ("targets", index, "name"), "rename one of them")
        for index, value in enumerate(raw_targets):
            self._check_judge(value, index, list(first))

    def _check_judge(self, value: Any, index: int, names: list[str]) -> None:
        for key in ("judge_target", "judgeTarget") if self.is_agentv else ("judge_target",):
            judge = value.get(key) if isinstance(value, dict) else None
            if isinstance(judge, str) and judge and "${{" not in judge and judge not in names:
                hint = did_you_mean(judge, names, "the targets of this file")
                self._error("unknown-target", f"no target is named {judge!r}", ("targets", index, key), hint)

    def _error(self, code: str, message: str, path: DataPath, hint: str | None = None) -> None:
        place = self.source.place(path)
        self._add([Diagnostic("error", code, message, self.source.file, place, hint, shown_path(path))])

    def _add(self, diagnostics: list[Diagnostic]) -> None:
        for each in diagnostics:
            hinted = replace(each, hint=each.hint or _HINTS.get(each.code))
            self.diagnostics.append(discreet(hinted, self._secrets))

    @cached_property
    def _secrets(self) -> set[str]:
        return private_texts(self.raw)


def _kind(value: Any) -> str:
    """What was found where a mapping is expected, without a word of it."""
    return "text" if isinstance(value, str) else described(value)
