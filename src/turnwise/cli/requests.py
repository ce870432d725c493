"""The requests that `turnwise prompt --target` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..providers.base import Provider
    from ..report.prompt import Sent
    from ..suite.case import Case

__all__ = ["Requests"]


class Requests:
    """Makes the request of each case to one target, looked up in the project of the case."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._target: Any = None
        self._providers: dict[tuple[Path, str | None], Provider] = {}

    def of(self, case: Case) -> tuple[Sent | None, list[Diagnostic]]:
        """What the case sends, or why it cannot be sent."""
        from ..diagnostics import Diagnostic
        from ..errors import PromptError
        from ..providers.requests import request_for
        from ..report.prompt import Sent

        provider = self._provider(case)
        request = request_for(case, system_prompt=self._target.system_prompt)
        try:
            preview = provider.preview(request)
        except PromptError as error:
            message = f"cannot be sent to {self._name!r}: {error}"
            source, path, case_id = case.where(())
            place = source.place(path)
            return None, [Diagnostic("error", "cannot-send", message, source.file, place, error.hint, case_id=case_id)]
        return Sent(self._name, list(request.chat_prompt or ()), preview), []

    def curl(self, sent: Sent) -> str:
        """The command that sends it. Raises `UsageError` for a target that is not asked over HTTP."""
        from ..errors import UsageError
        from ..report.request import curl_command

        if sent.preview.request is None or self._target.provider == "local":
            why = "its server runs only while Turnwise does" if sent.preview.request else "nothing goes over HTTP"
            raise UsageError(f"there is no command for {self._name!r}: {why}", "leave out --curl to see the request")
        return curl_command(sent.preview.request, getattr(self._target, "region", None))

    def _provider(self, case: Case) -> Provider:
        from ..providers.opening import Providers
        from .targeting import choose_target

        default = case.context.default_system_prompt
        key = case.context.files.root, default
        if key not in self._providers:
            chosen = choose_target(self._name, Path(case.context.folder), allow_missing_secrets=True)
            self._target = chosen.resolved.target
            providers = Providers(
                root=chosen.project.root, environment=chosen.environment, default_system_prompt=default
            )  # fmt: skip
            self._providers[key] = providers.open(chosen.resolved)
        return self._providers[key]
