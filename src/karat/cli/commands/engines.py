"""karat engines: list the engines, and check one of them."""

import sys
from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import file_options, open_corpus
from karat.cli.output.show import terminal_width
from karat.report.display import printable
from karat.system.words import counted, range_text

if TYPE_CHECKING:
    from karat.app.corpora import Corpus, FileSelection
    from karat.app.engines import EngineCheck, EngineListing
    from karat.model.timings import QueryCost


BROKEN = 3
# Reasons to drop a hit that concern its path.
PATH_REASONS = ("not in the corpus", "outside the root")
OTHER_FILES = "if it searches other documents than the sample, add --corpus DIR"
PATH_HINT = "; paths must be relative to the folder that is searched"


@click.group("engines", cls=CommandGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """List the engines: available ones, and missing ones with the command that installs them.

    \b
    karat engines
    karat engines check engine.yaml --corpus . --query "where is login"
    """
    if ctx.invoked_subcommand is not None:
        return
    from karat.app.engines import hardware, list_engines

    listings = list_engines()
    if as_json:
        _echo_json([_listed(entry) for entry in listings])
        return
    width = max(len(entry.name) for entry in listings)
    for entry in listings:
        line = f"{entry.name:{width}}  {printable(_about(entry))}"
        indent = " " * (width + 2)
        click.echo(fill(line, terminal_width() or sys.maxsize, subsequent_indent=indent))
    if devices := hardware():
        said = "; ".join(f"{library} on {device}" for library, device in devices.items())
        click.echo(f"models here: {said}; packaged models on the processor")


@command.command("check")
@click.argument("spec", metavar="SPEC")
@click.option("--corpus", metavar="DIR", help="Folder to search; by default three small files.")
@file_options
@click.option("--query", metavar="TEXT", help="The test query.")
@click.option("-k", default=10, show_default=True, metavar="N", help="Hits to request.")
@click.option(
    "--repeat", default=5, show_default=True, metavar="N", help="How often to run the query."
)
@click.option("--no-calibrate", is_flag=True, help="Do not measure the overhead of the adapter.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(
    ctx: click.Context,
    spec: str,
    *,
    corpus: str | None,
    files: "FileSelection",
    query: str | None,
    k: int,
    repeat: int,
    no_calibrate: bool,
    as_json: bool,
) -> None:
    """Run a test query through an engine; show its hits and the overhead of its adapter.

    SPEC is a name, module:Class, name(option=value, ...), a JSON object, or a YAML or JSON
    file. The exit code is 3 if the engine violates the contract of engines, if all of its hits
    are dropped, or if its answer does not have the list of hits that SPEC names.

    \b
    karat engines check my_package:MySearch --corpus src
    karat engines check engine.yaml --corpus src --query "where is login" --json
    """
    from karat.app.engines import check_engine

    if corpus is None and files != type(files)():
        raise click.UsageError("--kind, --include and --exclude need --corpus.")
    opened = open_corpus(corpus, revision=None, files=files) if corpus else None
    outcome = check_engine(
        spec,
        corpus=opened,
        query=query,
        k=k,
        repetitions=repeat,
        calibrate=not no_calibrate,
    )
    if as_json:
        _echo_json(_checked(outcome, opened))
    else:
        for line in _lines(outcome):
            click.echo(printable(line))
    if not outcome.works:
        ctx.exit(BROKEN)


def _about(entry: "EngineListing") -> str:
    if entry.available:
        return entry.summary
    if entry.install:
        return f"not available, needs {entry.missing}: {entry.install}"
    return f"not available: {entry.missing}"


def _lines(outcome: "EngineCheck") -> list[str]:
    """Return the outcome, one fact per line."""
    lines = [
        f"{outcome.name}: {outcome.spec.name}, configuration {outcome.spec.digest[:12]}",
        f"  corpus {outcome.corpus}: {counted(outcome.documents, 'document')}, "
        f"indexed in {_ms(outcome.index_ns)}",
        f"  query {outcome.query!r}: {counted(len(outcome.hits), 'hit')}",
    ]
    for rank, hit in enumerate(outcome.hits, 1):
        location = range_text(hit.path, hit.start_line, hit.end_line)
        symbol = f"  {hit.symbol}" if hit.symbol else ""
        lines.append(f"  {rank:4}. {location}  {hit.score:.6g}{symbol}")
    lines += _dropped_lines(outcome)
    lines += [f"  repaired: {reason} ({count})" for reason, count in outcome.mended.items()]
    lines.append(
        f"  latency: first {_ms(outcome.first_ns)}, then {_ms(outcome.median_ns)} (median)"
    )
    if outcome.phases_ns:
        parts = [f"{phase} {_ms(spent)}" for phase, spent in outcome.phases_ns.items()]
        lines.append(f"  phases of the last query: {', '.join(parts)}")
    if outcome.is_adapter:
        lines.append(f"  {_spent_line(outcome.spent)}")
    if outcome.overhead is not None:
        lines.append(
            f"  overhead of the {outcome.overhead.kind} adapter (measured with a no-op engine): "
            f"median {_ms(outcome.overhead.median_ns)}, p99 {_ms(outcome.overhead.p99_ns)}"
        )
    if outcome.problem and outcome.works:
        lines.append(f"  warning: {outcome.problem.text}")
    lines += [f"  warning: {warning}" for warning in outcome.warnings]
    lines += [f"  contract violation: {law}" for law in outcome.broken]
    lines.append(f"  {_conclusion(outcome)}")
    return lines


def _dropped_lines(outcome: "EngineCheck") -> Iterator[str]:
    """Yield the reasons of dropped hits, each with the first paths."""
    for reason, count in outcome.invalid.items():
        paths = [path for path in outcome.dropped.get(reason, ()) if path or not outcome.problem]
        listed_paths = f": {', '.join(map(repr, paths))}" if paths else ""
        hint = ""
        if reason in PATH_REASONS and paths:
            other_files = outcome.is_adapter and outcome.on_sample and outcome.hits
            hint = f"; {OTHER_FILES}" if other_files else PATH_HINT
        yield f"  dropped: {reason} ({count}){listed_paths}{hint}"


def _conclusion(outcome: "EngineCheck") -> str:
    if outcome.broken:
        return "does not work"
    if outcome.problem and not outcome.works:
        return f"does not work: {outcome.problem.text}"
    if outcome.all_dropped:
        if outcome.is_adapter and outcome.on_sample and outcome.invalid.keys() <= {*PATH_REASONS}:
            return f"does not work: its hits are not files of the sample; {OTHER_FILES}"
        return "does not work: no valid hit"
    if outcome.hits:
        return "works"
    return f"works, but returned 0 hits for the test query {outcome.query!r}; try --query"


def _spent_line(spent: "QueryCost") -> str:
    tokens = "not reported" if spent.tokens is None else f"{spent.tokens:,}"
    cost = "not reported" if spent.cost is None else f"{spent.cost:.6g}"
    ignored = f" ({counted(spent.ignored, 'value')} ignored)" if spent.ignored else ""
    return f"last query: tokens {tokens}, cost {cost}{ignored}"


def _ms(spent_ns: int) -> str:
    return f"{spent_ns / 1e6:.2f} ms"


def _listed(entry: "EngineListing") -> dict[str, object]:
    return {
        "name": entry.name,
        "summary": entry.summary,
        "built_in": entry.built_in,
        "available": entry.available,
        "missing": entry.missing or None,
        "install": entry.install or None,
    }


def _checked(outcome: "EngineCheck", corpus: "Corpus | None") -> dict[str, object]:
    from karat.app.corpora import skipped_as_json

    skipped = {"skipped": {}, "skipped_files": {}} if corpus is None else skipped_as_json(corpus)
    return {
        "name": outcome.name,
        "engine": outcome.spec.name,
        "digest": outcome.spec.digest,
        "works": outcome.works,
        "broken": list(outcome.broken),
        "corpus": outcome.corpus,
        "documents": outcome.documents,
        **skipped,
        "query": outcome.query,
        "hits": [hit._asdict() for hit in outcome.hits],
        "invalid": dict(outcome.invalid),
        "dropped": {reason: list(paths) for reason, paths in outcome.dropped.items()},
        "mended": dict(outcome.mended),
        "index_ns": outcome.index_ns,
        "first_ns": outcome.first_ns,
        "median_ns": outcome.median_ns,
        "phases_ns": dict(outcome.phases_ns),
        "tokens": outcome.spent.tokens,
        "cost": outcome.spent.cost,
        "overhead": outcome.overhead._asdict() if outcome.overhead else None,
        "warnings": list(outcome.warnings),
        "problem": outcome.problem.text if outcome.problem else None,
    }


def _echo_json(value: object) -> None:
    import json

    from karat.report.json import plain

    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))
