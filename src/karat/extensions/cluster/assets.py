"""Assets: the files of a corpus, sent once to each machine that lacks them.

A slot on another machine finds a source in this order: the path or URL that KARAT_REPO_MAP gives
for it, the same path on its own disk if the content is the same, or the asset that the driver sends
once to each machine. Revisions travel as ids of commits, so that a name such as HEAD means the same
on every machine.
"""

import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import file_digest, sha256
from io import BytesIO
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from karat.corpus import from_folder
from karat.corpus.git import object_ids
from karat.corpus.git_objects import command, environment, git, git_blocks
from karat.errors import InputError
from karat.experiments.workers.sources import Source
from karat.system.files import URL, cache_folder, without_user
from karat.system.locks import in_turn
from karat.system.sqlite import DAY_S
from karat.system.tables import part_files
from karat.system.words import first_few, join_names

REPO_MAP = "KARAT_REPO_MAP"
PART_BYTES = 8 * 1024**2
FETCH_S = 900.0
PACK, SHALLOW, REPOSITORY, FILES = "objects.pack", "shallow", "repository.git", "files"
SHA256_LENGTH = 64


def missing_source(sources: Iterable[Source]) -> str:
    """Return which of *sources* cannot be opened on this machine; "" if all can.

    Of a repository, its revisions are checked too.

    >>> missing_source([Source.of_texts({}), Source("folder", "/no/such/folder")])
    'no folder /no/such/folder'
    """
    revisions: dict[str, dict[str, None]] = {}
    for source in sources:
        if source.kind != "texts" and not Path(source.path).is_dir():
            return f"no folder {source.path}"
        if source.kind == "git":
            # A revision may name a folder of it.
            revisions.setdefault(source.path, {})[source.revision.partition(":")[0]] = None
    for path, names in revisions.items():
        try:
            oids = object_ids(path, list(names), "tree")
        except InputError as error:
            return str(error)
        if lacking := [name for name, oid in zip(names, oids, strict=True) if not oid]:
            return f"{path} does not have {join_names(first_few(lacking))}; git fetch may get it"
    return ""


class AssetReference(NamedTuple):
    """The reference of a unit to an asset: its id, and the commits of its revisions."""

    id: str
    commits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asset:
    """The content at *path* that an experiment needs: of a repository only some *commits*.

    *id* is the hash of the content, so that a machine that has it needs no other copy. *commits*
    are by the names of revisions in sources.
    """

    id: str
    kind: str
    path: str
    commits: Mapping[str, str] = field(default_factory=dict)

    @property
    def reference(self) -> AssetReference:
        """Return what units say about the asset."""
        return AssetReference(self.id, dict(self.commits))


class AssetPart(NamedTuple):
    """Part *number* of *total* of an asset; *sending* names one transfer, *digest* its archive."""

    asset: str
    sending: str
    number: int
    total: int
    digest: str
    data: bytes


