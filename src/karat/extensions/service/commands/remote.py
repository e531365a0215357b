"""Commands that run on a service instead of here: ``karat --server URL ...``."""

from collections.abc import Iterable
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Protocol, TypeVar
from zipfile import is_zipfile

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import OutputPath
from karat.cli.options.stray import stray
from karat.cli.output.show import put_json
from karat.errors import EngineError, InputError, MissingExtra, UnknownName
from karat.report.display import printable
from karat.report.table import Cell, Column, Table, number
from karat.report.text import text_table
from karat.system.files import write_text
from karat.system.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from karat.extensions.service.client import Client
    from karat.extensions.service.schemas.base import Answer
    from karat.extensions.service.schemas.benchmarks import Benchmark
    from karat.extensions.service.schemas.collections import Collection
    from karat.extensions.service.schemas.datasets import Dataset
    from karat.extensions.service.schemas.results import Results


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LATEST = "latest"
LONGEST_NAME = 255
# Texts for missing latencies.
LATENCY = {
    "none": "not measured",
    "pending": "still being measured",
    "failed": "could not be measured",
    "cancelled": "not measured, since the benchmark was cancelled",
}
# Axes that a service does not combine, and what to do instead.
NOT_COMBINED = {
    "chunkers": "a collection has one chunker, chosen by collections create --chunker",
    "sparse_models": "a service has no search mode that uses it",
    "late_models": "a service has no search mode that uses it",
}
# Without a terminal, the share of the work between two lines about progress.
PROGRESS_STEP = 0.1


class _HasName(Protocol):
    """An object with an id and a name."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def created_at(self) -> "datetime": ...


Item = TypeVar("Item", bound=_HasName)


def connect() -> "Client":
    """Return a client of the service that ``--server`` names; its token is in KARAT_TOKEN."""
    try:
        from karat.extensions.service.client import Client
    except ModuleNotFoundError as missing:
        raise MissingExtra("httpx", extra="http", purpose="using a service") from missing
    return Client(str(click.get_current_context().find_root().params["server"]))


def put_list(lines: Iterable[str], *, none: str) -> None:
    """Print *lines*; if there are none, print that the service has *none*."""
    empty = True
    for line in lines:
        click.echo(printable(line))
        empty = False
    if empty:
        click.echo(f"the service has {none}", err=True)


def find_named(items: Iterable[Item], name: str, what: str) -> Item:
    """Return the one of *items* with this id, with an id that begins so, or with this name."""
    listed = list(items)
    for fits in (
        [item for item in listed if item.id == name],
        [item for item in listed if item.name == name],
        [item for item in listed if item.id.startswith(name)],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            candidates = [f"  {item.id}  {_date(item.created_at)}  {item.name}" for item in fits]
            several = f"several {what}s match {name!r}; give the id of one:"
            raise UnknownName("\n".join([several, *candidates]))
    raise UnknownName(f"the service has no {what} {name!r}")


def _date(moment: "datetime") -> str:
    """Return the local time of *moment*."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _plain(answers: "Iterable[Answer]") -> list[dict[str, object]]:
    return [answer.model_dump(mode="json") for answer in answers]


@click.group("collections", cls=CommandGroup)
def collections() -> None:
    """Create, list, reindex and delete collections.

    \b
    karat --server http://localhost:8080 collections create Handbook --path /srv/handbook
    karat --server http://localhost:8080 collections create Handbook --upload handbook.zip
    karat --server http://localhost:8080 collections list
    """


@collections.command("create")
@click.argument("name")
@click.option("--path", metavar="DIR", help="A folder or repository on the service's machine.")
@click.option("--rev", metavar="REVISION", help="Read DIR at this Git revision.")
@click.option(
    "--upload",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A zip, tar or tar.gz file to upload.",
)
@click.option("--no-dense", is_flag=True, help="Do not compute embeddings.")
@click.option("--no-sparse", is_flag=True, help="Do not build a word index.")
@click.option("--model", type=click.Choice(["granite", "minilm", "static"]), default="granite")
@click.option(
    "--chunker", default="auto", show_default=True, help="How documents are split into chunks."
)
def create_collection(
    name: str,
    *,
    path: str | None,
    rev: str | None,
    upload: Path | None,
    no_dense: bool,
    no_sparse: bool,
    model: str,
    chunker: str,
) -> None:
    """Create the collection NAME, wait until it is indexed, and print its id.

    \b
    karat --server http://localhost:8080 collections create Handbook --path /srv/handbook
    karat --server http://localhost:8080 collections create Flask --path /srv/flask --rev 3.0
    """
    if (path is None) == (upload is None):
        raise click.UsageError("Expected either --path or --upload.")
    index = {"dense": not no_dense, "sparse": not no_sparse, "model": model, "chunker": chunker}
    with connect() as client:
        if upload:
            made = client.upload_collection(name, upload, index=index)
        elif rev:
            source = {"kind": "git", "path": path, "revision": rev}
            made = client.create_collection(name, source, index=index)
        else:
            made = client.create_collection(name, {"kind": "folder", "path": path}, index=index)
        wait_until_indexed(client, made)


