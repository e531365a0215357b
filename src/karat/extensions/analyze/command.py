"""karat analyze: explain scores by topics, embeddings, the index and time."""

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import click

from karat.cli.help import OUTPUT, TieredCommand, option
from karat.cli.main import CommandGroup
from karat.cli.options.scoring import confidence_options, judging_options, measure_options
from karat.cli.options.shared import (
    COLUMNS,
    GoldPath,
    Inputs,
    WholeNumber,
    file_options,
    open_corpus,
    place_options,
    store_option,
    warn_of_row,
)
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.corpora import Corpus, FileSelection
    from karat.app.search import EngineLike
    from karat.extensions.analyze.records import EmbeddingQuality, Health
    from karat.model import Dataset
    from karat.report.table import Table
    from karat.scoring.settings import Confidence, Scoring


TOPICS = "Topics"
AS_JSON = option(
    "--json",
    "as_json",
    group=OUTPUT,
    common=True,
    is_flag=True,
    help="Print JSON, with every item.",
)
GOLD = click.argument("gold", type=GoldPath())


@click.group("analyze", cls=CommandGroup)
def command() -> None:
    """Analyze weak topics, embeddings, the index, and changes over time.

    \b
    karat analyze topics gold.json old.run new.run
    karat analyze embedding gold.json ../project
    karat analyze index ../project --engine dense --gold gold.json
    karat analyze trend latest
    """


@command.command("topics", cls=TieredCommand)
@click.argument("names", nargs=-1, required=True, metavar="[GOLD] RUN...")
@option(
    "--model",
    group=TOPICS,
    common=True,
    metavar="SPEC",
    help="An embedding model, or words; granite by default, if installed.",
)
@option(
    "--topics",
    group=TOPICS,
    common=True,
    type=WholeNumber(1),
    metavar="N",
    help="Number of topics.",
)
@store_option
@judging_options
@confidence_options
@AS_JSON
def topics_(
    names: tuple[str, ...],
    *,
    store: str,
    model: str | None,
    topics: int | None,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    as_json: bool,
) -> None:
    """Group the queries of GOLD by topic, and find topics on which runs are weak.

    A RUN that is not a file is an experiment or a run of the store, which includes its gold
    set.

    \b
    karat analyze topics gold.json bm25.run
    karat analyze topics latest
    karat analyze topics gold.json bm25.run --model words --topics 8 -m recall@10
    """
    from karat.app.report import gather
    from karat.extensions.analyze.tables import topics_table
    from karat.extensions.analyze.topics import query_topics
    from karat.model.judgments import label_use
    from karat.report.table import mark_of

    given = gather(names, store=store, reading=inputs.gold, run_format=inputs.run_format)
    analysis = query_topics(
        given.gold,
        given.runs,
        model=model,
        topics=topics,
        scoring=scoring,
        confidence=confidence,
    )
    use = label_use(given.gold)
    table = topics_table(analysis, mark=mark_of(use.mark if use else "", analysis.measure))
    _put(table, analysis, as_json=as_json, gold=given.gold)