def assets_of(sources: Iterable[Source]) -> dict[str, Asset]:
    """Return the asset of each path in *sources* that is here; texts travel with the source."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for source in sources:
        if source.kind != "texts" and Path(source.path).is_dir():
            of_path = names.setdefault((source.kind, source.path), {})
            if source.kind == "git":
                of_path[_name(source.revision)] = None
    assets = {}
    for (kind, path), revisions in names.items():
        commits = _resolved(path, list(revisions)) if kind == "git" else {}
        content = "\n".join(sorted(set(commits.values()))) if commits else _digest(kind, path)
        assets[path] = Asset(_id(kind, content), kind, path, commits)
    return assets


def build_asset(asset: Asset, file: Path) -> None:
    """Write *asset* to *file*, a tar archive.

    Of a repository it has the trees and files of the commits, but no history. InputError if the
    repository is a partial clone that lacks some of them.
    """
    with tarfile.open(file, "w") as archive:
        if asset.kind == "git":
            _add_repository(archive, asset)
        else:
            for path, name in _corpus_files(asset.kind, asset.path):
                archive.add(path, f"{FILES}/{name}", recursive=False)


def asset_folder(asset_id: str) -> Path:
    """Return the folder of an asset on this machine; it exists if the asset is complete."""
    return cache_folder() / "assets" / asset_id


def has_asset(asset_id: str) -> bool:
    """Return whether this machine has the asset."""
    return asset_folder(asset_id).is_dir()


def asset_parts(asset_id: str, file: Path) -> Iterator[AssetPart]:
    """Yield the parts of *file*, an archive, for :func:`add_part`."""
    count = max(1, ceil(file.stat().st_size / PART_BYTES))
    sending = os.urandom(16).hex()
    with file.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        for number in range(count):
            yield AssetPart(asset_id, sending, number, count, digest, stream.read(PART_BYTES))


def add_part(part: AssetPart) -> None:
    """Store a part of an asset that arrives in order; the last one unpacks it."""
    parts = asset_folder(f"{part.asset}.{part.sending}.parts")
    if not part.number:
        _remove_old_parts(parts.parent)
    parts.mkdir(parents=True, exist_ok=True)
    archive = parts / "asset.tar"
    with archive.open("ab") as stream:
        stream.write(part.data)
    if part.number + 1 < part.total:
        return
    try:
        with archive.open("rb") as stream:
            if file_digest(stream, "sha256").hexdigest() != part.digest:
                raise InputError(f"asset {part.asset} arrived damaged")
        with in_turn(parts.parent):
            if not has_asset(part.asset):
                _unpack(part.asset, archive)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def localized(source: Source, assets: Mapping[str, AssetReference]) -> Source:
    """Return *source* as it is on this machine, its revision as the id of a commit.

    *assets* are by path. A source that is nowhere keeps its path; ``missing_source`` then says
    what is missing.
    """
    if source.kind == "texts":
        return source
    known = assets.get(source.path)
    here = replace(source, revision=revision_of(source, assets))
    if mapped := _mapped(here):
        return replace(here, path=mapped)
    if known is None or (_is_same(here, known) and not missing_source([here])):
        return here
    if source.kind == "git" and not has_asset(known.id):
        return here
    below = REPOSITORY if source.kind == "git" else FILES
    return replace(here, path=str(asset_folder(known.id) / below))


def revision_of(source: Source, assets: Mapping[str, AssetReference]) -> str:
    """Return the revision of *source* as the id of its commit, with the folder if it names one."""
    known = assets.get(source.path)
    name, colon, folder = source.revision.partition(":")
    return f"{known.commits.get(name, name) if known else name}{colon}{folder}"


def _is_same(source: Source, known: AssetReference) -> bool:
    """Return whether a folder here has the content that the driver has; commits are checked apart.

    Its hash is computed once per process.
    """
    if source.kind == "git" or not Path(source.path).is_dir():
        return True
    return _id(source.kind, _digest_here(source.kind, source.path)) == known.id


def _id(kind: str, content: str) -> str:
    return sha256(f"{kind}\0{content}".encode()).hexdigest()[:32]


def _name(revision: str) -> str:
    """Return the commit of a revision that may name a folder of it."""
    return revision.partition(":")[0]


def _resolved(path: str, names: Sequence[str]) -> dict[str, str]:
    commits = dict(zip(names, object_ids(path, names, "commit"), strict=True))
    if bad := [name for name, oid in commits.items() if not oid]:
        raise InputError(f"{path}: no commit {bad[0]!r}; expected a commit, a tag or a branch")
    return commits


def _add_repository(archive: tarfile.TarFile, asset: Asset) -> None:
    shallow = "".join(f"{oid}\n" for oid in sorted(set(asset.commits.values()))).encode()
    options = ("--objects", "--no-walk", "--missing=print", "--stdin")
    objects = git(asset.path, "rev-list", *options, given=shallow).splitlines()
    if any(line.startswith(b"?") for line in objects):
        raise InputError(
            f"{asset.path} is a partial clone without all files of the needed commits; git fetch "
            "--refetch gets them"
        )
    names = b"".join(line.split(b" ")[0] + b"\n" for line in objects)
    with TemporaryDirectory() as folder:
        pack = Path(folder) / PACK
        with pack.open("wb") as stream:
            for block in git_blocks(asset.path, "pack-objects", "--stdout", "-q", given=names):
                stream.write(block)
        archive.add(pack, PACK)
    entry = tarfile.TarInfo(SHALLOW)
    entry.size = len(shallow)
    archive.addfile(entry, BytesIO(shallow))


def _corpus_files(kind: str, path: str) -> list[tuple[Path, str]]:
    """Return the files of a folder or BEIR corpus that Karat reads, with their names."""
    root = Path(path)
    if kind == "beir":
        parts = [*part_files(root, "corpus"), *part_files(root, "queries")]
        return [(part, part.relative_to(root).as_posix()) for part in parts]
    return [(root / document.path, document.path) for document in from_folder(root)]


def _digest(kind: str, folder: str) -> str:
    digest = sha256()
    for path, name in sorted(_corpus_files(kind, folder), key=lambda pair: pair[1]):
        with path.open("rb") as stream:
            content = file_digest(stream, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()


_digest_here = cache(_digest)


def _remove_old_parts(folder: Path) -> None:
    """Remove what transfers left that were never completed."""
    for left in folder.glob("*.parts"):
        if time.time() - left.stat().st_mtime > DAY_S:
            shutil.rmtree(left, ignore_errors=True)


def _unpack(asset_id: str, archive: Path) -> None:
    """Unpack an asset beside its final folder, then rename it, so that it is whole or absent."""
    final = asset_folder(asset_id)
    with TemporaryDirectory(dir=final.parent, prefix=f"{asset_id}.") as folder:
        ready = Path(folder) / "ready"
        with tarfile.open(archive) as opened:
            opened.extractall(ready, filter="data")
        if (ready / PACK).exists():
            _make_repository(ready)
        ready.rename(final)


def _make_repository(folder: Path) -> None:
    """Make a bare repository of an unpacked asset; its commits have no parents."""
    repository = folder / REPOSITORY
    first = (folder / SHALLOW).read_text(encoding="ascii").partition("\n")[0]
    hashes = "sha256" if len(first) == SHA256_LENGTH else "sha1"
    options = ("-q", "--bare", "--template=", f"--object-format={hashes}")
    git(str(folder), "init", *options, REPOSITORY)
    pack = repository / "objects" / "pack" / f"pack-{'0' * len(first)}.pack"
    pack.parent.mkdir(parents=True, exist_ok=True)
    (folder / PACK).rename(pack)
    (folder / SHALLOW).rename(repository / SHALLOW)
    git(str(repository), "index-pack", str(pack))


def _mapped(source: Source) -> str:
    """Return the folder that KARAT_REPO_MAP gives for *source*; "" for none.

    Its entries are FROM=TO, separated by semicolons: FROM is the path on the machine of the
    driver, or its last part; TO is a path here, or for a repository the URL to fetch from.
    """
    for entry in os.environ.get(REPO_MAP, "").split(";"):
        known, _, to = entry.strip().partition("=")
        short = Path(source.path).name.removesuffix(".git")
        if known and to and known in (source.path, short):
            if URL.fullmatch(to) and source.kind == "git":
                return _fetched(to, _name(source.revision))
            return to
    return ""


def _fetched(url: str, commit: str) -> str:
    """Return the repository below the cache that has *commit*, fetched from *url* if needed."""
    clone = cache_folder() / "repositories" / f"{sha256(url.encode()).hexdigest()[:16]}.git"
    clone.mkdir(parents=True, exist_ok=True)
    with in_turn(clone):
        if not (clone / "objects").is_dir():
            git(str(clone), "init", "-q", "--bare", "--template=", ".")
        # A server may offer branches only.
        for refs in ((commit,), ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")):
            if any(object_ids(str(clone), [commit], "commit")):
                break
            _fetch(clone, url, refs)
        if not any(object_ids(str(clone), [commit], "commit")):
            raise InputError(f"{without_user(url)} has no commit {commit}")
    return str(clone)


def _fetch(clone: Path, url: str, refs: Sequence[str]) -> None:
    words = ("-c", "protocol.allow=user", "fetch", "-q", "--no-tags", "--", url, *refs)
    try:
        subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command(str(clone), *words),
            env={**os.environ, **environment(), "HOME": os.environ.get("HOME", os.devnull)},
            capture_output=True,
            timeout=FETCH_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{without_user(url)} did not answer within {FETCH_S:g} s") from None
