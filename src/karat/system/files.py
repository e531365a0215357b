"""Atomic writes, a file appears complete or not at all; and disks without space."""

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from karat.errors import InputError, StorageFull

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
# SQLite's code for a full disk, and PostgreSQL's.
SQLITE_FULL = 13
SQLSTATE_DISK_FULL = "53100"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a stream whose bytes become the file *path* when the block ends without an error.

    They are written beside it, flushed to disk and renamed into place, so that a reader sees the
    old file or the new one. A name ending in ``.gz`` is compressed. A link is followed. Anything
    but a regular file, such as ``/dev/stdout`` or a pipe, is written directly.
    """
    if Path(path).exists() and not Path(path).is_file():
        with _opened(path, os.O_WRONLY, named=path) as stream:
            yield stream
        return
    final = Path(path).resolve()
    scratch = _scratch(final)
    opened = _opened(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, named=path)
    try:
        with opened as stream:
            if final.suffix == ".gz":
                from gzip import GzipFile

                # No name and no time inside: equal content gives equal bytes.
                with GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
                    yield cast("BinaryIO", packed)
            else:
                yield stream
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(final)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    _sync_folder(final.parent)


def _opened(path: str | os.PathLike[str], flags: int, *, named: str | os.PathLike[str]) -> BinaryIO:
    try:
        # Not tempfile: its files are private, but a result should have the user's umask.
        return os.fdopen(os.open(path, flags, 0o666), "wb")
    except OSError as error:
        raise InputError(f"{os.fspath(named)}: cannot be written: {error.strerror}") from error


def check_output(path: str | os.PathLike[str], *, folder: bool = False) -> None:
    """Raise InputError if `replacing` could not write the file *path*; leave nothing behind.

    With *folder*, *path* is a folder, which need not exist yet, for files in it.
    """
    output = Path(path).absolute()
    if folder:
        while not output.exists():
            output = output.parent
        if not output.is_dir():
            raise InputError(f"{os.fspath(path)}: cannot be written: {output} is not a folder")
        output /= "karat"
    elif output.is_dir():
        raise InputError(f"{os.fspath(path)}: cannot be written: it is a folder; expected a file")
    elif output.exists() and not output.is_file():
        # A pipe may have a reader, who must not see it opened and closed.
        if not os.access(output, os.W_OK):
            raise InputError(f"{os.fspath(path)}: cannot be written: no access")
        return
    final = output.resolve()
    if not final.parent.is_dir():
        raise InputError(f"{os.fspath(path)}: cannot be written: the folder does not exist")
    scratch = _scratch(final)
    _opened(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, named=path).close()
    scratch.unlink()


def _scratch(final: Path) -> Path:
    """Return the name of a new file beside *final*."""
    return final.with_name(f"{final.name}.{os.getpid()}.{os.urandom(4).hex()}.part")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write *text* as UTF-8, whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode())


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of this user's caches: KARAT_CACHE, else by the XDG rules.

    >>> cache_folder({"KARAT_CACHE": "/data/karat"}).as_posix()
    '/data/karat'
    >>> cache_folder({"XDG_CACHE_HOME": "/data/cache"}).as_posix()
    '/data/cache/karat'
    """
    if environment.get("KARAT_CACHE"):
        return Path(environment["KARAT_CACHE"])
    home = environment.get("XDG_CACHE_HOME", "")
    # The rules say that a relative path is to be ignored.
    base = Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache"
    return base / "karat"


URL = re.compile(r"[a-z][a-z0-9+.-]*://.+|[\w.-]+@[\w.-]+:.+", re.IGNORECASE)


def without_user(url: str) -> str:
    """Return *url* as it may be shown: without user, password and query.

    >>> without_user("https://ann:secret@host:8443/a.git?key=x")
    'https://host:8443/a.git'
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path.partition('?')[0]}".partition(
        "?"
    )[0]


def no_folder(folder: str, *, expected: str = "") -> str:
    """Return the error for a *folder* that does not exist; an address has to be cloned first.

    >>> no_folder("../flask", expected="a Git repository")
    '../flask: no such folder; expected a Git repository'
    >>> print(no_folder("git@host:a/b.git"))
    git@host:a/b.git is an address; clone it first: git clone --bare git@host:a/b.git b.git, and use
    b.git
    """
    if not URL.fullmatch(folder):
        return f"{folder}: no such folder" + (f"; expected {expected}" if expected else "")
    name = re.split(r"[/:]", folder.rstrip("/").removesuffix(".git"))[-1]
    return (
        f"{folder} is an address; clone it first: git clone --bare {folder} {name}.git, and use "
        f"{name}.git"
    )


def is_disk_full(error: BaseException) -> bool:
    """Return whether *error*, or the error that it was raised from, means that a disk is full.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_disk_full(OSError("other"))
    False
    """
    return any(map(_means_full, _chain(error)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _means_full(error: BaseException) -> bool:
    # The lower byte of SQLite's code is the kind of error, the rest a detail of it.
    return (
        isinstance(error, StorageFull)
        or (isinstance(error, OSError) and error.errno in DISK_FULL_ERRNOS)
        or getattr(error, "sqlite_errorcode", 0) & 0xFF == SQLITE_FULL
        or getattr(error, "sqlstate", None) == SQLSTATE_DISK_FULL
    )


def free_bytes(folder: str | os.PathLike[str]) -> int:
    """Return the free space on the disk of *folder*, which need not exist yet."""
    import shutil

    path = Path(folder).absolute()
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def unique_names(paths: Sequence[str]) -> list[str]:
    """Return a name for each repository: the shortest end of its path that is unique.

    >>> unique_names(["/a/flask.git", "/b/click/.git"]), unique_names(["/x/a/repo", "/x/b/repo"])
    (['flask', 'click'], ['a-repo', 'b-repo'])
    """
    ways = [Path(path).resolve() for path in paths]
    if len(set(ways)) < len(ways):
        twice = next(path for path, way in zip(paths, ways, strict=True) if ways.count(way) > 1)
        raise InputError(f"{twice}: the repository is given twice; pass each repository once")
    steps = [(way.parent if way.name == ".git" else way).parts[1:] for way in ways]
    depths = range(1, max(map(len, steps)) + 1)
    tails = (["-".join(some[-depth:]).removesuffix(".git") for some in steps] for depth in depths)
    return next(names for names in tails if len(set(names)) == len(names))
