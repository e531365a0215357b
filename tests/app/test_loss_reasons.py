"""Each way to lose a target, constructed, is called by its name."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from karat.app.loss_reasons import searched_where, with_losses
from karat.app.report import report
from karat.corpus import from_folder
from karat.engines.spec import build, parse_spec
from karat.errors import InputError
from karat.experiments.target_check import Where
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import RunResult
from karat.report.draw import draw, loss_reason_table
from karat.report.findings import Findings, Origin
from karat.report.findings.loss_reasons import loss_reason_counts, loss_reason_of
from karat.report.page.queries import drilldown, subject_of
from karat.report.page.results import results
from karat.scoring.loss_reasons import LossReason
from karat.scoring.settings import Confidence, Scoring

FILES = {
    # Its words are those of the query, its meaning is not.
    "word.py": "def dog():\n    return zebra_dog\n",
    "animal.py": "def canine():\n    '''a puppy and a wolf, a hound'''\n",
    "mail.py": "def mail(letter):\n    return send(letter)\n",
}
DOG = "puppy hound dog"
BACKWARDS = """
class Backwards:
    name, weight = "backwards", 1.0

    def scores(self, query, texts):
        return [float(place) for place in range(len(texts))]


def factory(argument):
    return Backwards()
"""
MEANING = """
import numpy as np

ANIMALS = {"canine", "puppy", "wolf", "hound"}


class Meaning:
    name, dimension, max_tokens, digest = "meaning", 2, None, "0"

    def embed(self, texts, kind="document"):
        animals = [any(animal in text for animal in ANIMALS) for text in texts]
        return np.array([[animal, not animal] for animal in animals], dtype=np.float32)


def embedder(argument):
    return Meaning()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "backwards.py").write_text(BACKWARDS)
    (tmp_path / "meaning.py").write_text(MEANING)
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def made(
    project: Path, spec: str, gold: Dataset, *, k: int = 10, threshold: float = 0.0
) -> RunResult:
    """Return the run of an engine, cut as a configuration would have it."""
    parsed = parse_spec(spec)
    engine = build(parsed)
    engine.index(from_folder(project))
    answers = []
    for query_id, text in zip(gold.query_ids, gold.texts, strict=True):
        hits = list(engine.search(text, k))
        hits_above = [hit for hit in hits if hit.score >= threshold * hits[0].score]
        answers.append(Answer(query_id, tuple(hits_above)))
    metadata: Mapping[str, object] = {
        "engine": {"name": parsed.name, "options": dict(parsed.params)},
        "threshold": threshold,
        "place": str(project),
        "snapshot": "corpus",
        "candidates": "all",
    }
    return RunResult(Run.of(answers, name=spec, metadata=metadata), None, "", spec)


def reported(gold: Dataset, *runs: RunResult, measure: str = "hit@1") -> Findings:
    return report(
        gold,
        runs,
        origin=Origin("", "", "", "", "", ("",) * len(runs)),
        scoring=Scoring((measure,)),
        confidence=Confidence(draws=99),
    )


def one(target: Target, text: str = DOG) -> Dataset:
    return Dataset.of([Query("q", text, (target,))], match="lines")


WORD, ANIMAL = Target("word.py", 1, 1, 2), Target("animal.py", 1, 1, 2)


