"""Announcements: which karat runs work on this machine, so that latency is measured undisturbed.

Each run keeps one file in a shared folder and holds a lock on it, which the kernel releases when
the process ends, however it ends. A file without a lock is removed by the next process that looks.
Numbers in the files give the order. A timed run waits for lower numbers, and for runs that measure
latency without having waited; other runs that start later never hold it up.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self
from uuid import uuid4

from karat.system.locks import LockedFile, is_free, locked_file

POLL_S = 0.2
SUFFIX = ".json"
# What an announced run does. Earlier versions of Karat write True for WORKING, False for WAITING.
WAITING, WORKING, MEASURING = range(3)


class Holder(NamedTuple):
    """An announced run: its process id, its command, and when it started (ISO 8601, UTC)."""

    pid: int
    command: str
    since: str


class Turn:
    """The turn of a timed run; *alone* is known once it has ended.

    *alone* says that no other announced run worked at the same time. It is False if the folder
    cannot be used, because then it is unknown.
    """

    def __init__(self) -> None:
        self.alone = False


def running_folder() -> Path:
    """Return the folder of announcements of this user on this machine.

    Machines that share a home folder have one each, so that no run waits for another machine.
    """
    from karat.system.files import cache_folder
    from karat.system.processes import kernel_id

    return cache_folder() / "running" / (kernel_id() or platform.node())


def holders_json(holders: Sequence[Holder]) -> list[dict[str, object]]:
    """Return *holders* as the detail of a ``waiting`` or ``disturbed`` event holds them."""
    return [holder._asdict() for holder in holders]


@contextmanager
def announce(command: str, folder: Path | None = None) -> Iterator[None]:
    """Announce work that measures no latency; it never waits."""
    announcement = None
    with suppress(ImportError, OSError), _locked(folder or running_folder()) as board:
        announcement = board.post(command, WORKING)
    try:
        yield
    finally:
        if announcement:
            announcement.file.remove()


@contextmanager
def announce_if_idle(command: str, folder: Path | None = None) -> Iterator[bool]:
    """Announce work that can wait if no other run is announced; yield whether that is so.

    Timed runs that start later wait for it. Where the folder cannot be used, others are unknown,
    and the work should not begin.
    """
    announcement = None
    with suppress(ImportError, OSError), _locked(folder or running_folder()) as board:
        if not board.occupied:
            announcement = board.post(command, WORKING)
    try:
        yield announcement is not None
    finally:
        if announcement:
            announcement.file.remove()


@contextmanager
def measure_alone(
    command: str,
    *,
    waiting: Callable[[Sequence[Holder]], None],
    cancelled: Callable[[], bool],
    wait: bool = True,
    disturbed: Callable[[Sequence[Holder]], None] = lambda _: None,
    folder: Path | None = None,
) -> Iterator[Turn]:
    """Wait until it is this run's turn to measure latency, then yield it.

    It waits for all runs that were announced earlier, and for those that measure latency. *waiting*
    receives the runs that are waited for, each time that they change; *cancelled* ends the wait.
    Without *wait* the turn begins at once. *disturbed* receives the runs that work when it begins,
    if there are any.
    """
    folder = folder or running_folder()
    turn = Turn()
    try:
        with _locked(folder) as board:
            announcement = board.post(command, WAITING)
    except (ImportError, OSError):
        yield turn
        return
    begun = None
    try:
        if _waited(announcement, waiting if wait else None, cancelled):
            # A folder that becomes unusable meanwhile does not stop the run.
            with suppress(OSError), _locked(folder) as board:
                begun = board.begin(announcement)
        if begun and begun.others:
            disturbed(begun.others)
        yield turn
    finally:
        with suppress(OSError), _locked(folder) as board:
            turn.alone = begun is not None and not begun.others and board.begun == begun.number
        announcement.file.remove()


def _waited(
    announcement: "_Announcement",
    waiting: Callable[[Sequence[Holder]], None] | None,
    cancelled: Callable[[], bool],
) -> bool:
    """Wait for the turn of *announcement*; return False where that was cancelled."""
    reported: Sequence[Holder] = ()
    idle = 0
    while waiting and not cancelled():
        ahead = _before(announcement)
        idle = 0 if ahead else idle + 1
        # A run that has ended its other work measures a moment later: look twice.
        if idle > bool(reported):
            break
        if ahead and ahead != reported:
            waiting(ahead)
            reported = ahead
        time.sleep(POLL_S)
    return not cancelled()


def _before(announcement: "_Announcement") -> list[Holder]:
    """Return the runs to wait for, none where the folder cannot be read any more."""
    with suppress(OSError), _locked(announcement.file.path.parent) as board:
        return board.before(announcement)
    return []


class _Entry(NamedTuple):
    """The content of an announcement; *working* is WAITING, WORKING or MEASURING."""

    pid: int
    command: str
    since: str
    number: int
    working: int

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the content of a file; None where it is not that of an announcement."""
        try:
            return cls(**json.loads(path.read_bytes()))
        except (OSError, TypeError, ValueError):
            return None

    def write(self, descriptor: int) -> None:
        _write(descriptor, self._asdict())


