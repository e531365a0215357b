"""Tables of the results of analyses."""

from collections.abc import Iterable, Sequence

from karat.extensions.analyze.records import (
    EmbeddingQuality,
    Flaw,
    Health,
    Topics,
    Trend,
    TrendPoint,
)
from karat.model.comparison import Interval, decimals
from karat.report.score_view import queries
from karat.report.table import Cell, Column, Table, number, p_cell, range_cell
from karat.system.words import counted

DIGITS = 3
# Number of chunks that are shown per flaw; JSON has more.
SHOWN = 3
WEAK, REAL = "weak", "real"


def topics_table(analysis: Topics, *, mark: str = "") -> Table:
    """Return one row per topic, the weakest first, with the mean of each run.

    *mark* follows the means over all queries, which stand in a note.
    """
    columns = [Column("topic"), Column("queries", numeric=True)]
    level = _level(score.interval for topic in analysis.topics for score in topic.scores)
    for name in analysis.runs:
        columns += [Column(name, numeric=True), Column(level, numeric=True, spare=1), Column("")]
    rows = []
    for topic in analysis.topics:
        size = len(topic.query_ids)
        cells = [Cell(" ".join(topic.words) or topic.example), Cell(str(size), size)]
        for score in topic.scores:
            cells += [number(score.mean, digits=DIGITS), range_cell(score.interval)]
            cells.append(Cell(WEAK if score.weak else ""))
        rows.append((*cells, Cell(topic.example)))
    means = ", ".join(
        f"{name} {mean:.3f}{mark}" for name, mean in zip(analysis.runs, analysis.means, strict=True)
    )
    notes = [f"all queries: {means}; similarity of queries: {analysis.similar}"]
    if analysis.left_out:
        notes.append(f"{queries(analysis.left_out)} without usable words left out")
    notes += [
        f"{name}: {queries(count)} not in the run (counted as 0)"
        for name, count in zip(analysis.runs, analysis.missing, strict=False)
        if count
    ]
    return Table(
        f"{analysis.measure} by topic",
        (*columns, Column("for example", spare=2)),
        tuple(rows),
        tuple(notes),
        _weak_topics(analysis),
    )


def _weak_topics(analysis: Topics) -> str:
    sentences = []
    for column, name in enumerate(analysis.runs):
        weak = [
            " ".join(topic.words) or topic.example
            for topic in analysis.topics
            if topic.scores[column].weak
        ]
        if weak:
            sentences.append(f"{name} is significantly weak on: {'; '.join(weak)}.")
    return " ".join(sentences) or "No topic is significantly weaker than the rest."


def embedding_table(quality: EmbeddingQuality) -> Table:
    """Return what was measured of a model, and what it means."""
    span = range_cell(quality.interval).text
    rows = [
        (
            "separation",
            quality.separation,
            f"{span}; probability that a relevant chunk is nearer than another one",
        ),
        ("relevant", quality.relevant, "mean cosine of a query and a chunk that covers its target"),
        ("irrelevant", quality.irrelevant, "mean cosine of a query and a chunk of another file"),
        ("distance", quality.distance, "difference of these two, in standard deviations"),
        (
            "mean cosine",
            quality.mean_cosine,
            "mean cosine of two random chunks; near 1 if the model cannot separate texts",
        ),
        (
            "first direction",
            quality.first_direction,
            "share of the vectors' length along one direction",
        ),
    ]
    notes = [
        f"{quality.model}, {quality.dimension} dimensions, {quality.chunks:,} chunks, "
        f"{queries(quality.queries)}"
    ]
    if quality.unplaced:
        notes.append(f"{queries(quality.unplaced)} left out: no chunk covers a target")
    return Table(
        "Embedding quality",
        (Column("measure"), Column("value", numeric=True), Column("meaning")),
        tuple((Cell(name), number(value, digits=DIGITS), Cell(what)) for name, value, what in rows),
        tuple(notes),
        " ".join(f"{warning}." for warning in quality.warnings) or "No problem found.",
    )


def health_table(health: Health) -> Table:
    """Return one row per kind of flaw, with some of its places."""
    rows = tuple(
        (
            Cell(flaw.kind),
            Cell(f"{flaw.count:,}", flaw.count),
            Cell(f"{flaw.count / flaw.of:.1%}" if flaw.of else "-"),
            Cell(_places(flaw)),
        )
        for flaw in health.flaws
    )
    notes = [flaw.note for flaw in health.flaws if flaw.note and flaw.count]
    notes += [
        f"fallback chunking: {counted(count, 'document')}, {reason}"
        for reason, count in health.fallbacks.items()
    ]
    if health.queries:
        notes.append(f"never retrieved: not a hit of any of {queries(health.queries)}")
    return Table(
        f"{health.corpus}, chunks of {health.engine}: {counted(health.documents, 'document')}, "
        f"{counted(health.chunks, 'chunk')}",
        (
            Column("flaw"),
            Column("count", numeric=True),
            Column("share", numeric=True),
            Column("where", spare=1),
        ),
        rows,
        tuple(notes),
        "No problem found in the index." if health.healthy else "",
    )


def _places(flaw: Flaw) -> str:
    more = flaw.count - SHOWN
    return ", ".join(flaw.places[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def trend_table(trends: Sequence[Trend]) -> Table:
    """Return one row per run of each configuration, the oldest first."""
    columns = (
        Column("configuration"),
        Column("run"),
        Column("when"),
        Column(trends[0].measure, numeric=True),
        Column(_level(point.interval for point in trends[0].points), numeric=True, spare=1),
        Column("change", numeric=True),
        Column("p", numeric=True),
        Column("verdict"),
    )
    rows = tuple(
        (Cell(trend.label if index == 0 else "", trend.label), *_point(point))
        for trend in trends
        for index, point in enumerate(trend.points)
    )
    real = [
        f"{trend.label} changed significantly by {_change(point).text} with {point.run}, "
        f"{point.when:%Y-%m-%d}."
        for trend in trends
        for point in trend.points
        if point.verdict == REAL and point.change is not None
    ]
    return Table(
        f"{trends[0].measure} over time",
        columns,
        rows,
        ("change: paired difference from the mean of the runs since the last significant change",),
        " ".join(real) or "No significant change.",
        grouped=True,
    )


def _level(intervals: Iterable[Interval]) -> str:
    """Return the heading of *intervals*, which share one level."""
    return next((f"{interval.level * 100:g} %" for interval in intervals), "")


def _change(point: TrendPoint) -> Cell:
    return number(point.change, digits=decimals(point.change), signed=True)


def _point(point: TrendPoint) -> tuple[Cell, ...]:
    return (
        Cell(point.run, point.run),
        Cell(f"{point.when:%Y-%m-%d %H:%M}"),
        number(point.mean, digits=DIGITS),
        range_cell(point.interval),
        _change(point),
        p_cell(point.p),
        Cell(point.verdict),
    )
