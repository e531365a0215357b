"""Archives of strangers: what is in them, and what they may not do."""

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from karat.errors import InputError, LimitExceeded
from karat.extensions.service.archives import ArchiveLimits, unpack

LIMITS = ArchiveLimits(unpacked_bytes=10_000_000, files=50, ratio=100)
FILES = {"docs/a.md": b"# A\n", "b.py": b"b = 1\n"}


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: Mapping[str, bytes], *, mode: str = "w:gz", **changed: object) -> bytes:
    """Return a tar file; *changed* are attributes that every entry gets."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            for field, value in changed.items():
                setattr(entry, field, value)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture
def unpacked(tmp_path: Path) -> Callable[..., dict[str, bytes]]:
    """Return what unpacks bytes and gives back what then lies on disk."""

    def run(data: bytes, limits: ArchiveLimits = LIMITS) -> dict[str, bytes]:
        archive, target = tmp_path / "upload", tmp_path / "below" / "target"
        archive.write_bytes(data)
        try:
            unpack(archive, target, limits)
        finally:
            left = [path.name for path in (tmp_path / "below").iterdir()]
            assert left in ([], ["target"]), "nothing half done stays behind"
            assert sorted(path.name for path in tmp_path.iterdir()) == ["below", "upload"]
        files = [path for path in target.rglob("*") if path.is_file()]
        return {path.relative_to(target).as_posix(): path.read_bytes() for path in files}

    return run


Unpacked = Callable[..., dict[str, bytes]]


@pytest.mark.parametrize(
    "data", [zipped(FILES), tarred(FILES), tarred(FILES, mode="w")], ids=["zip", "tar.gz", "tar"]
)
def test_files_come_out_as_they_went_in(unpacked: Unpacked, data: bytes) -> None:
    assert unpacked(data) == FILES


NAMES = ["../a", "/etc/a", "a/../../b", "..\\a", "C:\\a", "c:a", "a\x00b", "/"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
def test_a_name_never_leads_out(unpacked: Unpacked, name: str, pack: Callable[..., bytes]) -> None:
    try:
        files = unpacked(pack({name: b"x"}))
    except InputError:
        return
    # The standard library cuts a name at NUL.
    assert list(files) == ["a"]
    assert "\0" in name


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
)
def test_links_and_devices_are_refused(unpacked: Unpacked, kind: bytes) -> None:
    data = tarred({"a": b"", "b": b""}, type=kind, linkname="/etc/passwd", size=0)
    with pytest.raises(InputError, match="not a regular file"):
        unpacked(data)


def test_a_link_in_a_zip_is_refused(unpacked: Unpacked) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="not a regular file"):
        unpacked(out.getvalue())


@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
def test_a_bomb_is_left_unexploded(unpacked: Unpacked, pack: Callable[..., bytes]) -> None:
    bomb = pack({"zeros": bytes(20_000_000)})
    assert len(bomb) < 50_000
    with pytest.raises(LimitExceeded, match="unpacks to more than"):
        unpacked(bomb)


def test_too_many_entries(unpacked: Unpacked) -> None:
    with pytest.raises(LimitExceeded, match="more than 50 entries"):
        unpacked(zipped({f"{number}": b"" for number in range(51)}))


def test_one_name_twice(unpacked: Unpacked) -> None:
    with pytest.raises(InputError, match="twice"):
        unpacked(tarred({"a": b"1", "./a": b"2"}))


def test_a_file_that_is_a_folder_too(unpacked: Unpacked, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be unpacked: File exists") as refused:
        unpacked(tarred({"a": b"1", "a/b": b"2"}))
    assert str(tmp_path) not in str(refused.value), "where uploads lie is nobody's business"


def test_a_header_that_fills_the_memory(unpacked: Unpacked) -> None:
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 5_000_000
    data = header.tobuf() + bytes(header.size)
    with pytest.raises(LimitExceeded, match="header of more than"):
        unpacked(gzip.compress(data), ArchiveLimits(10_000_000, 50, 10_000))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"\x1f\x8bbroken", b"hello" * 500])
def test_what_is_no_archive(unpacked: Unpacked, data: bytes) -> None:
    with pytest.raises(InputError, match="archive"):
        unpacked(data)


def test_a_file_cut_short(unpacked: Unpacked) -> None:
    data = tarred({"a": bytes(range(256)) * 200})
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpacked(data[: len(data) // 2])


def test_an_encrypted_entry(unpacked: Unpacked) -> None:
    data = bytearray(zipped({"a": b"x"}))
    # The bit that says so, in both of its headers.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match="encrypted"):
        unpacked(bytes(data))
