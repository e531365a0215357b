"""karat load: measure latency under load."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from karat.cli.help import ENGINES, OUTPUT, TieredCommand, option
from karat.cli.options.experiment import NO_WAIT
from karat.cli.options.shared import (
    COLUMNS,
    GoldPath,
    Number,
    WholeNumber,
    place_options,
    warn_of_row,
)
from karat.cli.options.stray import stray

if TYPE_CHECKING:
    from karat.app.corpora import Corpus, FileSelection


# The group of the options of its own.
LOAD = "Load"


@click.command("load", cls=TieredCommand)
@click.argument("gold", type=GoldPath())
@place_options
@stray({"--engine": "the engine"})
@option(
    "--rate",
    "rates",
    group=LOAD,
    common=True,
    multiple=True,
    type=Number(0, min_open=True),
    default=(1.0, 5.0, 20.0),
    show_default=True,
    help="Queries per second; may be repeated.",
)
@option(
    "--seconds",
    group=LOAD,
    common=True,
    default=10.0,
    show_default=True,
    type=Number(0, min_open=True),
    help="Duration of each rate.",
)
@option(
    "-k",
    group=ENGINES,
    common=True,
    default=10,
    show_default=True,
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request.",
)
@option("--seed", group=LOAD, default=0, show_default=True, metavar="N", help="Random seed.")
@COLUMNS
@NO_WAIT
@option("--json", "as_json", common=True, group=OUTPUT, is_flag=True, help="Print JSON.")
def command(
    gold: str,
    place: str,
    *,
    rev: str | None,
    files: "FileSelection",
    engine: str | Mapping[str, object],
    rates: tuple[float, ...],
    seconds: float,
    k: int,
    seed: int,
    columns: Mapping[str, str],
    no_wait: bool,
    as_json: bool,
) -> None:
    """Measure latency under load.

    The engine receives the queries of GOLD at each --rate in turn, whether or not earlier
    queries are answered, as users send them: the latency includes the time in the queue.
    Intended for engines behind HTTP.

    \b
    karat load gold.json . -e "http(url=http://localhost/?q={query})" --rate 50
    karat load gold.json . -e bm25 --rate 100 --seconds 5 --json
    """
    from karat.app.corpora import skipped_as_json, skipped_text
    from karat.cli.output.progress import progress_bar, waiting_text
    from karat.extensions.load.measure import load_table, under_load
    from karat.formats import read_dataset
    from karat.report.display import printable

    skipped: dict[str, object] = {}

    with ExitStack() as bar:
        progress = bar.enter_context(progress_bar("embedding"))

        def say(text: str) -> None:
            bar.close()
            click.echo(text, err=True)

        def report_skipped(corpus: "Corpus") -> None:
            skipped.update(skipped_as_json(corpus))
            if line := skipped_text(corpus.skipped_files):
                say(printable(line))

        points = under_load(
            read_dataset(gold, columns=columns, on_empty=warn_of_row),
            engine,
            place,
            revision=rev,
            selection=files,
            opened=report_skipped,
            rates=rates,
            seconds=seconds,
            k=k,
            seed=seed,
            progress=progress,
            reached=lambda point: say(f"measured {point.rate:g} queries per second"),
            waiting=lambda holders: say(waiting_text([each._asdict() for each in holders])),
            wait=not no_wait,
        )
    from karat.cli.output import show

    if as_json:
        show.put_json([{**point._asdict(), **skipped} for point in points])
        return
    name = engine if isinstance(engine, str) else str(engine["engine"])
    show.put_table(load_table(points, engine=name, seconds=seconds))
