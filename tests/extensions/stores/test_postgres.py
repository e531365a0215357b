from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from karat.errors import InputError, KaratError
from karat.extensions.stores.postgres import PgVectorStore
from karat.testing import VectorStoreSuite
from karat.testing.vectors import keys_near, write


@pytest.mark.parametrize("exact", [True, False])
class TestPgVector(VectorStoreSuite):
    @pytest.fixture
    def store(self, database: str, exact: bool) -> Iterator[PgVectorStore]:
        store = PgVectorStore(dsn=database, exact=exact)
        yield store
        store.close()


def test_the_graph_is_used_and_finds_most(database: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_000, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = [f"{number:04}" for number in range(len(rows))]
    store = PgVectorStore(dsn=database, exact=False)
    store.add("ns", keys, rows)
    store.mark("ns", "third", keys[::3])
    near = {each.key for each in store.nearest("ns", rows[0], 10, snapshot="third")}
    exact = {each.key for each in store.nearest("ns", rows[0], 10, snapshot="third", exact=True)}
    assert len(near & exact) >= 8
    with psycopg.connect(database) as connection:
        column = "SELECT count(*) FROM information_schema.columns WHERE udt_name = 'vector'"
        assert connection.execute(column).fetchone() == (1,)
    assert count_graphs(database) == 1
    store.close()


def test_the_graph_is_built_before_the_first_search(database: str) -> None:
    store = PgVectorStore(dsn=database)
    store.add("ns", ["a", "b"], np.eye(2, dtype=np.float32))
    store.mark("ns", "s", ["a", "b"])
    store.close()
    assert count_graphs(database) == 0
    store = PgVectorStore(dsn=database, exact=False)
    store.mark("ns", "s", [])
    assert count_graphs(database) == 1
    assert store.count("ns", "s") == 2
    store.close()


def count_graphs(database: str) -> int:
    with psycopg.connect(database) as connection:
        indexes = connection.execute("SELECT indexdef FROM pg_indexes").fetchall()
    return sum("USING hnsw" in row[0] for row in indexes)


def test_tables_of_an_earlier_version_are_moved(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TABLE karat_namespaces (namespace text PRIMARY KEY, dimension integer NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE karat_vectors (namespace text, key text, embedding vector NOT NULL)"
        )
        connection.execute("INSERT INTO karat_namespaces VALUES ('ns', 2)")
        connection.execute("INSERT INTO karat_vectors VALUES ('ns', 'a', '[1,0]')")
    with closing(PgVectorStore(dsn=database)) as store:
        assert keys_near(store, "ns", [1.0, 0.0], 10) == ["a"]
    with closing(PgVectorStore(dsn=database)) as store:
        assert store.count("ns") == 1


def test_a_connection_string_from_the_environment(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VECTORS", database)
    PgVectorStore(dsn_env="VECTORS").close()
    monkeypatch.delenv("VECTORS")
    with pytest.raises(InputError, match="variable VECTORS of dsn_env is not set"):
        PgVectorStore(dsn_env="VECTORS")


def test_what_is_written_outlives_the_connection(database: str) -> None:
    with closing(PgVectorStore(dsn=database)) as store:
        write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    with closing(PgVectorStore(dsn=database)) as store:
        assert keys_near(store, "ns", [0.0, 1.0], 10) == ["b", "a"]


def test_several_may_set_up_one_database_at_once(database: str) -> None:
    def open_and_write(number: int) -> None:
        with closing(PgVectorStore(dsn=database)) as store:
            write(store, "ns", {f"{number}-{row}": [1.0, row] for row in range(20)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(open_and_write, range(4)))
    with closing(PgVectorStore(dsn=database)) as store:
        assert store.count("ns") == 80


def test_threads_may_share_one_connection(database: str) -> None:
    with closing(PgVectorStore(dsn=database)) as store:

        def write_and_read(writer: int) -> None:
            for number in range(10):
                write(store, "ns", {f"{writer}-{number}": [1.0, number]})
                keys_near(store, "ns", [1.0, 0.0], 3)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write_and_read, range(4)))
        assert store.count("ns") == 40


def test_a_dimension_that_another_process_chose_meanwhile(database: str) -> None:
    store = PgVectorStore(dsn=database)
    store.upsert("ns", ["a"], np.array([[1.0, 0.0]], dtype=np.float32))
    with pytest.raises(InputError, match="3 dimensions; namespace 'ns' expects 2"):
        store.upsert("ns", ["b"], np.array([[1.0, 0.0, 0.0]], dtype=np.float32))
    assert store.count("ns") == 1
    store.close()


def test_an_upsert_writes_all_or_nothing(database: str) -> None:
    store = PgVectorStore(dsn=database)
    with pytest.raises(KaratError, match="PostgreSQL failed"):
        store.upsert("ns", ["a", "b\0"], np.eye(2, dtype=np.float32))
    assert store.namespaces() == []
    store.close()


def test_vectors_longer_than_the_type(database: str) -> None:
    with (
        closing(PgVectorStore(dsn=database)) as store,
        pytest.raises(InputError, match="16001 dimensions; pgvector stores at most 16000"),
    ):
        write(store, "ns", {"a": [1.0] * 16_001})


def test_a_connection_that_was_lost(database: str) -> None:
    store = PgVectorStore(dsn=database)
    write(store, "ns", {"a": [1.0, 0.0]})
    store.close()
    with pytest.raises(KaratError, match="PostgreSQL failed: the connection is closed"):
        store.count("ns")


def test_a_server_that_ends_connections(database: str) -> None:
    def end_connections() -> None:
        end = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        with psycopg.connect(database) as connection:
            ended = connection.execute(f"{end} WHERE application_name = 'ended'").fetchall()
        assert ended == [(True,)]

    store = PgVectorStore(dsn=make_conninfo(database, application_name="ended"))
    end_connections()
    store.upsert("ns", ["a", "b"], np.eye(2, dtype=np.float32))
    store.mark("ns", "s", ["a"])
    end_connections()
    near = store.nearest("ns", np.array([1, 0], np.float32), 2, snapshot="s")
    assert [each.key for each in near] == ["a"]
    end_connections()
    assert store.vectors("ns", ["b"]).tolist() == [[0, 1]]
    store.close()
    with pytest.raises(KaratError, match="PostgreSQL failed: the connection is closed"):
        store.count("ns")


def test_a_role_that_may_not_create_tables(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE ROLE karat_reader LOGIN")
        try:
            with pytest.raises(KaratError, match="PostgreSQL failed: permission denied"):
                PgVectorStore(dsn=make_conninfo(database, user="karat_reader"))
        finally:
            connection.execute("DROP ROLE karat_reader")


def test_a_server_that_is_not_there_and_a_dsn_that_is_none() -> None:
    with pytest.raises(KaratError, match="PostgreSQL does not answer"):
        PgVectorStore(dsn="postgresql://127.0.0.1:1/x?connect_timeout=1")
    with pytest.raises(InputError, match="dsn is not a PostgreSQL connection string") as caught:
        PgVectorStore(dsn="secret words")
    assert "secret" not in str(caught.value)
