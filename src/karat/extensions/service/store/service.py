"""The store of a service, in the same database as the results of experiments."""

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection, Row, func, insert, select, union, update

from karat.errors import InputError
from karat.experiments.store.base import RunStatus
from karat.experiments.store.database import Database
from karat.experiments.store.leases import Leases
from karat.experiments.store.migrations import TABLE_SETS
from karat.experiments.store.recorder import utc_now
from karat.experiments.store.schema import RUNS, SETTINGS
from karat.experiments.store.sql_store import SqlStore
from karat.extensions.service.store.benchmarks import BenchmarkTable
from karat.extensions.service.store.collections import CollectionTable
from karat.extensions.service.store.datasets import (
    DatasetTable,
    JudgmentTable,
    LossTable,
    MappingTable,
)
from karat.extensions.service.store.jobs import EventTable, JobTable
from karat.extensions.service.store.records import ServiceTable, Token, new_id, one
from karat.extensions.service.store.schema import (
    BENCHMARK_DATASETS,
    BENCHMARKS,
    COLLECTIONS,
    TOKENS,
)


class TokenTable(ServiceTable):
    """Tokens, which are never deleted: a revoked one stays in the list."""

    def add(
        self,
        owner: str,
        name: str,
        *,
        digest: str,
        scopes: Iterable[str],
        expires: datetime | None = None,
    ) -> Token:
        """Store a token by the SHA-256 of its secret."""
        token = Token(
            new_id(), owner, name, digest, tuple(scopes), self._clock(), expires, revoked=None
        )
        row = {field: getattr(token, field) for field in Token.__slots__}
        with self._database.writing() as connection:
            connection.execute(insert(TOKENS), {**row, "scopes": list(token.scopes)})
        return token

    def find(self, digest: str) -> Token | None:
        """Return the token whose secret has this SHA-256, also one that is no longer valid."""
        with self._database.asking() as connection:
            row = connection.execute(select(TOKENS).where(TOKENS.c.digest == digest)).first()
        return None if row is None else _token(row)

    def opens(self, token: str) -> bool:
        """Return whether a token, by its id, is valid now."""
        with self._database.asking() as connection:
            row = connection.execute(select(TOKENS).where(TOKENS.c.id == token)).first()
        return row is not None and _token(row).valid(self._clock())

    def all(self) -> tuple[Token, ...]:
        """Return every token, the newest first."""
        statement = select(TOKENS).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        with self._database.asking() as connection:
            return tuple(map(_token, connection.execute(statement)))

    def revoke(self, token: str) -> None:
        """End a token by its id; ending it again changes nothing."""
        known = select(TOKENS.c.id).where(TOKENS.c.id == token)
        revoked = update(TOKENS).where(TOKENS.c.id == token, TOKENS.c.revoked.is_(None))
        with self._database.writing() as connection:
            one(connection, known, f"token {token!r}")
            connection.execute(revoked, {"revoked": self._clock()})


def _token(row: Row[Any]) -> Token:
    return Token(**{**row._asdict(), "scopes": tuple(row.scopes)})


class Sharing(NamedTuple):
    """Whether all tokens see everything; *owners* is how many owners the store had before.

    *is_kept* says that it is private only because several owners had used it before.
    """

    shared: bool
    owners: int = 0
    is_kept: bool = False


SHARING, DATA = "sharing", "data"
SHARED, PRIVATE, KEPT = "shared", "private", "kept private"


