"""Results over HTTP: the numbers of the command line, and judgments that change them at once."""

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from karat.app.compare import compare
from karat.app.human_sample import stratified_order
from karat.app.score import score
from karat.client import Results
from karat.errors import UnknownName
from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import TIMED, BenchmarkConfig
from karat.extensions.service.commands.remote import results_table
from karat.extensions.service.results import results_key, scored
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.extensions.service.views import (
    comparison,
    details,
    full_results,
    plain_results,
    slices,
    store_results,
    two_sides,
)
from karat.model import Query, Target
from karat.model.judgments import JudgmentRecord, model_labels_of, with_model_labels
from karat.scoring.settings import Confidence, Scoring
from tests.extensions.service.jobs.conftest import (
    MATRIX,
    QUESTIONS,
    RUNS,
    WORDS,
    gold,
    make_benchmark,
)

Get = Callable[..., Any]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ServiceSettings:
    folder = tmp_path_factory.mktemp("service")
    return ServiceSettings(
        store=str(folder / "karat.db"), data=folder / "data", roots=(folder,), warm_up=False
    )


@pytest.fixture(scope="module")
def store(settings: ServiceSettings) -> Iterator[ServiceStore]:
    with ServiceStore(settings.store) as store:
        yield store


@pytest.fixture(scope="module")
def benchmark(
    store: ServiceStore, settings: ServiceSettings, do_jobs: Callable[[ServiceSettings], None]
) -> str:
    """Return a benchmark that is completed."""
    made = make_benchmark(store, settings.roots[0] / "notes")
    store.benchmarks.start(made)
    do_jobs(settings)
    assert store.benchmarks.get(made).status == "completed"
    return made


@pytest.fixture(scope="module")
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture(scope="module")
def get(client: TestClient, benchmark: str) -> Get:
    """Return what asks for something of the benchmark."""

    def ask(path: str, *, status: int = 200, **params: str | int) -> Any:
        answer = client.get(f"/api/v2/benchmarks/{benchmark}/{path}", params=params)
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


@pytest.fixture(scope="module")
def results(get: Get) -> Any:
    return get("results")


@pytest.fixture(scope="module")
def runs(results: Any) -> list[str]:
    return [run["id"] for run in results["runs"]]


def test_they_are_at_hand_when_the_benchmark_ends(
    store: ServiceStore, benchmark: str, results: Any
) -> None:
    stored = store.benchmarks.get(benchmark)
    document = store.benchmarks.stored_results(benchmark, results_key(store, stored))
    assert document
    assert json.loads(document) == results
    # And what is computed anew is the same.
    assert json.loads(full_results(store, scored(store, stored)).model_dump_json()) == results


def test_measures_are_shown_as_they_were_typed_and_have_canonical_keys(
    store: ServiceStore, benchmark: str
) -> None:
    stored = store.benchmarks.get(benchmark)
    typed = replace(stored, config={**stored.config, "metrics_to_compute": ["MAP", "P@1", "nDCG"]})
    labels = {"ndcg@5": "nDCG@5", "ap": "MAP", "precision@1": "P@1"}
    labels |= {"ndcg@1": "nDCG@1", "ndcg@10": "nDCG@10"}
    assert plain_results(store, typed).labels == labels
    computed = scored(store, typed)
    results = full_results(store, computed)
    assert results.labels == labels
    assert results.primary_metric == "ndcg@5"
    assert set(results.runs[0].metrics_flat) == set(labels)
    explained = details(computed)
    assert explained.change_of == "ndcg@5"
    assert set(explained.pareto) <= set(labels)
    run = results.runs[1].id
    texts = [results.summary.headline, results.summary.comparison, *explained.insights]
    texts += [each.why for each in explained.recommendations]
    compared = comparison(computed, None, "ap")
    assert compared.metric == "ap"
    assert "MAP" in compared.headline
    both = two_sides(computed, run, computed, results.runs[0].id, "map")
    assert (both.metric, both.label) == ("ap", "MAP")
    answer = Results.model_validate_json(results.model_dump_json())
    assert results_table("Small", answer).columns[2].title == "nDCG@5"
    # As in karat compare, a run is marked only if it is significantly better than all others.
    of_runs = [each.id for each in answer.runs if each.metrics_flat["ndcg@5"] is not None]
    for best in (1, 2):
        alone = answer.summary.model_copy(update={"best_runs": of_runs[:best]})
        table = results_table("Small", answer.model_copy(update={"summary": alone}))
        assert sum(row[2].best for row in table.rows) == (best == 1)
        assert ("* significantly better than all others" in table.notes) == (best == 1)
    for text in filter(None, [*texts, compared.verdict, both.headline, both.verdict]):
        assert not re.search(r"\b(ap|precision@1|ndcg@\d+)\b", text), text


