"""The same store in PostgreSQL."""

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from karat.errors import InputError, KaratError, MissingExtra, UnknownName
from karat.experiments.store import SqlStore
from karat.experiments.store.database import Database
from karat.experiments.store.recorder import store_dataset
from karat.testing.store import ANSWERS, PLAN, OpenStore, PassTime, StoreSuite
from tests.lease_clock import LeaseClock


class TestPostgres(StoreSuite):
    @pytest.fixture
    def place(self, address: str) -> str:
        return address

    @pytest.fixture
    def open_store(self, lease_clock: LeaseClock) -> OpenStore:
        return lease_clock.open_store

    @pytest.fixture
    def pass_time(self, lease_clock: LeaseClock) -> PassTime:
        return lease_clock.forward


def test_several_may_set_up_one_database_at_once(address: str) -> None:
    def open_and_write(number: int) -> bool:
        with SqlStore(address) as store:
            return store.add(f"{store.experiment(PLAN)}.1", *ANSWERS[number])

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(open_and_write, range(4))) == [True] * 4
    with SqlStore(address) as store:
        assert store.latest().runs[0].answers == 4


def test_a_gold_set_is_not_dropped_while_somebody_comes_to_need_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqlStore(address) as ours, SqlStore(address) as theirs:
        first = theirs.experiment(PLAN)

        def keep_and_be_interrupted(
            database: Database, connection: Connection, row: Mapping[str, object]
        ) -> None:
            store_dataset(database, connection, row)
            theirs.delete(first)

        monkeypatch.setattr(
            "karat.experiments.store.sql_store.store_dataset", keep_and_be_interrupted
        )
        second = ours.experiment(replace(PLAN, name="another"))
        (left,) = theirs.experiments()
        assert left.id == second
        assert len(theirs.dataset(left.dataset)) == left.queries
        theirs.delete(second)
        with pytest.raises(UnknownName, match="holds no gold set"):
            theirs.dataset(left.dataset)


def test_a_server_that_is_not_there() -> None:
    address = "postgresql://me:hidden@127.0.0.1:1/x?connect_timeout=1&sslpassword=hidden"
    with pytest.raises(
        KaratError, match=r"postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/x: "
    ) as told:
        SqlStore(address)
    assert "hidden" not in str(told.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        MissingExtra, match=r"needs the extra postgres: pip install .*\[postgres\]'"
    ):
        SqlStore("postgresql://127.0.0.1/x")


@pytest.mark.parametrize(
    "address",
    [
        *("mysql://me:hidden@host/x", "://", "http://host", "oracle://"),
        "postgresql://me:hidden@host:port/x",
    ],
)
def test_addresses_of_nothing_we_know(address: str) -> None:
    with pytest.raises(InputError, match="expected a file, or postgresql://user@host/") as told:
        SqlStore(address)
    assert "hidden" not in str(told.value)