@collections.command("reindex")
@click.argument("collection")
def reindex_collection(collection: str) -> None:
    """Index COLLECTION again after its documents have changed; id or name.

    \b
    karat --server http://localhost:8080 collections reindex Handbook
    """
    with connect() as client:
        match = find_named(client.collections(), collection, "collection")
        wait_until_indexed(client, client.reindex_collection(match.id))


@collections.command("list")
@AS_JSON
def list_collections(*, as_json: bool) -> None:
    """List all collections, newest first.

    \b
    karat --server http://localhost:8080 collections list
    """
    with connect() as client:
        listed = list(client.collections())
    if as_json:
        put_json({"collections": _plain(listed)})
        return
    lines = (f"{one.id}  {one.status:8}  {one.document_count:6,}  {one.name}" for one in listed)
    put_list(lines, none="no collections yet")


@collections.command("delete")
@click.argument("collection")
def delete_collection(collection: str) -> None:
    """Delete COLLECTION, by id or name, unless a dataset is mapped to it.

    \b
    karat --server http://localhost:8080 collections delete Handbook
    """
    with connect() as client:
        client.delete_collection(find_named(client.collections(), collection, "collection").id)


def wait_until_indexed(client: "Client", made: "Collection") -> None:
    """Report the progress of indexing *made*, and its size at the end."""
    from karat.cli.output.progress import progress_bar

    texts, reported = 0, 0.0
    with progress_bar("embedding texts") as draw:
        for event in client.operation_events(str(made.operation_uuid)):
            done, total = event.data["done"], event.data["total"]
            texts = max(texts, total)
            if total and draw:
                draw(done, total)
            elif total and done >= reported + PROGRESS_STEP * total:
                reported = done
                click.echo(f"embedded {done:,} of {total:,} texts", err=True)
    made = client.collection(made.id)
    if made.status != "ready":
        raise EngineError(f"{made.name}: indexing failed: {made.error_message}")
    click.echo(made.id)
    counts = f"{made.document_count:,} documents, {made.chunk_count:,} chunks"
    if texts > made.chunk_count:
        counts += f", embedded as {texts:,} texts because long chunks are split"
    click.echo(printable(f"{made.name}: {counts}"), err=True)


@click.group("datasets", cls=CommandGroup)
def datasets() -> None:
    """Upload, list and delete gold sets.

    \b
    karat --server http://localhost:8080 datasets upload gold.json --name "Handbook questions"
    karat --server http://localhost:8080 datasets list
    """


@datasets.command("upload")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Name of the dataset; by default that of the file.")
@click.option("--description", default="", help="Short description.")
def upload_dataset(file: Path, name: str | None, description: str) -> None:
    """Upload FILE, in any format that Karat reads, and print the id of the dataset.

    \b
    karat --server http://localhost:8080 datasets upload gold.json --name Questions
    """
    with connect() as client:
        made = client.upload_dataset(name or file.stem, file, description=description)
    click.echo(made.id)
    click.echo(printable(f"{made.name}: {made.query_count:,} queries"), err=True)


@datasets.command("list")
@AS_JSON
def list_datasets(*, as_json: bool) -> None:
    """List all datasets, newest first.

    \b
    karat --server http://localhost:8080 datasets list
    """
    with connect() as client:
        listed = list(client.datasets())
    if as_json:
        put_json({"datasets": _plain(listed)})
        return
    lines = (
        f"{one.id}  {_date(one.created_at)}  {one.query_count:6,}  {one.name}" for one in listed
    )
    put_list(lines, none="no datasets yet")


