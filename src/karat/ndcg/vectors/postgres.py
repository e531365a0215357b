"""PostgreSQL with the pgvector extension: exact search by a scan of the namespace.

Every statement is a constant of this module; names, keys and vectors travel as parameters.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, KaratError, MissingExtra
from karat.ndcg.vectors.store import Neighbour

try:
    import psycopg
    from pgvector.psycopg import register_vector
except ImportError as missing:
    raise MissingExtra(
        "psycopg and pgvector", extra="pgvector", purpose="the vector back end 'pgvector'"
    ) from missing

__all__ = ["PgVectorStore"]

# The longest that the type `vector` stores.
LONGEST = 16_000
# Two processes that open a fresh database at once would otherwise both create the tables.
SETUP_LOCK = 7_236_114_508
SETUP = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """CREATE TABLE IF NOT EXISTS karat_namespaces (
        namespace text PRIMARY KEY,
        dimension integer NOT NULL
    )""",
    # Byte order of keys, as Python compares them, whatever the database's language.
    """CREATE TABLE IF NOT EXISTS karat_vectors (
        namespace text NOT NULL REFERENCES karat_namespaces ON DELETE CASCADE,
        key text COLLATE "C" NOT NULL,
        embedding vector NOT NULL,
        PRIMARY KEY (namespace, key)
    )""",
)
DIMENSION = "SELECT dimension FROM karat_namespaces WHERE namespace = %s"
NAMESPACES = "SELECT namespace FROM karat_namespaces"
# The update changes nothing; it locks the row and returns it, whether or not it was there before.
CLAIM = """
    INSERT INTO karat_namespaces AS known (namespace, dimension) VALUES (%s, %s)
    ON CONFLICT (namespace) DO UPDATE SET dimension = known.dimension
    RETURNING dimension
"""
UPSERT = """
    INSERT INTO karat_vectors (namespace, key, embedding) VALUES (%s, %s, %s)
    ON CONFLICT (namespace, key) DO UPDATE SET embedding = excluded.embedding
"""
DELETE = "DELETE FROM karat_vectors WHERE namespace = %s AND key = ANY(%s)"
DROP = "DELETE FROM karat_namespaces WHERE namespace = %s"
COUNT = "SELECT count(*) FROM karat_vectors WHERE namespace = %s"
# The operator gives the negative inner product, which is minus the cosine of unit vectors.
NEAREST = """
    SELECT key, embedding <#> %s AS distance FROM karat_vectors
    WHERE namespace = %s ORDER BY distance, key LIMIT %s
"""


class PgVectorStore:
    """Two tables, ``karat_namespaces`` and ``karat_vectors``, in the search path's first schema.

    *dsn* is a PostgreSQL connection string; it is never shown, since it may hold a password. The
    role must be allowed to create tables there, and the extension where the database lacks it.
    """

    def __init__(self, *, dsn: str) -> None:
        """Connect, and create extension and tables where they are missing."""
        self._lock = RLock()
        try:
            self._connection = psycopg.connect(dsn, autocommit=True)
        except psycopg.ProgrammingError:
            raise InputError(
                "dsn is not a PostgreSQL connection string; expected postgresql://user@host/database"
            ) from None
        except psycopg.OperationalError as error:
            raise KaratError(f"PostgreSQL does not answer: {error}") from error
        try:
            with self._asking(), self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", [SETUP_LOCK])
                for statement in SETUP:
                    self._connection.execute(statement)
            register_vector(self._connection)
        except KaratError:
            self.close()
            raise

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        with self._asking():
            row = self._connection.execute(DIMENSION, [namespace]).fetchone()
        return None if row is None else int(row[0])

    def namespaces(self) -> list[str]:
        """Return the existing namespaces."""
        with self._asking():
            return [row[0] for row in self._connection.execute(NAMESPACES)]

    def upsert(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace rows, all or none."""
        given = vectors.shape[1]
        if given > LONGEST:
            raise InputError(f"the embedding has {given} dimensions; pgvector stores {LONGEST}")
        with self._asking(), self._connection.transaction(), self._connection.cursor() as cursor:
            row = cursor.execute(CLAIM, [namespace, given]).fetchone()
            if row is None or row[0] != given:
                raise InputError(
                    f"the embedding has {given} dimensions; namespace {namespace!r} expects "
                    f"{row and row[0]}"
                )
            cursor.executemany(
                UPSERT,
                [(namespace, key, vector) for key, vector in zip(keys, vectors, strict=True)],
            )

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove rows and return how many there were."""
        with self._asking():
            return self._connection.execute(DELETE, [namespace, list(keys)]).rowcount

    def drop(self, namespace: str) -> None:
        """Remove the namespace with its rows."""
        with self._asking():
            self._connection.execute(DROP, [namespace])

    def count(self, namespace: str) -> int:
        """Return the number of rows."""
        with self._asking():
            row = self._connection.execute(COUNT, [namespace]).fetchone()
        return int(row[0]) if row else 0

    def nearest(self, namespace: str, vector: NDArray[np.float32], k: int) -> list[Neighbour]:
        """Return the nearest rows."""
        # A bigint is the most that LIMIT takes.
        wanted = min(k, 2**63 - 1)
        with self._asking():
            rows = self._connection.execute(NEAREST, [vector, namespace, wanted]).fetchall()
        return [Neighbour(key, min(max(-distance, -1.0), 1.0)) for key, distance in rows]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Lock the connection for one thread; turn errors of the driver into one sentence."""
        with self._lock:
            try:
                yield
            except psycopg.Error as error:
                raise KaratError(f"PostgreSQL failed: {error}") from error
