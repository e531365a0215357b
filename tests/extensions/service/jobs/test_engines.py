"""Searches of a team: asked by benchmarks where the service offers them, and nowhere else."""

import io
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from karat.cli import main
from karat.client import Client, RunResult
from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import offered_engines
from karat.extensions.service.jobs.worker import WorkerPool
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.extensions.service.conftest import served
from tests.extensions.service.jobs.conftest import (
    MATRIX,
    RUNS,
    WORDS,
    run_to_its_end,
    until,
    write_notes,
)
from tests.extensions.service.jobs.team_search import SECRET, Team, answering

QUERIES = 6
URL = "/api/v2/benchmarks"
Listening = Callable[[FastAPI], AbstractContextManager[str]]
DoJobs = Callable[[ServiceSettings], None]
CLASS = """
class Notes:
    name = "notes"
    def index(self, corpus):
        self.paths = {document.path for document in corpus.documents}
    def search(self, query, k):
        from karat.model import Hit
        if query.startswith("cedar"):
            raise ValueError("cedar is not to my taste")
        if query.startswith("delta"):
            import os
            os._exit(7)
        return [Hit(path, 1.0) for path in sorted(self.paths) if path[:-3] in query][:k]

class Lacking(Notes):
    def search(self, query, k):
        from karat.errors import MissingExtra
        raise MissingExtra("onnx", extra="dense", purpose="embedding")
"""
# What is no name of an engine that anybody has offered.
STRANGE = (
    *("other", "bm25", "RARE", "http://127.0.0.1:1/?q={query}", "team_notes:Notes", "../x"),
    *('{"engine": "command", "command": ["id"]}', "command(command=id)", "rare.yaml"),
)
# The file that has the first word of the query as its title.
COMMAND = ["grep", "-rlE", "# ({words})", "."]


@dataclass(frozen=True)
class Outcome:
    """A benchmark that has run, the searches that it asked, and all that was logged meanwhile."""

    client: Client
    benchmark: str
    team: Team
    elsewhere: Team
    log: str
    store: Path

    @property
    def runs(self) -> dict[str, RunResult]:
        """Return the runs by the name of their engine."""
        results = self.client.results(self.benchmark).runs
        return {run.name.removesuffix(" @10"): run for run in results}


def mapped(client: Client, folder: Path, work: Callable[[], None]) -> str:
    """Return a mapping of six questions to the notes."""
    write_notes(folder / "notes")
    queries = [
        {"query_key": word, "query_text": f"{word} number{n % 3}", "relevant_docs": [f"{word}.md"]}
        for n, word in enumerate(WORDS[:QUERIES])
    ]
    file = folder / "gold.json"
    file.write_text(json.dumps({"queries": queries}), encoding="utf-8")
    source = {"kind": "folder", "path": str(folder / "notes")}
    collection = client.create_collection("Notes", source, index={"dense": False}).id
    work()
    dataset = client.upload_dataset("Questions", file).id
    mapping = client.map(dataset, collection).id
    client.resolve(dataset, mapping)
    return mapping


def matrix_of(*engines: str, modes: tuple[str, ...] = ()) -> dict[str, object]:
    return {"search_modes": modes, "engines": engines, "primary_k": 1, "k_values_for_metrics": [1]}


@pytest.fixture(scope="module")
def outcome(
    tmp_path_factory: pytest.TempPathFactory, listening: Listening, do_jobs: DoJobs
) -> Iterator[Outcome]:
    folder = tmp_path_factory.mktemp("engines")
    (folder / "team_notes.py").write_text(CLASS, encoding="utf-8")
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.format = lambda record: str(vars(record))  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch, ExitStack() as opened:
        patch.setenv("KARAT_CACHE", str(folder / "cache"))
        patch.setenv("TEAM_TOKEN", SECRET)
        patch.syspath_prepend(folder)
        root = logging.getLogger()
        root.addHandler(handler)
        opened.callback(root.removeHandler, handler)
        opened.callback(root.setLevel, root.level)
        root.setLevel(logging.INFO)
        team, elsewhere = (opened.enter_context(answering()) for _ in range(2))
        team.elsewhere = elsewhere.url
        team.hold = lambda path: path == "hangs"
        command = {"engine": "command", "command": COMMAND, "output": "regex"}
        engines = offered_engines(
            [
                f"find={team.engine('find')}",
                f"moody={team.engine('moody')}",
                f"wide={team.engine('wide', max_bytes=1_000)}",
                f"fails={team.engine('fails')}",
                f"moved={team.engine('moved')}",
                f"away={team.engine('away', redirects=3)}",
                f"hangs={team.engine('hangs', timeout_s=0.05)}",
                f"script={json.dumps({**command, 'pattern': '(?P<path>.+)'})}",
                "class=team_notes:Notes",
                "lacks=team_notes:Lacking",
            ]
        )
        settings = ServiceSettings(
            store=str(folder / "karat.db"), data=folder / "data", roots=(folder,), engines=engines
        )
        client = opened.enter_context(Client(opened.enter_context(listening(create_app(settings)))))
        mapping = mapped(client, folder, lambda: do_jobs(settings))
        made = client.create_benchmark("Own", mapping, matrix_of(*engines, modes=("sparse",)))
        assert made.total_runs == 1 + len(engines)
        client.start(made.id)
        do_jobs(settings)
        yield Outcome(client, made.id, team, elsewhere, log.getvalue(), folder)


