"""The settings of a service, which do not change while it runs, and the space on its disks."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from tempfile import gettempdir

from karat.errors import InputError, UnknownName
from karat.extensions.service.collections import AllowedFolders
from karat.formats import ReadLimits as FileLimits
from karat.installation import without_checkout
from karat.model.spec import Spec
from karat.system.files import cache_folder, free_bytes

MEBIBYTE = 1024 * 1024
# An unusual megabyte of YAML takes seconds to read.
UPLOADED = FileLimits(yaml_bytes=MEBIBYTE)
# At least two, so that one user's statistics do not block another user.
DEFAULT_ANALYSTS = min(4, max(2, os.cpu_count() or 1))
UPLOAD_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
DATABASE = re.compile(r"postgresql(?:\+\w+)?://\S*[^\s:;,]")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
FULL_DISK = (
    "the disk of the service is full; free space on it, then start again: results that were stored "
    "are complete and are not computed again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """How much one request, one upload and one token may take.

    A body may be waited for *body_s* seconds. *files* are the limits of an uploaded dataset. An
    archive is bounded three times: as it comes, unpacked, and by how much smaller than unpacked it
    may be. *rate* counts requests of one token in a minute, *active_jobs* its jobs that have not
    ended. An analyst that uses more than *analyst_bytes* of memory is replaced. The service is not
    ready while less than *free_bytes* are free on one of its disks.
    """

    body_bytes: int = MEBIBYTE
    body_s: int = 30
    files: FileLimits = UPLOADED
    archive_bytes: int = 100 * MEBIBYTE
    unpacked_bytes: int = 1024 * MEBIBYTE
    archive_files: int = 20_000
    archive_ratio: int = 100
    rate: int = 1_200
    active_jobs: int = 4
    runs: int = 50
    runs_warned: int = 25
    resolve_at_once: int = 5_000
    analyst_bytes: int = 2048 * MEBIBYTE
    free_bytes: int = 256 * MEBIBYTE

    def changed(self, values: Iterable[str]) -> "RequestLimits":
        """Return these limits with some of them changed, each as ``name=number``.

        >>> RequestLimits().changed(["rate=60", "upload_queries=5000"]).files.upload_queries
        5000
        >>> RequestLimits().changed(["rates=60"])
        Traceback (most recent call last):
        ...
        karat.errors.UnknownName: no limit named 'rates'; did you mean 'rate'?
        """
        own = {field.name for field in fields(self)} - {"files"}
        numbers: dict[str, int] = {}
        for value in values:
            name, _, number = value.partition("=")
            if name not in own | set(self.files._fields):
                near = get_close_matches(name, [*own, *self.files._fields], n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise UnknownName(f"no limit named {name!r}{hint}")
            if not (number.isascii() and number.isdigit() and int(number)):
                raise InputError(f"limit {value!r}: expected {name}= and a whole number from 1 up")
            numbers[name] = int(number)
        ours = {name: number for name, number in numbers.items() if name in own}
        theirs = {name: number for name, number in numbers.items() if name not in own}
        return replace(self, **ours, files=self.files._replace(**theirs))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoices:
    """Models, rerankers and contexts that benchmarks may use, by name, beside the packaged ones.

    A remote one costs money and receives text, so that only the settings can name it.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    rerankers: Mapping[str, str] = field(default_factory=dict)
    contexts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """All that is decided when the service starts.

    *store* is a file or the address of a PostgreSQL; *data* is the folder of uploaded documents.
    Collections are read from folders below *roots* only. *hosts* are names by which clients reach
    the service beside those of the loopback. *engines* are engines by name that benchmarks may use
    beside the modes, and *choices* are further models for them. *executor* is the URL of the
    executor that runs benchmarks. *analysts* is how many analyses run at a time; with *warm_up*,
    collections are loaded before the first search needs them. *unsafe* accepts requests without a
    token. Where *shared*, all tokens see everything; None is as the store was used before.
    """

    store: str
    data: Path
    host: str = "127.0.0.1"
    port: int = 8080
    hosts: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    engines: Mapping[str, Spec] = field(default_factory=dict)
    choices: ModelChoices = field(default_factory=ModelChoices)
    workers: int = 1
    executor: str = "local"
    analysts: int = DEFAULT_ANALYSTS
    warm_up: bool = True
    unsafe: bool = False
    shared: bool | None = None
    limits: RequestLimits = field(default_factory=RequestLimits)

    def __post_init__(self) -> None:
        """Raise InputError for settings that cannot work."""
        for root in self.roots:
            if not root.is_dir():
                raise InputError(f"root {root}: no such folder")
        if self.workers < 0:
            raise InputError(f"{self.workers} workers; expected 0 or more")
        if self.analysts < 1:
            raise InputError(f"{self.analysts} analysts; expected 1 or more")

    @property
    def needs_tokens(self) -> bool:
        """Return whether every request must carry a token.

        A service that others can reach does, be it by its address or by a proxy in front of it,
        unless it is declared unsafe.
        """
        reachable = not is_loopback(self.host) or not all(map(is_loopback, self.hosts))
        return reachable and not self.unsafe

    @property
    def folders(self) -> AllowedFolders:
        """Return the folders of the documents of collections."""
        return AllowedFolders(self.roots, self.data / "collections")

    def without_locations(self, text: str) -> str:
        """Return *text* without the folders, files and addresses that only this machine knows."""
        uploads = re.escape(str(self.folders.uploads.resolve()))
        text = re.sub(rf"{uploads}/{UPLOAD_ID}/", "", text)
        text = re.sub(rf"{uploads}/{UPLOAD_ID}", "the uploaded documents", text)
        text = DATABASE.sub("the database", text)
        files = [] if "://" in self.store else [Path(self.store).resolve()]
        for path in (*files, self.data.resolve()):
            text = text.replace(str(path), "the store")
        return without_checkout(text)

    @property
    def known_hosts(self) -> frozenset[str]:
        """Return the names that a request may call this service by, in lower case."""
        own = () if self.host in ("0.0.0.0", "::") else (bracketed(self.host),)  # noqa: S104
        return frozenset(name.lower() for name in (*LOOPBACK, *own, *self.hosts))


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach *host*.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """Return *host* as it stands in an address, where IPv6 has brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


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
