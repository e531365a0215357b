"""Unpack an untrusted archive: only regular files, below one folder, within limits."""

import gzip
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from karat.errors import InputError, LimitExceeded

AT_ONCE = 64 * 1024
# A tar header that claims more than this is an attack on memory.
LONGEST_READ = 1024 * 1024
# Archives below this size have no limit of compression.
FREE_BYTES = 1024 * 1024
LONGEST_NAME = 255
LONGEST_PATH = 1024
BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, OSError, NotImplementedError, RuntimeError, UnicodeError, ValueError),
)


class ArchiveLimits(NamedTuple):
    """How large an archive may be when it is unpacked; *ratio* is unpacked to packed."""

    unpacked_bytes: int
    files: int
    ratio: int


def unpack(archive: Path, target: Path, limits: ArchiveLimits) -> int:
    """Unpack a zip, tar or tar.gz file as the new folder *target*; return how many files it has.

    The folder appears complete, or not at all. An entry that is neither a file nor a folder, or
    whose path is outside of the folder, makes the whole archive invalid.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".unpack-", dir=target.parent))
    try:
        taken = _UnpackedSize(work, limits, packed=archive.stat().st_size)
        read = _zipped if zipfile.is_zipfile(archive) else _tarred
        try:
            for name, stream in read(archive, taken):
                taken.put(name, stream)
        except InputError:
            raise
        except BROKEN as error:
            # The text of an OSError would show the folder of the upload.
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"the archive cannot be unpacked: {reason}") from error
        if not taken.files:
            raise InputError("the archive holds no file")
        work.chmod(stat.S_IRWXU)
        work.rename(target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return taken.files


class _UnpackedSize:
    """Counts the files and bytes taken out of an archive; LimitExceeded above the limits."""

    def __init__(self, folder: Path, limits: ArchiveLimits, *, packed: int) -> None:
        self.folder = folder
        self.files = 0
        self._limits = limits
        self._most = min(limits.unpacked_bytes, packed * limits.ratio + FREE_BYTES)
        self._entries = 0
        self._bytes = 0

    def entry(self) -> None:
        """Count an entry of any kind."""
        self._entries += 1
        if self._entries > self._limits.files:
            raise LimitExceeded(f"the archive holds more than {self._limits.files:,} entries")

    def check(self, unpacked: int) -> None:
        """Raise LimitExceeded for more unpacked bytes than are allowed."""
        if unpacked > self._most:
            raise LimitExceeded(
                f"the archive unpacks to more than {self._most:,} bytes; at most "
                f"{self._limits.unpacked_bytes:,} are allowed, and {self._limits.ratio} times its "
                "own size"
            )

    def put(self, name: str, stream: IO[bytes]) -> None:
        """Write one file."""
        path = self.folder.joinpath(*_parts(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            opened = os.open(path, flags, 0o600)
        except FileExistsError:
            raise InputError(f"the archive holds {name!r} twice") from None
        with os.fdopen(opened, "wb") as file:
            while data := stream.read(AT_ONCE):
                self._bytes += len(data)
                self.check(self._bytes)
                file.write(data)
        self.files += 1


def _parts(name: str) -> list[str]:
    r"""Return the parts of an entry's name, which must lead downwards.

    >>> _parts("./docs/a.md")
    ['docs', 'a.md']
    >>> _parts("..\\a.md")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the archive holds '..\\a.md', which is outside of its folder
    """
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    leads_out = plain.startswith("/") or re.match(r"[A-Za-z]:", plain) or ".." in parts
    if leads_out or "\0" in name or not parts:
        raise InputError(f"the archive holds {name!r}, which is outside of its folder")
    if len(plain) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in parts):
        raise InputError(f"the archive holds a name that is too long: {name[:60]!r}...")
    return parts


def _zipped(archive: Path, taken: _UnpackedSize) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            taken.entry()
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir():
                continue
            if kind not in (0, stat.S_IFREG):
                raise _no_file(entry.filename)
            if entry.flag_bits & 1:
                raise InputError(f"the archive holds {entry.filename!r}, which is encrypted")
            with opened.open(entry) as stream:
                yield entry.filename, stream


def _tarred(archive: Path, taken: _UnpackedSize) -> Iterator[tuple[str, IO[bytes]]]:
    with tempfile.TemporaryFile(dir=taken.folder.parent) as plain:
        with archive.open("rb") as packed:
            is_gzip = packed.read(2) == b"\x1f\x8b"
            packed.seek(0)
            unzipped = gzip.GzipFile(fileobj=packed) if is_gzip else packed
            while data := unzipped.read(AT_ONCE):
                plain.write(data)
                taken.check(plain.tell())
        plain.seek(0)
        # Only the fields that are needed of a file.
        careful = cast("IO[bytes]", _SafeArchive(plain))
        with tarfile.open(fileobj=careful, mode="r:") as opened:
            for entry in opened:
                taken.entry()
                if entry.isdir():
                    continue
                stream = opened.extractfile(entry) if entry.isreg() else None
                if stream is None or entry.issparse():
                    raise _no_file(entry.name)
                yield entry.name, stream


class _SafeArchive:
    """A file that is read in small parts; tar reads a header whole, whatever size it claims."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int = -1) -> bytes:
        """Return the next *size* bytes."""
        if not 0 <= size <= LONGEST_READ:
            raise LimitExceeded(f"the archive has a header of more than {LONGEST_READ:,} bytes")
        return self._file.read(size)


def _no_file(name: str) -> InputError:
    return InputError(
        f"the archive holds {name!r}, which is not a regular file; links and devices are rejected"
    )