@datasets.command("delete")
@click.argument("dataset")
def delete_dataset(dataset: str) -> None:
    """Delete DATASET, by id or name, with its mappings.

    \b
    karat --server http://localhost:8080 datasets delete Questions
    """
    with connect() as client:
        client.delete_dataset(find_named(client.datasets(), dataset, "dataset").id)


@click.command("engines")
@AS_JSON
def engines(*, as_json: bool) -> None:
    """List the engines that the service was started with; sweep accepts these names.

    \b
    karat --server http://localhost:8080 engines
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --engine my-search
    """
    with connect() as client:
        offered = client.engines()
    if as_json:
        put_json({"engines": _plain(offered)})
        return
    width = max((len(engine.name) for engine in offered), default=0)
    lines = (f"{engine.name:{width}}  {engine.kind}" for engine in offered)
    put_list(
        lines,
        none="only its built-in modes; add engines with karat serve --http-target or --engine",
    )


@click.group("runs", cls=CommandGroup)
def runs() -> None:
    """List benchmarks, show their results, cancel and delete them.

    \b
    karat --server http://localhost:8080 runs list
    karat --server http://localhost:8080 runs show latest
    """


@runs.command("list")
@click.option(
    "--status",
    type=click.Choice(["pending", "queued", "running", "completed", "failed", "cancelled"]),
    help="Only benchmarks with this status.",
)
@AS_JSON
def list_benchmarks(status: str | None, *, as_json: bool) -> None:
    """List all benchmarks, the newest first.

    \b
    karat --server http://localhost:8080 runs list
    """
    with connect() as client:
        listed = list(client.benchmarks(status=status))
        names = {} if as_json else {one.id: one.name for one in client.datasets()}
    if as_json:
        put_json({"benchmarks": _plain(listed)})
        return
    none = f"no {status} benchmark" if status else "no benchmarks yet"
    width = max((len(names.get(one.dataset_id, "-")) for one in listed), default=0)
    put_list((_line(one, f"{names.get(one.dataset_id, '-'):{width}}") for one in listed), none=none)


def _line(benchmark: "Benchmark", dataset: str) -> str:
    done = f"{benchmark.completed_runs} of {benchmark.total_runs}"
    made = _date(benchmark.created_at)
    return f"{benchmark.id}  {made}  {benchmark.status:9}  {done:8}  {dataset}  {benchmark.name}"


@runs.command("show")
@click.argument("benchmark")
@AS_JSON
def show_benchmark(benchmark: str, *, as_json: bool) -> None:
    """Show the results of BENCHMARK, by id, name or ``latest``.

    \b
    karat --server http://localhost:8080 runs show latest
    """
    with connect() as client:
        match = find_benchmark(client, benchmark)
        results = client.results(match.id)
    if as_json:
        benchmark_json, results_json = _plain([match, results])
        put_json({"benchmark": benchmark_json, "results": results_json})
    else:
        show_results(match.name, results)


@runs.command("cancel")
@click.argument("benchmark")
def cancel_benchmark(benchmark: str) -> None:
    """Cancel BENCHMARK; completed runs are kept.

    \b
    karat --server http://localhost:8080 runs cancel latest
    """
    with connect() as client:
        click.echo(client.cancel(find_benchmark(client, benchmark).id).message, err=True)


@runs.command("delete")
@click.argument("benchmark")
def delete_benchmark(benchmark: str) -> None:
    """Delete BENCHMARK with its results.

    \b
    karat --server http://localhost:8080 runs delete "Which mode"
    """
    with connect() as client:
        client.delete_benchmark(find_benchmark(client, benchmark).id)


def find_benchmark(client: "Client", name: str) -> "Benchmark":
    """Return the benchmark that *name* means."""
    if name == LATEST:
        return client.benchmark(LATEST)
    return find_named(client.benchmarks(), name, "benchmark")


def show_results(name: str, results: "Results") -> None:
    """Print one line per run, and what they say together."""
    click.echo(text_table(results_table(name, results)))


