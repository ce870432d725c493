"""Telling duplicates among millions of ids in 16 bytes each."""

from __future__ import annotations

__all__ = ["IdSet"]

_EMPTY = bytes(16)
_FEW = 8_000
_SHORT = 1_000
_FIRST_SLOTS = 16_384


def _digest(word: str) -> bytes:
    from hashlib import blake2b

    return blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class IdSet:
    """A set of texts. A few are kept as they are; of many, only a 16-byte hash of each, in one growing table.

    >>> ids = IdSet()
    >>> ids.add("a"), ids.add("b"), ids.add("a"), len(ids)
    (True, True, False, 2)
    """

    def __init__(self) -> None:
        self._few: set[str] | None = set()
        self._slots = 0
        self._table = bytearray()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, word: str) -> bool:
        """Whether the text is new."""
        if self._few is None:
            new = self._put(_digest(word))
        elif new := word not in self._few:
            self._few.add(word)
        if new:
            self._count += 1
            if self._few is not None and (self._count > _FEW or len(word) > _SHORT):
                self._hash_all(self._few)
            elif self._few is None and self._count * 3 > self._slots * 2:
                self._grow()
        return new

    def _hash_all(self, words: set[str]) -> None:
        self._few = None
        self._slots = _FIRST_SLOTS
        self._table = bytearray(16 * self._slots)
        for word in words:
            self._put(_digest(word))

    def _put(self, digest: bytes) -> bool:
        table, mask = self._table, self._slots - 1
        slot = int.from_bytes(digest[:8], "little") & mask
        while True:
            found = table[16 * slot : 16 * slot + 16]
            if found == _EMPTY:
                table[16 * slot : 16 * slot + 16] = digest
                return True
            if found == digest:
                return False
            slot = (slot + 1) & mask

    def _grow(self) -> None:
        old = self._table
        self._slots *= 2
        self._table = bytearray(16 * self._slots)
        for start in range(0, len(old), 16):
            digest = bytes(old[start : start + 16])
            if digest != _EMPTY:
                self._put(digest)
