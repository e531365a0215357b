from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from karat.errors import InputError
from karat.system.packs import REMOTE, PackTier, TieredCache, _entries, with_remote
from karat.system.sqlite import KeyValueFile


def entries(*numbers: int) -> dict[bytes, bytes]:
    return {sha256(b"%d" % n).digest(): b"value %d " % n * (n % 5) for n in numbers}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        yield f"file://{tmp_path}/shared"
    else:
        folder = f"memory://{uuid4().hex}"
        yield folder
        fsspec.filesystem("memory").store.clear()


def test_another_machine_finds_what_one_has_stored(url: str) -> None:
    first, second = PackTier(url, "vectors"), PackTier(url, "vectors")
    values = entries(*range(10))
    first.put(values)
    first.flush()
    assert second.get(list(values)) == values
    assert second.get([b"x" * 32]) == {}
    assert PackTier(url, "chunks").get(list(values)) == {}


def test_full_packs_are_written_before_the_end(url: str) -> None:
    writer = PackTier(url, "v", entries=4)
    values = entries(*range(10))
    writer.put(values)
    assert len(PackTier(url, "v").get(list(values))) == 8
    writer.flush()
    writer.flush()
    assert PackTier(url, "v").get(list(values)) == values


def test_packs_of_others_are_seen_after_a_while(url: str) -> None:
    clock = Clock()
    reader = PackTier(url, "v", clock=clock)
    values = entries(1, 2)
    assert reader.get(list(values)) == {}
    writer = PackTier(url, "v")
    writer.put(values)
    writer.flush()
    assert reader.get(list(values)) == {}
    clock.now = 60.0
    assert reader.get(list(values)) == values


def test_stored_values_are_not_written_again(url: str) -> None:
    writer = PackTier(url, "v")
    writer.put(entries(1, 2))
    writer.flush()
    other = PackTier(url, "v")
    other.get(list(entries(1)))
    other.put(entries(1, 2))
    other.flush()
    files, path = fsspec.core.url_to_fs(url)
    assert len(files.ls(f"{path}/v")) == 1


@pytest.mark.parametrize("damage", [b"", b"KARATPK1 but shorter", None])
def test_a_damaged_pack_is_a_miss(tmp_path: Path, damage: bytes | None) -> None:
    url = f"file://{tmp_path}"
    values = entries(1, 2)
    writer = PackTier(url, "v")
    writer.put(values)
    writer.flush()
    (pack,) = (tmp_path / "v").iterdir()
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-1] + b"?" if damage is None else damage)
    clock = Clock()
    reader = PackTier(url, "v", clock=clock)
    assert reader.get(list(values)) == {}
    pack.write_bytes(whole)
    clock.now = 60.0
    assert reader.get(list(values)) == values


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    tier = PackTier(f"file://{tmp_path}/file", "v", entries=1)
    with pytest.warns(
        UserWarning, match=rf"{REMOTE}=.* cannot be used: .* local cache only"
    ) as got:
        tier.put(entries(1))
    tier.put(entries(2))
    assert tier.get(list(entries(1))) == {}
    assert len(got) == 1


def test_fetched_values_stay_in_the_local_cache(url: str, tmp_path: Path) -> None:
    values = entries(1, 2, 3)
    one = TieredCache(KeyValueFile(tmp_path / "a.sqlite", version=1), PackTier(url, "v"))
    one.put(values)
    one.close()
    two = TieredCache(KeyValueFile(tmp_path / "b.sqlite", version=1), PackTier(url, "v"))
    assert two.get(list(entries(2))) == entries(2)
    two.close()
    # Only what was needed counts as used, or the size of the local cache would mean nothing.
    with KeyValueFile(tmp_path / "b.sqlite", version=1) as local:
        assert local.get(list(values)) == entries(2)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    writer = PackTier(f"file://{tmp_path}", "v")
    writer.put(entries(1))
    writer.flush()
    for name in ("backup.pack", "x-99999999999999999.pack", f"{'a' * 64}-999999.pack", "notes"):
        (tmp_path / "v" / name).write_bytes(b"?")
    assert PackTier(f"file://{tmp_path}", "v").get(list(entries(1))) == entries(1)


def test_a_deleted_pack_is_a_miss_and_no_failure(tmp_path: Path) -> None:
    url = f"file://{tmp_path}"
    for number in (1, 2):
        writer = PackTier(url, "v")
        writer.put(entries(number))
        writer.flush()
    reader = PackTier(url, "v")
    assert reader.get(list(entries(1))) == entries(1)
    for pack in (tmp_path / "v").iterdir():
        if entries(1).keys() & dict(_entries(pack.read_bytes(), 1)).keys():
            pack.unlink()
    assert reader.get(list(entries(1, 2))) == entries(2)


def test_any_error_of_the_file_system_costs_one_warning(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoCredentials(Exception):
        pass

    def fails(*args: object, **options: object) -> None:
        raise NoCredentials("no credentials")

    tier = PackTier(url, "v")
    monkeypatch.setattr(tier._files, "ls", fails)
    with pytest.warns(UserWarning, match="cannot be used: no credentials"):
        assert tier.get([b"x" * 32]) == {}


def test_the_environment_names_the_folder(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with KeyValueFile(tmp_path / "a.sqlite", version=1) as local:
        monkeypatch.delenv(REMOTE, raising=False)
        assert with_remote(local, "v") is local
        monkeypatch.setenv(REMOTE, url)
        tiered = with_remote(local, "v")
        tiered.put(entries(5))
        tiered.close()
    assert PackTier(url, "v").get(list(entries(5))) == entries(5)


def test_an_address_that_nothing_can_open() -> None:
    with pytest.raises(InputError, match=f"{REMOTE} is 'nowhere://x': .* expected a folder such"):
        PackTier("nowhere://x", "v")


def test_packs_of_others_are_seen_at_once_where_they_are_expected(url: str) -> None:
    reader = PackTier(url, "v", clock=lambda: 0.0)
    values = entries(1, 2)
    assert reader.get(list(values)) == {}
    writer = PackTier(url, "v")
    writer.put(values)
    writer.flush()
    assert reader.get(list(values)) == {}
    reader.see_new()
    assert reader.get(list(values)) == values


def test_local_values_that_the_tier_lacks_are_published(url: str, tmp_path: Path) -> None:
    old, new = entries(1, 2), entries(3)
    with KeyValueFile(tmp_path / "cache.sqlite", version=1) as local:
        local.put(old)
    writer = PackTier(url, "v")
    writer.put(entries(1))
    writer.flush()
    cache = TieredCache(
        KeyValueFile(tmp_path / "cache.sqlite", version=1), PackTier(url, "v", entries=2)
    )
    cache.put(new)
    cache.publish([*old, *new])
    cache.close()
    assert PackTier(url, "v").get([*old, *new]) == old | new
    files, path = fsspec.core.url_to_fs(url)
    assert sorted(name[-6:] for name in files.ls(f"{path}/v", detail=False)) == ["1.pack", "2.pack"]
