"""Corpora that travel give the documents of the place that they come from."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.workers.sources import Opener, Source
from karat.extensions.cluster import assets as assets_module
from karat.extensions.cluster.assets import (
    REPO_MAP,
    Asset,
    add_part,
    asset_folder,
    asset_parts,
    assets_of,
    build_asset,
    has_asset,
    localized,
    missing_source,
)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "driver" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for number in range(4):
        (folder / "a.py").write_text(f"def a():\n    return {number}\n")
        (folder / f"n{number}.md").write_text(f"note {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"change {number}")
    git(folder, "tag", "v2", "HEAD~1")
    return folder


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.cluster.assets.PART_BYTES", 1000)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the caches of this test those of another machine."""
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(REPO_MAP, raising=False)
    return tmp_path / "cache"


def sent(asset: Asset, tmp_path: Path) -> None:
    """Send *asset* in parts, as an executor does."""
    file = tmp_path / "sent.tar"
    build_asset(asset, file)
    for part in asset_parts(asset.id, file):
        add_part(part)
    file.unlink()


def documents(source: Source) -> list[tuple[str, str]]:
    opener = Opener()
    corpus = opener.open(source)
    found = [
        (one.path, text)
        for one, text in zip(corpus.documents, corpus.reader(corpus.documents), strict=True)
    ]
    opener.close()
    return found


def test_some_revisions_of_a_repository_without_its_history(
    repository: Path, tmp_path: Path
) -> None:
    commits = git(repository, "rev-list", "HEAD").split()
    names = ["v2", "HEAD", "HEAD~2", "main^{commit}", f"{commits[0]}^", "@"]
    revisions = [commits[0], commits[2], *names, f"{commits[2]}:", "HEAD~1:"]
    sources = [Source.git(str(repository), revision) for revision in revisions]
    expected = [documents(source) for source in sources]
    assets = assets_of(sources)
    asset = assets[str(repository)]
    sent(asset, tmp_path)
    repository.rename(tmp_path / "gone")
    ids = {place: one.reference for place, one in assets.items()}
    assert missing_source(sources) == f"no folder {repository}"
    here = [localized(source, ids) for source in sources]
    assert missing_source(here) == ""
    assert [documents(source) for source in here] == expected
    assert all(Path(source.path).is_relative_to(asset_folder(asset.id)) for source in here)
    held = git(Path(here[0].path), "cat-file", "--batch-all-objects", "--batch-check")
    assert commits[3] not in held


def test_the_content_names_the_asset(repository: Path, tmp_path: Path) -> None:
    place = str(repository)
    first = assets_of([Source.git(place, "HEAD")])[place].id
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", place, str(clone))
    assert assets_of([Source.git(str(clone), "HEAD")])[str(clone)].id == first
    (repository / "b.py").write_text("x = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "more")
    assert assets_of([Source.git(place, "HEAD")])[place].id != first


def test_a_folder_and_a_beir_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / ".gitignore").write_text("*.log\n")
    for name in ("a.md", "sub/b.md", "c.log"):
        (folder / name).write_text(f"text of {name}\n")
    beir = tmp_path / "beir"
    beir.mkdir()
    for name in ("corpus", "queries"):
        (beir / f"{name}.jsonl").write_text(json.dumps({"_id": "1", "title": "", "text": "x"}))
    sources = [Source.folder(str(folder)), Source.beir(str(beir))]
    expected = [documents(source) for source in sources]
    assert [path for path, _ in expected[0]] == ["a.md", "sub/b.md"]
    assets = assets_of(sources)
    for asset in assets.values():
        sent(asset, tmp_path)
    for place in (folder, beir):
        place.rename(tmp_path / f"gone-{place.name}")
    ids = {place: one.reference for place, one in assets.items()}
    assert [documents(localized(source, ids)) for source in sources] == expected


def test_a_path_that_exists_is_used_as_it_is(repository: Path) -> None:
    source = Source.git(str(repository), "HEAD")
    assert localized(source, {}) == source
    texts = Source.of_texts({"a": "b"})
    assert localized(texts, {}) is texts


def test_a_revision_that_the_path_lacks_comes_with_the_asset(
    repository: Path, tmp_path: Path
) -> None:
    """Two machines may have clones of different age at the same path."""
    place = str(repository)
    newest = git(repository, "rev-parse", "HEAD")
    source = Source.git(place, newest)
    asset = assets_of([source])[place]
    sent(asset, tmp_path)
    old = tmp_path / "old"
    git(tmp_path, "clone", "-q", "--no-local", "--branch", "v2", "--single-branch", place, str(old))
    repository.rename(tmp_path / "newer")
    old.rename(repository)
    assert newest in missing_source([source])
    assert documents(localized(source, {place: asset.reference}))[0][0] == "a.py"