def results_table(name: str, results: "Results") -> Table:
    """Return the runs with the metric that they are ranked by, and how long a query took."""
    from karat.report.score_view import BEST_NOTE

    metric = results.primary_metric
    label = results.labels.get(metric, metric)
    # Of several best runs none is marked, as in karat sweep and karat compare.
    unbeaten = results.summary.best_runs
    scored = sum(run.metrics_flat.get(metric) is not None for run in results.runs)
    best = unbeaten if len(unbeaten) == 1 < scored else []
    rows = [
        (
            Cell(run.name),
            Cell(run.status),
            number(run.metrics_flat.get(metric), best=run.id in best),
            Cell(_interval(run.intervals.get(metric))),
            number(run.latency.p50, digits=1),
            Cell(str(run.errors + run.timeouts)),
        )
        for run in results.runs
    ]
    columns = (
        *(Column("run"), Column("status"), Column(label, numeric=True), Column("95% interval")),
        *(Column("p50 ms", numeric=True), Column("failed", numeric=True)),
    )
    notes = [f"{run.name}: {run.error_message}" for run in results.runs if run.error_message]
    notes += [
        f"latency: {words}"
        for status, words in LATENCY.items()
        if any(run.timing_status == status for run in results.runs)
    ]
    if best:
        notes.append(BEST_NOTE)
    return Table(
        f"{name}, {results.query_count:,} queries",
        columns,
        tuple(rows),
        tuple(notes),
        results.summary.comparison or "",
    )


def _interval(bounds: "Sequence[float] | None") -> str:
    return f"[{bounds[0]:.4f}, {bounds[1]:.4f}]" if bounds else "-"


@click.command("report")
@click.argument("benchmark", default="latest")
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(path_type=Path),
    metavar="FILE",
    help="File to write; .html, .json or .csv sets the format.",
)
def report(benchmark: str, output: Path) -> None:
    """Write the report of BENCHMARK, by id, name or ``latest``.

    \b
    karat --server http://localhost:8080 report latest -o report.html
    """
    kind = output.suffix.lower().removeprefix(".")
    if kind not in ("html", "json", "csv"):
        made = "; Markdown, text and LaTeX are made locally, by karat report without --server"
        hint = made if kind in ("md", "txt", "tex") else ""
        raise click.UsageError(
            f"{output}: expected a name that ends in .html, .json or .csv{hint}."
        )
    with connect() as client:
        benchmark_id = find_benchmark(client, benchmark).id
        text = client.report(benchmark_id) if kind == "html" else client.export(benchmark_id, kind)
    write_text(output, text)
    click.echo(str(output), err=True)


@click.command("sweep")
@click.argument("goldset")
@stray({"--matrix": "a matrix"})
@click.option(
    "--collection", required=True, metavar="NAME", help="Collection to search: id or name."
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="YAML or JSON file with the values to combine, such as search_modes: [dense, hybrid].",
)
@click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="An engine of the service, run at every depth of the matrix; may be repeated.",
)
@click.option(
    "--timed",
    type=click.Choice(["none", "sample", "all"]),
    default="sample",
    show_default=True,
    help="Queries whose latency is measured; sample is 20 of them.",
)
@click.option("--name", help="Name of the benchmark; by default dataset and collection.")
def sweep(
    goldset: str,
    *,
    collection: str,
    matrix: Path | None,
    engines: tuple[str, ...],
    timed: str,
    name: str | None,
) -> None:
    """Compare many configurations on GOLDSET: a file to upload, or the id or name of a dataset.

    A file that the service has already, by name and content, is not uploaded again. The
    configurations come from a matrix, from engines of the service (see karat engines), or from
    both; engines, models and rerankers of a matrix are names of the service. Ctrl-C stops
    watching but not the benchmark; karat runs cancel stops it.

    \b
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --matrix m.yaml
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --engine my-search
    karat --server http://localhost:8080 sweep gold.json --collection Docs -e mine --timed none
    """
    if not matrix and not engines:
        raise click.UsageError("Expected --matrix FILE, --engine NAME, or both.")
    axes = _axes(matrix) if matrix else {"search_modes": []}
    axes |= _named_engines(axes, engines)
    with connect() as client:
        # Reject invalid values before anything is sent.
        client.preview(axes)
        searched = find_named(client.collections(), collection, "collection")
        dataset, mined = _dataset(client, goldset)
        mapping = (
            next(
                (
                    each.id
                    for each in client.mappings(dataset.id)
                    if each.collection_id == searched.id
                ),
                "",
            )
            or client.map(dataset.id, searched.id).id
        )
        resolved = client.resolve(dataset.id, mapping)
        lost = resolved.total_count - resolved.mapped_count
        if mined:
            _warn_mined(goldset, searched.name, lost, resolved.total_count)
        elif resolved.unresolved:
            click.echo(
                f"{counted(lost, 'reference')} without a document; they count as missed", err=True
            )
        called = name or _default_name(dataset.name, searched.name, matrix)
        made = client.create_benchmark(called, mapping, axes, timing=timed)
        click.echo(printable(f"benchmark {made.id}, {made.total_runs} runs"), err=True)
        client.start(made.id, key=made.id)
        _watch(client, made.id)
        ended = client.benchmark(made.id)
        if ended.status != "completed":
            why = f": {ended.error_message}" if ended.error_message else ""
            raise EngineError(f"benchmark {made.name!r} is {ended.status}{why}")
        show_results(made.name, client.results(made.id))


