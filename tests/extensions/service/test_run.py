"""What is made before a service answers."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.store import migrations
from karat.experiments.store.database import Database
from karat.extensions.service.run import check
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.experiments.store.test_migrations import back_to_the_fourth


def test_what_it_keeps_is_for_its_owner_alone(settings: ServiceSettings, open_handed: None) -> None:
    check(settings)
    assert stat.S_IMODE(Path(settings.store).stat().st_mode) == 0o600
    assert stat.S_IMODE(settings.data.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be(settings: ServiceSettings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot create the folder for uploads"):
        check(replace(settings, data=tmp_path / "file" / "data"))


@pytest.mark.parametrize("wrong", [{"workers": -1}, {"analysts": 0}])
def test_numbers_of_processes_that_cannot_work(
    settings: ServiceSettings, wrong: dict[str, int]
) -> None:
    with pytest.raises(InputError, match="expected"):
        replace(settings, **wrong)  # type: ignore[arg-type]


def test_a_migration_is_reported(settings: ServiceSettings) -> None:
    assert check(settings) == []
    database = Database(settings.store)
    with database.writing() as connection:
        back_to_the_fourth(connection)
    database.close()
    (note,) = check(settings)
    assert f"was migrated from version 0004 to {migrations.REVISIONS[-1]} of its tables" in note


def test_all_services_of_a_store_have_one_folder_of_uploads(
    settings: ServiceSettings, tmp_path: Path
) -> None:
    check(settings)
    check(settings)
    other = replace(settings, data=tmp_path / "other")
    with pytest.raises(InputError, match=r"other is not the folder of uploads of this store; star"):
        check(other)
    settings.data.rename(other.data)
    check(other)


def owned_by(settings: ServiceSettings, *owners: str) -> None:
    with ServiceStore(settings.store) as store:
        for owner in owners:
            store.collections.add(owner, "C", description="", source={"kind": "x"}, index={})


def shared(settings: ServiceSettings) -> bool:
    with ServiceStore(settings.store) as store:
        return store.settings.sharing().shared


def test_a_store_is_shared_from_its_first_service_on(settings: ServiceSettings) -> None:
    assert check(settings) == []
    owned_by(settings, "ann", "bob")
    assert check(settings) == []
    assert shared(settings)
    check(replace(settings, shared=False))
    assert not shared(settings)
    assert check(settings) == []


def test_owners_that_saw_only_their_own_stay_separated(settings: ServiceSettings) -> None:
    owned_by(settings, "ann", "bob")
    for _ in range(2):
        (note,) = check(settings)
        assert "things of 2 owners, who see only their own; --shared lets all tokens" in note
        assert not shared(settings)
    assert check(replace(settings, shared=True)) == []
    assert shared(settings)
    assert check(settings) == []


def test_one_owner_does_not_keep_a_store_private(settings: ServiceSettings) -> None:
    owned_by(settings, "ann", "ann")
    assert check(settings) == []
    assert shared(settings)
