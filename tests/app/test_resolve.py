"""References of a gold set, found in a corpus."""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.resolve import ResolveResult, resolve
from karat.corpus import Corpus, from_folder, from_texts
from karat.model import Dataset, Query, Target

TEXTS = {
    "README.md": "all",
    "docs/README.md": "docs",
    "docs/login.md": "login",
    "docs/old/login.md": "login, once",
    "docs/twin.md": "the same",
    "src/twin.py": "the same",
}
CORPUS = from_texts(TEXTS)


def resolved(*targets: Target, corpus: Corpus = CORPUS, match: str = "exact") -> ResolveResult:
    return resolve(Dataset.of([Query("q1", "text", targets)], match=match), corpus)


@pytest.mark.parametrize(
    ("ref", "written", "path"),
    [
        ("document_id", "docs/login.md", "docs/login.md"),
        ("uri", "file:///srv/docs/README.md", "docs/README.md"),
        ("uri", "file:///srv/README.md", "README.md"),
        ("uri", "https://host/docs/old/login.md?v=2#top", "docs/old/login.md"),
        ("uri", "old/login.md", "docs/old/login.md"),
        ("uri", "file:///srv/docs/%6Cogin.md", "docs/login.md"),
        ("content_hash", CORPUS.by_path["docs/login.md"].blob, "docs/login.md"),
        ("content_hash", sha256(b"login").hexdigest(), "docs/login.md"),
        ("content_hash", f"SHA256:{sha256(b'login').hexdigest()}", "docs/login.md"),
        ("path", "./docs\\login.md", "docs/login.md"),
        ("path", "/srv/project/docs/old/login.md", "docs/old/login.md"),
        ("path", "twin.py", "src/twin.py"),
        ("file_name", "twin.py", "src/twin.py"),
    ],
)
def test_what_a_reference_means(ref: str, written: str, path: str) -> None:
    resolution = resolved(Target(written, 2.0, ref=ref))
    assert resolution.dataset.targets(0) == [Target(path, 2.0)]
    assert (resolution.mapped_count, resolution.total_count) == (1, 1)
    assert resolution.status == "resolved"


@pytest.mark.parametrize(
    ("ref", "written", "reason", "candidates"),
    [
        ("document_id", "login.md", "not_found", ()),
        ("uri", "file:///srv/docs/gone.md", "not_found", ()),
        ("uri", "login.md", "ambiguous", ("docs/login.md", "docs/old/login.md")),
        ("uri", "https://host/", "invalid_ref", ()),
        ("uri", "http://[", "invalid_ref", ()),
        (
            "content_hash",
            sha256(b"the same").hexdigest(),
            "ambiguous",
            ("docs/twin.md", "src/twin.py"),
        ),
        ("content_hash", "0" * 40, "not_found", ()),
        ("content_hash", "login", "invalid_ref", ()),
        ("path", "docs/gone.md", "not_found", ()),
        ("path", "login.md", "ambiguous", ("docs/login.md", "docs/old/login.md")),
        ("path", " ", "invalid_ref", ()),
        ("file_name", "login.md", "ambiguous", ("docs/login.md", "docs/old/login.md")),
        ("file_name", "docs/login.md", "invalid_ref", ()),
    ],
)
def test_what_is_not_one_document(
    ref: str, written: str, reason: str, candidates: tuple[str, ...]
) -> None:
    target = Target(written, ref=ref)
    resolution = resolved(target, Target("docs/login.md"))
    (lost,) = resolution.unresolved
    assert (lost.query_id, lost.doc_ref) == ("q1", {ref: written})
    assert (lost.reason, lost.candidates) == (reason, candidates)
    assert len(lost.doc_ref_hash) == 64
    # It stays, so that it counts as missed.
    assert resolution.dataset.targets(0) == [target, Target("docs/login.md")]
    assert (resolution.mapped_count, resolution.total_count) == (1, 2)
    assert resolution.status == "partial"


def test_two_references_to_one_document_are_one_target() -> None:
    resolution = resolved(
        Target("docs/login.md", 1.0), Target("file:///docs/login.md", 3.0, ref="uri")
    )
    assert resolution.dataset.targets(0) == [Target("docs/login.md", 3.0)]
    assert resolution.mapped_count == 2


def test_lines_and_symbols_are_kept() -> None:
    lines, symbol = Target("twin.py", 1.0, 3, 4), Target("", symbol="login")
    resolution = resolved(lines, symbol, match="lines")
    assert resolution.dataset.targets(0) == [lines._replace(path="src/twin.py"), symbol]


def test_a_pattern_stays_as_it_is() -> None:
    pattern, gone = Target("docs/"), Target("lib/")
    resolution = resolved(pattern, gone, match="substring")
    assert resolution.dataset.targets(0) == [pattern, gone]
    assert [lost.doc_ref for lost in resolution.unresolved] == [{"path": "lib/"}]


def test_an_absolute_path_below_the_corpus(tmp_path: Path) -> None:
    for name in ("a.md", "docs/a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    path = tmp_path / "a.md"
    targets = Target(str(path)), Target(path.as_uri(), 2.0, ref="uri")
    resolution = resolved(*targets, corpus=from_folder(tmp_path))
    assert resolution.dataset.targets(0) == [Target("a.md", 2.0)]


@given(st.sets(st.sampled_from(["a", "b", "c/a", "c/d/a", "d/b"]), min_size=1))
def test_a_path_that_is_there_means_itself(paths: set[str]) -> None:
    corpus = from_texts(dict.fromkeys(paths, "text"))
    targets = [Target(path, ref=ref) for path in paths for ref in ("path", "uri", "document_id")]
    resolution = resolved(*targets, corpus=corpus)
    assert not resolution.unresolved
    assert {target.path for target in resolution.dataset.targets(0)} == paths
