"""URLs choose stores."""

from pathlib import Path

import pytest

from karat.errors import InputError, UnknownName
from karat.experiments.store import STORES, SqlStore, open_store
from karat.testing.store import PLAN, OpenStore, PassTime, StoreSuite
from tests.lease_clock import LeaseClock


class TestStoreByUrl(StoreSuite):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/karat.db"

    @pytest.fixture
    def open_store(self, lease_clock: LeaseClock) -> OpenStore:
        return lease_clock.open_store

    @pytest.fixture
    def pass_time(self, lease_clock: LeaseClock) -> PassTime:
        return lease_clock.forward


def test_a_file_and_its_url_are_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("karat.db", new=True) as store:
        made = store.experiment(PLAN)
    for url in ("sqlite:///karat.db", f"sqlite:///{tmp_path}/karat.db", str(tmp_path / "karat.db")):
        with open_store(url) as store:
            assert store.latest().id == made


@pytest.mark.parametrize("url", ["other.db", "sqlite:///other.db"])
def test_a_file_that_is_missing_is_not_created(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"other\.db: no results stored yet"):
        open_store(url)
    assert not list(tmp_path.iterdir())


def test_an_unknown_scheme_lists_the_valid_ones_and_no_password() -> None:
    with pytest.raises(
        UnknownName, match="expected a file, or one of: sqlite://, postgresql://"
    ) as caught:
        open_store("mysql://ann:secret@db/karat")
    assert "secret" not in str(caught.value)


def test_every_scheme_can_be_loaded() -> None:
    assert [STORES.get(scheme) for scheme in STORES.built_in()] == [SqlStore, SqlStore]
