"""Sends assets to machines that lack them, in a thread, while other slots work."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Protocol

from karat.errors import ProcessError
from karat.experiments.workers.assets import Asset, AssetPart, asset_parts, build_asset

__all__ = ["AssetSender", "SupportsProvide"]


class SupportsProvide(Protocol):
    """The part of a pool of slots that sends files."""

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Send *parts* of the asset with this id to the machine of *slot*, unless it has it."""
        ...


class AssetSender:
    """Builds each of *assets* at most once, and sends it to the machines that ask for it."""

    def __init__(self, pool: SupportsProvide, assets: Iterable[Asset]) -> None:
        """Start no thread yet."""
        self._pool = pool
        self._assets = {asset.id: asset for asset in assets}
        # One thread, started with the first asset: two slots of one machine need an asset only
        # once.
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="karat-assets")
        self._folder: TemporaryDirectory[str] | None = None
        self._sending: dict[tuple[str, str], Future[None]] = {}
        self._closed = Event()

    def send(self, slot: str, asset: str) -> None:
        """Send *asset* to the machine of *slot*; return at once."""
        if (slot, asset) not in self._sending:
            self._sending[slot, asset] = self._threads.submit(self._provide, slot, asset)

    def failures(self) -> Iterator[tuple[str, str]]:
        """Yield each slot whose asset could not be sent, and the reason; each of them once."""
        for (slot, asset), done in list(self._sending.items()):
            if done.done():
                del self._sending[slot, asset]
                if error := done.exception():
                    yield (
                        slot,
                        f"{self._assets[asset].place} could not be sent to the slot: {error}",
                    )

    def close(self) -> None:
        """Stop between two parts, and remove the files."""
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._folder:
            self._folder.cleanup()

    def _provide(self, slot: str, asset: str) -> None:
        self._folder = self._folder or TemporaryDirectory(
            prefix="karat-assets-", ignore_cleanup_errors=True
        )
        file = Path(self._folder.name) / f"{asset}.tar"
        if not file.exists():
            started = file.with_suffix(".part")
            build_asset(self._assets[asset], started)
            started.rename(file)
        self._pool.provide(slot, asset, self._parts(asset, file))

    def _parts(self, asset: str, file: Path) -> Iterator[AssetPart]:
        for part in asset_parts(asset, file):
            if self._closed.is_set():
                raise ProcessError("the run has ended")
            yield part