def test_a_run_is_jumped_to_by_its_name(
    client: TestClient, benchmark: str, runs: list[str], results: Any
) -> None:
    name = results["runs"][0]["name"]
    jumps = client.get("/api/v2/search", params={"q": name}).json()["results"]
    run_jumps = [
        (each["id"], each["title"], each["detail"]) for each in jumps if each["kind"] == "run"
    ]
    assert (runs[0], f"{name} of Small", benchmark) in run_jumps
    (by_id,) = client.get("/api/v2/search", params={"q": runs[0]}).json()["results"]
    assert by_id["kind"] == "run"


def test_the_numbers_are_those_of_the_command_line(
    results: Any, store: ServiceStore, runs: list[str]
) -> None:
    measures = tuple(results["runs"][0]["metrics_flat"])
    for result, run in zip(results["runs"], runs, strict=True):
        measured = store.results.measured(run)
        scored = score(
            gold(), measured.run, scoring=Scoring(measures=measures), confidence=Confidence()
        )
        for summary in scored.summaries:
            mean = result["metrics_flat"][summary.measure]
            assert mean == (None if summary.n == 0 else summary.mean)
            if mean is not None:
                assert summary.interval
                expected = [summary.interval.low, summary.interval.high]
                assert result["intervals"][summary.measure] == pytest.approx(expected)


def test_a_cut_off_beyond_the_depth_has_no_value(results: Any) -> None:
    first = results["runs"][0]
    assert first["config"]["top_k"] == 1
    assert first["metrics"]["ndcg"] == {"1": 1.0, "5": None, "10": None}
    assert (first["metrics_flat"]["ndcg@5"], first["metrics"]["mrr"]) == (None, 1.0)


def test_the_list_names_the_best_run_and_what_was_searched(
    client: TestClient, benchmark: str, results: Any
) -> None:
    listed = client.get("/api/v2/benchmarks").raise_for_status().json()["benchmarks"]
    (one,) = (each for each in listed if each["id"] == benchmark)
    assert one == client.get(f"/api/v2/benchmarks/{benchmark}").json()
    best = one["best_run"]
    metric = results["primary_metric"]
    means = {run["id"]: run["metrics_flat"][metric] for run in results["runs"]}
    known = [mean for mean in means.values() if mean is not None]
    assert (best["metric"], best["mean"]) == (metric, max(known))
    assert means[best["run_id"]] == best["mean"]
    assert best["name"] in [run["name"] for run in results["runs"]]
    dataset = client.get(f"/api/v2/benchmark-datasets/{one['dataset_id']}").json()
    collection = client.get(f"/api/v2/collections/{one['collection_id']}").json()
    assert one["dataset_name"] == dataset["name"]
    assert one["collection_name"] == collection["name"]


def test_what_is_told_of_a_run(results: Any, runs: list[str]) -> None:
    third = results["runs"][2]
    assert (third["name"], third["run_order"], third["status"]) == ("sparse @5", 3, "completed")
    assert (third["answered"], third["errors"], third["timeouts"]) == (QUESTIONS, 0, 0)
    assert third["latency"]["measured"] is True
    assert third["latency"]["samples"] == TIMED["sample"]
    assert third["timing_status"] == "done"
    assert third["latency"]["p50"] > 0
    # Fewer than 100 queries are timed.
    assert third["latency"]["p99"] is None
    assert third["latency"]["disturbed"] is False
    assert third["timing"]["total_ms"] > third["timing"]["indexing_ms"] > 0
    assert len({run["config_hash"] for run in results["runs"]}) == RUNS
    # A threshold of half the best score leaves the first hit alone, whatever the depth.
    assert results["runs"][5]["identical_to"] == [runs[0], runs[1], runs[3]]
    assert third["resolved_metrics_flat"] is None


def test_the_summary(results: Any, runs: list[str]) -> None:
    summary = results["summary"]
    assert (summary["total_runs"], summary["completed_runs"]) == (RUNS, RUNS)
    assert summary["best_run"] == runs[2]
    # The depth of 10 returns the same first five.
    assert summary["best_runs"] == [runs[2], runs[4]]
    assert "sparse @5 and sparse @10 have the highest " in summary["comparison"]


