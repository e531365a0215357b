"""The size of the cache of vectors, and the start of the run that needs it."""

import time

import pytest

from karat.errors import InputError
from karat.system.sqlite import (
    DAY_S,
    DEFAULT_CACHE_BYTES,
    cache_size,
    needed_since,
    run_environment,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", DEFAULT_CACHE_BYTES),
        (" 1500 ", 1500),
        ("1.5k", 1500),
        ("20GB", 2 * 10**10),
        ("1 T", 10**12),
    ],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert cache_size({"KARAT_CACHE_SIZE": text}) == size


@pytest.mark.parametrize("text", ["much", "-1", "10 GiBi", "GB"])
def test_a_wrong_size_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match=r"KARAT_CACHE_SIZE.*such as 500MB"):
        cache_size({"KARAT_CACHE_SIZE": text})


def test_a_worker_needs_what_its_run_has_used(monkeypatch: pytest.MonkeyPatch) -> None:
    started = int(time.time()) - 600
    monkeypatch.setenv("KARAT_RUN_STARTED", str(started))
    assert needed_since() == started
    assert run_environment()["KARAT_RUN_STARTED"] == str(started)


def test_a_service_protects_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_RUN_STARTED", "1000")
    assert needed_since() == pytest.approx(time.time() - DAY_S, abs=60)


def test_a_process_is_its_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KARAT_RUN_STARTED", raising=False)
    assert time.time() - DAY_S <= needed_since() <= time.time()
