"""Free space on the disks of the service: whether it is ready, and what a full disk means."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import gettempdir

from karat.system.files import cache_folder
from karat.system.storage import free_bytes

__all__ = ["FULL_DISK", "DiskSpace"]

FULL_DISK = (
    "the disk of the service is full; free space on it, then start again: results that were stored "
    "are complete and are not computed again"
)

MEBIBYTE = 1024 * 1024


class DiskSpace:
    """The free space of the folders that the service writes to, by the names that clients know."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        *,
        min_bytes: int,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        """Expect *min_bytes* of free space in each of *folders*, measured by *free*."""
        self._folders = folders
        self._min_bytes = min_bytes
        self._free = free

    def problem(self) -> str:
        """Return which folders have too little space, "" where all have enough."""
        return "; ".join(
            f"{name}: {free // MEBIBYTE:,} MB free, at least "
            f"{self._min_bytes / MEBIBYTE:,.0f} MB expected"
            for name, free in self._short(self._folders).items()
        )

    def explain(self) -> str:
        """Return what to do about a write that has just failed, without the paths of folders."""
        others = {"temporary files": Path(gettempdir()), "cache": cache_folder()}
        short = self._short({**self._folders, **others})
        where = f" ({', '.join(short)})" if short else " (perhaps that of the database server)"
        return (
            f"A disk of the service is full{where}. Earlier results are complete. Free space on "
            "the disk, or delete collections and old experiments (karat runs delete), then send "
            "the request again"
        )

    def _short(self, folders: Mapping[str, Path]) -> dict[str, int]:
        free = {name: self._free(folder) for name, folder in folders.items()}
        return {name: left for name, left in free.items() if left < self._min_bytes}