class SettingTable(ServiceTable):
    """What services have decided about their store, which all of them obey."""

    def sharing(self, asked: bool | None = None) -> Sharing:
        """Return whether all tokens see everything, as *asked* or else as it was before.

        A new store is shared. One that holds things of several owners stays private until it is
        asked to be shared, since they did not expect to be seen.
        """
        with self._database.writing() as connection:
            owners = len(connection.execute(OWNERS).all())
            if asked is not None:
                value = self._keep(connection, SHARING, SHARED if asked else PRIVATE, anew=True)
            else:
                value = self._keep(connection, SHARING, KEPT if owners > 1 else SHARED)
        return Sharing(value == SHARED, owners, value == KEPT)

    def data(self, folder: str) -> str:
        """Return the id of the folder of uploads, which is *folder* if there was none."""
        with self._database.writing() as connection:
            return self._keep(connection, DATA, folder)

    def _keep(self, connection: Connection, name: str, value: str, *, anew: bool = False) -> str:
        """Store *value* if there was none, or *anew*; return the stored one."""
        new = self._database.insert(SETTINGS).values(name=name, value=value)
        key = [SETTINGS.c.name]
        if anew:
            connection.execute(new.on_conflict_do_update(index_elements=key, set_={"value": value}))
        else:
            connection.execute(new.on_conflict_do_nothing(index_elements=key))
        statement = select(SETTINGS.c.value).where(SETTINGS.c.name == name)
        return str(connection.execute(statement).scalar_one())


OWNERS = union(*(select(table.c.owner) for table in (COLLECTIONS, BENCHMARK_DATASETS, BENCHMARKS)))


# Each scope includes the one before: read; change and run; where owners are separated, access to
# what all of them have.
SCOPES = ("read", "run", "admin")
# A prefix, so that logs and secret scanners recognise it.
PREFIX = "karat_"
SECRET_BYTES = 32


class IssuedToken(NamedTuple):
    """A new token and its secret, which cannot be shown again."""

    token: Token
    secret: str


def create_token(
    shelf: TokenTable,
    owner: str,
    *,
    scope: str = "run",
    name: str = "",
    days: int | None = 90,
    now: datetime,
) -> IssuedToken:
    """Return a new token of *owner*, which ends after *days*, or never where that is None.

    A scope includes those before it.
    """
    if scope not in SCOPES:
        raise InputError(f"scope {scope!r} is not valid; expected one of: {', '.join(SCOPES)}")
    if not owner.strip():
        raise InputError("a token needs an owner; expected a name")
    if days is not None and days < 1:
        raise InputError(f"a token cannot expire after {days} days; expected 1 or more")
    secret = PREFIX + token_urlsafe(SECRET_BYTES)
    scopes = SCOPES[: SCOPES.index(scope) + 1]
    expires = None if days is None else now + timedelta(days=days)
    token = shelf.add(owner.strip(), name, digest=digest_of(secret), scopes=scopes, expires=expires)
    return IssuedToken(token, secret)


def digest_of(secret: str) -> str:
    """Return the digest of *secret*; a random secret needs no slow hash.

    >>> digest_of("karat_x")[:12]
    'fd90757f0bdb'
    """
    return sha256(secret.encode()).hexdigest()


class ServiceStore:
    """Everything at *location*: a file, or an address such as ``postgresql://user@host/database``.

    *results* is the store that the command line uses too. Threads may share a service, and
    processes may open the same location.
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        clock: Callable[[], datetime] = utc_now,
        make_leases: Callable[[Database], Leases] = Leases,
    ) -> None:
        """Open the database; it is created if missing."""
        self.database = Database(location, tables=map(TABLE_SETS.get, TABLE_SETS))
        self.leases = make_leases(self.database)
        self.results = SqlStore(self.database, leases=self.leases, clock=clock)
        self.settings = SettingTable(self.database, clock=clock)
        self.tokens = TokenTable(self.database, clock=clock)
        self.collections = CollectionTable(self.database, clock=clock)
        self.datasets = DatasetTable(self.database, clock=clock)
        self.judgments = JudgmentTable(self.database, clock=clock)
        self.mappings = MappingTable(self.database, clock=clock)
        self.benchmarks = BenchmarkTable(self.database, clock=clock)
        self.losses = LossTable(self.database, clock=clock)
        self.jobs = JobTable(self.database, clock=clock, leases=self.leases)
        self.events = EventTable(self.database, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def active_runs(self) -> int:
        """Return how many runs are being worked on; an answer shows that the database answers."""
        running = [status.value for status in RunStatus if status.running]
        statement = select(func.count()).where(RUNS.c.status.in_(running))
        with self.database.reading() as connection:
            return int(connection.execute(statement).scalar_one())

    def close(self) -> None:
        """Release all jobs and runs, and close the database; calling it twice is fine."""
        self.leases.close()
        self.database.close()
