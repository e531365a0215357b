"""A request is run once: what is kept is not asked again, whatever ended the first attempt."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from karat import discovery
from karat.engines.base import Engine
from karat.engines.registry import has_absolute_scores
from karat.engines.spec import build
from karat.errors import InputError, LimitExceeded
from karat.experiments import Configuration, LocalExecutor, Matrix
from karat.experiments.plan import ExperimentRequest, plan_experiment
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.store import ExperimentKind, RunStatus, SqlStore
from karat.experiments.target_check import Where
from karat.experiments.workers import RunEvent, RunSettings, announce, cut
from karat.experiments.workers.sources import load_corpus
from karat.model import Answer, Dataset, Outcome, Query, Target
from karat.model.coverage import CorpusCoverage
from karat.model.spec import Spec
from karat.scoring.settings import Scoring
from tests import words

TEXTS = {
    "auth.py": "def login(user, password):\n    return user.check(password)\n",
    "mail.py": "def send(message):\n    print(message)\n",
    "tests/test_mail.py": "def test_send():\n    send(message)\n",
}
WORDS = ("login", "password", "send", "message", "print", "user")
SETTINGS = RunSettings(warm_up=1, repetitions=2, timeout_s=5)
BM25, KEYWORD = Spec("engine", "bm25"), Spec("engine", "keyword")

Ask = Callable[..., ExperimentRequest]


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``module:Class`` find the engines that misbehave, here and in the workers."""
    programs = Path(__file__).parents[1] / "experiments" / "workers" / "programs"
    monkeypatch.syspath_prepend(str(programs))


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    return SqlStore(tmp_path / "karat.db")


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Return what makes requests about a small folder."""
    folder = tmp_path / "project"
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def request(*configurations: Configuration, **changes: object) -> ExperimentRequest:
        queries = [
            Query(word, word, (Target("auth.py" if word in TEXTS["auth.py"] else "mail.py"),))
            for word in WORDS
        ]
        given: dict[str, object] = {
            "gold": Dataset.of(queries, name="gold", match="exact"),
            "configurations": configurations or (Configuration("words", BM25, 10),),
            "where": Where(corpus=str(folder)),
            "kind": ExperimentKind.EVALUATE,
            "settings": SETTINGS,
            "timed": 0,
        }
        return ExperimentRequest(**{**given, **changes})  # type: ignore[arg-type]

    return request


def toy(name: str, **options: object) -> Configuration:
    params = {"class": f"toys:{name}", "options": options}
    return Configuration(name, Spec("engine", "python", params), k=5)


def statuses(done: ExperimentResult) -> list[RunStatus]:
    return [run.status for run in done.experiment.runs]


def test_a_request_is_run_and_kept(ask: Ask, store: SqlStore) -> None:
    done = run_experiment(ask(), store)
    [measured] = done.measured
    assert sorted(measured.run.query_ids) == sorted(WORDS)
    assert measured.timings is None
    assert statuses(done) == [RunStatus.COMPLETED]
    assert not done.interrupted
    assert done.resolved is None
    assert done.searched.most == len(TEXTS)
    [run] = done.experiment.runs
    assert run.snapshot
    assert run.metadata["engine"] == {"name": "bm25", "options": {"unit": "file"}}
    scores = {summary.measure: summary.mean for summary in store.scores(run.id)}
    assert scores["hit@5"] == 1.0


def test_one_target_with_lines_does_not_change_the_unit_of_engines(ask: Ask) -> None:
    request = ask()
    first, *others = request.gold.queries()
    lines = first._replace(targets=(first.targets[0]._replace(start_line=1, end_line=2),))
    mixed = Dataset.of([lines, *others], name="gold", match="lines")
    [configuration] = plan_experiment(replace(request, gold=mixed)).searches.configurations
    assert configuration.spec.params["unit"] == "file"


def test_k_counts_in_the_unit_of_each_query(ask: Ask, store: SqlStore) -> None:
    request = ask(replace(toy("Chunks"), k=2))
    first, *others = request.gold.queries()
    lines = first._replace(targets=(first.targets[0]._replace(start_line=1, end_line=2),))
    mixed = Dataset.of([lines, *others], name="gold", match="lines")
    [measured] = run_experiment(replace(request, gold=mixed), store).measured
    paths = {
        answer.query_id: [hit.path for hit in answer.hits] for answer in measured.run.answers()
    }
    assert paths.pop(first.id) == ["auth.py", "auth.py"]
    assert list(paths.values()) == [["auth.py", "auth.py", "mail.py"]] * len(others)


def test_the_same_request_asks_nothing_twice(ask: Ask, store: SqlStore) -> None:
    events: list[RunEvent] = []
    first = run_experiment(ask(timed=None), store)
    again = run_experiment(ask(timed=None), store, listen=events.append)
    assert again == first
    assert events == []
    other = run_experiment(ask(timed=None, seed=1), store)
    assert other.experiment.id != first.experiment.id


def test_a_search_that_may_answer_otherwise_is_asked_again(ask: Ask, store: SqlStore) -> None:
    first = run_experiment(ask(), store)
    second = run_experiment(ask(), store, again=True)
    third = run_experiment(ask(), store, again=True)
    assert len({done.experiment.id for done in (first, second, third)}) == 3
    assert run_experiment(ask(), store) == third
    # An attempt that was interrupted hides no complete one.
    cut = run_experiment(ask(), store, again=True, cancelled=lambda: True)
    assert cut.interrupted
    assert run_experiment(ask(), store) == third


def test_what_is_searched_decides(ask: Ask, store: SqlStore, tmp_path: Path) -> None:
    first = run_experiment(ask(), store)
    (tmp_path / "project" / "new.py").write_text("login = None\n")
    second = run_experiment(ask(), store)
    assert first.experiment.id != second.experiment.id
    assert second.searched.most == len(TEXTS) + 1


@pytest.mark.parametrize("timed", [None, 2, 0])
def test_as_many_queries_are_timed_as_asked_for(
    ask: Ask, store: SqlStore, timed: int | None
) -> None:
    configurations = (
        Configuration("ten", BM25, 10),
        Configuration("two", BM25, 2),
        Configuration("other", KEYWORD),
    )
    request = ask(*configurations, timed=timed)
    assert len(plan_experiment(request).timed) == (len(WORDS) if timed is None else timed)
    done = run_experiment(request, store)
    for measured in done.measured:
        assert sorted(measured.run.query_ids) == sorted(WORDS)
        if timed == 0:
            assert measured.timings is None
        else:
            assert measured.timings is not None
            assert measured.timings.alone
            assert len(measured.timings.samples) == (timed or len(WORDS))
            assert all(len(sample.warm_ns) == 1 for sample in measured.timings.samples)
    ten, two, _ = done.measured
    for deep, flat in zip(ten.run.answers(), two.run.answers(), strict=True):
        assert flat.hits == deep.hits[: len(flat.hits)]
        assert len(flat.hits) == min(2, len(deep.hits))


def test_latencies_that_were_disturbed_once_stay_marked(
    ask: Ask, store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    answered: list[RunEvent] = []

    def listen(event: RunEvent) -> None:
        if event.kind == "answered":
            answered.append(event)

    with announce("sweep"):
        first = run_experiment(
            ask(timed=None, wait=False),
            store,
            listen=listen,
            cancelled=lambda: bool(answered),
        )
    # Whether one waits is no part of what is asked.
    rest = run_experiment(ask(timed=None), store)
    assert (first.interrupted, rest.interrupted) == (True, False)
    assert rest.experiment.id == first.experiment.id
    [timings] = [measured.timings for measured in rest.measured]
    assert timings
    assert len(timings.samples) == len(WORDS)
    assert not timings.alone
    [other] = run_experiment(ask(timed=None, seed=1), store).measured
    assert other.timings
    assert other.timings.alone


def test_a_shared_search_is_made_once_and_timed_for_each(ask: Ask, store: SqlStore) -> None:
    events: list[RunEvent] = []
    configurations = [Configuration(f"top {k}", BM25, k) for k in (1, 2, 3)]
    run_experiment(ask(*configurations), store, listen=events.append)
    indexed = [event.run for event in events if event.kind == "indexed"]
    # One engine, told of all three.
    assert indexed == ["top 1", "top 2", "top 3"]
    [[shared]] = plan_experiment(ask(*configurations)).searches.groups
    assert shared.search.k == 3


def test_cancelled_and_continued(ask: Ask, store: SqlStore, tmp_path: Path) -> None:
    asked: list[str] = []
    gate = tmp_path / "gate"
    told = False

    def listen(event: RunEvent) -> None:
        if event.kind == "answered":
            asked.append(str(event.detail["query_id"]))

    def cancelled() -> bool:
        nonlocal told
        if told:
            # It was heard, and the search that is under way may end.
            gate.touch()
        told = len(asked) >= 3
        return told

    configurations = (toy("Held", file=str(gate), first=3), Configuration("b", KEYWORD, 2))
    request = ask(*configurations, settings=replace(SETTINGS, timeout_s=100))
    first = run_experiment(request, store, listen=listen, cancelled=cancelled)
    assert first.interrupted
    assert statuses(first) == [RunStatus.CANCELLED, RunStatus.CANCELLED]
    kept, nothing = (len(measured.run) for measured in first.measured)
    # The fourth search may have begun before the third answer was heard.
    assert (kept in (3, 4), nothing) == (True, 0)
    gate.touch()
    asked.clear()
    second = run_experiment(request, store, listen=listen)
    assert second.experiment.id == first.experiment.id
    assert not second.interrupted
    assert len(asked) == 2 * len(WORDS) - kept
    whole = run_experiment(request, SqlStore(tmp_path / "other.db"))
    assert hits(second) == hits(whole)
    assert [each.notes["failures"] for each in second.measured] == [{}, {}]


def hits(done: ExperimentResult) -> list[list[Answer]]:
    """Return the answers; a query that was stopped may have run once instead of twice."""
    return [
        sorted(
            one._replace(extra={key: what for key, what in one.extra.items() if key != "repeated"})
            for one in measured.run.answers()
        )
        for measured in done.measured
    ]


def test_ctrl_c_keeps_what_there_is(ask: Ask, store: SqlStore) -> None:
    def stop(event: RunEvent) -> None:
        if event.kind == "answered" and event.run == "a":
            raise KeyboardInterrupt

    configurations = (Configuration("a", BM25, 2), Configuration("b", KEYWORD, 2))
    done = run_experiment(ask(*configurations), store, listen=stop)
    assert done.interrupted
    assert len(done.measured[0].run) >= 1
    assert len(done.measured[1].run) == 0
    assert statuses(done)[1] is RunStatus.CANCELLED
    assert statuses(run_experiment(ask(*configurations), store)) == [RunStatus.COMPLETED] * 2


def test_stopped_while_times_are_taken(ask: Ask, store: SqlStore) -> None:
    stopped = False

    def stop(event: RunEvent) -> None:
        nonlocal stopped
        if event.kind == "started" and event.detail == {"pass": "timing"}:
            stopped = True

    request = ask(Configuration("a", BM25, 2), Configuration("b", BM25, 1), timed=None)
    first = run_experiment(request, store, listen=stop, cancelled=lambda: stopped)
    # All hits are there, and yet there is something left to do.
    assert [len(each.run) for each in first.measured] == [len(WORDS)] * 2
    assert statuses(first) == [RunStatus.CANCELLED] * 2
    assert first.interrupted
    second = run_experiment(request, store)
    assert statuses(second) == [RunStatus.COMPLETED] * 2
    for measured in second.measured:
        assert measured.timings is not None
        assert len(measured.timings.samples) == len(WORDS)


def test_an_engine_that_fails_costs_its_own_run(ask: Ask, store: SqlStore) -> None:
    wrong = Configuration("wrong", Spec("engine", "python", {"class": "toys:Nobody"}))
    request = ask(wrong, Configuration("words", BM25, 10), timed=None)
    done = run_experiment(request, store)
    assert statuses(done) == [RunStatus.FAILED, RunStatus.COMPLETED]
    assert "Nobody" in done.experiment.runs[0].error
    assert not done.interrupted
    # It is tried again by the next request, which changes nothing.
    again = run_experiment(request, store)
    assert statuses(again) == [RunStatus.FAILED, RunStatus.COMPLETED]


def test_a_run_of_errors_stays_failed(ask: Ask, store: SqlStore) -> None:
    gold = Dataset.of([Query(f"q{n}", "fail", (Target("auth.py"),)) for n in range(3)])
    for _ in range(2):
        done = run_experiment(ask(toy("Bad"), gold=gold), store)
        assert statuses(done) == [RunStatus.FAILED]
        assert "no query was answered" in done.experiment.runs[0].error
        [measured] = done.measured
        assert set(measured.run.outcomes) == {Outcome.ERROR}
        assert measured.notes["failures"] == {"error": 3}


@pytest.mark.parametrize("timed", [0, 2])
def test_a_run_of_errors_is_asked_again(
    ask: Ask, store: SqlStore, tmp_path: Path, timed: int
) -> None:
    configuration = toy("Waiting", file=str(tmp_path / "ready"))
    # Where hits that are not timed are errors alone, no time is taken: not everything was asked.
    assert statuses(run_experiment(ask(configuration, timed=timed), store)) == [RunStatus.FAILED]
    (tmp_path / "ready").touch()
    done = run_experiment(ask(configuration, timed=timed), store)
    assert statuses(done) == [RunStatus.COMPLETED]
    assert set(done.measured[0].run.outcomes) == {Outcome.ANSWERED}


def test_two_at_once_are_told_of_each_other(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "both.db"
    told: list[str] = []

    def meanwhile(event: RunEvent) -> None:
        if event.kind == "indexed":
            with SqlStore(place) as other:
                with pytest.raises(InputError, match="is being run by another process") as refused:
                    run_experiment(ask(), other)
                told.append(str(refused.value))

    with SqlStore(place) as store:
        monkeypatch.setattr("karat.experiments.store.base.sleep", lambda _: store.heartbeat())
        done = run_experiment(ask(), store, listen=meanwhile)
        assert len(told) == 1
        assert statuses(done) == [RunStatus.COMPLETED]
        assert len(done.measured[0].run) == len(WORDS)


def test_a_folder_that_changes_while_it_is_searched(
    ask: Ask, store: SqlStore, tmp_path: Path
) -> None:
    new = tmp_path / "project" / "new.py"

    def change(_: CorpusCoverage) -> None:
        new.write_text("login = None\n")

    with pytest.raises(InputError, match="the documents changed during the run"):
        run_experiment(ask(), store, on_searched=change)
    [run] = store.latest().runs
    assert (run.status, run.answers) == (RunStatus.FAILED, 0)
    assert "the documents changed during the run" in run.error
    # As it was, it is searched as if nothing had happened.
    new.unlink()
    done = run_experiment(ask(), store)
    assert done.experiment.id == run.id.partition(".")[0]
    assert hits(done) == hits(run_experiment(ask(), SqlStore(tmp_path / "other.db")))


def test_a_measure_deeper_than_the_hits_has_no_value(ask: Ask, store: SqlStore) -> None:
    done = run_experiment(
        ask(Configuration("five", BM25, 5), Configuration("ten", BM25, 10)), store
    )
    five, ten = (
        {summary.measure: summary.mean for summary in store.scores(run.id)}
        for run in done.experiment.runs
    )
    assert isnan(five["ndcg@10"])
    assert five["hit@5"] == ten["hit@5"] == 1.0
    assert not isnan(ten["ndcg@10"])


def test_what_is_refused(ask: Ask, store: SqlStore) -> None:
    silent = Dataset.of([Query("q", " ", (Target("auth.py"),))], name="silent")
    with pytest.raises(InputError, match="silent: no query has a text"):
        run_experiment(ask(gold=silent), store)
    with pytest.raises(InputError, match="several configurations have the same name: a"):
        plan_experiment(ask(Configuration("a", BM25), Configuration("a", KEYWORD)))


def test_many_configurations_are_warned_of_and_too_many_refused(ask: Ask) -> None:
    def many(count: int, timed: int | None = None) -> ExperimentRequest:
        configurations = (Configuration(f"top {k}", BM25, k) for k in range(1, count + 1))
        return ask(*configurations, timed=timed)

    assert plan_experiment(many(25)).warnings == ()
    assert plan_experiment(replace(many(26), timed=None)).warnings == (
        "26 configurations may take long; --timed none skips measuring their latency",
    )
    assert plan_experiment(many(26, timed=0)).warnings == ()
    assert len(plan_experiment(many(50)).searches.configurations) == 50
    with pytest.raises(LimitExceeded, match="51 configurations, at most 50 are allowed"):
        plan_experiment(many(51))
    assert len(plan_experiment(many(51), allowed=60).searches.configurations) == 51


def test_each_configuration_of_a_matrix_finds_what_its_engine_finds_alone(
    ask: Ask, store: SqlStore, tmp_path: Path
) -> None:
    matrix = Matrix(
        search_modes=("dense", "sparse", "hybrid"),
        use_reranker=(False, True),
        top_k_values=(1, 2),
        rrf_k_values=(1, 60),
        score_thresholds=(None, 0.3),
        models=(words.WORDS,),
        rerankers=(words.RERANKER,),
        chunkers=("lines:1",),
    )
    request = ask(*matrix.configurations(), workers=2)
    assert plan_experiment(request).searches.counts == (32, 8, 2, 1, (words.WORDS,))
    done = run_experiment(request, store)
    assert statuses(done) == [RunStatus.COMPLETED] * 32
    corpus = load_corpus(str(tmp_path / "project"))
    # Several configurations ask one engine for more hits, or for fewer.
    alone: dict[str, Engine] = {}
    for run, measured in zip(done.experiment.runs, done.measured, strict=True):
        key = repr(run.engine)
        if key not in alone:
            alone[key] = build(run.engine)
            alone[key].index(corpus)
        engine = alone[key]
        k, threshold = run.metadata["k"], run.metadata["threshold"]
        for answer in measured.run.answers():
            found = cut(
                engine.search(answer.query_id, 20),
                k=int(str(k)),
                files=True,
                threshold=float(str(threshold)),
                by_score=has_absolute_scores(run.engine),
            )
            assert answer.hits == found
    assert any("gave the same rankings" in remark for remark in done.remarks)


FOLDER_STORE = """
from karat.engines.vectors.in_memory import InMemoryStore
from karat.extension import Extension

