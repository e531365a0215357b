"""Whatever a search returns, what is kept exists."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import from_texts
from karat.engines.adapters.external import CorpusPaths
from karat.engines.base import contract_violations
from karat.model import Hit

CORPUS = from_texts(
    {
        "src/a.py": "one\ntwo\n",
        "b.md": "x",
        "empty": "",
        "gro\u0308ße.md": "decomposed\n",
        "/absolute": "x\n",
        "not in the corpus": "a strange name\n",
    }
)
PATHS = [
    *(document.path for document in CORPUS),
    *("", "/", "..", "../b.md", "/repo/b.md", "/repository/b.md", "C:\\b.md", "src\\a.py", "\0"),
]


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("b.md", "b.md"),
        ("./src/../b.md", "b.md"),
        ("/repo/src/a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        ("file:///repo/src/a.py", "src/a.py"),
        ("file:///repo/gr%C3%B6%C3%9Fe.md", "gro\u0308ße.md"),
        ("größe.md", "gro\u0308ße.md"),
        ("/absolute", "/absolute"),
        ("_odd/0.md", "b.md"),
    ],
)
def test_spellings_of_a_path(path: str, document: str) -> None:
    places = CorpusPaths(CORPUS, root="/repo", renamed={"_odd/0.md": "b.md"})
    assert places.resolve(path) == (document, "")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../b.md", "outside the root"),
        ("src/../../b.md", "outside the root"),
        ("/etc/passwd", "outside the root"),
        ("/repository/b.md", "outside the root"),
        ("/repo/../etc/passwd", "outside the root"),
        ("C:\\b.md", "outside the root"),
        ("c.md", "not in the corpus"),
        ("src", "not in the corpus"),
        ("", "not in the corpus"),
        ("/repo", "outside the root"),
    ],
)
def test_paths_that_lead_elsewhere(path: str, reason: str) -> None:
    assert CorpusPaths(CORPUS, root="/repo").resolve(path) == ("", reason)


def test_a_prefix_is_taken_off() -> None:
    places = CorpusPaths(CORPUS, strip_prefix="github.com/me/repo@main")
    assert places.resolve("github.com/me/repo@main/src/a.py") == ("src/a.py", "")


def test_scores_by_hand() -> None:
    places = CorpusPaths(CORPUS)

    def scores(*given: float) -> list[float]:
        hits = [Hit(path, score) for path, score in zip(["b.md", "src/a.py"], given, strict=True)]
        return [hit.score for hit in places.accept(hits, 5).hits]

    assert scores(2.0, 2.0) == [2.0, 2.0]
    assert scores(-1.0, -2.0) == [-1.0, -2.0]
    for given_ in ((1.0, 2.0), (nan, nan), (2.0, nan), (inf, 1.0)):
        assert scores(*given_) == [1.0, 0.5]
    assert places.accept([Hit("b.md", 1.0), Hit("empty", 2.0)], 5).mended == {
        "scores not descending": 1
    }


@given(
    st.lists(
        st.builds(
            Hit,
            st.sampled_from(PATHS) | st.text(),
            st.floats(),
            st.integers(-2, 5),
            st.integers(-2, 5),
            st.sampled_from(["", "f"]),
        )
    ),
    st.integers(1, 5),
)
def test_what_is_kept_keeps_the_law(hits: list[Hit], k: int) -> None:
    accepted = CorpusPaths(CORPUS, root="/repo").accept(hits, k)
    assert contract_violations(accepted.hits, CORPUS, k) == []
    dropped = sum(accepted.invalid.values())
    # Each hit is kept or counted, except those after the k-th.
    assert len(accepted.hits) + dropped == len(hits) or len(accepted.hits) == k


def test_a_file_that_is_left_out_is_told_from_one_that_does_not_exist() -> None:
    chosen = CORPUS.without_documents(lambda document: "test" * (document.path == "b.md"))
    paths = CorpusPaths(chosen)
    assert paths.resolve("./b.md") == ("", "not searched")
    assert paths.resolve("c.md") == ("", "not in the corpus")