class _Announcement:
    """The file of this process, locked for as long as it is open."""

    def __init__(self, file: LockedFile, entry: _Entry) -> None:
        self.file = file
        self.entry = entry


class _TurnStart(NamedTuple):
    """The count of runs that had begun to work with this one, and which others worked then."""

    number: int
    others: tuple[Holder, ...]


class _Board:
    """The folder of announcements while this process holds its lock."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._folder = folder
        self._descriptor = descriptor
        self.numbers, self.begun = _counters(descriptor)

    def post(self, command: str, working: int) -> _Announcement:
        """Add an announcement with the next number."""
        entries = self._live()
        self.numbers = max([self.numbers, *(entry.number for _, entry in entries)]) + 1
        self.begun += working == WORKING
        since = datetime.now(UTC).isoformat(timespec="seconds")
        entry = _Entry(os.getpid(), command, since, self.numbers, working)
        path = self._folder / f"{uuid4().hex}{SUFFIX}"
        # Readable by others: where several users share a cache, they wait for each other too.
        file = LockedFile(path, mode=0o644)
        try:
            entry.write(file.descriptor)
            self._keep()
        except BaseException:
            file.remove()
            raise
        return _Announcement(file, entry)

    @property
    def occupied(self) -> bool:
        """Return whether any run is announced, working or waiting."""
        return bool(self._live())

    def before(self, announcement: _Announcement) -> list[Holder]:
        """Return the runs to wait for, the oldest first; one process counts once."""
        return _holders(
            entry
            for _, entry in self._live()
            if entry.number < announcement.entry.number or entry.working == MEASURING
        )

    def begin(self, announcement: _Announcement) -> _TurnStart:
        """Mark *announcement* as measuring."""
        announcement.entry = announcement.entry._replace(working=MEASURING)
        announcement.entry.write(announcement.file.descriptor)
        self.begun += 1
        self._keep()
        others = (entry for path, entry in self._live() if path != announcement.file.path)
        return _TurnStart(self.begun, tuple(_holders(entry for entry in others if entry.working)))

    def _live(self) -> list[tuple[Path, _Entry]]:
        """Return the announcements of living processes, and remove those of dead ones."""
        live = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            if is_free(path):
                with suppress(OSError):
                    path.unlink()
            elif entry := _Entry.read(path):
                live.append((path, entry))
        return live

    def _keep(self) -> None:
        _write(self._descriptor, {"numbers": self.numbers, "begun": self.begun})


def _holders(entries: Iterable[_Entry]) -> list[Holder]:
    """Return the runs of *entries*, the oldest first; one process counts once."""
    holders: dict[tuple[int, str], Holder] = {}
    for entry in sorted(entries, key=lambda one: one.number):
        holder = Holder(entry.pid, entry.command, entry.since)
        holders.setdefault((entry.pid, entry.command), holder)
    return list(holders.values())


@contextmanager
def _locked(folder: Path) -> Iterator[_Board]:
    """Yield the board of *folder*; OSError where it cannot be used or stays locked."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked_file(folder / "lock") as descriptor:
        yield _Board(folder, descriptor)


def _counters(descriptor: int) -> tuple[int, int]:
    """Return how many announcements there were, and how many runs began to work."""
    try:
        counters = json.loads(os.pread(descriptor, 1 << 10, 0))
        return int(counters["numbers"]), int(counters["begun"])
    except (KeyError, TypeError, ValueError):
        return 0, 0


def _write(descriptor: int, value: dict[str, object]) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(value).encode(), 0)
