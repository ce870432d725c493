"""Hands a request to VS Code: wakes the window of its folder, brings it to the front, and starts a chat there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from time import monotonic

from ....errors import ProviderTimeoutError, SetupError
from .answers import appeared
from .command import CodeCommand
from .folders import AgentFolder, gone
from .locks import take_lock
from .texts import Letter, wake_up_text

__all__ = ["AGENT_MODE", "Chat", "Dispatcher"]

AGENT_MODE = "agent"
WAKE_UP_SECONDS = 60.0
FOCUS_SECONDS = 0.5
# VS Code takes agent mode, without a word, for a mode that it has not found yet.
NEW_MODE_SECONDS = 3.0
_LOCK = "dispatch.lock"
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat to start: its mode, the files that go with it, and its text. `has_new_mode`: the mode is described by a
    file that VS Code has not seen yet."""

    mode: str
    files: Sequence[Path]
    prompt: str
    has_new_mode: bool = False


class Dispatcher:
    """Starts chats, one at a time: `code chat` goes to the window in front, so nobody may bring another there."""

    def __init__(self, command: CodeCommand, root: Path) -> None:
        self._command = command
        self._root = root

    async def dispatch(self, folder: AgentFolder, chat: Chat, seconds: float, sending: Callable[[], object]) -> str:
        """Start the chat in the folder's window; `sending` is called just before. What `code` said. Raises
        `ProviderError`; it may wait `seconds` for its turn."""
        import asyncio

        async with self._turn(seconds):
            # A window of that name may be of another root: it says nothing about an agent that was never awake.
            if not (folder.woken.exists() and await self._command.is_open(folder)):
                await self._wake_up(folder)
            if chat.has_new_mode:
                await asyncio.sleep(NEW_MODE_SECONDS)
            sending()
            return await self._start(folder, chat)

    async def _start(self, folder: AgentFolder, chat: Chat) -> str:
        import asyncio

        said = await self._command.open(folder)
        await asyncio.sleep(FOCUS_SECONDS)  # the command ends before the window is in front
        return said + await self._command.chat(folder, chat.mode, chat.files, chat.prompt)

    async def _wake_up(self, folder: AgentFolder) -> None:
        letter = Letter(folder.messages, f"alive-{token_hex(4)}")  # a late answer to an earlier one says nothing
        await self._start(folder, Chat(AGENT_MODE, (), wake_up_text(letter)))
        if await appeared(letter.answer, WAKE_UP_SECONDS):
            gone(folder.woken)  # it may be a link that an agent left
            with suppress(OSError):  # without it, the next request wakes it up again
                folder.woken.touch(exist_ok=False)
            return
        title = self._command.title
        raise SetupError(
            f"the agent of {title} did not wake up within {WAKE_UP_SECONDS:g} s in {folder.workspace_file}"
            + (f": it wrote {letter.unfinished}, but never renamed it" if letter.unfinished.exists() else ""),
            hint=f"look at the window {folder.name!r}: {title} must be signed in to a model, trust the folder, and let "
            "its agent edit files and run commands without asking",
        )

    @asynccontextmanager
    async def _turn(self, seconds: float) -> AsyncIterator[None]:
        """The turn is of all processes that share the root, as they share the windows."""
        import asyncio

        deadline = monotonic() + seconds
        while (lock := take_lock(self._root / _LOCK)) is None:
            if monotonic() >= deadline:
                message = f"other requests kept {self._command.title} busy for {seconds:g} s; nothing was sent"
                raise ProviderTimeoutError(message, hint="run fewer at once: set the target's `workers`")
            await asyncio.sleep(_LOOK_SECONDS)
        try:
            yield
        finally:
            lock.release()
