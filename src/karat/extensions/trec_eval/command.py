"""karat trec-eval: trec_eval's command line, its numbers and its layout."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from karat.extension import WholeNumber

STANDARD_INPUT = "-"


@click.command("trec-eval")
@click.argument("judgments", metavar="QRELS", type=click.Path(exists=True))
@click.argument("run", type=click.Path(exists=True, allow_dash=True))
@click.option("-q", "--query_eval_wanted", "queries", is_flag=True, help="Also print each query.")
@click.option("-n", "--nosummary", "nosummary", is_flag=True, help="Do not print the summary.")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME[.PARAMS]",
    help="What to compute, repeatable: P.5,10 or ndcg.1=3,2=9 or a set (official, all_trec, set, "
    "prefs, all_prefs, qrels_jg).  [default: official]",
)
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Average over all queries of QRELS; a query missing from RUN scores 0.",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=WholeNumber(min=1),
    metavar="N",
    default=1,
    show_default=True,
    help="Lowest relevant grade.",
)
@click.option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=WholeNumber(min=1),
    metavar="N",
    help="Ignore hits below this rank.",
)
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Ignore unjudged hits.")
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "collection",
    type=int,
    default=0,
    help="Number of documents in the collection; used only by utility.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "kind",
    type=click.Choice(["qrels", "qrels_jg", "prefs", "qrels_prefs"]),
    default="qrels",
    show_default=True,
    help="Format of QRELS.",
)
@click.option(
    "-T",
    "--Results_format",
    "_run_format",
    type=click.Choice(["trec_results"]),
    default="trec_results",
    show_default=True,
    expose_value=False,
    help="Format of RUN.",
)
@click.option(
    "-Z",
    "--Zscore",
    "zscores",
    type=click.Path(exists=True),
    help="Standardise scores with the means and deviations in this file.",
)
@click.option(
    "--ties",
    type=click.Choice(["trec10", "trec9"]),
    default="trec10",
    show_default=True,
    help="Compare scores as trec_eval 10 does, or rounded to float32 as trec_eval 9 does.",
)
def command(
    judgments: str,
    run: str,
    *,
    queries: bool,
    nosummary: bool,
    measures: tuple[str, ...],
    complete: bool,
    level: int,
    depth: int | None,
    judged_only: bool,
    collection: int,
    kind: str,
    zscores: str | None,
    ties: str,
) -> None:
    """Replace trec_eval 10: same options, same numbers, same layout.

    RUN may be - for standard input.

    \b
    karat trec-eval qrels.txt bm25.run
    karat trec-eval -q -m ndcg_cut.10 -m recall.100 qrels.txt bm25.run
    karat trec-eval -c -m all_trec qrels.txt bm25.run
    """
    from karat.extensions.trec_eval.evaluation import TrecSettings, trec_eval
    from karat.extensions.trec_eval.rows import trec_text

    settings = TrecSettings(
        queries=queries,
        summary=not nosummary,
        complete=complete,
        level=level,
        depth=depth,
        judged_only=judged_only,
        judgments=kind,  # type: ignore[arg-type] # one of the choices
        collection=collection,
        ties=ties,
    )
    with _as_file(run) as path:
        rows = trec_eval(
            judgments, path, measures=measures or ("official",), settings=settings, zscores=zscores
        )
    click.echo(trec_text(rows), nl=False)


@contextmanager
def _as_file(run: str) -> Iterator[str]:
    """Give *run* itself, or a copy of the standard input that can be read twice."""
    if run != STANDARD_INPUT:
        yield run
        return
    import shutil
    import sys
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(prefix="karat-", suffix=".run") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield copy.name
