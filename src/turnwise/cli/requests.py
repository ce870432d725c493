"""The requests that `turnwise prompt --target` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..providers.base import Provider, ProviderRequest
    from ..report.prompt import Sent
    from ..suite.case import Case
    from ..suite.paths import DataPath

__all__ = ["Requests"]


class Requests:
    """Makes the request of each case to one target, looked up in the project of the case."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._opened: dict[tuple[Path, str | None], tuple[Provider, Any]] = {}

    def of(self, case: Case) -> tuple[Sent | None, list[Diagnostic]]:
        """What the case sends, or why it cannot be sent."""
        from ..diagnostics import Diagnostic
        from ..errors import BadRequestError, PromptError
        from ..providers.http import body_bytes
        from ..providers.requests import request_for
        from ..report.prompt import Sent

        provider, shown = self._provider(case)
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

    def curl(self, case: Case, sent: Sent) -> str:
        """The command that sends it. Raises `UsageError` for a target that is not asked over HTTP."""
        from ..errors import UsageError
        from ..report.request import curl_command, secret_names

        _, shown = self._provider(case)
        if sent.preview.request is None or shown.provider == "local":
            why = "its server runs only while Turnwise does" if sent.preview.request else "nothing goes over HTTP"
            raise UsageError(f"there is no command for {self._name!r}: {why}", "leave out --curl to see the request")
        return curl_command(sent.preview.request, secret_names(shown), getattr(shown, "region", None))

    def _provider(self, case: Case) -> tuple[Provider, Any]:
        """The provider, and its target without secrets."""
        from ..providers.opening import Providers
        from .targeting import choose_target

        default = case.context.default_system_prompt
        key = case.context.files.root, default
        if key not in self._opened:
            chosen = choose_target(self._name, Path(case.context.folder), allow_missing_secrets=True)
            providers = Providers(
                root=chosen.project.root, environment=chosen.environment, default_system_prompt=default
            )  # fmt: skip
            self._opened[key] = providers.open(chosen.resolved), chosen.resolved.shown
        return self._opened[key]


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
