"""What is shared: one search for all depths and thresholds, one index for all engines alike."""

import pytest

from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.experiments.plan import Counts, Entry, SharedPlan, check_count, share
from karat.model.spec import Spec


def entry(name: str, spec: str, k: int = 10, threshold: float = 0.0) -> Entry:
    return Entry(name, parse_spec(spec), k, threshold)


def asked(plan: SharedPlan) -> list[list[tuple[str, int]]]:
    """Return engine and depth of each search, group by group."""
    return [
        [(one.configuration.spec.name, one.configuration.k) for one in group]
        for group in plan.groups
    ]


def test_forty_eight_configurations_are_eight_searches() -> None:
    entries = Matrix(
        search_modes=("dense", "sparse", "hybrid"),
        use_reranker=(False, True),
        top_k_values=(5, 10, 20),
        rrf_k_values=(40, 60),
        score_thresholds=(None, 0.5),
    ).entries()
    plan = share(entries, files=True)
    assert plan.counts == Counts(48, 8, 2, 1, ("granite",))
    assert {one.configuration.k for one in plan.groups[0]} == {20}
    assert sorted(e.name for one in plan.groups[0] for e in one.entries) == sorted(
        e.name for e in entries
    )
    assert plan.lines() == (
        "48 configurations are cut from 8 searches of each query, at the greatest depth that any "
        "of them wants",
        "for 8 searches Karat builds 1 index and computes 2 rankings per query",
        "each chunk and each query is embedded once by granite",
    )


def test_depths_and_thresholds_of_one_engine() -> None:
    plan = share(
        [entry("a", "bm25", 5), entry("b", "bm25", 50), entry("c", "bm25", 9, 0.5)], files=False
    )
    assert asked(plan) == [[("bm25", 50)]]
    [[one]] = plan.groups
    assert (one.configuration.name, one.configuration.files) == ("a", False)
    assert [each.name for each in one.entries] == ["a", "b", "c"]


def test_an_engine_that_nobody_knows_is_asked_for_each_depth() -> None:
    http = "http(url=http://localhost/?q={query})"
    entries = [entry("a", http, 5), entry("b", http, 10), entry("c", http, 5, 0.5)]
    plan = share(entries, files=False)
    assert asked(plan) == [[("http", 5)], [("http", 10)]]
    assert [[e.name for e in one.entries] for [one] in plan.groups] == [["a", "c"], ["b"]]


def test_chunkings_are_indexes_of_their_own() -> None:
    specs = ["bm25", "hybrid", "bm25(chunker=lines)", "rerank(over=bm25)", "keyword"]
    plan = share([entry(spec, spec) for spec in specs], files=False)
    assert asked(plan) == [
        [("bm25", 10), ("hybrid", 10), ("rerank", 10)],
        [("bm25", 10)],
        [("keyword", 10)],
    ]
    # The words of bm25 serve the other two of its chunking, to which hybrid adds its vectors.
    assert plan.counts == Counts(5, 5, 4, 3, ("granite",))


def test_other_parameters_are_other_rankings() -> None:
    specs = ["bm25", "bm25(k1=1.2)", "bm25(code_ranking=false)", "dense(model=static)", "dense"]
    plan = share([entry(spec, spec) for spec in specs], files=False)
    assert plan.counts == Counts(5, 5, 4, 1, ("static", "granite"))


def test_nothing_is_said_where_nothing_is_shared() -> None:
    assert share([entry("a", "bm25"), entry("b", "keyword")], files=False).lines() == ()


def test_entries_are_checked() -> None:
    with pytest.raises(InputError, match="no configuration; expected one or more"):
        share([], files=False)
    with pytest.raises(InputError, match="1 names stand for several configurations: a"):
        share([entry("a", "bm25"), entry("a", "dense")], files=False)
    with pytest.raises(InputError, match="a configuration has no name"):
        Entry(" ", Spec("engine", "bm25"))
    with pytest.raises(InputError, match=r"a: threshold 1\.5 is not between 0 and 1"):
        entry("a", "bm25", threshold=1.5)
    assert check_count([entry("a", "bm25")]) == ""