def test_a_team_measures_its_search(outcome: Outcome) -> None:
    assert outcome.client.benchmark(outcome.benchmark).status == "completed"
    run = outcome.runs["find"]
    assert (run.status, run.answered, run.errors) == ("completed", QUERIES, 0)
    assert run.metrics_flat["ndcg@1"] == 1.0
    assert run.latency.measured is True
    assert (run.config.engine, run.config.search_mode, run.config.top_k) == (
        "find",
        None,
        10,
    )
    mode = outcome.runs["sparse"].config
    assert (mode.engine, mode.search_mode) == (None, "sparse")
    # The other half of its answers is a file that the collection does not have.
    assert run.invalid == QUERIES
    left_out = f"{run.name}: {QUERIES} invalid hits left out ({QUERIES} not in the corpus)"
    removed, last = run.warnings
    assert removed.startswith(f"{run.name}: 50% of its hits are not in the searched files; ")
    assert last == left_out
    hits = [query.retrieved_doc_ids for query in outcome.client.queries(outcome.benchmark, run.id)]
    assert sorted(hits) == [[f"{word}.md"] for word in sorted(WORDS[:QUERIES])]
    assert outcome.team.keys == {f"Bearer {SECRET}"}


def test_what_fails_now_and_then_is_counted(outcome: Outcome) -> None:
    run = outcome.runs["moody"]
    assert (run.status, run.answered, run.errors) == ("completed", QUERIES - 2, 2)
    errors = []
    for query in outcome.client.queries(outcome.benchmark, run.id):
        path = f"/benchmarks/{outcome.benchmark}/queries/{query.query_id}"
        runs = outcome.client._ask.get(path)["runs"]
        errors += [each["error"] for each in runs if each["run_id"] == run.id]
    failed = [error for error in errors if error]
    assert (len(errors), len(failed)) == (QUERIES, 2)
    assert all(error.startswith("moody: answered 503") for error in failed)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wide", "wide: the answer is longer than 1,000 bytes"),
        ("fails", "fails: answered 500"),
        ("moved", "moved: redirects more than 0 times"),
        ("away", "away: redirects to another origin"),
        ("hangs", "hangs: "),
    ],
)
def test_a_search_has_limits(outcome: Outcome, name: str, says: str) -> None:
    run = outcome.runs[name]
    assert (run.status, run.answered) == ("failed", 0)
    assert says in str(run.error_message)


def test_where_the_checkout_lies_is_not_told(outcome: Outcome) -> None:
    told = str(outcome.runs["lacks"].error_message)
    assert told.endswith("embedding needs the extra dense: pip install 'karatbench[dense]'")


def test_a_redirect_is_not_followed(outcome: Outcome) -> None:
    assert outcome.team.asked["moved"] > 0
    assert outcome.team.asked["landed"] == 0
    assert outcome.team.asked["away"] > 0
    assert not outcome.elsewhere.asked


def test_one_that_hangs_times_out(outcome: Outcome) -> None:
    assert outcome.runs["hangs"].timeouts == QUERIES


def test_a_command_that_was_enabled(outcome: Outcome) -> None:
    run = outcome.runs["script"]
    assert (run.status, run.metrics_flat["ndcg@1"]) == ("completed", 1.0)