@pytest.mark.parametrize(
    ("spec", "threshold", "target", "expected"),
    [
        ("bm25", 0.0, WORD, LossReason.FOUND),
        ("bm25", 0.0, ANIMAL, LossReason.BELOW_K),
        ("bm25", 0.0, Target("mail.py", 1, 1, 2), LossReason.NOT_RETRIEVED),
        ("bm25", 0.0, Target("gone.py", 1, 1, 2), LossReason.NOT_IN_CORPUS),
        ("bm25", 0.0, Target("word.py", 1, 40, 50), LossReason.NO_CHUNK),
        ("hybrid(model=meaning:embedder, dense_weight=0.9)", 0.0, WORD, LossReason.FUSION),
        ("hybrid(model=meaning:embedder, dense_weight=0.3)", 0.0, ANIMAL, LossReason.FUSION),
        ("rerank(over=bm25, model=backwards:factory)", 0.0, WORD, LossReason.RERANKER),
    ],
)
def test_the_reason_of_one_target(
    project: Path, spec: str, threshold: float, target: Target, expected: LossReason
) -> None:
    gold = one(target)
    explained = with_losses(reported(gold, made(project, spec, gold, threshold=threshold)))
    assert loss_reason_of(explained, 0, 0, 0) is expected
    (row,) = loss_reason_counts(explained)
    assert row.counts == tuple(int(kind is expected) for kind in LossReason)


@pytest.mark.parametrize(
    ("spec", "threshold"), [("bm25", 0.95), ("bm25(threshold=0.95)", 0.0)], ids=["run", "engine"]
)
def test_a_threshold_of_the_run_or_of_its_engine(
    project: Path, spec: str, threshold: float
) -> None:
    gold = one(ANIMAL)
    findings = reported(gold, made(project, spec, gold, threshold=threshold), measure="hit@5")
    assert loss_reason_of(findings, 0, 0, 0) is LossReason.NOT_RETRIEVED
    assert loss_reason_of(with_losses(findings), 0, 0, 0) is LossReason.THRESHOLD


def test_what_a_shallow_run_leaves_out_was_not_retrieved(project: Path) -> None:
    gold = one(ANIMAL)
    explained = with_losses(reported(gold, made(project, "bm25", gold, k=1), measure="hit@5"))
    assert loss_reason_of(explained, 0, 0, 0) is LossReason.NOT_RETRIEVED


def test_another_engine_tells_only_what_its_run_does(project: Path) -> None:
    gold = Dataset.of(
        [Query("q", DOG, (Target("gone.py"), Target("mail.py"), Target("animal.py")))]
    )
    run = Run.of(
        [Answer("q", (Hit("word.py", 2.0), Hit("animal.py", 1.0)))],
        metadata={"engine": {"name": "http", "options": {}}},
    )
    where = Where(corpus=str(project))
    explained = with_losses(reported(gold, RunResult(run, None, "", "own")), where)
    assert [loss_reason_of(explained, 0, 0, number) for number in range(3)] == [
        *(LossReason.NOT_IN_CORPUS, LossReason.NOT_RETRIEVED, LossReason.BELOW_K)
    ]


def test_files_are_ranked_as_files(project: Path) -> None:
    many = "\n\n".join(f"def dog_{n}(hound):\n    return puppy(dog)" for n in range(90))
    (project / "many.py").write_text(many)
    gold = Dataset.of([Query("q", DOG, (Target("word.py"),))], match="exact")
    run = made(project, "bm25(chunker=definitions, unit=file)", gold, k=20)
    explained = with_losses(reported(gold, run, measure="hit@2"))
    assert explained.losses == {}
    assert loss_reason_of(explained, 0, 0, 0) is LossReason.FOUND


def test_failed_queries_are_left_alone(project: Path) -> None:
    gold = one(Target("gone.py", 1, 1, 2))
    good = made(project, "bm25", gold)
    bad = Run.of([Answer("q", outcome=Outcome.ERROR)], metadata=good.run.metadata)
    two = reported(gold, good, RunResult(bad, None, "", "bad"))
    seen: list[tuple[int, int]] = []
    explained = with_losses(two, progress=lambda done, total: seen.append((done, total)))
    assert loss_reason_of(explained, 0, 0, 0) is LossReason.NOT_IN_CORPUS
    assert loss_reason_of(explained, 1, 0, 0) is LossReason.UNANSWERED
    assert seen == [(0, 1), (1, 1)]


