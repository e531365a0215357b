"""A topic whose queries all fail is found, whatever makes queries alike."""

import sys

import pytest

from karat.errors import InputError, MissingExtra
from karat.extensions.analyze.topics import query_topics
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.timings import RunResult
from karat.scoring.settings import Confidence, Scoring

KINDS = {
    "password": "how does a user log in with a password",
    "parser": "where does the parser read a token of the grammar",
    "image": "draw an image with colours on the canvas",
}
QUERIES = [
    Query(f"{kind}{n}", f"{text}, variant {n}", (Target(f"{kind}.py"),))
    for kind, text in KINDS.items()
    for n in range(8)
]
GOLD = Dataset.of(QUERIES)
FAST = Confidence(draws=999)


def run(name: str, weak: str = "") -> RunResult:
    """Return a run that finds every target but those of the *weak* kind."""
    answers = [
        Answer(
            query.id,
            (Hit("x.py" if weak and query.id.startswith(weak) else query.targets[0].path),),
        )
        for query in QUERIES
    ]
    return RunResult(Run.of(answers, name=name), None, "", name)


@pytest.mark.together_with("models")
@pytest.mark.parametrize("model", ["words", "static"])
def test_the_planted_topic_is_weak_and_no_other(model: str) -> None:
    topics = query_topics(
        GOLD,
        [run("good"), run("bad", "parser")],
        model=model,
        topics=3,
        scoring=Scoring(("hit@5",)),
        confidence=FAST,
    )
    assert (topics.measure, topics.similar, topics.runs) == ("hit@5", model, ("good", "bad"))
    assert topics.means == pytest.approx((1.0, 2 / 3))
    weakest, *others = topics.topics
    assert weakest.query_ids == tuple(f"parser{n}" for n in range(8))
    assert set(weakest.words) & {"parser", "token", "grammar", "read"}
    assert weakest.example.startswith(KINDS["parser"])
    good, bad = weakest.scores
    assert (good.mean, good.weak) == (1.0, False)
    assert (bad.mean, bad.weak) == (0.0, True)
    assert bad.p is not None
    assert bad.p < 0.01
    assert not any(score.weak for topic in others for score in topic.scores)


def test_variants_of_one_case_make_no_topic_weak() -> None:
    # The eight queries of a kind are one case: of three cases one is always the worst.
    tagged = [query._replace(tags={"case": query.targets[0].path}) for query in QUERIES]
    topics = query_topics(
        Dataset.of(tagged, metadata={"cluster": "case"}),
        [run("bad", "parser")],
        model="words",
        topics=3,
        scoring=Scoring(("hit@5",)),
        confidence=FAST,
    )
    weakest = topics.topics[0].scores[0]
    assert (weakest.mean, weakest.weak) == (0.0, False)
    assert weakest.interval.method == "none"


def test_the_number_of_topics_is_found() -> None:
    topics = query_topics(GOLD, [run("good")], model="words", confidence=FAST)
    assert sorted(len(topic.query_ids) for topic in topics.topics) == [8, 8, 8]


@pytest.mark.together_with("models")
def test_without_the_extra_words_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    topics = query_topics(GOLD, [run("good")], confidence=FAST)
    assert topics.similar == "words"
    with pytest.raises(MissingExtra):
        query_topics(GOLD, [run("good")], model="granite", confidence=FAST)


def test_queries_without_words_are_left_out() -> None:
    gold = Dataset.of([*QUERIES, Query("none", "?!", (Target("a.py"),))])
    topics = query_topics(gold, [run("good")], model="words", topics=3, confidence=FAST)
    assert topics.left_out == 1
    assert sum(len(topic.query_ids) for topic in topics.topics) == len(QUERIES)


def test_where_less_is_better_the_topic_of_most_is_weak() -> None:
    # Every hit of the planted kind returns a hundred lines, every other one ten.
    answers = [
        Answer(
            query.id,
            (Hit("x.py", 1.0, 1, 100 if query.id.startswith("image") else 10),),
        )
        for query in QUERIES
    ]
    long = RunResult(Run.of(answers, name="long"), None, "", "long")
    lines = [query._replace(targets=(Target("x.py", 1, 1, 5),)) for query in QUERIES]
    topics = query_topics(
        Dataset.of(lines, match="lines"),
        [long],
        model="words",
        topics=3,
        scoring=Scoring(("lines@10",)),
        confidence=FAST,
    )
    assert topics.topics[0].query_ids[0] == "image0"
    assert [topic.scores[0].weak for topic in topics.topics] == [True, False, False]


@pytest.mark.usefixtures("other_averages")
def test_a_run_and_a_plain_mean_are_needed() -> None:
    with pytest.raises(InputError, match="no run"):
        query_topics(GOLD, [])
    with pytest.raises(InputError, match="not a mean over queries"):
        query_topics(GOLD, [run("good")], model="words", scoring=Scoring(("geometric",)))
