"""PostgreSQL with the pgvector extension: a table with a typed column for each namespace.

Names of tables are composed of hashes; namespaces, keys and vectors travel as parameters.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from threading import RLock
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.engines.vectors.store import Neighbour
from karat.errors import InputError, KaratError, MissingExtra

try:
    import psycopg
    from pgvector import Vector
    from pgvector.psycopg import register_vector
    from psycopg.sql import SQL, Composed, Identifier, Literal
except ImportError as missing:
    raise MissingExtra(
        "psycopg and pgvector", extra="pgvector", purpose="the vector back end 'pgvector'"
    ) from missing


P = ParamSpec("P")
T = TypeVar("T")

# The longest that the type `vector` stores, and the longest that a graph (HNSW) indexes.
LONGEST = 16_000
LONGEST_IN_GRAPH = 2_000
# Two processes that open a fresh database at once would otherwise both create the tables.
SETUP_LOCK = 7_236_114_508
# The most candidates that a search of the graph may look at.
MOST_CANDIDATES = 1_000
SETUP = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """CREATE TABLE IF NOT EXISTS karat_namespaces (
        namespace text PRIMARY KEY,
        dimension integer NOT NULL
    )""",
)
# Byte order of keys, as Python compares them, whatever the database's language. The free space of
# each page takes the new version of a row that is marked, without a new entry in the indexes.
TABLE = SQL("""
    CREATE TABLE IF NOT EXISTS {table} (
        key text COLLATE "C" PRIMARY KEY,
        embedding vector({dimension}) NOT NULL,
        snapshots text[] NOT NULL DEFAULT '{{}}'
    ) WITH (fillfactor = 70)
""")
GRAPH = SQL("CREATE INDEX IF NOT EXISTS {graph} ON {table} USING hnsw (embedding vector_ip_ops)")
DIMENSION = "SELECT dimension FROM karat_namespaces WHERE namespace = %s"
NAMESPACES = "SELECT namespace FROM karat_namespaces"
# The update changes nothing; it locks the row and returns it, whether or not it was there before.
CLAIM = """
    INSERT INTO karat_namespaces (namespace, dimension) VALUES (%s, %s)
    ON CONFLICT (namespace) DO UPDATE SET namespace = EXCLUDED.namespace
    RETURNING dimension
"""
FORGET = "DELETE FROM karat_namespaces WHERE namespace = %s"
UPSERT = SQL("""
    INSERT INTO {table} (key, embedding) VALUES (%s, %s)
    ON CONFLICT (key) DO UPDATE SET embedding = EXCLUDED.embedding, snapshots = '{{}}'
""")
ADD = SQL("INSERT INTO {table} (key, embedding) VALUES (%s, %s) ON CONFLICT (key) DO NOTHING")
DELETE = SQL("DELETE FROM {table} WHERE key = ANY(%s)")
DROP = SQL("DROP TABLE IF EXISTS {table}")
COUNT = SQL("SELECT count(*) FROM {table} WHERE {condition}")
HELD = SQL("SELECT key FROM {table} WHERE key = ANY(%s)")
MARK = SQL("""
    UPDATE {table} SET snapshots = array_append(snapshots, %s)
    WHERE key = ANY(%s) AND NOT snapshots @> ARRAY[%s]
