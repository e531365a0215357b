"""A remote tier behind key-value caches: immutable packs in a folder that machines share.

The folder is any that fsspec can open: ``file:///nfs/karat``, ``s3://bucket/karat``, ``gs://...``.
A pack is written once under the hash of its bytes, is never changed and never locked.
"""

import os
import re
import struct
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import inf
from threading import Lock
from time import monotonic
from typing import Any, Protocol

from karat.errors import InputError, MissingExtra
from karat.system.files import without_user

# The environment variable with the folder.
REMOTE = "KARAT_CACHE_REMOTE"
# A user with a password in a URL.
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
MAGIC = b"KARATPK1"
KEY_BYTES = 32
ENTRY = struct.Struct(f"<{KEY_BYTES}sI")
ENTRIES_A_PACK = 4_096
# The folder is listed again after this time, if a key is missing.
REFRESH_S = 2.0
NAME = re.compile(r"[0-9a-f]{64}-([1-9][0-9]{0,5})\.pack")


class ByteCache(Protocol):
    """Values of bytes by keys of 32 bytes."""

    def __len__(self) -> int: ...

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those *keys* that are in the cache."""
        ...

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store *values*."""
        ...

    def close(self) -> None:
        """Close files."""
        ...


class PackTier:
    """Packs of *kind* below the folder *url*.

    Values of equal keys must be equal, so that it does not matter which machine wrote a pack. A
    pack whose bytes do not match its name is ignored: it may still be on its way. If the folder
    cannot be reached, values count as missing and nothing is written; there is one warning.
    """

    def __init__(
        self,
        url: str,
        kind: str,
        *,
        clock: Callable[[], float] = monotonic,
        entries: int = ENTRIES_A_PACK,
    ) -> None:
        """Open the folder; it is created with the first pack."""
        self._files, path = _file_system(url)
        self._url = url
        self._folder = f"{path.rstrip('/')}/{kind}"
        self._clock = clock
        self._entries = entries
        self._listed = -inf
        self._packs: dict[str, int] = {}
        self._pack_of: dict[bytes, str] = {}
        self._waiting: dict[bytes, bytes] = {}
        self._lock = Lock()
        self._failed = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those *keys* that some pack has."""
        cached: dict[bytes, bytes] = {}
        with self._lock:
            if self._failed:
                return cached
            try:
                if any(key not in self._pack_of for key in keys):
                    self._refresh()
                packs = {self._pack_of[key] for key in keys if key in self._pack_of}
                asked = set(keys)
                for name in sorted(packs):
                    values = self._read(name).items()
                    cached.update((key, value) for key, value in values if key in asked)
            except Exception as error:  # noqa: BLE001 - each file system has errors of its own
                self._fail(error)
        return cached

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return those of *keys* that no pack has; none if the folder cannot be reached."""
        with self._lock:
            if self._failed:
                return []
            try:
                self._refresh()
            except OSError as error:
                self._fail(error)
                return []
            return [key for key in keys if key not in self._pack_of and key not in self._waiting]

    def see_new(self) -> None:
        """List the folder again as soon as a key is missing."""
        self._listed = -inf

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Add *values*; full packs are written at once, the rest by :meth:`flush`."""
        with self._lock:
            new = {key: value for key, value in values.items() if key not in self._pack_of}
            self._waiting.update(new)
            while len(self._waiting) >= self._entries:
                self._write(list(self._waiting)[: self._entries])

    def flush(self) -> None:
        """Write all values that no pack has yet."""
        with self._lock:
            if self._waiting:
                self._write(list(self._waiting))

    def _refresh(self) -> None:
        """Read the keys of packs that other machines have written since the last time."""
        if self._clock() - self._listed < REFRESH_S:
            return
        self._listed = self._clock()
        try:
            paths = self._files.ls(self._folder, detail=False, refresh=True)
        except FileNotFoundError:
            return
        except TypeError:  # a file system without a cache of listings
            paths = self._files.ls(self._folder, detail=False)
        for path in paths:
            name = str(path).rpartition("/")[2]
            # Files of others are left alone.
            matched = NAME.fullmatch(name)
            if matched and name not in self._packs and int(matched[1]) <= ENTRIES_A_PACK:
                self._note(name, int(matched[1]))

    def _note(self, name: str, count: int) -> None:
        """Read the head of a pack: its keys. The name says how many there are."""
        size = len(MAGIC) + count * ENTRY.size
        try:
            head = self._files.cat_file(f"{self._folder}/{name}", start=0, end=size)
        except FileNotFoundError:
            return
        if len(head) == size and head.startswith(MAGIC):
            self._packs[name] = count
            for key, _ in ENTRY.iter_unpack(head[len(MAGIC) :]):
                self._pack_of.setdefault(key, name)

    def _read(self, name: str) -> dict[bytes, bytes]:
        try:
            data = self._files.cat_file(f"{self._folder}/{name}")
        except FileNotFoundError:
            # Old packs may be deleted at any time; what they had is computed again.
            data = b""
        if name != _name(data, self._packs[name]):
            del self._packs[name]
            self._pack_of = {key: pack for key, pack in self._pack_of.items() if pack != name}
            return {}
        return dict(_entries(data, self._packs[name]))

    def _write(self, keys: Sequence[bytes]) -> None:
        values = {key: self._waiting.pop(key) for key in keys}
        if self._failed:
            return
        data = _packed(values)
        name = _name(data, len(values))
        path = f"{self._folder}/{name}"
        try:
            self._files.makedirs(self._folder, exist_ok=True)
            # A rename makes a file appear whole; object stores do so anyway, and would copy it.
            protocol = self._files.protocol
            if "file" in ((protocol,) if isinstance(protocol, str) else protocol):
                scratch = f"{path}.{os.urandom(4).hex()}.part"
                self._files.pipe_file(scratch, data)
                self._files.mv(scratch, path)
            else:
                self._files.pipe_file(path, data)
        except Exception as error:  # noqa: BLE001 - each file system has errors of its own
            self._fail(error)
            return
        self._packs[name] = len(values)
        self._pack_of.update(dict.fromkeys(values, name))

    def _fail(self, error: Exception) -> None:
        self._failed = True
        warnings.warn(
            f"{REMOTE}={without_user(self._url)} cannot be used: {error}; continuing with the "
            "local "
            "cache only",
            UserWarning,
            stacklevel=3,
        )


class TieredCache:
    """A local cache with a remote *tier* behind it: missing values are fetched and stored here."""

    def __init__(self, local: ByteCache, tier: PackTier) -> None:
        """Join both."""
        self._local = local
        self._tier = tier

    def __len__(self) -> int:
        """Return the number of local values."""
        return len(self._local)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those *keys* that are in the local cache or in the tier."""
        cached = self._local.get(keys)
        missing = [key for key in keys if key not in cached]
        if missing:
            fetched = self._tier.get(missing)
            added = {key: fetched[key] for key in missing if key in fetched}
            if added:
                self._local.put(added)
            cached |= added
        return cached

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store *values* here, and in the tier."""
        self._local.put(values)
        self._tier.put(values)

    def publish(self, keys: Sequence[bytes]) -> None:
        """Store the local values of those *keys* that the tier lacks in the tier too."""
        if missing := self._tier.missing(keys):
            self._tier.put(self._local.get(missing))

    def close(self) -> None:
        """Write the rest into the tier, and close the local cache."""
        self._tier.flush()
        self._local.close()


_tiers: dict[tuple[str, str], PackTier] = {}


def _tier(url: str, kind: str) -> PackTier:
    """Return the tier of this process, so that the keys of a pack are read once."""
    if (url, kind) not in _tiers:
        _tiers[url, kind] = PackTier(url, kind)
    return _tiers[url, kind]


def see_new_packs() -> None:
    """Let all tiers of this process see packs that others have just written."""
    for tier in _tiers.values():
        tier.see_new()


def remote_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variable that names the folder, for workers on other machines, if it is set.

    A URL with a password is not passed on.

    >>> remote_environment({"KARAT_CACHE_REMOTE": "s3://bucket/karat"})
    {'KARAT_CACHE_REMOTE': 's3://bucket/karat'}
    >>> remote_environment({"KARAT_CACHE_REMOTE": "ftp://me:secret@host/karat"})
    {}
    """
    url = environment.get(REMOTE, "").strip()
    return {REMOTE: url} if url and not _PASSWORD.search(url) else {}


