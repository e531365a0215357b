"""karat watch: run a comparison again whenever its files change."""

from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from karat.cli.help import ENGINES, INPUTS, TieredCommand, option
from karat.cli.options.experiment import CorpusOption, where_options
from karat.cli.options.scoring import scoring_options
from karat.cli.options.shared import Inputs, Number, WholeNumber, store_option
from karat.cli.output.progress import run_progress, wrapped
from karat.errors import KaratError
from karat.report.display import printable
from karat.system.words import counted, first_few, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.app.evaluate import ExperimentSetup, Where
    from karat.extensions.watch.rounds import WatchRound
    from karat.scoring.settings import Scoring


SAMPLE = 100
FILES = (".yaml", ".yml", ".json")


@click.command("watch", cls=TieredCommand)
@click.argument("goldset", required=False, type=click.Path(exists=True))
@option(
    "-e",
    "--engine",
    "engines",
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="SPEC",
    help="An engine, a profile or a YAML file, bm25 by default; may be repeated. With --config, "
    "one of its engines.",
)
@option(
    "--config",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Configuration file, see karat init: gold set and engines.",
)
@where_options
@option(
    "-k",
    group=ENGINES,
    common=True,
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query.",
)
@option(
    "--sample",
    group=ENGINES,
    common=True,
    type=WholeNumber(1),
    default=SAMPLE,
    show_default=True,
    metavar="N",
    help="Run at most N queries, always the same ones.",
)
@option(
    "--interval",
    "interval_s",
    group=ENGINES,
    common=True,
    type=Number(0, min_open=True),
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Time between checks of the files; a run starts after a check without a change.",
)
@store_option
@scoring_options
def command(
    goldset: str | None,
    engines: tuple[str, ...],
    config: str | None,
    k: int | None,
    *,
    sample: int,
    interval_s: float,
    store: str,
    place: CorpusOption,
    scoring: "Scoring",
    inputs: Inputs,
) -> None:
    """Run engines on GOLDSET now, and again whenever a file changes; Ctrl-C ends.

    Karat watches the gold set, the configuration file, engine files, the Python modules and
    scripts of engines, and the folder of --corpus. Each run prints what changed since the
    previous one: means, queries that moved, and the verdict. Latency is not measured. Indexes
    and stored results are reused.

    \b
    karat watch questions.csv --corpus ../docs -e bm25 -e my-engine.yaml
    karat watch --config karat.yaml --sample 50
    """
    from karat.cli.options.agents import select_engines
    from karat.extensions.watch.rounds import file_state, wait_for_change

    named = [goldset, config, *(one for one in engines if one.lower().endswith(FILES))]
    named.append(None if place.revision else place.corpus)
    places = [one for one in named if one]
    where = place.where()
    before: WatchRound | None = None
    why = ""
    try:
        while True:
            # Taken before the run, so that a change during the run starts another one.
            state = file_state(places)
            try:
                setup = select_engines(
                    gold=goldset,
                    agents=engines,
                    config=config,
                    k=k,
                    inputs=inputs,
                    scoring=scoring,
                    where=where,
                )
                if new := _new_places(setup, places):
                    places += new
                    state = {**file_state(new), **state}
                if before is None:
                    click.echo(wrapped(f"watching {', '.join(places)}; Ctrl-C ends"), err=True)
                before = _round(setup, before, why, where=where, sample=sample, store=store)
            except (KaratError, click.ClickException) as error:
                # A file that changed during the first run is no reason to give up.
                if before is None and file_state(places) == state:
                    raise
                message = error.format_message() if hasattr(error, "format_message") else error
                click.echo(f"\n{why or 'first run'}\nerror: {message}", err=True)
            _, paths = wait_for_change(
                state, partial(file_state, places), sleep, interval_s=interval_s
            )
            why = _changed(paths)
    except KeyboardInterrupt:
        click.echo("\nstopped", err=True)


def _new_places(setup: "ExperimentSetup", places: "Sequence[str]") -> list[str]:
    """Return the files of engines and of the configuration that are not watched yet."""
    from karat.extensions.watch.rounds import engine_files

    files = [file for one in setup.configurations for file in engine_files(one.spec)]
    if setup.config and setup.config.gold_set:
        files.append(setup.config.gold_set)
    return [file for file in dict.fromkeys(files) if file not in places]


def _round(
    setup: "ExperimentSetup",
    before: "WatchRound | None",
    why: str,
    *,
    where: "Where",
    sample: int,
    store: str,
) -> "WatchRound":
    """Run the comparison once, print what changed and return it."""
    from karat.app.evaluate import ExperimentKind
    from karat.extensions.watch.rounds import round_lines, run_round

    request = setup.request(
        ExperimentKind.COMPARE,
        where=where,
        sample=min(sample, len(setup.gold)),
        repetitions=None,
        timeout_s=None,
        timed=0,
        workers=1,
        seed=0,
        wait=False,
    )
    started = monotonic()
    with run_progress({}) as listen:
        after = run_round(request, store=store, listen=listen)
    seconds = monotonic() - started
    click.echo(f"\n{why or 'first run'}: {counted(len(after.gold), 'case')} in {seconds:.1f} s")
    for line in round_lines(before, after):
        # The rows of engines and queries are indented, and short.
        click.echo(printable(line) if line.startswith(" ") else wrapped(printable(line)))
    return after.after(before)


def _changed(paths: "Sequence[str]") -> str:
    """Return which files have changed, relative to the current folder where they are below it."""
    here = Path.cwd()
    names = [
        str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path
        for path in paths
    ]
    return f"{datetime.now().astimezone():%H:%M:%S} changed {join_names(first_few(names))}"