def test_a_class_that_was_enabled(outcome: Outcome) -> None:
    """What it raises, and its death, cost one query each; the service goes on."""
    run = outcome.runs["class"]
    assert (run.status, run.answered, run.errors) == ("completed", QUERIES - 2, 2)
    assert run.metrics_flat["ndcg@1"] == pytest.approx((QUERIES - 2) / QUERIES)


def test_engines_are_listed(outcome: Outcome) -> None:
    kinds = {engine.name: engine.kind for engine in outcome.client.engines()}
    assert (kinds["find"], kinds["script"], kinds["class"]) == ("http", "command", "python")
    assert len(kinds) == 10


def test_the_secret_is_nowhere(outcome: Outcome) -> None:
    client, benchmark = outcome.client, outcome.benchmark
    completed = [run.id for run in outcome.runs.values() if run.status == "completed"]
    said = [
        *(client.report(benchmark), client.export(benchmark, "json")),
        *(client.export(benchmark, "csv"), str(client.engines()), str(client.results(benchmark))),
        *(str(list(client.queries(benchmark, run))) for run in completed),
        *(str(list(client.events(benchmark))), outcome.log),
    ]
    assert "{env:TEAM_TOKEN}" in str(outcome.runs["fails"].error_message)
    assert all(len(text) > 100 for text in said)
    for text in said:
        assert SECRET not in text
    files = [file for file in outcome.store.rglob("*") if file.is_file()]
    assert outcome.store / "karat.db" in files
    for file in files:
        assert SECRET.encode() not in file.read_bytes(), file


@pytest.fixture
def offering(settings: ServiceSettings) -> ServiceSettings:
    return replace(settings, engines=offered_engines(["rare=bm25(k1=0.5)", "plain=keyword"]))


@pytest.mark.parametrize("enabled", [True, False])
def test_nothing_else_can_be_asked(
    enabled: bool, offering: ServiceSettings, store: ServiceStore, benchmark: str
) -> None:
    settings = offering if enabled else replace(offering, engines={})
    offered = "rare, plain" if enabled else "none, it was started without"
    made = {"name": "Own", "mapping_id": store.benchmarks.get(benchmark).mapping}
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        for name in STRANGE:
            asked = {"config_matrix": matrix_of(name)}
            for answer in (
                client.post(URL, json={**made, **asked}),
                client.post(f"{URL}/preview", json=asked),
            ):
                detail = answer.json()["detail"]
                assert answer.status_code == 400, name
                assert detail.startswith("no engine ")
                assert f"on this service; offered: {offered}" in detail
        assert client.get(URL).json()["total"] == 1


def test_engines_count_as_runs(
    offering: ServiceSettings, store: ServiceStore, benchmark: str
) -> None:
    with TestClient(create_app(offering), base_url="http://localhost:8080") as client:
        matrix = {**MATRIX, "engines": ["plain", "rare"]}
        preview = client.post(f"{URL}/preview", json={"config_matrix": matrix}).json()
        assert preview["total_runs"] == len(preview["runs"]) == RUNS + 2 * 3
        first = preview["runs"][0]
        assert first["name"].startswith("plain @")
        assert first["config"]["engine"] == "plain"
        mapping = store.benchmarks.get(benchmark).mapping
        asked = {"name": "Own", "mapping_id": mapping, "config_matrix": matrix}
        made = client.post(URL, json=asked).json()
        assert made["total_runs"] == RUNS + 2 * 3
        assert made["config_matrix"]["engines"] == ["plain", "rare"]
        # One that was made before there were engines has none.
        assert client.get(f"{URL}/{benchmark}").json()["config_matrix"]["engines"] == []
        wide = {**matrix, "search_modes": [], "top_k_values": list(range(1, 27))}
        answer = client.post(f"{URL}/preview", json={"config_matrix": wide})
        assert answer.status_code == 422
        assert "52 runs; at most 50" in answer.json()["detail"]
        nothing = client.post(f"{URL}/preview", json={"config_matrix": matrix_of()})
        assert (nothing.status_code, nothing.json()["detail"]) == (
            400,
            "search_modes: the list is empty",
        )


