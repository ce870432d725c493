"""A claimed folder that several cases of a batch use: it is free when the last of them needs it no more."""

from __future__ import annotations

from collections.abc import Callable

from .claiming import Claim

__all__ = ["SharedClaim"]


class SharedClaim:
    """A claim for `count` cases, numbered from 0. `on_free` is called once, when it is released."""

    def __init__(self, claim: Claim, count: int, on_free: Callable[[SharedClaim], object]) -> None:
        self.claim = claim
        self.folder = claim.folder
        self._users = set(range(count))
        self._on_free = on_free

    def release(self, user: int) -> None:
        """One case needs the folder no more."""
        self._users.discard(user)
        if not self._users:
            self.release_all()

    def release_all(self) -> None:
        """Nobody needs it; a second time does nothing."""
        self._users.clear()
        self.claim.release()
        self._on_free(self)
