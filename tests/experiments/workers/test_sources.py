"""A source sent elsewhere opens as the same corpus."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.corpus import from_folder, from_git, from_texts
from karat.errors import InputError
from karat.experiments.workers.sources import Opener, Source

Git = Callable[..., str]

TEXTS = {"auth.py": "login = 1\n", "tests/test_auth.py": "def test_login(): ...\n"}


def sent(source: Source) -> Source:
    return Source(**json.loads(json.dumps(source.to_json())))


def opened(source: Source) -> str:
    opener = Opener()
    try:
        return opener.open(sent(source)).snapshot
    finally:
        opener.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    for name, text in TEXTS.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def test_folder_and_texts(folder: Path) -> None:
    whole = from_texts(TEXTS).snapshot
    assert opened(Source.of_texts(TEXTS)) == whole
    assert opened(Source.folder(str(folder))) == from_folder(folder).snapshot == whole


def test_without_tests(folder: Path) -> None:
    without = from_texts({"auth.py": TEXTS["auth.py"]}).snapshot
    assert opened(Source.folder(str(folder), tests=False)) == without


def test_a_revision(folder: Path, git: Git) -> None:
    for command in ("init -q", "add .", "commit -qm one"):
        git(folder, *command.split())
    (folder / "auth.py").write_text("changed\n")
    source = Source.git(str(folder), "HEAD")
    assert opened(source) == from_git(folder, "HEAD").snapshot == from_texts(TEXTS).snapshot


def test_revisions_in_any_order(folder: Path, git: Git) -> None:
    git(folder, "init", "-q")
    for number in range(4):
        (folder / "auth.py").write_text(f"login = {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", str(number))
    for order in ("3210", "0123", "2301", "0132"):
        names = [f"HEAD~{number}" for number in order]
        opener = Opener()
        sources = [Source.git(str(folder), name) for name in names]
        # The last one is not announced.
        found = [opener.open(one, names[row + 1 : -1]) for row, one in enumerate(sources)]
        texts = [corpus.read("auth.py") for corpus in found]
        opener.close()
        assert texts == [f"login = {3 - int(number)}\n" for number in order]


def test_beir(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "one"}\n')
    assert opened(Source.beir(str(tmp_path))) == from_texts({"d1": "one"}).snapshot


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="one of: folder, git, beir, texts; not 'zip'"):
        Source("zip")


def test_sources_compare_by_value() -> None:
    assert sent(Source.git("/r", "v1")) == Source.git("/r", "v1") != Source.git("/r", "v2")


def test_a_walk_is_begun_again_after_a_detour(folder: Path, git: Git) -> None:
    git(folder, "init", "-q")
    for number in range(6):
        (folder / "auth.py").write_text(f"login = {number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", str(number))
    names = [f"HEAD~{number}" for number in (5, 4, 3, 2, 1)]
    opener = Opener()
    try:
        # Another slot takes over two revisions of the announced walk.
        for row in (0, 3, 4):
            corpus = opener.open(Source.git(str(folder), names[row]), names[row + 1 :])
            assert corpus.read("auth.py") == f"login = {row}\n"
    finally:
        opener.close()
