"""The requests that `turnwise prompt` shows: to one target, by one variant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..providers.base import Provider, ProviderRequest
    from ..report.prompt import Sent
    from ..suite.case import Case
    from ..suite.paths import DataPath
    from ..suite.suite import Suite
    from ..suite.variants import Variant
    from .targeting import Chosen

__all__ = ["Requests", "WantedVariant"]


class WantedVariant:
    """The variant that a command was given, looked up in each suite: not every suite needs to have it."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._found = False
        self._names: dict[str, None] = {}  # of all variants that were met, in their order

    @property
    def is_wanted(self) -> bool:
        """Whether there is a name at all."""
        return self._name is not None

    def of(self, suite: Suite) -> tuple[Variant | None, list[Diagnostic]]:
        """The suite's variant of that name, and what there is to say about its variants."""
        from ..suite.variants import variant_problems, variants_of

        if self._name is None:
            return None, []
        by_name = {variant.name: variant for variant in variants_of(suite.spec)}
        self._names |= dict.fromkeys(by_name)
        found = by_name.get(self._name)
        self._found |= found is not None
        return found, variant_problems(suite) if found is not None else []

    def refuse_if_unknown(self) -> None:
        """Raises `UsageError` if no suite had it."""
        from ..errors import UsageError
        from ..suite.explain import did_you_mean

        if self._name is not None and not self._found:
            hint = did_you_mean(self._name, list(self._names), "there are")
            if not self._names:
                hint = "leave out --variant, or write `variants:` in the suite"
            raise UsageError(f"no variant is named {self._name!r}", hint)


class Requests:
    """Makes the request of each case to one target, looked up in the project of the case."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._opened: dict[tuple[Path, str | None, str], tuple[Provider, Any]] = {}

    def of(self, case: Case, variant: Variant | None = None) -> tuple[Sent | None, list[Diagnostic]]:
        """What the case sends, or why it cannot be sent."""
        from ..diagnostics import Diagnostic
        from ..engine.conversing import refused_talk
        from ..errors import BadRequestError, PromptError
        from ..providers.http import body_bytes
        from ..providers.requests import request_for
        from ..report.prompt import Sent

        provider, shown = self._provider(case, variant)
        if case.is_live and (refused := refused_talk(case, self._name, shown.provider)):
            return None, refused
        request = request_for(case, system_prompt=shown.system_prompt)
        try:
            preview = provider.preview(request)
            if preview.request is not None:
                body_bytes(preview.request.body)
        except (PromptError, BadRequestError) as error:
            message = f"cannot be sent to {self._name!r}: {error}"
            source, path, case_id = case.where(_written_at(case, request, getattr(error, "message_index", None)))
            place = source.place(path)
            return None, [Diagnostic("error", "cannot-send", message, source.file, place, error.hint, case_id=case_id)]
        return Sent(self._name, list(request.chat_prompt or ()), preview), []

    def curl(self, case: Case, sent: Sent, variant: Variant | None = None) -> str:
        """The command that sends it. Raises `UsageError` for a target that is not asked over HTTP."""
        from ..errors import UsageError
        from ..report.request import curl_command, secret_names

        _, shown = self._provider(case, variant)
        if sent.preview.request is None or shown.provider == "local":
            why = "its server runs only while Turnwise does" if sent.preview.request else "nothing goes over HTTP"
            raise UsageError(f"there is no command for {self._name!r}: {why}", "leave out --curl to see the request")
        return curl_command(sent.preview.request, secret_names(shown), getattr(shown, "region", None))

    def _provider(self, case: Case, variant: Variant | None) -> tuple[Provider, Any]:
        """The provider, and its target without secrets."""
        from ..providers.opening import Providers

        default = case.context.default_system_prompt
        changed = variant is not None and bool(variant.settings)
        key = case.context.files.root, default, case.context.source.file if changed else ""
        if key not in self._opened:
            chosen = self._chosen(case, variant)
            providers = Providers(
                root=chosen.project.root, environment=chosen.environment, default_system_prompt=default
            )  # fmt: skip
            self._opened[key] = providers.open(chosen.resolved), chosen.resolved.shown
        return self._opened[key]

    def _chosen(self, case: Case, variant: Variant | None) -> Chosen:
        """The target of the case's project, with the settings of the variant."""
        from .targeting import choose_target

        folder = Path(case.context.folder)
        if variant is None or not variant.settings:
            return choose_target(self._name, folder, allow_missing_secrets=True)
        return _with_settings(self._name, folder, variant, case.context.source.file)


def _with_settings(name: str, folder: Path, variant: Variant, file: str) -> Chosen:
    from ..suite.project import find_project_root, load_project
    from ..targets.choose import find_target, load_project_targets
    from ..targets.dotenv import environment
    from ..targets.override import with_settings
    from ..targets.resolve import resolve_target
    from .output import echo_warning
    from .targeting import Chosen

    project = load_project(find_project_root(folder))
    variables = dict(environment(project.root))
    spec = find_target(name, load_project_targets(project), file=str(project.targets_file))
    spec = with_settings(spec, variant.settings, where=f"the variant {variant.name!r} of {file}")
    resolved = resolve_target(spec, variables, allow_missing_secrets=True)
    for warning in resolved.warnings:
        echo_warning(warning)
    return Chosen(resolved, project, variables)


def _written_at(case: Case, request: ProviderRequest, index: int | None) -> DataPath:
    """Where the message stands in the case that is number `index` of those sent, system text first."""
    from ..providers.prompt import messages_to_send

    prompt = request.chat_prompt or []
    sent = messages_to_send(request, case.context.default_system_prompt)
    turn = None if index is None else index - (1 if sent and sent[0]["role"] == "system" else 0)
    if turn is None or turn < 0:
        return ()
    messages = case.conversation.messages
    visible = [number for number, message in enumerate(messages) if message.role != "system" and message.is_visible]
    has_system = bool(prompt) and prompt[0]["role"] == "system"
    if len(visible) != len(prompt) - has_system or turn >= len(visible):
        return ()
    return ("input_messages", visible[turn])