@pytest.mark.parametrize("what", ["results", "report.html", "export.csv", "export.json"])
def test_versions(client: TestClient, benchmark: str, what: str) -> None:
    url = f"/api/v2/benchmarks/{benchmark}/{what}"
    first = client.get(url)
    version = first.headers["ETag"]
    again = client.get(url, headers={"If-None-Match": f'"x", W/{version}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", version)
    assert client.get(url, headers={"If-None-Match": '"x"'}).content == first.content


def test_query_by_query(get: Get, runs: list[str], results: Any) -> None:
    page = get(f"runs/{runs[2]}/queries", per_page=20, page=2)
    assert (page["total"], len(page["results"]), page["run_id"]) == (QUESTIONS, 10, runs[2])
    rows = get(f"runs/{runs[2]}/queries", per_page=20)["results"] + page["results"]
    mean = sum(row["ndcg_at_k"] for row in rows) / QUESTIONS
    assert mean == pytest.approx(results["runs"][2]["metrics_flat"]["ndcg@5"])
    assert rows[0]["query_text"] == "amber amber delta number0"
    assert rows[0]["retrieved_doc_ids"][0] == "amber.md"
    assert rows[0]["search_time_ms"] > 0
    assert rows[0]["rerank_time_ms"] is None
    get(f"runs/{runs[2][:-1]}9/queries", status=404)


def test_comparison(get: Get, runs: list[str], store: ServiceStore) -> None:
    compared = get("comparison", baseline=runs[2], metric="recall@5")
    measured = [store.results.measured(run).run for run in (runs[2], runs[3])]
    settings = Confidence(pairs="baseline")
    own = compare(
        gold(), measured, scoring=Scoring(measures=("recall@5",)), confidence=settings
    ).comparison.differences[0]
    rows = {row["run_id"]: row for row in compared["runs"]}
    assert compared["runs"][0]["verdict"] == "baseline"
    assert rows[runs[3]]["difference"] == own.difference == -0.5
    assert (rows[runs[3]]["regressed"], rows[runs[3]]["verdict"]) == (own.losses, "worse")
    assert rows[runs[4]]["verdict"] == "no difference shown"
    # The first run that has a score on the primary measure; two go less deep.
    assert get("comparison")["baseline"] == runs[2]
    for wrong in ("ndgc", "hit@3", "ndcg@3"):
        get("comparison", metric=wrong, status=400)


def test_matrix_slices_and_curves(get: Get, runs: list[str], results: Any) -> None:
    matrix = get("matrix", metric="recall@5")
    assert (matrix["runs"], matrix["queries"]) == (runs, list(gold().query_ids))
    column = [row[3] for row in matrix["values"]]
    assert sum(column) / QUESTIONS == results["runs"][3]["metrics_flat"]["recall@5"]
    assert [row[0] for row in matrix["values"]] == [None] * QUESTIONS
    slices = get("slices", by="half")
    assert [(each["value"], each["queries"]) for each in slices["slices"]] == [("a", 15), ("b", 15)]
    assert slices["slices"][0]["means"][runs[2]] == 1.0
    assert "half" in slices["tags"]
    get("slices", by="colour", status=400)
    curves = {(each["run_id"], each["measure"]): each for each in get("curves")["curves"]}
    recall = curves[runs[4], "recall"]
    assert dict(zip(recall["k"], recall["values"], strict=True))[1] == 0.5
    assert recall["values"][-1] == 1.0


def test_queries_that_belong_together_are_drawn_together(
    store: ServiceStore, benchmark: str, runs: list[str]
) -> None:
    alone = scored(store, store.benchmarks.get(benchmark))
    threes = tuple(f"case {row // 3}" for row in range(len(alone.findings.gold)))
    # Pairs that the findings have not tested are tested for the page.
    contest = alone.findings.contest
    untested = replace(contest, comparison=replace(contest.comparison, differences=()))
    alone = replace(alone, findings=replace(alone.findings, contest=untested))
    together = replace(alone, findings=replace(alone.findings, clusters=threes))
    for view in (
        lambda each: slices(each, "recall@5", "half").slices[0].intervals,
        lambda each: [row.p for row in comparison(each, runs[2], "recall@5").runs],
        lambda each: two_sides(each, runs[2], each, runs[3], "recall@5").comparison.p,
    ):
        assert view(together) != view(alone)


def test_one_query(get: Get, runs: list[str]) -> None:
    drilldown = get("queries/q3")
    assert drilldown["query"]["tags"] == {"half": "b"}
    first, second = drilldown["targets"]
    assert (first["path"], first["found_at"][runs[0]], first["lost"]) == ("delta.md", 1, {})
    assert second["found_at"][runs[0]] is None
    assert second["lost"][runs[0]] == "not retrieved"
    hits = drilldown["runs"][2]["hits"]
    assert [(hit["rank"], hit["grade"]) for hit in hits[:2]] == [(1, 2.0), (2, 1.0)]
    assert [hit["relevant"] for hit in hits] == [True, True, False, False, False]
    get("queries/q99", status=404)


def test_files(client: TestClient, benchmark: str) -> None:
    url = f"/api/v2/benchmarks/{benchmark}"
    table = client.get(f"{url}/export.csv")
    assert table.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert len(rows) == RUNS * QUESTIONS
    exported = client.get(f"{url}/export.json").json()
    assert len(exported["runs"]) == RUNS
    report = client.get(f"{url}/report.html")
    assert report.text.startswith("<!DOCTYPE html>")
    assert "sandbox" in report.headers["Content-Security-Policy"]


def test_the_report_carries_what_the_service_sends(
    client: TestClient, benchmark: str, embedded: Callable[[str], dict[str, Any]]
) -> None:
    """Return every document inside the exported report by its address, equal to the answer."""
    page = client.get(f"/api/v2/benchmarks/{benchmark}/report.html").text
    documents = embedded(page)
    kinds = set()
    for key, document in documents.items():
        path, _, given = key.partition("?")
        params = dict(each.split("=", 1) for each in given.split("&") if each)
        answer = client.get(f"/api/v2{path}", params=params)
        assert answer.status_code == 200, key
        sent = answer.json()
        if path.endswith("/queries"):
            # The page reads hits by query, so a report lists them there alone.
            for row in sent.get("results", ()):
                row["retrieved_doc_ids"] = []
        assert sent == document, key
        kinds.add(path.removeprefix(f"/benchmarks/{benchmark}/").split("/")[0])
    assert kinds >= {"results", "details", "comparison", "matrix", "slices", "curves", "queries"}
    assert len(documents) > 2 * RUNS + QUESTIONS


@pytest.mark.parametrize(
    ("part", "status"), [("bytes=0-9", 206), ("bytes=999999999-", 416), ("bytes=x", 400)]
)
def test_a_file_goes_when_it_was_sent(
    *,
    client: TestClient,
    benchmark: str,
    part: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    url = f"/api/v2/benchmarks/{benchmark}/export.csv"
    assert client.get(url, headers={"Range": part}).status_code == status
    assert not list(tmp_path.glob("karat-export-*"))


def test_two_sides(client: TestClient, benchmark: str, runs: list[str]) -> None:
    def compared(left: str, right: str) -> Any:
        answer = client.get("/api/v2/compare", params={"left": left, "right": right})
        assert answer.status_code == 200
        return answer.json()

    sides = compared(benchmark, runs[3])
    assert (sides["left"]["run_id"], sides["right"]["run_id"]) == (runs[2], runs[3])
    assert (sides["comparable"], sides["why"], sides["queries"]) == (True, None, QUESTIONS)
    assert sides["comparison"]["verdict"] == "worse"
    assert compared(runs[3], benchmark)["comparison"]["verdict"] == "better"
    for side in ("aaaaaaaaaa.1", "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"):
        answer = client.get("/api/v2/compare", params={"left": benchmark, "right": side})
        assert answer.status_code == 404


def test_the_course_of_time(
    client: TestClient, benchmark: str, store: ServiceStore, results: Any
) -> None:
    store.benchmarks.annotate(benchmark, "first day", author="local")
    dataset = store.benchmarks.get(benchmark).dataset
    trend = client.get("/api/v2/trend", params={"dataset": dataset}).json()
    assert trend["labels"] == results["labels"]
    points = trend["points"]
    assert [point["run_id"] for point in points] == [run["id"] for run in results["runs"]]
    assert points[2]["values"] == results["runs"][2]["metrics_flat"]
    assert points[2]["intervals"] == results["runs"][2]["intervals"]
    assert points[0]["annotations"] == ["first day"]


def test_a_metric_of_a_missing_plug_in_does_not_break_the_trend(
    client: TestClient, benchmark: str, store: ServiceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(self: BenchmarkConfig) -> dict[str, str]:
        raise UnknownName("no metric named 'of-a-plug-in'")

    monkeypatch.setattr(BenchmarkConfig, "labels", unknown)
    dataset = store.benchmarks.get(benchmark).dataset
    answer = client.get("/api/v2/trend", params={"dataset": dataset})
    assert (answer.status_code, answer.json()["labels"]) == (200, {})


def test_a_random_sample_of_hits_takes_whole_queries(
    client: TestClient, benchmark: str, store: ServiceStore
) -> None:
    url = f"/api/v2/benchmark-datasets/{store.benchmarks.get(benchmark).dataset}/unjudged"
    sampled = client.get(url, params={"per_page": 100, "order": "sample"}).json()
    ranked = client.get(url, params={"per_page": 100}).json()
    queries = [hit["query_id"] for hit in sampled["hits"]]
    # Without labels of models there is one stratum: the order is random.
    order = [gold().query_ids[row] for row in stratified_order(["unlabelled"] * QUESTIONS)]

    assert sampled["total"] == ranked["total"]
    assert list(dict.fromkeys(queries)) == [each for each in order if each in queries]
    assert queries == sorted(queries, key=order.index)
    assert client.get(url, params={"order": "length"}).status_code == 422


@pytest.fixture(scope="module")
def labelled(
    benchmark: str,
    store: ServiceStore,
    settings: ServiceSettings,
    client: TestClient,
    do_jobs: Callable[[ServiceSettings], None],
) -> dict[str, str]:
    """Return benchmarks on a dataset with labels of a model, by the labels that they use."""

    def label(query: Query) -> Query:
        """Return *query* with labels that contradict people, and one of a further document."""
        wrong = [JudgmentRecord(each._replace(grade=0.0), "m1", "") for each in query.targets]
        first = query.text.split()[0]
        new = Target(next(f"{word}.md" for word in WORDS if f"{word}.md" != f"{first}.md"), 3.0)
        return with_model_labels(query, [*wrong, JudgmentRecord(new, "m1", "")])

    data = gold().with_queries(list(map(label, gold().queries())))
    dataset = store.datasets.add("local", "Labels", description="", gold=data, schema_version="1.0")
    mapping = store.mappings.add(dataset.id, store.benchmarks.get(benchmark).collection)
    store.mappings.keep_resolution(mapping.id, data, mapped=1, total=1, unresolved=[])
    made = {}
    for choice in ("exclude", "include", "only"):
        asked = {"name": choice, "mapping_id": mapping.id, "config_matrix": MATRIX}
        answer = client.post(
            "/api/v2/benchmarks", json={**asked, "judge_labels": choice, "timing": "none"}
        ).json()
        assert answer["judge_labels"] == choice
        made[choice] = answer["id"]
        store.benchmarks.start(answer["id"])
    do_jobs(settings)
    return made


def test_labels_of_models_are_used_where_a_benchmark_says_so(
    client: TestClient, labelled: dict[str, str]
) -> None:
    results = {
        choice: client.get(f"/api/v2/benchmarks/{made}/results").json()
        for choice, made in labelled.items()
    }
    marks = {choice: each["score_mark"] for choice, each in results.items()}
    means = {choice: each["runs"][2]["metrics_flat"]["ndcg@5"] for choice, each in results.items()}

    assert marks == {"exclude": "", "include": "†", "only": "†"}
    assert means["only"] < means["include"] < means["exclude"]
    details = client.get(f"/api/v2/benchmarks/{labelled['include']}/details").json()
    (warning,) = details["warnings"]
    assert warning.startswith("† these numbers use labels by m1; agreement with people: kappa -")
    plain = client.get(f"/api/v2/benchmarks/{labelled['exclude']}/details").json()
    assert plain["warnings"] == []
    assert any("are not used" in note for note in next(iter(plain["run_notes"].values())))


def test_people_overrule_a_model_and_the_agreement_is_counted_again(
    client: TestClient, labelled: dict[str, str], store: ServiceStore
) -> None:
    made = labelled["include"]
    url = f"/api/v2/benchmark-datasets/{store.benchmarks.get(made).dataset}"

    def state() -> tuple[str, float]:
        (warning,) = client.get(f"/api/v2/benchmarks/{made}/details").json()["warnings"]
        run = client.get(f"/api/v2/benchmarks/{made}/results").json()["runs"][2]
        return re.findall(r"on (\d+) hits", warning)[0], run["metrics_flat"]["ndcg@5"]

    before = state()
    hits = client.get(f"{url}/unjudged", params={"benchmark": made, "per_page": 100}).json()["hits"]
    data = store.datasets.gold(store.datasets.get(store.benchmarks.get(made).dataset).gold)
    labels = {
        (query.id, label.target.path)
        for query in data.queries()
        for label in model_labels_of(query)
    }
    hit = next(hit for hit in hits if (hit["query_id"], hit["path"]) in labels)
    edit = {"query_id": hit["query_id"], "path": hit["path"], "grade": 0, "version": 1}
    assert client.put(f"{url}/judgments", json=edit).status_code == 200
    after = state()

    assert int(after[0]) == int(before[0]) + 1
    assert after[1] != before[1]


def test_judgments_change_results_at_once(
    client: TestClient, benchmark: str, store: ServiceStore, get: Get
) -> None:
    before = get("results")
    dataset = store.benchmarks.get(benchmark).dataset
    url = f"/api/v2/benchmark-datasets/{dataset}"
    unjudged = client.get(f"{url}/unjudged", params={"per_page": 5}).json()
    hit = unjudged["hits"][0]
    assert (unjudged["version"], hit["best_rank"]) == (1, 3)
    edit = {"query_id": hit["query_id"], "path": hit["path"], "grade": 3, "version": 1}
    edit |= {"start_line": hit["start_line"], "end_line": hit["end_line"], "reason": "it tells"}
    made = client.put(f"{url}/judgments", json=edit)
    assert made.status_code == 200
    assert (made.json()["version"], made.json()["change"]["before"]) == (2, None)
    assert client.put(f"{url}/judgments", json=edit).status_code == 409
    after = get("results")
    assert after["judgments_version"] == 2
    assert after["runs"][2]["metrics_flat"]["ndcg@5"] < before["runs"][2]["metrics_flat"]["ndcg@5"]
    left = client.get(f"{url}/unjudged").json()
    assert (left["total"], left["version"]) == (unjudged["total"] - 1, 2)
    known = {"query_id": "q0", "path": "amber.md", "grade": 0, "version": 2}
    assert client.put(f"{url}/judgments", json=known).json()["change"]["before"] == 2.0
    for version in (4, 5):
        assert client.delete(f"{url}/judgments").json()["version"] == version
    assert client.delete(f"{url}/judgments").status_code == 409
    again = get("results")
    assert again["judgments_version"] == 5
    for old, new in zip(before["runs"], again["runs"], strict=True):
        assert new["metrics_flat"] == old["metrics_flat"]
    history = client.get(f"{url}/judgments/history").json()
    assert [each["grade"] for each in history["changes"]] == [None, 2.0, 0.0, 3.0]
    assert history["changes"][-1]["reason"] == "it tells"
    unknown = {**known, "query_id": "q99", "version": 5}
    assert client.put(f"{url}/judgments", json=unknown).status_code == 404
    other = "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"
    assert client.get(f"{url}/unjudged", params={"benchmark": other}).status_code == 404


def test_a_judgment_that_comes_while_results_are_computed_is_not_lost(
    client: TestClient, benchmark: str, store: ServiceStore, get: Get
) -> None:
    """What was computed before it must not be taken for the results after it."""
    stored = store.benchmarks.get(benchmark)
    url = f"/api/v2/benchmark-datasets/{stored.dataset}"
    computed = scored(store, stored)
    edit = {"query_id": "q0", "path": "amber.md", "grade": 0, "version": computed.version}
    version = client.put(f"{url}/judgments", json=edit).raise_for_status().json()["version"]
    store_results(store, computed)
    after = get("results")
    assert after["judgments_version"] == version
    assert after["runs"][2]["metrics_flat"] != full_results(store, computed).runs[2].metrics_flat
    client.delete(f"{url}/judgments").raise_for_status()


def test_unresolved_references_count_twice(
    settings: ServiceSettings, client: TestClient, store: ServiceStore, benchmark: str
) -> None:
    """As missed, and not at all; this one comes last, since it changes the mapping."""
    mapping = store.benchmarks.get(benchmark).mapping
    lost = {"query_id": "q1", "doc_ref": {"path": "karst.md"}, "doc_ref_hash": "1f"}
    store.mappings.keep_resolution(
        mapping, gold(), mapped=59, total=60, unresolved=[{**lost, "reason": "not_found"}]
    )
    results = client.get(f"/api/v2/benchmarks/{benchmark}/results").json()
    all_counted, resolved = (
        results["runs"][3][name]["recall@5"] for name in ("metrics_flat", "resolved_metrics_flat")
    )
    assert all_counted == 0.5
    assert resolved == pytest.approx((29 * 0.5 + 1) / 30)
