"""Corpora that travel: a repository, folder or BEIR corpus as one file, named by its content.

A slot on another machine finds a source in this order: the path or URL that KARAT_REPO_MAP gives
for it, the same path on its own disk, or the asset that the driver sends once to each machine.
"""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from io import BytesIO
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from karat.corpus import from_folder
from karat.corpus.git.objects import command, environment, git, git_blocks
from karat.corpus.git.repository import object_ids
from karat.errors import InputError
from karat.experiments.workers.sources import Source, missing_source
from karat.system.files import URL, cache_folder
from karat.system.sqlite import in_turn
from karat.system.tables import part_files

__all__ = [
    "REPO_MAP",
    "Asset",
    "add_part",
    "asset_folder",
    "assets_of",
    "build_asset",
    "file_parts",
    "has_asset",
    "localized",
]

REPO_MAP = "KARAT_REPO_MAP"
PART_BYTES = 8 * 1024**2
PACK, SHALLOW, NAMES, FILES = "objects.pack", "shallow", "names.json", "files"


@dataclass(frozen=True, slots=True)
class Asset:
    """The content of *place* that an experiment needs: of a repository only some *revisions*.

    *id* is the hash of the content, so that a machine that has it needs no other copy.
    """

    id: str
    kind: str
    place: str
    revisions: tuple[str, ...] = ()


def assets_of(sources: Iterable[Source]) -> dict[str, Asset]:
    """Return the asset of each place in *sources* that is here; texts travel with the source.

    A revision is a commit, a tag or HEAD, or a folder of one.
    """
    revisions: dict[tuple[str, str], dict[str, None]] = {}
    for source in sources:
        if source.kind != "texts" and Path(source.place).is_dir():
            of_place = revisions.setdefault((source.kind, source.place), {})
            if source.kind == "git":
                of_place[source.revision.partition(":")[0]] = None
    assets = {}
    for (kind, place), names in revisions.items():
        content = _commits(place, list(names)) if kind == "git" else _files_digest(kind, place)
        digest = sha256(f"{kind}\0{content}".encode()).hexdigest()[:32]
        assets[place] = Asset(digest, kind, place, tuple(names))
    return assets


def build_asset(asset: Asset, file: Path) -> None:
    """Write *asset* to *file*, a tar archive.

    Of a repository it has the trees and files of the revisions, but no history.
    """
    with tarfile.open(file, "w") as archive:
        if asset.kind == "git":
            _add_repository(archive, asset)
        else:
            for path, name in _corpus_files(asset.kind, asset.place):
                archive.add(path, f"{FILES}/{name}", recursive=False)


def asset_folder(asset_id: str) -> Path:
    """Return the folder of an asset on this machine; it exists if the asset is complete."""
    return cache_folder() / "assets" / asset_id


def has_asset(asset_id: str) -> bool:
    """Return whether this machine has the asset."""
    return asset_folder(asset_id).is_dir()


