"""What is made before a service answers."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.service.run import check
from karat.service.settings import ServiceSettings


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