class FolderStore(InMemoryStore):
    one_process = ("path",)

    def __init__(self, *, path: str = "", url: str = "") -> None:
        super().__init__()

EXTENSION = Extension(
    "folder", "A store.", adds={"vector_store": {"folder": f"{__name__}:FolderStore"}}
)
"""


def test_a_store_that_cannot_be_shared_has_one_worker(
    ask: Ask, store: SqlStore, tmp_path: Path, fresh_extensions: None
) -> None:
    """Two processes would fail on each other's folder; a server serves several."""
    (tmp_path / "folder_store.py").write_text(FOLDER_STORE)
    discovery.add_files([str(tmp_path / "folder_store.py")])
    place = {"type": "folder", "path": "vectors"}
    spec = Spec("engine", "dense", {"model": words.WORDS, "store": place})
    request = ask(Configuration("mine", spec, 5), workers=2)
    plan = plan_experiment(request)
    assert plan.one_worker
    assert plan.warnings == ("one worker, because one process at a time can open folder(path=...)",)
    done = run_experiment(request, store, plan=plan)
    assert [set(each.run.outcomes) for each in done.measured] == [{Outcome.ANSWERED}]
    over = Spec("engine", "rerank", {"over": {"engine": "dense", "store": place}})
    assert plan_experiment(ask(Configuration("over", over, 5))).one_worker
    server = Spec("engine", "dense", {"store": {"type": "folder", "url": "http://localhost"}})
    assert not plan_experiment(ask(Configuration("server", server, 5))).one_worker
    with pytest.raises(InputError, match="use a server"):
        run_experiment(request, store, executor=Elsewhere())


class Elsewhere(LocalExecutor):
    """An executor whose slots may be on other machines."""

    travels = True


def test_equal_scores_keep_the_order_of_the_engine(ask: Ask, store: SqlStore) -> None:
    hits = '[{"path": "auth.py", "score": 1}, {"path": "mail.py", "score": 1}]'
    spec = Spec("engine", "command", {"command": ["echo", hits]})
    request = ask(Configuration("mine", spec, 5), scoring=Scoring(("mrr",)))
    done = run_experiment(request, store)
    [run] = done.experiment.runs
    evaluation = done.results.evaluation(run.id)
    assert evaluation is not None
    # The words of auth.py: login, password and user.
    assert list(evaluation.table.columns["mrr"]) == [1, 1, 0.5, 0.5, 0.5, 1]
    assert evaluation.notes.ties == "order"
    by_id = replace(request, scoring=Scoring(("mrr",), ties="trec10"))
    other = run_experiment(by_id, store).results.evaluation(run.id)
    assert other is not None
    assert list(other.table.columns["mrr"]) == [0.5, 0.5, 1, 1, 1, 0.5]