def check_remote() -> None:
    """Raise InputError or MissingExtra if KARAT_CACHE_REMOTE names a folder that cannot exist."""
    if url := os.environ.get(REMOTE, "").strip():
        _file_system(url)


def with_remote(local: ByteCache, kind: str) -> ByteCache:
    """Return *local* with the tier that KARAT_CACHE_REMOTE names behind it, if it names one.

    *kind* is the folder of its packs; it changes with the meaning of keys or values.
    """
    url = os.environ.get(REMOTE, "").strip()
    return TieredCache(local, _tier(url, kind)) if url else local


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as missing:
        raise MissingExtra("fsspec", extra="remote", purpose=REMOTE) from missing
    try:
        files, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"{REMOTE} is {without_user(url)!r}: {error}; expected a folder such as "
            "s3://bucket/karat or file:///shared/karat"
        ) from error
    return files, path


def _packed(values: Mapping[bytes, bytes]) -> bytes:
    ordered = sorted(values.items())
    head = b"".join(ENTRY.pack(key, len(value)) for key, value in ordered)
    return MAGIC + head + b"".join(value for _, value in ordered)


def _name(data: bytes, count: int) -> str:
    return f"{sha256(data).hexdigest()}-{count}.pack"


def _entries(data: bytes, count: int) -> Iterator[tuple[bytes, bytes]]:
    head = len(MAGIC) + count * ENTRY.size
    at = head
    for key, length in ENTRY.iter_unpack(data[len(MAGIC) : head]):
        yield key, data[at : at + length]
        at += length
