"""A service says why targets were lost, in the words of a report and for the same reasons."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from karat.app.loss_reasons import with_losses
from karat.app.report import report
from karat.client import Client
from karat.errors import InputError
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.store import SqlStore
from karat.experiments.target_check import Where
from karat.extensions.service import results
from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.jobs import benchmark as benchmark_job
from karat.extensions.service.jobs.loss_reasons import explain, store_losses
from karat.extensions.service.results import scored
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.system.processes import ChildProcess, Message

NOTES = {
    "first.md": "# amber\n\namber basil amber basil\n",
    "second.md": "# cedar\n\nsome words around amber, which is rare\n",
    "third.md": f"# cedar\n\n{'many words in one long line ' * 4} amber\n",
    "other.md": "# delta\n\nnothing of that\n",
}
WHOLE = (1, 3)
TARGETS = (
    Target("first.md", 2.0, *WHOLE),
    Target("second.md", 1.0, *WHOLE),
    Target("third.md", 1.0, *WHOLE),
    Target("other.md", 1.0, *WHOLE),
    Target("first.md", 1.0, 40, 50),
    Target("gone.md", 1.0, *WHOLE),
)
REASONS = {
    "sparse @10": (
        *("", "", "ranked below k", "not retrieved", "in no chunk", "not in the corpus"),
    ),
    "sparse @10 ≥0.9": (
        *("", "dropped by the threshold", "not retrieved", "not retrieved"),
        *("in no chunk", "not in the corpus"),
    ),
}
MATRIX = {
    "search_modes": ["sparse"],
    "score_thresholds": [None, 0.9],
    "primary_k": 2,
    "k_values_for_metrics": [2],
}

Get = Callable[[str], Any]


def gold() -> Dataset:
    return Dataset.of([Query("q1", "amber basil", TARGETS)], name="notes", match="lines")


@pytest.fixture
def benchmark(store: ServiceStore, tmp_path: Path) -> str:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    collection = store.collections.add(
        "local",
        "Notes",
        description="",
        source={"kind": "folder", "path": str(folder)},
        index={"dense": False, "sparse": True, "chunker": "auto", "model": "granite"},
    )
    dataset = store.datasets.add(
        "local", "Questions", description="", gold=gold(), schema_version="1.0"
    )
    mapping = store.mappings.add(dataset.id, collection.id)
    store.mappings.keep_resolution(mapping.id, gold(), mapped=5, total=6, unresolved=[])
    config = BenchmarkConfig(MATRIX)
    return store.benchmarks.add(
        "local", "Losses", description="", mapping=mapping.id, config=config.to_json(), total_runs=2
    ).id


@pytest.fixture
def run(store: ServiceStore, work: Callable[[], None], benchmark: str) -> Callable[[], None]:
    """Return what runs the benchmark to its end."""

    def perform_it() -> None:
        store.benchmarks.start(benchmark)
        work()
        assert store.benchmarks.get(benchmark).status == "completed"

    return perform_it


@pytest.fixture
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def get(client: TestClient, benchmark: str) -> Get:
    return lambda path: client.get(f"/api/v2/benchmarks/{benchmark}/{path}").json()


def test_each_reason_has_its_name(
    *,
    run: Callable[[], None],
    get: Get,
    client: TestClient,
    store: ServiceStore,
    benchmark: str,
    embedded: Callable[[str], dict[str, Any]],
) -> None:
    run()
    runs = get("results")["runs"]
    names = {each["id"]: each["name"] for each in runs}
    targets = get("queries/q1")["targets"]
    assert {
        name: tuple(target["lost"].get(run_id, "") for target in targets)
        for run_id, name in names.items()
    } == REASONS
    words = ("found", "too low", "threshold", "not returned", "in no chunk", "not in corpus")
    assert [tuple(each["fates"]) for each in runs] == [(*words, "unanswered")] * 2
    counts = [[each["fates"][word] for word in words] for each in runs]
    assert counts == [[2, 1, 0, 1, 1, 1], [1, 0, 1, 2, 1, 1]]
    page = embedded(client.get(f"/api/v2/benchmarks/{benchmark}/report.html").text)
    reasons = page[f"/benchmarks/{benchmark}/results"]["loss_reasons"]
    assert {each["name"]: each["definition"] for each in reasons}["in no chunk"] == (
        "no chunk of the index covers it"
    )
    stages = [event.data["stage"] for event in store.events.after(0)]
    assert stages[-2:] == ["explaining", "completed"]


def test_they_are_those_of_the_command_line(
    run: Callable[[], None], store: ServiceStore, benchmark: str, tmp_path: Path
) -> None:
    run()
    findings = scored(store, store.benchmarks.get(benchmark)).findings
    anew = with_losses(replace(findings, losses={}), Where(corpus=str(tmp_path / "notes")))
    assert findings.losses == anew.losses
    assert len(findings.losses) == 2 + 3


def test_the_client_tells_them(
    run: Callable[[], None],
    settings: ServiceSettings,
    benchmark: str,
    listening: Callable[[FastAPI], AbstractContextManager[str]],
) -> None:
    run()
    with listening(create_app(settings)) as address, Client(address) as service:
        assert [each.fates["found"] for each in service.results(benchmark).runs] == [2, 1]
        assert service.benchmark(benchmark).commit is None


def test_a_judgment_keeps_the_other_reasons(
    run: Callable[[], None], get: Get, client: TestClient, store: ServiceStore, benchmark: str
) -> None:
    run()
    before = get("queries/q1")["targets"][-1]["lost"]
    dataset = store.benchmarks.get(benchmark).dataset
    edit = {"query_id": "q1", "path": "first.md", "start_line": 1, "end_line": 3, "grade": 0}
    made = client.put(
        f"/api/v2/benchmark-datasets/{dataset}/judgments", json={**edit, "version": 1}
    )
    assert made.status_code == 200, made.text
    targets = {(each["path"], each["start_line"]): each for each in get("queries/q1")["targets"]}
    assert targets["gone.md", 1]["lost"] == before
    assert [each["fates"]["found"] for each in get("results")["runs"]] == [1, 0]


def test_documents_that_have_changed_are_not_asked(
    run: Callable[[], None],
    store: ServiceStore,
    settings: ServiceSettings,
    benchmark: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run()
    losses = scored(store, store.benchmarks.get(benchmark)).findings.losses
    (tmp_path / "notes" / "new.md").write_text("amber basil\n", encoding="utf-8")
    computed = scored(store, store.benchmarks.get(benchmark))
    computed = replace(computed, findings=replace(computed.findings, losses={}))
    sent: list[Message] = []

    class Recorded(ChildProcess):
        def request(self, message: Message, timeout_s: float, **options: Any) -> Message:
            sent.append(message)
            return super().request(message, timeout_s, **options)

    monkeypatch.setattr("karat.extensions.service.jobs.loss_reasons.ChildProcess", Recorded)
    assert store_losses(settings.store, computed, stopped=lambda: False) is False
    with pytest.raises(InputError, match="notes has changed since"):
        explain(store, sent[0])
    assert scored(store, store.benchmarks.get(benchmark)).findings.losses == losses


@pytest.mark.parametrize("limit", ["stopped", "patience"])
def test_nobody_waits_longer_than_they_want(
    limit: str,
    run: Callable[[], None],
    store: ServiceStore,
    settings: ServiceSettings,
    benchmark: str,
) -> None:
    run()
    stopped = limit == "stopped"
    done = scored(store, store.benchmarks.get(benchmark))
    timeout_s = 600.0 if stopped else 0.0
    assert not store_losses(settings.store, done, stopped=lambda: stopped, timeout_s=timeout_s)


def test_a_benchmark_is_complete_without_reasons(
    run: Callable[[], None], get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "karat.extensions.service.jobs.benchmark.store_losses", lambda *_, **__: False
    )
    run()
    runs = get("results")["runs"]
    # A target that is in no searched file needs no second search.
    assert runs[1]["fates"] == {
        "found": 1,
        "too low": 0,
        "not returned": 4,
        "unanswered": 0,
        "not in corpus": 1,
    }
    lost = [target["lost"] for target in get("queries/q1")["targets"]]
    assert lost[1] == {runs[1]["id"]: "not retrieved"}


def test_the_service_scores_each_run_once_and_reads_none_back(
    run: Callable[[], None], get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()
    scored_runs: Counter[str] = Counter()
    reads_of_experiment: list[int] = []
    read_back = SqlStore.measured

    def count_reads(store: SqlStore, name: str) -> RunResult:
        read[name] += 1
        return read_back(store, name)

    def count_scores(gold: Dataset, runs: Sequence[RunResult], **options: Any) -> Findings:
        scored_runs.update(each.name for each in runs)
        return report(gold, runs, **options)

    def count_experiment(*arguments: Any, **options: Any) -> ExperimentResult:
        done = run_experiment(*arguments, **options)
        reads_of_experiment.append(read.total())
        return done

    monkeypatch.setattr(SqlStore, "measured", count_reads)
    monkeypatch.setattr(results, "report", count_scores)
    monkeypatch.setattr(benchmark_job, "run_experiment", count_experiment)
    run()
    assert set(scored_runs.values()) == {1}
    assert len(scored_runs) == len(read) == len(REASONS)
    # The comparison before latency is measured uses the runs that the experiment has read.
    assert set(read.values()) == {1}
    assert reads_of_experiment == [read.total()]
    # Loss reasons are in the stored results, which answer all later requests.
    assert [each["fates"]["found"] for each in get("results")["runs"]] == [2, 1]
    assert (set(scored_runs.values()), set(read.values())) == ({1}, {1})