def file_parts(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield the parts of *file* for :func:`add_part`: number, count and bytes."""
    count = max(1, ceil(file.stat().st_size / PART_BYTES))
    with file.open("rb") as stream:
        for number in range(count):
            yield number, count, stream.read(PART_BYTES)


def add_part(asset_id: str, number: int, count: int, data: bytes) -> None:
    """Store part *number* of *count* of an asset that arrives; the last one unpacks it."""
    parts = asset_folder(f"{asset_id}.parts")
    parts.mkdir(parents=True, exist_ok=True)
    (parts / f"{number}.part").write_bytes(data)
    if len(list(parts.glob("*.part"))) < count:
        return
    with in_turn(parts.parent):
        if not asset_folder(asset_id).is_dir():
            _unpack(asset_id, [parts / f"{each}.part" for each in range(count)])
    shutil.rmtree(parts, ignore_errors=True)


def localized(source: Source, assets: Mapping[str, str]) -> Source:
    """Return *source* with the place that it has on this machine.

    *assets* has the id of the asset of each place. A source that is nowhere is returned unchanged;
    ``missing_source`` says what is missing.
    """
    if source.kind == "texts":
        return source
    if mapped := _mapped(source):
        return replace(source, place=mapped)
    if not missing_source([source]):
        return source
    folder = asset_folder(assets.get(source.place, "none"))
    if folder.is_dir():
        name = Path(source.place).name
        return replace(source, place=str(folder / name if source.kind == "git" else folder / FILES))
    return source


def _commits(place: str, names: Sequence[str]) -> str:
    return "\n".join(sorted(f"{name}={oid}" for name, oid in _resolved(place, names).items()))


def _resolved(place: str, names: Sequence[str]) -> dict[str, str]:
    found = dict(zip(names, object_ids(place, names, "commit"), strict=True))
    if bad := [name for name, oid in found.items() if not oid]:
        raise InputError(f"{place}: no commit {bad[0]!r}; expected a commit, a tag or HEAD")
    return found


def _add_repository(archive: tarfile.TarFile, asset: Asset) -> None:
    commits = _resolved(asset.place, asset.revisions)
    wanted = "".join(f"{oid}\n" for oid in sorted(set(commits.values()))).encode()
    options = ("--objects", "--no-walk", "--missing=allow-any", "--stdin")
    objects = git(asset.place, "rev-list", *options, given=wanted)
    names = b"".join(line.split(b" ")[0] + b"\n" for line in objects.splitlines())
    with TemporaryDirectory() as folder:
        pack = Path(folder) / PACK
        with pack.open("wb") as stream:
            for block in git_blocks(
                asset.place, "pack-objects", "--stdout", "-q", "--missing=allow-any", given=names
            ):
                stream.write(block)
        archive.add(pack, PACK)
    described = {"name": Path(asset.place).name, "commits": commits}
    for name, data in ((SHALLOW, wanted), (NAMES, json.dumps(described).encode())):
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, BytesIO(data))


def _corpus_files(kind: str, place: str) -> list[tuple[Path, str]]:
    """Return the files of a folder or BEIR corpus that Karat reads, with their names."""
    root = Path(place)
    if kind == "beir":
        parts = [*part_files(root, "corpus"), *part_files(root, "queries")]
        return [(part, part.relative_to(root).as_posix()) for part in parts]
    return [(root / document.path, document.path) for document in from_folder(root)]


def _files_digest(kind: str, place: str) -> str:
    digest = sha256()
    for path, name in sorted(_corpus_files(kind, place), key=lambda pair: pair[1]):
        with path.open("rb") as stream:
            content = file_digest(stream, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()


def _unpack(asset_id: str, parts: Sequence[Path]) -> None:
    """Unpack an asset beside its final place, then rename it, so that it is whole or absent."""
    final = asset_folder(asset_id)
    with TemporaryDirectory(dir=final.parent, prefix=f"{asset_id}.") as folder:
        whole = Path(folder) / "asset.tar"
        with whole.open("wb") as stream:
            for part in parts:
                with part.open("rb") as block:
                    shutil.copyfileobj(block, stream)
        ready = Path(folder) / "ready"
        with tarfile.open(whole) as archive:
            archive.extractall(ready, filter="data")
        if (ready / PACK).exists():
            _make_repository(ready)
        ready.rename(final)


def _make_repository(folder: Path) -> None:
    """Make a bare repository of an unpacked asset; its commits have no parents."""
    described = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    repository = folder / described["name"]
    git(str(folder), "init", "-q", "--bare", "--template=", repository.name)
    pack = repository / "objects" / "pack" / f"pack-{'0' * 40}.pack"
    pack.parent.mkdir(parents=True, exist_ok=True)
    (folder / PACK).rename(pack)
    (folder / SHALLOW).rename(repository / SHALLOW)
    git(str(repository), "index-pack", str(pack))
    for name, commit in described["commits"].items():
        if name == "HEAD":
            (repository / "HEAD").write_text(f"{commit}\n", encoding="ascii")
        elif name != commit:
            git(str(repository), "update-ref", f"refs/tags/{name}", commit)


def _mapped(source: Source) -> str:
    """Return the place that KARAT_REPO_MAP gives for *source*; "" for none.

    Its entries are FROM=TO, separated by semicolons: FROM is the path on the machine of the
    driver, or its last part; TO is a path here, or for a repository the URL to fetch from.
    """
    for entry in os.environ.get(REPO_MAP, "").split(";"):
        known, _, to = entry.strip().partition("=")
        if known and to and known in (source.place, _name(source.place)):
            if URL.fullmatch(to) and source.kind == "git":
                return _fetched(to, source.revision.partition(":")[0])
            return to
    return ""


def _fetched(url: str, revision: str) -> str:
    """Return the repository below the cache that has *revision*, fetched from *url* if needed."""
    place = cache_folder() / "repositories" / f"{sha256(url.encode()).hexdigest()[:16]}.git"
    place.mkdir(parents=True, exist_ok=True)
    with in_turn(place):
        if not (place / "objects").is_dir():
            git(str(place), "init", "-q", "--bare", "--template=", ".")
        if any(object_ids(str(place), [revision], "commit")):
            return str(place)
        wanted = ((revision,), ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"))
        for refs in wanted:
            # A server may offer branches only; the other settings forbid the network.
            done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
                [
                    *command(str(place), "-c", "protocol.allow=user", "fetch", "-q", "--no-tags"),
                    "--",
                    url,
                    *refs,
                ],
                env={**os.environ, **environment(), "HOME": os.environ.get("HOME", os.devnull)},
                capture_output=True,
                text=True,
                check=False,
            )
            if not done.returncode and any(object_ids(str(place), [revision], "commit")):
                return str(place)
    raise InputError(f"{url} has no revision {revision!r}: {done.stderr.strip()}")


def _name(place: str) -> str:
    return Path(place).name.removesuffix(".git")
