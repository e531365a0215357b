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
from karat.system.words import counted

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
    from karat.app.engines import list_engines

    found = list_engines()
    if as_json:
        _echo_json([_listed(entry) for entry in found])
        return
    width = max(len(entry.name) for entry in found)
    for entry in found:
        line = f"{entry.name:{width}}  {printable(_about(entry))}"
        indent = " " * (width + 2)
        click.echo(fill(line, terminal_width() or sys.maxsize, subsequent_indent=indent))


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
    found = check_engine(
        spec,
        corpus=opened,
        query=query,
        k=k,
        repetitions=repeat,
        calibrate=not no_calibrate,
    )
    if as_json:
        _echo_json(_checked(found, opened))
    else:
        for line in _lines(found):
            click.echo(printable(line))
    if not found.works:
        ctx.exit(BROKEN)


def _about(entry: "EngineListing") -> str:
    if entry.available:
        return entry.summary
    hint = f": {entry.install}" if entry.install else ""
    return f"not available, needs {entry.missing}{hint}"


def _lines(found: "EngineCheck") -> list[str]:
    """Return the outcome, one fact per line."""
    lines = [
        f"{found.name}: {found.spec.name}, configuration {found.spec.digest[:12]}",
        f"  corpus {found.corpus}: {counted(found.documents, 'document')}, "
        f"indexed in {_ms(found.index_ns)}",
        f"  query {found.query!r}: {counted(len(found.hits), 'hit')}",
    ]
    for rank, hit in enumerate(found.hits, 1):
        place = f":{hit.start_line}-{hit.end_line}" if hit.start_line else ""
        symbol = f"  {hit.symbol}" if hit.symbol else ""
        lines.append(f"  {rank:4}. {hit.path}{place}  {hit.score:.6g}{symbol}")
    lines += _dropped_lines(found)
    lines += [f"  repaired: {reason} ({count})" for reason, count in found.mended.items()]
    lines.append(f"  latency: first {_ms(found.first_ns)}, then {_ms(found.median_ns)} (median)")
    if found.phases_ns:
        parts = [f"{phase} {_ms(spent)}" for phase, spent in found.phases_ns.items()]
        lines.append(f"  phases of the last query: {', '.join(parts)}")
    if found.is_adapter:
        lines.append(f"  {_spent_line(found.spent)}")
    if found.overhead is not None:
        lines.append(
            f"  overhead of the {found.overhead.kind} adapter (measured with a no-op engine): "
            f"median {_ms(found.overhead.median_ns)}, p99 {_ms(found.overhead.p99_ns)}"
        )
    if found.problem and found.works:
        lines.append(f"  warning: {found.problem.text}")
    lines += [f"  warning: {warning}" for warning in found.warnings]
    lines += [f"  contract violation: {law}" for law in found.broken]
    lines.append(f"  {_conclusion(found)}")
    return lines


def _dropped_lines(found: "EngineCheck") -> Iterator[str]:
    """Yield the reasons of dropped hits, each with the first paths."""
    for reason, count in found.invalid.items():
        paths = [path for path in found.dropped.get(reason, ()) if path or not found.problem]
        shown = f": {', '.join(map(repr, paths))}" if paths else ""
        hint = ""
        if reason in PATH_REASONS and paths:
            other_files = found.is_adapter and found.on_sample and found.hits
            hint = f"; {OTHER_FILES}" if other_files else PATH_HINT
        yield f"  dropped: {reason} ({count}){shown}{hint}"


def _conclusion(found: "EngineCheck") -> str:
    if found.broken:
        return "does not work"
    if found.problem and not found.works:
        return f"does not work: {found.problem.text}"
    if found.all_dropped:
        if found.is_adapter and found.on_sample and found.invalid.keys() <= {*PATH_REASONS}:
            return f"does not work: its hits are not files of the sample; {OTHER_FILES}"
        return "does not work: no valid hit"
    if found.hits:
        return "works"
    return f"works, but returned 0 hits for the test query {found.query!r}; try --query"


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


def _checked(found: "EngineCheck", corpus: "Corpus | None") -> dict[str, object]:
    from karat.app.corpora import skipped_as_json

    skipped = {"skipped": {}, "skipped_files": {}} if corpus is None else skipped_as_json(corpus)
    return {
        "name": found.name,
        "engine": found.spec.name,
        "digest": found.spec.digest,
        "works": found.works,
        "broken": list(found.broken),
        "corpus": found.corpus,
        "documents": found.documents,
        **skipped,
        "query": found.query,
        "hits": [hit._asdict() for hit in found.hits],
        "invalid": dict(found.invalid),
        "dropped": {reason: list(paths) for reason, paths in found.dropped.items()},
        "mended": dict(found.mended),
        "index_ns": found.index_ns,
        "first_ns": found.first_ns,
        "median_ns": found.median_ns,
        "phases_ns": dict(found.phases_ns),
        "tokens": found.spent.tokens,
        "cost": found.spent.cost,
        "overhead": found.overhead._asdict() if found.overhead else None,
        "warnings": list(found.warnings),
        "problem": found.problem.text if found.problem else None,
    }


def _echo_json(value: object) -> None:
    import json

    from karat.report.json import plain

    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))