def test_an_engine_that_is_offered_no_more(
    offering: ServiceSettings, store: ServiceStore, benchmark: str, do_jobs: DoJobs
) -> None:
    with TestClient(create_app(offering), base_url="http://localhost:8080") as client:
        mapping = store.benchmarks.get(benchmark).mapping
        asked = {"name": "Own", "mapping_id": mapping, "config_matrix": matrix_of("plain")}
        made = client.post(URL, json=asked).json()["id"]
        client.post(f"{URL}/{made}/start")
        do_jobs(replace(offering, engines={}))
        assert client.get(f"{URL}/{made}").json()["status"] == "failed"
    assert "no engine 'plain' on this service" in store.benchmarks.get(made).error


def test_a_worker_that_is_killed_while_it_waits_for_an_answer(
    settings: ServiceSettings,
    store: ServiceStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listening: Listening,
    do_jobs: DoJobs,
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", SECRET)
    with ExitStack() as opened:
        team = opened.enter_context(answering())
        # Three queries warm it up, a fourth is answered; it hangs at the fifth.
        team.hold = lambda _: len(team.queries) > 4
        own = replace(settings, engines=offered_engines([f"find={team.engine('find')}"]))
        client = opened.enter_context(Client(opened.enter_context(listening(create_app(own)))))
        mapping = mapped(client, tmp_path, lambda: do_jobs(own))
        made = client.create_benchmark("Own", mapping, matrix_of("find")).id
        client.start(made)
        workers = WorkerPool(own, count=1)
        workers.start()
        opened.callback(workers.stop)
        until(team.held.is_set)
        before = store.benchmarks.get(made).experiment
        assert before
        until(lambda: store.results.show(before).runs[0].answers)
        os.kill(workers.pids[0], signal.SIGKILL)
        team.released.set()
        assert run_to_its_end(store, made) == "completed"
        assert store.benchmarks.get(made).experiment == before
        (run,) = client.results(made).runs
        assert (run.answered, run.errors, run.metrics_flat["ndcg@1"]) == (QUERIES, 0, 1.0)


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def karat(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["--server", service.address, *words])
        streams = capsys.readouterr()
        return int(caught.value.code or 0), streams.out, streams.err

    monkeypatch.setenv("TEAM_TOKEN", SECRET)
    with answering() as team:
        target = f"docs={team.url}/find?q={{query}}&key={{env:TEAM_TOKEN}}"
        (tmp_path / "team_notes.py").write_text(CLASS, encoding="utf-8")
        engines = ("--engine", "ours=team_notes:Notes", "--engine", "rare=bm25(k1=1)")
        options = ("--root", str(tmp_path), "--http-target", target, *engines)
        with served(tmp_path, *options) as service:
            assert karat("engines")[1] == "ours  python\nrare  bm25\ndocs  http\n"
            with Client(service.address) as client:
                mapped(
                    client,
                    tmp_path,
                    lambda: until(lambda: next(client.collections()).status == "ready"),
                )
            sweep = ("sweep", str(tmp_path / "gold.json"), "--collection", "Notes")
            code, _, err = karat(*sweep, "--engine", "dosc")
            assert (code, "no engine 'dosc' on this service; offered: ours, rare, docs" in err) == (
                2,
                True,
            )
            assert karat(*sweep)[0] == 2
            code, table, err = karat(*sweep, "--engine", "docs", "-e", "ours")
            assert code == 0, err
            assert table.startswith("No significant difference between docs @10 and ours @10")
            assert "\ngold on Notes, 6 queries\n" in table
            assert [line.split()[0] for line in table.splitlines()[-3:-1]] == ["docs", "ours"]
            assert "latency: not measured" not in table
            matrix = tmp_path / "own.yaml"
            matrix.write_text("engines: [ours]\n")
            code, table, err = karat(*sweep, "--matrix", str(matrix), "--timed", "none")
            assert code == 0, err
            assert "gold on Notes, own, 6 queries" in table
            assert [line.split()[0] for line in table.splitlines() if "completed" in line] == [
                "ours"
            ]
            assert "latency: not measured" in table
            code, _, err = karat(*sweep, "--engine", "ours", "--timed", "20")
            assert (code, "'none', 'sample', 'all'" in err) == (2, True)
    assert team.secrets == {SECRET}
    assert SECRET not in (tmp_path / "log").read_text(encoding="utf-8")


def test_what_cannot_be_served(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["serve", "--engine", "own=nothing.here:Search"])
    assert caught.value.code == 2
    assert "engine 'own': cannot load" in capsys.readouterr().err
    assert "nothing" not in sys.modules