def test_nothing_missed_asks_nobody() -> None:
    gold = one(WORD)
    whole = RunResult(Run.of([Answer("q", (Hit("word.py", 1.0, 1, 2),))]), None, "", "own")
    findings = reported(gold, whole)
    assert with_losses(findings) is findings


def test_reports_tell_the_reasons(project: Path) -> None:
    gold = Dataset.of(
        [
            Query("q1", DOG, (Target("gone.py", 1, 1, 2), WORD)),
            Query("q2", DOG, (ANIMAL,)),
        ],
        match="lines",
    )
    bm25, both = "bm25", "hybrid(model=meaning:embedder, dense_weight=0.9)"
    explained = with_losses(reported(gold, made(project, bm25, gold), made(project, both, gold)))
    table = loss_reason_table(explained)
    assert [column.title for column in table.columns] == [
        "run",
        *("found", "ranked below k", "fusion", "not retrieved", "not in the corpus"),
        "query not answered",
    ]
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["1", "1", "0", "0", "1", "0"],
        ["1", "0", "1", "0", "1", "0"],
    ]
    subject = subject_of(explained)
    lost = [target["lost"] for target in drilldown(subject, "q1")["targets"]]
    assert lost == [
        {"run.1": "not in the corpus", "run.2": "not in the corpus"},
        {"run.2": "moved down by fusion"},
    ]
    told = json.loads(draw(explained, "x.json"))
    assert told["targets"][both]["fusion"] == 1
    assert told["lost"][-1] == {"run": both, "query_id": "q1", "target": 1, "by": "fusion"}
    reasons = {each["name"]: each["definition"] for each in results(subject)["loss_reasons"]}
    assert reasons["not in corpus"] == "its file is not in the searched corpus"
    unknown = {
        each["name"] for each in results(subject_of(replace(explained, losses={})))["loss_reasons"]
    }
    assert unknown == {"found", "too low", "not returned", "unanswered"}


def test_runs_say_where_they_searched(project: Path) -> None:
    gold = one(WORD)
    run = made(project, "bm25", gold)
    assert searched_where([run, run]) == Where(corpus=str(project), candidates="all", kind="all")

    def told(**metadata: object) -> RunResult:
        return replace(run, run=replace(run.run, metadata=metadata))

    mined = told(place="/repo", snapshot="carried", candidates="production")
    assert searched_where([mined]) == Where(
        repositories={"": "/repo"}, snapshot="parent", candidates="production", kind="all"
    )
    docs = told(place="d", snapshot="corpus", kind="docs", exclude=["old/"])
    assert searched_where([docs]) == Where(corpus="d", kind="docs", exclude=("old/",))
    for runs in ([told()], [run, told(place="/other", snapshot="corpus")]):
        with pytest.raises(InputError, match="needs runs that Karat made"):
            searched_where(runs)


def test_what_was_recorded_says_where_first(project: Path) -> None:
    gold = one(ANIMAL)
    elsewhere = made(project, "bm25", gold)
    moved = {**elsewhere.run.metadata, "place": str(project / "gone")}
    findings = reported(gold, replace(elsewhere, run=replace(elsewhere.run, metadata=moved)))
    records = ({"where": Where(corpus=str(project)).to_json()},)
    recorded = replace(findings, origin=replace(findings.origin, records=records))
    assert loss_reason_of(with_losses(recorded), 0, 0, 0) is LossReason.BELOW_K
    unknown = replace(findings, origin=replace(findings.origin, records=({"where": {}},)))
    with pytest.raises(InputError, match="gone"):
        with_losses(unknown)


def test_a_corpus_that_has_changed_is_refused(project: Path) -> None:
    gold = one(ANIMAL)
    run = made(project, "bm25", gold)
    snapshot = from_folder(project).snapshot
    searched = replace(run, notes={"corpora": [snapshot]})
    assert loss_reason_of(with_losses(reported(gold, searched)), 0, 0, 0) is LossReason.BELOW_K
    (project / "new.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="project has changed since bm25 searched it"):
        with_losses(reported(gold, searched))
