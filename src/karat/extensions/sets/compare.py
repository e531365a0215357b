"""karat compare --set: one experiment for each set, joined and compared over all of them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.app.evaluate import ExperimentKind, score_finished, select_finished
from karat.cli.options.agents import make_request, select_engines
from karat.cli.options.sets import SetRequest
from karat.cli.output.experiments import (
    BROKEN,
    INTERRUPTED,
    run_request,
    show_failed,
    show_interrupted,
)
from karat.cli.output.scores import compare_score_files
from karat.cli.output.show import is_report
from karat.extensions.scores.source import scored_files
from karat.extensions.sets.join import CORPUS, ScoredCorpus, join_scores
from karat.extensions.sets.places import SetPlace, find_sets
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.app.evaluate import ExperimentRequest


def compare_sets(asked: SetRequest) -> None:
    """Run the engines on each set, and show them compared; stored results are reused.

    The exit code is 130 after an interruption, and 3 if a run has failed or is broken.
    """
    _refuse(asked)
    # All gold sets are read before anything runs.
    places = find_sets(asked.sets)
    requests = [_request(place, asked) for place in places]
    ctx = click.get_current_context()
    corpora, remarks, failed = [], [], False
    for number, (place, request) in enumerate(zip(places, requests, strict=True), 1):
        click.echo(printable(f"{place.name} ({number} of {len(places)})"), err=True)
        done = run_request(request, asked.options)
        if done.interrupted:
            show_interrupted(done)
            ctx.exit(INTERRUPTED)
        ended = select_finished(done)
        show_failed(ended)
        scoring, scored = score_finished(request.gold, done, ended, request.scoring)
        measures = scoring.parsed(request.gold)
        corpora.append(ScoredCorpus(place.name, request.gold, scored, measures))
        remarks += [f"{place.name}: {remark}" for remark in done.remarks]
        failed = failed or bool(ended.failed) or any(each.broken for each in scored)
    inputs = asked.inputs
    joined = scored_files(join_scores(corpora, by=inputs.by))
    remarks += joined.remarks
    for remark in remarks:
        click.echo(printable(f"warning: {remark}"), err=True)
    if asked.output.style == "json":
        # A table has the corpora anyway.
        inputs = replace(inputs, by=tuple(dict.fromkeys((*inputs.by, CORPUS))))
    compare_score_files(joined, inputs, asked.confidence, asked.output)
    if failed:
        ctx.exit(BROKEN)


def _refuse(asked: SetRequest) -> None:
    """Reject what is of one gold set, and outputs that cannot be written, before anything runs."""
    single = {
        "--run-out": asked.options.run_out,
        "--losses": asked.options.losses,
        "--human-sample": asked.confidence.human_sample,
    }
    if given := [name for name, value in single.items() if value]:
        raise click.UsageError(f"{', '.join(given)}: only for one gold set, not with --set.")
    path = asked.output.path
    if asked.output.style is None and path:
        is_folder = path.endswith(("/", "\\")) or Path(path).is_dir()
        if is_folder or not is_report(asked.output):
            raise click.UsageError(f"{path}: expected a report, such as report.html.")


def _request(place: SetPlace, asked: SetRequest) -> "ExperimentRequest":
    """Return the experiment of one set; latency is measured only if --timed asks for it."""
    where = asked.place.where()
    if place.corpus is not None:
        where = where._replace(corpus=place.corpus)
    setup = select_engines(
        gold=place.gold,
        agents=asked.agents,
        config=asked.config,
        k=asked.k,
        inputs=asked.inputs,
        scoring=asked.scoring,
        where=where,
    )
    options = asked.options
    return make_request(
        setup,
        ExperimentKind.COMPARE,
        where=where,
        options=options,
        timed=0 if options.timed is None else options.timed_queries(),
        seed=asked.confidence.seed,
    )
