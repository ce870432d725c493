"""Telling duplicates among millions of ids in 16 bytes each."""

from __future__ import annotations

__all__ = ["IdSet"]

_EMPTY = bytes(16)


class IdSet:
    """A set of texts that keeps only a 16-byte hash of each, in one growing table.

    >>> ids = IdSet()
    >>> ids.add("a"), ids.add("b"), ids.add("a"), len(ids)
    (True, True, False, 2)
    """

    def __init__(self) -> None:
        self._slots = 16_384
        self._table = bytearray(16 * self._slots)
        self._count = 0
        from hashlib import blake2b

        self._hash = blake2b

    def __len__(self) -> int:
        return self._count

    def add(self, word: str) -> bool:
        """Whether the text is new."""
        digest = self._hash(word.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if not self._put(digest):
            return False
        self._count += 1
        if self._count * 3 > self._slots * 2:
            self._grow()
        return True

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
