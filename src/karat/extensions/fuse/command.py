"""karat fuse: one run of several."""

import click

from karat.cli.options.shared import RunPath
from karat.extension import Number, OutputPath, WholeNumber, counted, join_names

METHODS = ("rrf", "min-max", "z-score")


def _weights(_ctx: click.Context, _option: click.Parameter, given: str | None) -> tuple[float, ...]:
    try:
        return tuple(map(float, given.split(","))) if given else ()
    except ValueError:
        raise click.BadParameter(
            f"{given!r} is not a list of numbers; expected for example 0.7,0.3"
        ) from None


@click.command("fuse")
@click.argument("runs", nargs=-1, required=True, type=RunPath(), metavar="RUN RUN...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(),
    metavar="FILE",
    help="The fused run; its name sets the format, such as .run or .jsonl.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="rrf",
    show_default=True,
    help="How scores come to one scale: by ranks, from 0 to 1, or to mean 0 and deviation 1.",
)
@click.option(
    "--weights",
    callback=_weights,
    metavar="W,W,...",
    help="A weight for each RUN, in their order; by default all are equal.",
)
@click.option(
    "--rrf-k",
    type=Number(min=0),
    default=60.0,
    show_default=True,
    metavar="N",
    help="With rrf: the sum of 1 / (N + rank).",
)
@click.option("-k", type=WholeNumber(1), metavar="N", help="Hits per query, all by default.")
@click.option("--run-format", metavar="FORMAT", help="Format of the runs.")
def command(
    runs: tuple[str, ...],
    output: str,
    *,
    method: str,
    weights: tuple[float, ...],
    rrf_k: float,
    k: int | None,
    run_format: str | None,
) -> None:
    """Fuse several RUNs into one, by reciprocal ranks or by scores on one scale.

    Hits are the same if path, lines and symbol are. A query that only some of the runs answer
    is fused from these.

    \b
    karat fuse bm25.run dense.run -o fused.run
    karat fuse bm25.run dense.run --method min-max --weights 0.3,0.7 -o fused.run
    """
    from karat.app.score import run_name
    from karat.extensions.fuse.runs import fused
    from karat.formats import write
    from karat.report.display import printable

    fusion = fused(
        runs,
        method=method,
        weights=weights,
        rrf_k=rrf_k,
        k=k,
        name=run_name(output, 1),
        run_format=run_format,
    )
    write(fusion.run, output)
    queries, hits = counted(len(fusion.run), "query"), counted(len(fusion.run.scores), "hit")
    click.echo(printable(f"{output}: {queries}, {hits} by {method} from {len(runs)} runs"))
    if partial := fusion.partial:
        first = join_names([*partial[:3], *(["others"] if len(partial) > 3 else [])])
        only = f"only some of the runs answer {counted(len(partial), 'query')}: {first}"
        click.echo(printable(f"note: {only}"), err=True)
    if not fusion.shared:
        click.echo(
            "warning: no hit is in two runs, so the fused run only mixes them; do all name their "
            "documents alike? Different chunks of a file are different hits",
            err=True,
        )
