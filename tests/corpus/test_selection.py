"""Selecting files by kind and glob, and the sentence about skipped files."""

from pathlib import Path

import pytest

from karat.corpus import (
    FileSelection,
    common_kind,
    from_beir,
    from_folder,
    from_texts,
    skipped_text,
)
from karat.corpus.files.selection import kind_of
from karat.errors import InputError

CORPUS = from_texts(
    {
        "CHANGES.md": "",
        "LICENSE": "",
        "README.md": "",
        "docs/conf.py": "",
        "docs/guide/install.md": "",
        "docs/old/install.md": "",
        "docs/testing/tests.rst": "",
        "src/app.py": "",
        "src/CMakeLists.txt": "",
        "tests/fixtures/page.md": "",
        "web/index.html": "",
    }
)


def selected(*selection: object) -> list[str]:
    return [document.path for document in FileSelection(*selection).apply(CORPUS)]  # type: ignore[arg-type]


def test_docs_are_prose_that_answers_questions() -> None:
    docs = ["README.md", "docs/guide/install.md", "docs/old/install.md", "docs/testing/tests.rst"]
    assert selected("docs") == docs
    code = ["docs/conf.py", "src/CMakeLists.txt", "src/app.py", "web/index.html"]
    assert selected("code") == code
    assert len(selected("all")) == len(CORPUS)


@pytest.mark.parametrize(
    ("include", "exclude", "paths"),
    [
        (
            ("docs/",),
            (),
            ["docs/guide/install.md", "docs/old/install.md", "docs/testing/tests.rst"],
        ),
        (("*.rst", "README*"), (), ["README.md", "docs/testing/tests.rst"]),
        ((), ("old/", "/README.md"), ["docs/guide/install.md", "docs/testing/tests.rst"]),
        (("docs/**",), ("install.md",), ["docs/testing/tests.rst"]),
        (("docs/", "!docs/old/"), (), ["docs/guide/install.md", "docs/testing/tests.rst"]),
    ],
)
def test_globs_are_those_of_gitignore(
    include: tuple[str, ...], exclude: tuple[str, ...], paths: list[str]
) -> None:
    assert selected("docs", include, exclude) == paths


def test_unselected_documents_count_as_skipped_and_change_the_snapshot() -> None:
    chosen = FileSelection("docs", (), ("old/",)).apply(CORPUS)
    assert chosen.skipped == {"other-kind": 7, "excluded": 1}
    assert chosen.snapshot != CORPUS.snapshot
    assert FileSelection().apply(CORPUS) is CORPUS


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (FileSelection("prose"), "kind 'prose' is not valid; expected one of: docs, code, all"),
        (FileSelection(include=("# x",)), "include '# x' matches no file"),
        (FileSelection(exclude=("!",)), "exclude '!' is not a valid pattern"),
    ],
)
def test_wrong_selections_are_rejected(selection: FileSelection, message: str) -> None:
    with pytest.raises(InputError, match=message):
        selection.apply(CORPUS)


def test_common_kind() -> None:
    assert common_kind(["docs/a.md", "manual.pdf", "docs/page.html"]) == "docs"
    assert common_kind(["src/a.py", "Cargo.toml"]) == "code"
    assert common_kind(["docs/a.md", "CHANGES.md"]) == "all"
    assert common_kind(["MED-10", "MED-11"]) == "all"
    assert kind_of("docs/news.txt") == "docs"


def test_documents_that_are_not_files_are_documentation(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a.py", "title": "", "text": "one"}\n')
    assert len(FileSelection("docs").apply(from_beir(tmp_path))) == 1


def test_skipped_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "tool").write_bytes(b"\x7fELF\0")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "data.json").write_text("1" * 1_000_001)
    (tmp_path / ".env").write_text("secret")
    corpus = from_folder(tmp_path)
    assert corpus.skipped_files == {
        ".env": "hidden",
        "data.json": "too-large",
        "logo.png": "binary",
        "tool": "binary",
    }
    expected = (
        "skipped 3 files: 1 binary (tool), 1 larger than 1 MB (data.json), 1 image or other asset"
    )
    assert skipped_text(corpus.skipped_files) == expected
    assert skipped_text({}) == skipped_text({".env": "hidden"}) == ""
    many = {f"{number}.o5m": "binary" for number in range(5)}
    assert skipped_text(many) == "skipped 5 files: 5 binary (0.o5m, 1.o5m, 2.o5m and 2 more)"


def test_a_page_of_html_has_the_kind_of_its_name(tmp_path: Path) -> None:
    """Its text is prose, but a target of that name counts as code and must stay searchable."""
    page = "<!doctype html>\n<h1>Log in</h1>\n"
    for path, text in (("website/index.html", page), ("docs/index.html", page), ("a.py", "a = 1")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    corpus = from_folder(tmp_path)
    by_kind = {
        kind: [document.path for document in FileSelection(kind).apply(corpus)]
        for kind in ("docs", "code")
    }
    assert by_kind == {"docs": ["docs/index.html"], "code": ["a.py", "website/index.html"]}
    assert all(kind_of(path) == kind for kind, paths in by_kind.items() for path in paths)
