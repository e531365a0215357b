"""URLs choose executors."""

import pytest

from karat.errors import InputError, UnknownName
from karat.experiments import EXECUTORS, LocalExecutor, open_executor
from karat.registry import Registry
from tests.extension_kit import install_objects


def test_a_url_says_how_many_workers() -> None:
    assert open_executor("local", workers=3) == LocalExecutor(3)
    assert open_executor("LOCAL:8", workers=3) == LocalExecutor(8)


@pytest.mark.parametrize("url", ["local:", "local:0", "local:many", "local:-1"])
def test_a_number_of_workers_is_checked(url: str) -> None:
    if url == "local:":
        assert open_executor(url, workers=2) == LocalExecutor(2)
        return
    with pytest.raises(InputError, match="expected local or, for example, local:8"):
        open_executor(url)


@pytest.mark.parametrize("url", ["", "dusk://head:8786", "os:system"])
def test_an_unknown_scheme_lists_the_valid_ones(url: str) -> None:
    with pytest.raises(UnknownName, match="expected local"):
        open_executor(url)


def test_a_plug_in_adds_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    target = "tests.experiments.executors.test_registry:twice"
    install_objects(monkeypatch, "executor", {"twice": target})
    table = {"local": "karat.experiments.executors.local:local_executor"}
    plugged: Registry[object] = Registry("executor", table, closed=True)
    monkeypatch.setattr("karat.experiments.executors.base.EXECUTORS", plugged)
    assert open_executor("twice://somewhere", workers=4) == LocalExecutor(8)
    assert EXECUTORS.core() == ("local",)


def twice(address: str, workers: int) -> LocalExecutor:
    assert address == "//somewhere"
    return LocalExecutor(2 * workers)