@command.command("embedding")
@GOLD
@click.argument("place", metavar="PLACE")
@click.option("--rev", metavar="REVISION", help="Read PLACE at this Git revision.")
@file_options
@click.option(
    "--model", default="granite", show_default=True, metavar="SPEC", help="Embedding model."
)
@click.option(
    "--chunker", default="auto", show_default=True, help="How texts are split into chunks."
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed.")
@COLUMNS
@AS_JSON
def embedding_(
    gold: str,
    place: str,
    *,
    columns: "Mapping[str, str]",
    rev: str | None,
    files: "FileSelection",
    model: str,
    chunker: str,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how well an embedding model separates targets from other chunks of PLACE.

    \b
    karat analyze embedding gold.json .
    karat analyze embedding gold.json ../project --rev v2.0 --model static --json
    """
    from karat.extensions.analyze.embedding import embedding_quality
    from karat.extensions.analyze.tables import embedding_table
    from karat.formats import read_dataset

    corpus = open_corpus(place, revision=rev, files=files)
    quality = embedding_quality(
        read_dataset(gold, columns=columns, on_empty=warn_of_row),
        corpus,
        model=model,
        chunker=chunker,
        cached=True,
        seed=seed,
    )
    _put(embedding_table(quality), _with_skipped(quality, corpus), as_json=as_json)


@command.command("index")
@place_options
@stray({"--engine": "the engine"})
@click.option(
    "--gold",
    type=click.Path(exists=True),
    metavar="FILE",
    help="Gold set; count the chunks that none of its queries retrieves.",
)
@click.option(
    "-k", "k", default=10, show_default=True, metavar="N", help="Hits to request per query."
)
@COLUMNS
@AS_JSON
def index_(
    place: str,
    rev: str | None,
    files: "FileSelection",
    engine: "EngineLike",
    *,
    gold: str | None,
    columns: "Mapping[str, str]",
    k: int,
    as_json: bool,
) -> None:
    """Find waste in an index: empty, duplicate, oversized or never-retrieved chunks.

    \b
    karat analyze index .
    karat analyze index ../project --profile balanced --gold gold.json -k 20
    """
    from karat.extensions.analyze.index import index_health
    from karat.extensions.analyze.tables import health_table

    queries: tuple[str, ...] = ()
    if gold is not None:
        from karat.formats import read_dataset

        queries = read_dataset(gold, columns=columns, on_empty=warn_of_row).texts
    corpus = open_corpus(place, revision=rev, files=files)
    health = index_health(corpus, engine, queries=queries, k=k)
    _put(health_table(health), _with_skipped(health, corpus), as_json=as_json)


@command.command("trend", cls=TieredCommand)
@click.argument("experiment", default="latest", metavar="[EXPERIMENT]")
@store_option
@measure_options
@confidence_options
@AS_JSON
def trend_(
    experiment: str,
    *,
    store: str,
    scoring: "Scoring",
    confidence: "Confidence",
    as_json: bool,
) -> None:
    """Show how the scores of EXPERIMENT's configurations changed over time.

    All stored experiments on the same gold set are included.

    \b
    karat analyze trend
    karat analyze trend k3nq -m recall@10 --json
    """
    from karat.experiments.store import open_store
    from karat.experiments.stored_runs import select_runs
    from karat.extensions.analyze.tables import trend_table
    from karat.extensions.analyze.trend import trends

    with open_store(store) as opened:
        chosen = select_runs(opened, experiment)
        asked = replace(chosen.experiment, runs=chosen.runs)
        by_label = trends(opened, asked, scoring=scoring, confidence=confidence)
        gold = opened.dataset(asked.dataset)
    _put(trend_table(by_label), {"trends": by_label}, as_json=as_json, gold=gold)


def _with_skipped(analysis: "EmbeddingQuality | Health", corpus: "Corpus") -> dict[str, object]:
    """Return the fields of *analysis*, and the skipped files of *corpus*, for JSON."""
    from karat.app.corpora import skipped_as_json

    own: dict[str, object] = {each.name: getattr(analysis, each.name) for each in fields(analysis)}
    return own | skipped_as_json(corpus)


def _put(table: "Table", analysis: object, *, as_json: bool, gold: "Dataset | None" = None) -> None:
    """Print *analysis*; scores on *gold* are marked where they use doubtful labels of models."""
    from karat.cli.output.show import put_json, put_table
    from karat.model.judgments import label_use
    from karat.report.display import printable
    from karat.report.table import marked

    use = label_use(gold) if gold else None
    if as_json:
        put_json(analysis)
    else:
        put_table(marked(table, use.mark if use else ""))
    if use:
        kind = "warning" if use.is_doubtful else "note"
        click.echo(printable(f"{kind}: {use.text}"), err=True)