def _axes(file: Path) -> dict[str, object]:
    """Return the axes in *file*; the service checks the names of engines and models."""
    from karat.app.sweep import read_service_matrix

    axes = read_service_matrix(file)
    for name, why in NOT_COMBINED.items():
        if axes.pop(name, ["auto"]) != ["auto"]:
            raise InputError(f"{file}: {name} cannot be set with --server: {why}")
    return axes


def _named_engines(axes: "Mapping[str, object]", engines: "Sequence[str]") -> dict[str, object]:
    """Return the engines of a matrix and those of --engine, each once."""
    in_matrix = axes.get("engines", [])
    named = [*in_matrix, *engines] if isinstance(in_matrix, list) else [*engines]
    return {"engines": list(dict.fromkeys(named))} if named else {}


def _default_name(dataset: str, collection: str, matrix: Path | None) -> str:
    """Return the name of a benchmark.

    >>> _default_name("gold", "flask", Path("matrix.yaml"))
    'gold on flask'
    >>> _default_name("gold", "flask", Path("depths.yaml"))
    'gold on flask, depths'
    """
    name = f"{dataset} on {collection}"
    if matrix and matrix.stem != "matrix":
        name += f", {matrix.stem}"
    return name[:LONGEST_NAME]


def _dataset(client: "Client", goldset: str) -> "tuple[Dataset, bool]":
    """Return the dataset that *goldset* means, and whether it is a file with mined queries.

    A file is uploaded unless the service has a dataset with the same name and content.
    """
    file = Path(goldset)
    if not file.is_file():
        return find_named(client.datasets(), goldset, "dataset"), False
    if is_zipfile(file):
        return client.upload_dataset(file.stem, file), False
    from karat.experiments.store.recorder import storable_dataset
    from karat.formats import read_dataset
    from karat.formats.gold import gold_digest

    # Problems are reported with the lines of this file.
    gold = storable_dataset(read_dataset(file))
    mined = any(extra.get("commit_hash") for extra in gold.extras)
    mined = mined and not gold.metadata.get("carried_to")
    content = gold_digest(gold)
    for known in client.datasets():
        # A later version has judgments that the file lacks.
        alike = (known.name, known.query_count, known.version) == (file.stem, len(gold), 1)
        if alike and client.dataset_digest(known.id) == content:
            line = f"already uploaded: {known.name}, {_date(known.created_at)}, {known.id}"
            click.echo(printable(line), err=True)
            return known, mined
    return client.upload_dataset(file.stem, file), mined


def _warn_mined(goldset: str, collection: str, lost: int, targets: int) -> None:
    """Warn that mined queries belong to older versions than the one in *collection*."""
    from karat.report.score_view import gone_text

    file = Path(goldset)
    carried = file.with_name(f"{file.stem}-head{file.suffix}")
    command = join(["karat", "carry", goldset, "--to", "HEAD", "-o", str(carried)])
    click.echo(
        printable(
            f"warning: {collection} is not the version that the queries refer to: "
            f"{gone_text(lost, targets)} there, and the rest may already contain "
            f"the answer; use {command}"
        ),
        err=True,
    )


def _watch(client: "Client", benchmark: str) -> None:
    last_line = ""
    for event in client.events(benchmark):
        current = event.data.get("current_run") or {}
        words = [f"{event.data['completed_runs']} of {event.data['total_runs']} runs"]
        if current:
            done = f"{current['completed_queries']:,} of {current['total_queries']:,} queries"
            words += [current["config_summary"], current["stage"], done]
        line = printable(", ".join(words))
        if line != last_line:
            click.echo(line, err=True)
        last_line = line