""")
VECTORS = SQL("SELECT key, embedding FROM {table} WHERE key = ANY(%s)")
# The operator gives the negative inner product, which is minus the cosine of unit vectors. A sum
# is not a column of an index: with it, every row is compared.
NEAREST = SQL("""
    SELECT key, embedding <#> %(vector)s AS distance FROM {table} WHERE {condition}
    ORDER BY (embedding <#> %(vector)s) {exactly}, key LIMIT %(most)s
""")
EVERYWHERE = SQL("true")
WITHIN = SQL("snapshots @> ARRAY[%(snapshot)s]")
# Tables of earlier versions held all namespaces in one untyped column.
OLD_TABLE = "SELECT to_regclass('karat_vectors') IS NOT NULL"
MOVE = SQL("""
    INSERT INTO {table} (key, embedding)
    SELECT key, embedding FROM karat_vectors WHERE namespace = %s
""")
ALL_NAMESPACES = "SELECT namespace, dimension FROM karat_namespaces"


class _ConnectionLost(KaratError):
    """The server has ended the connection."""


def _reconnecting(
    method: Callable[Concatenate["PgVectorStore", P], T],
) -> Callable[Concatenate["PgVectorStore", P], T]:
    """Return *method* with a second attempt on a new connection if the first one was lost.

    A method is one statement or one transaction, and repeating it does no harm.
    """

    @wraps(method)
    def call(store: "PgVectorStore", /, *args: P.args, **options: P.kwargs) -> T:
        try:
            return method(store, *args, **options)
        except _ConnectionLost:
            store.reconnect()
            return method(store, *args, **options)

    return call


class PgVectorStore:
    """A table ``karat_v_<hash>`` per namespace, in the first schema of the search path.

    *dsn* is a PostgreSQL connection string; it is never shown, since it may contain a password.
    *dsn_env* is an environment variable with it instead. The role must be allowed to create tables
    there, and the extension if the database lacks it. With *exact* False, searches use a graph
    (HNSW), which is built after the first upload, and may miss items. A connection that was lost,
    as by a restart of the server, is opened again by the next call.
    """

    def __init__(self, *, dsn: str = "", dsn_env: str = "", exact: bool = True) -> None:
        """Connect, and create extension and tables where they are missing."""
        if bool(dsn) == bool(dsn_env):
            raise InputError(
                "expected either dsn, a connection string, or dsn_env, the environment variable "
                "that has it"
            )
        if dsn_env and not os.environ.get(dsn_env):
            raise InputError(f"the environment variable {dsn_env} of dsn_env is not set")
        self._lock = RLock()
        self._exact = exact
        self._with_graph: set[str] = set()
        self._dsn = dsn or os.environ[dsn_env]
        self._connection = _connect(self._dsn)
        try:
            with self._asking(), self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", [SETUP_LOCK])
                for statement in SETUP:
                    self._connection.execute(statement)
                self._move_old_rows()
            register_vector(self._connection)
        except KaratError:
            self.close()
            raise

    def reconnect(self) -> None:
        """Open a new connection if the server has ended this one."""
        with self._asking():
            if self._connection.broken:
                self._connection = _connect(self._dsn)
                register_vector(self._connection)

    def _move_old_rows(self) -> None:
        row = self._connection.execute(OLD_TABLE).fetchone()
        if row and row[0]:
            for namespace, dimension in self._connection.execute(ALL_NAMESPACES).fetchall():
                self._create(namespace, dimension)
                self._connection.execute(_of(MOVE, namespace), [namespace])
            self._connection.execute("DROP TABLE karat_vectors")

    @_reconnecting
    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        with self._asking():
            row = self._connection.execute(DIMENSION, [namespace]).fetchone()
        return None if row is None else int(row[0])

    @_reconnecting
    def namespaces(self) -> list[str]:
        """Return the existing namespaces."""
        with self._asking():
            return [row[0] for row in self._connection.execute(NAMESPACES)]

    def upsert(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace rows, all or none; a replaced row is in no snapshot."""
        self._write(UPSERT, namespace, keys, vectors)

    def add(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert rows, without replacing any."""
        self._write(ADD, namespace, keys, vectors)

    @_reconnecting
    def _write(
        self, statement: SQL, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        given = vectors.shape[1]
        if given > LONGEST:
            raise InputError(
                f"the embedding has {given} dimensions; pgvector stores at most {LONGEST}"
            )
        with self._asking(), self._connection.transaction(), self._connection.cursor() as cursor:
            row = cursor.execute(CLAIM, [namespace, given]).fetchone()
            if row is None or row[0] != given:
                raise InputError(
                    f"the embedding has {given} dimensions; namespace {namespace!r} expects "
                    f"{row and row[0]}"
                )
            self._create(namespace, given)
            # Sorted: two processes that lock rows in different orders could wait for each other.
            rows = sorted(zip(keys, vectors, strict=True), key=lambda pair: pair[0])
            cursor.executemany(_of(statement, namespace), rows)

    def _create(self, namespace: str, dimension: int) -> None:
        table = Identifier(_table(namespace))
        self._connection.execute(TABLE.format(table=table, dimension=Literal(dimension)))

    @_reconnecting
    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove rows and return how many there were."""
        with self._asking():
            return self._connection.execute(_of(DELETE, namespace), [list(keys)]).rowcount

    @_reconnecting
    def drop(self, namespace: str) -> None:
        """Remove the namespace with its rows."""
        with self._asking(), self._connection.transaction():
            self._connection.execute(FORGET, [namespace])
            self._connection.execute(_of(DROP, namespace))
        self._with_graph.discard(namespace)

    @_reconnecting
    def count(self, namespace: str, snapshot: str = "") -> int:
        """Return the number of rows."""
        statement = COUNT.format(
            table=Identifier(_table(namespace)), condition=WITHIN if snapshot else EVERYWHERE
        )
        with self._asking():
            row = self._connection.execute(statement, {"snapshot": snapshot}).fetchone()
        return int(row[0]) if row else 0

    @_reconnecting
    def held(self, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return the keys that are stored."""
        if self.dimension(namespace) is None:
            return set()
        with self._asking():
            rows = self._connection.execute(_of(HELD, namespace), [list(keys)])
            return {row[0] for row in rows}

    @_reconnecting
    def mark(self, namespace: str, snapshot: str, keys: Sequence[str]) -> None:
        """Add the name of *snapshot* to each row; build the graph if searches use it."""
        with self._asking():
            # In the order of keys, as in an upload.
            values = [snapshot, sorted(keys), snapshot]
            self._connection.execute(_of(MARK, namespace), values)
        if not self._exact:
            self._has_graph(namespace, self.dimension(namespace) or 0)

    @_reconnecting
    def nearest(
        self,
        namespace: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        snapshot: str = "",
        exact: bool | None = None,
    ) -> list[Neighbour]:
        """Return the nearest rows."""
        if exact is None:
            exact = self._exact
        compares_all = exact or not self._has_graph(namespace, len(vector))
        statement = NEAREST.format(
            table=Identifier(_table(namespace)),
            condition=WITHIN if snapshot else EVERYWHERE,
            exactly=SQL("+ 0" if compares_all else ""),
        )
        # A bigint is the most that LIMIT takes.
        values = {"vector": vector, "snapshot": snapshot, "most": min(k, 2**63 - 1)}
        with self._asking(), self._connection.transaction():
            if not compares_all:
                # Rows of other snapshots are skipped; without this, too few would be left.
                self._connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                width = SQL("SET LOCAL hnsw.ef_search = {}")
                self._connection.execute(width.format(Literal(min(max(k, 40), MOST_CANDIDATES))))
            rows = self._connection.execute(statement, values).fetchall()
        return [Neighbour(key, min(max(-distance, -1.0), 1.0)) for key, distance in rows]

    @_reconnecting
    def vectors(self, namespace: str, keys: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of *keys*."""
        with self._asking():
            rows: dict[str, Vector] = dict(
                self._connection.execute(_of(VECTORS, namespace), [list(keys)]).fetchall()
            )
        return np.array([rows[key].to_numpy() for key in keys], np.float32)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @_reconnecting
    def _has_graph(self, namespace: str, dimension: int) -> bool:
        """Build the graph of *namespace* if it has none; False if its vectors are too long."""
        if dimension > LONGEST_IN_GRAPH:
            return False
        if namespace not in self._with_graph:
            table = _table(namespace)
            graph = GRAPH.format(graph=Identifier(f"{table}_graph"), table=Identifier(table))
            with self._asking(), self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", [SETUP_LOCK])
                self._connection.execute(graph)
            self._with_graph.add(namespace)
        return True

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Lock the connection for one thread; turn errors of the driver into one sentence."""
        with self._lock:
            try:
                yield
            except psycopg.Error as error:
                kind = _ConnectionLost if self._connection.broken else KaratError
                raise kind(f"PostgreSQL failed: {error}") from error


def _connect(dsn: str) -> "psycopg.Connection":
    try:
        return psycopg.connect(dsn, autocommit=True)
    except psycopg.ProgrammingError:
        raise InputError(
            "dsn is not a PostgreSQL connection string; expected postgresql://user@host/database"
        ) from None
    except psycopg.OperationalError as error:
        raise KaratError(f"PostgreSQL does not answer: {error}") from error


def _table(namespace: str) -> str:
    """Return the name of the table of *namespace*, which may have letters that tables lack."""
    return f"karat_v_{sha256(namespace.encode()).hexdigest()[:24]}"


def _of(statement: SQL, namespace: str) -> Composed:
    return statement.format(table=Identifier(_table(namespace)))