@pytest.mark.parametrize("known", ["path", "name"])
@pytest.mark.parametrize("kind", ["path", "url"])
def test_the_map_of_repositories(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str, kind: str
) -> None:
    source = Source.git(str(repository), git(repository, "rev-parse", "HEAD~2"))
    expected = documents(source)
    moved = tmp_path / "elsewhere.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(moved))
    repository.rename(tmp_path / "gone")
    to = str(moved) if kind == "path" else f"file://{moved}"
    monkeypatch.setenv(REPO_MAP, f"other=/x; {source.path if known == 'path' else 'shop'}={to}")
    assert documents(localized(source, {})) == expected
    # Fetched once: the second time needs no other repository.
    if kind == "url":
        moved.rename(tmp_path / "gone too")
        assert documents(localized(source, {})) == expected


def test_a_url_without_the_revision(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REPO_MAP, f"shop=file://{repository}")
    with pytest.raises(InputError, match="has no commit 0000"):
        localized(Source.git(str(repository), "0" * 40), {})


def test_a_revision_that_is_not_a_commit(repository: Path) -> None:
    with pytest.raises(InputError, match="no commit 'v9'; expected a commit, a tag or a branch"):
        assets_of([Source.git(str(repository), "v9")])


def test_a_name_means_the_commit_of_the_driver(repository: Path, tmp_path: Path) -> None:
    """A clone at the same path may have moved on, or stayed behind."""
    place = str(repository)
    source = Source.git(place, "HEAD")
    expected = documents(source)
    assets = {place: assets_of([source])[place].reference}
    (repository / "later.md").write_text("later\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "later")
    assert documents(source) != expected
    assert documents(localized(source, assets)) == expected


def test_a_folder_with_other_content_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("new\n")
    source = Source.folder(str(folder))
    (asset,) = assets_of([source]).values()
    assets = {str(folder): asset.reference}
    assert localized(source, assets) == source
    sent(asset, tmp_path)
    old = tmp_path / "driver"
    folder.rename(old)
    folder.mkdir()
    (folder / "a.md").write_text("old\n")
    assets_module._digest_here.cache_clear()
    assert documents(localized(source, assets)) == documents(Source.folder(str(old)))


def test_the_folder_name_does_not_matter(repository: Path, tmp_path: Path) -> None:
    place = str(repository)
    source = Source.git(place, "HEAD")
    sent(assets_of([source])[place], tmp_path)
    other = tmp_path / "-q2"
    repository.rename(other)
    moved = Source.git(str(other), "HEAD")
    asset = assets_of([moved])[str(other)]
    assert has_asset(asset.id)
    other.rename(tmp_path / "gone")
    assert documents(localized(moved, {str(other): asset.reference}))


def test_two_transfers_at_once_and_one_that_was_never_completed(
    repository: Path, tmp_path: Path, machine: Path
) -> None:
    place = str(repository)
    asset = assets_of([Source.git(place, "HEAD")])[place]
    file = tmp_path / "sent.tar"
    build_asset(asset, file)
    first, second, dead = (list(asset_parts(asset.id, file)) for _ in range(3))
    add_part(dead[0])
    for one, other in zip(first, second, strict=True):
        add_part(one)
        add_part(other)
    assert has_asset(asset.id)
    left = list((machine / "assets").glob("*.parts"))
    assert len(left) == 1
    os.utime(left[0], (0, 0))
    add_part(first[0])
    assert left[0] not in list((machine / "assets").glob("*.parts"))


def test_a_damaged_transfer_is_rejected_and_leaves_nothing(
    repository: Path, tmp_path: Path, machine: Path
) -> None:
    place = str(repository)
    asset = assets_of([Source.git(place, "HEAD")])[place]
    file = tmp_path / "sent.tar"
    build_asset(asset, file)
    *parts, last = asset_parts(asset.id, file)
    for part in parts:
        add_part(part)
    with pytest.raises(InputError, match="arrived damaged"):
        add_part(last._replace(data=b"?" * len(last.data)))
    assert not has_asset(asset.id)
    assert list((machine / "assets").iterdir()) == []


def test_a_partial_clone_cannot_be_sent(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    options = ("--no-checkout", "--filter=blob:none", f"file://{repository}", str(partial))
    git(tmp_path, "clone", "-q", *options)
    (asset,) = assets_of([Source.git(str(partial), "HEAD")]).values()
    with pytest.raises(InputError, match="is a partial clone without all files"):
        build_asset(asset, tmp_path / "sent.tar")


def test_what_another_machine_lacks_is_named(repository: Path) -> None:
    (repository / "tests").mkdir()
    (repository / "tests" / "test_a.py").write_text("def test_a(): ...\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "tests")
    here = Source.git(str(repository), "HEAD")
    assert (
        missing_source([here, Source.git(str(repository), "HEAD:tests"), Source.of_texts({})]) == ""
    )
    assert missing_source([here, Source.git(str(repository), "v9")]) == (
        f"{repository} does not have v9; git fetch may get it"
    )
    assert missing_source([Source.beir(str(repository / "no"))]) == f"no folder {repository / 'no'}"
