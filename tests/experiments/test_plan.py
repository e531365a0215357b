"""What is shared: one search for all depths and thresholds, one index for all engines alike."""

import pytest

from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.experiments.plan import SearchCounts, SearchGroups, check_count, group_searches
from karat.experiments.workers import Configuration
from karat.model.spec import Spec


def configuration(name: str, spec: str, k: int = 10, threshold: float = 0.0) -> Configuration:
    return Configuration(name, parse_spec(spec), k, threshold)


def asked(plan: SearchGroups) -> list[list[tuple[str, int]]]:
    """Return engine and depth of each search, group by group."""
    return [[(one.search.spec.name, one.search.k) for one in group] for group in plan.groups]


def test_forty_eight_configurations_are_eight_searches() -> None:
    configurations = Matrix(
        search_modes=("dense", "sparse", "hybrid"),
        use_reranker=(False, True),
        top_k_values=(5, 10, 20),
        rrf_k_values=(40, 60),
        score_thresholds=(None, 0.5),
    ).configurations()
    plan = group_searches(configurations, files=True)
    assert plan.counts == SearchCounts(48, 8, 2, 1, ("granite",))
    assert {one.search.k for one in plan.groups[0]} == {20}
    assert sorted(e.name for one in plan.groups[0] for e in one.configurations) == sorted(
        e.name for e in configurations
    )
    assert plan.lines() == (
        "48 configurations need only 8 searches per query; smaller depths reuse the deepest one",
        "for 8 searches Karat builds 1 index and computes 2 rankings per query",
        "each chunk and each query is embedded once by granite",
    )


def test_depths_and_thresholds_of_one_engine() -> None:
    plan = group_searches(
        [
            configuration("a", "bm25", 5),
            configuration("b", "bm25", 50),
            configuration("c", "bm25", 9, 0.5),
        ],
        files=False,
    )
    assert asked(plan) == [[("bm25", 50)]]
    [[one]] = plan.groups
    assert (one.search.name, one.search.files) == ("a", False)
    assert [each.name for each in one.configurations] == ["a", "b", "c"]


def test_an_engine_that_nobody_knows_is_asked_for_each_depth() -> None:
    http = "http(url=http://localhost/?q={query})"
    configurations = [
        configuration("a", http, 5),
        configuration("b", http, 10),
        configuration("c", http, 5, 0.5),
    ]
    plan = group_searches(configurations, files=False)
    assert asked(plan) == [[("http", 5)], [("http", 10)]]
    assert [[e.name for e in one.configurations] for [one] in plan.groups] == [["a", "c"], ["b"]]


def test_chunkings_are_indexes_of_their_own() -> None:
    specs = ["bm25", "hybrid", "bm25(chunker=lines)", "rerank(over=bm25)", "keyword"]
    plan = group_searches([configuration(spec, spec) for spec in specs], files=False)
    assert asked(plan) == [
        [("bm25", 10), ("hybrid", 10), ("rerank", 10)],
        [("bm25", 10)],
        [("keyword", 10)],
    ]
    # The words of bm25 serve the other two of its chunking, to which hybrid adds its vectors.
    assert plan.counts == SearchCounts(5, 5, 4, 3, ("granite",))


def test_other_parameters_are_other_rankings() -> None:
    specs = ["bm25", "bm25(k1=1.2)", "bm25(code_ranking=false)", "dense(model=static)", "dense"]
    plan = group_searches([configuration(spec, spec) for spec in specs], files=False)
    assert plan.counts == SearchCounts(5, 5, 4, 1, ("static", "granite"))


def test_nothing_is_said_where_nothing_is_shared() -> None:
    assert (
        group_searches(
            [configuration("a", "bm25"), configuration("b", "keyword")], files=False
        ).lines()
        == ()
    )


def test_entries_are_checked() -> None:
    with pytest.raises(InputError, match="no configuration; expected one or more"):
        group_searches([], files=False)
    with pytest.raises(InputError, match="several configurations have the same name: a"):
        group_searches([configuration("a", "bm25"), configuration("a", "dense")], files=False)
    with pytest.raises(InputError, match="a configuration has no name"):
        Configuration(" ", Spec("engine", "bm25"))
    with pytest.raises(InputError, match=r"a: threshold 1\.5 is not between 0 and 1"):
        configuration("a", "bm25", threshold=1.5)
    assert check_count([configuration("a", "bm25")]) == ""


def test_tuned_values_share_index_and_embeddings() -> None:
    configurations = Matrix(
        search_modes=("hybrid",),
        dense_weight=(0.2, 0.5, 0.8),
        k1=(1.2, 1.6),
        b=(0.5, 0.75),
        fusion=("rrf", "min-max"),
        code_ranking=(True, False),
    ).configurations()
    plan = group_searches(configurations, files=True)
    # One ranking by embeddings, and one by words for each pair of k1 and b.
    assert plan.counts == SearchCounts(48, 48, 1 + 4, 1, ("granite",))
