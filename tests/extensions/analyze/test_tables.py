"""Results of analyses as rows."""

from datetime import UTC, datetime

from karat.extensions.analyze.records import (
    EmbeddingQuality,
    Flaw,
    Health,
    Topic,
    Topics,
    TopicScore,
    Trend,
    TrendPoint,
)
from karat.extensions.analyze.tables import embedding_table, health_table, topics_table, trend_table
from karat.model.comparison import Interval

SPAN = Interval(0.1, 0.3, 0.95, "bootstrap-t")
NONE = Interval(None, None, 0.95, "none")


def test_topics_name_their_words_and_the_weak_ones() -> None:
    weak = Topic(
        ("parser", "token"), "read a token", ("q1", "q2"), (TopicScore(0.2, SPAN, 0.01, weak=True),)
    )
    sound = Topic((), "draw", ("q3",), (TopicScore(None, NONE, None, weak=False),))
    table = topics_table(Topics("hit@5", "words", ("bm25",), (0.5,), (weak, sound), left_out=1))
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [
        ["parser token", "2", "0.200", "[0.100, 0.300]", "weak", "read a token"],
        ["draw", "1", "-", "-", "", "draw"],
    ]
    assert table.notes == (
        "all queries: bm25 0.500; similarity of queries: words",
        "1 query without usable words left out",
    )
    assert table.conclusion == "bm25 is significantly weak on: parser token."
    calm = Topics("hit@5", "words", ("bm25",), (0.5,), (sound,), missing=(190,))
    assert topics_table(calm).notes[-1] == "bm25: 190 queries not in the run (counted as 0)"
    assert topics_table(calm).conclusion.startswith("No topic is significantly weaker")


def quality(*warnings: str, unplaced: int = 0) -> EmbeddingQuality:
    return EmbeddingQuality(
        *("granite", 384, 2_100, 0, 30, unplaced, 0.4, 0.5, 0.2, SPAN, 0.7, 0.3, None), warnings
    )


def test_an_embedding_has_its_numbers_and_what_they_mean() -> None:
    table = embedding_table(quality(unplaced=2))
    assert [row[1].text for row in table.rows] == [
        *("0.200", "0.700", "0.300", "-", "0.400", "0.500")
    ]
    assert table.notes == (
        "granite, 384 dimensions, 2,100 chunks, 30 queries",
        "2 queries left out: no chunk covers a target",
    )
    assert table.conclusion == "No problem found."
    assert embedding_table(quality("collapsed")).conclusion == "collapsed."


def test_flaws_have_their_share_and_some_places() -> None:
    places = tuple(f"{n}.py:1-2" for n in range(5))
    flaws = (
        Flaw("empty", 0, 10, ()),
        Flaw("oversized", 5, 10, places, "longer than the model reads"),
        Flaw("never retrieved", 1, 0, ("a.py:1-2",)),
    )
    table = health_table(Health("dense", "docs", 3, 10, 7, flaws, {"no parser": 1}))
    assert table.title == "docs, chunks of dense: 3 documents, 10 chunks"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["empty", "0", "0.0%", ""],
        ["oversized", "5", "50.0%", "0.py:1-2, 1.py:1-2, 2.py:1-2 and 2 more"],
        ["never retrieved", "1", "-", "a.py:1-2"],
    ]
    assert table.notes == (
        "longer than the model reads",
        "fallback chunking: 1 document, no parser",
        "never retrieved: not a hit of any of 7 queries",
    )
    assert table.conclusion == ""
    assert (
        health_table(Health("bm25", "d", 1, 1, 0, flaws[:1])).conclusion
        == "No problem found in the index."
    )


def test_a_trend_names_the_real_changes() -> None:
    day = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    points = (
        TrendPoint("k1.1", day, 0.6, SPAN, None, None, "first"),
        TrendPoint("k2.1", day, 0.4, SPAN, -0.2, 0.0004, "real"),
    )
    table = trend_table([Trend("bm25", "ndcg@10", points)])
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["bm25", "k1.1", "2026-03-04 05:06", "0.600", "[0.100, 0.300]", "-", "-", "first"],
        ["", "k2.1", "2026-03-04 05:06", "0.400", "[0.100, 0.300]", "-0.200", "<0.001", "real"],
    ]
    assert table.conclusion == "bm25 changed significantly by -0.200 with k2.1, 2026-03-04."
    calm = trend_table([Trend("bm25", "ndcg@10", points[:1])])
    assert calm.conclusion == "No significant change."


def test_intervals_are_headed_by_their_own_level() -> None:
    wide = Interval(0.1, 0.3, 0.99, "bootstrap-t")
    topic = Topic(("a",), "a", ("q1",), (TopicScore(0.2, wide, 0.5, weak=False),))
    topics = topics_table(Topics("hit@5", "words", ("bm25",), (0.2,), (topic,)))
    point = TrendPoint("r1", datetime(2026, 1, 1, tzinfo=UTC), 0.2, wide, None, None, "first")
    trend = trend_table([Trend("bm25", "hit@5", (point,))])
    for table in (topics, trend):
        assert "99 %" in [column.title for column in table.columns]
