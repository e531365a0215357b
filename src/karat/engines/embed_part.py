"""Which texts an embed unit embeds, of all texts of its snapshots."""

from typing import NamedTuple

__all__ = ["EmbedPart"]


class EmbedPart(NamedTuple):
    r"""Part *number* of *total*, from 0: the texts whose key says so.

    >>> [EmbedPart(number, 2).has(bytes(7) + b"\5") for number in (0, 1)]
    [False, True]
    """

    number: int
    total: int

    def has(self, key: bytes) -> bool:
        """Return whether the text with this *key* of the cache belongs to the part."""
        return int.from_bytes(key[:8], "big") % self.total == self.number
