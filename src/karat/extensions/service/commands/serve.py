"""karat serve: start the API and the web page."""

import click

from karat.cli.help import ENGINES, SERVICE, TieredCommand, option
from karat.cli.options.experiment import executor_option
from karat.cli.options.shared import WholeNumber, store_option


@click.command("serve", cls=TieredCommand)
@option(
    "--host",
    group=SERVICE,
    common=True,
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@option(
    "--port",
    group=SERVICE,
    common=True,
    default=8080,
    show_default=True,
    type=WholeNumber(0, 65535),
    metavar="N",
    help="Port to listen on; 0 picks a free one.",
)
@store_option
@option(
    "--data",
    group=SERVICE,
    common=True,
    type=click.Path(file_okay=False),
    default=".karat",
    show_default=True,
    help="Folder of uploaded documents.",
)
@option(
    "--root",
    "roots",
    group=SERVICE,
    common=True,
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Allow collections of folders and repositories below this folder; may be repeated.",
)
@option(
    "--http-target",
    "targets",
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="NAME=URL",
    help="An HTTP engine for benchmarks, called NAME: a URL with {query}; may be repeated.",
)
@option(
    "--engine",
    "engines",
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="NAME=SPEC",
    help="Any other engine, as in karat evaluate, such as a command or a Python class; may be "
    "repeated.",
)
@option(
    "--model",
    "models",
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="NAME=SPEC",
    help="An embedding model for benchmarks, such as gpu=tei:http://localhost:8080; may be "
    "repeated.",
)
@option(
    "--reranker",
    "rerankers",
    group=ENGINES,
    multiple=True,
    metavar="NAME=SPEC",
    help="A reranker for benchmarks, such as co=cohere:rerank-v3.5; may be repeated.",
)
@option(
    "--context",
    "contexts",
    group=ENGINES,
    multiple=True,
    metavar="NAME=SPEC",
    help="A chat model that writes a context of each chunk; may be repeated.",
)
@option(
    "--workers",
    group=SERVICE,
    common=True,
    default=1,
    show_default=True,
    type=WholeNumber(0, 64),
    metavar="N",
    help="Worker processes for indexing and benchmarks; 0 if another service runs them.",
)
@executor_option
@option(
    "--analysts",
    group=SERVICE,
    type=WholeNumber(1, 64),
    metavar="N",
    help="Analyses (statistics, reports) that run at a time; default: the number of cores, 2 to 4.",
)
@option(
    "--warm-up/--no-warm-up",
    group=SERVICE,
    default=True,
    show_default=True,
    help="Load collections in the background, before their first search.",
)
@option(
    "--allowed-host",
    "hosts",
    group=SERVICE,
    common=True,
    multiple=True,
    metavar="NAME",
    help="Host name that clients use, such as that of a proxy; may be repeated.",
)
@option(
    "--shared/--private",
    group=SERVICE,
    common=True,
    default=None,
    help="Whether all tokens see everything, or each only what its owner has; default: shared, "
    "or as before.",
)
@option(
    "--open",
    "browse",
    group=SERVICE,
    common=True,
    is_flag=True,
    help="Open the web page in a browser.",
)
@option(
    "--limit",
    "limits",
    group=SERVICE,
    multiple=True,
    metavar="NAME=N",
    help="Change a limit, such as upload_queries=5000; may be repeated.",
)
@option(
    "--unsafe-allow-unauthenticated",
    "unsafe",
    group=SERVICE,
    is_flag=True,
    help="Allow requests without a token from everybody who can reach the service.",
)
def command(
    *,
    host: str,
    port: int,
    store: str,
    data: str,
    roots: tuple[str, ...],
    targets: tuple[str, ...],
    engines: tuple[str, ...],
    models: tuple[str, ...],
    rerankers: tuple[str, ...],
    contexts: tuple[str, ...],
    workers: int,
    executor: str,
    analysts: int | None,
    warm_up: bool,
    hosts: tuple[str, ...],
    shared: bool | None,
    browse: bool,
    limits: tuple[str, ...],
    unsafe: bool,
) -> None:
    """Start the service, API and web page, until interrupted.

    By default only this machine can reach it, without a token. Read Security in the docs before you
    open it to others.

    \b
    karat serve --root ~/projects --open
    karat serve --http-target "docs=http://localhost:9200/find?q={query}&n={k}"
    karat token create ada
    karat serve --host 0.0.0.0 --allowed-host karat.example.org
    """
    from pathlib import Path

    from karat.errors import MissingExtra
    from karat.extensions.service.benchmarks import offered_engines, offered_models

    try:
        from karat.extensions.service.run import serve
        from karat.extensions.service.settings import (
            DEFAULT_ANALYSTS,
            RequestLimits,
            ServiceSettings,
        )
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "karat":
            raise
        raise MissingExtra(str(missing.name), extra="server", purpose="the service") from missing

    def ready(address: str) -> None:
        click.echo(f"Karat is running at {address}", err=True)
        if browse:
            click.launch(address)

    settings = ServiceSettings(
        store=store,
        data=Path(data).resolve(),
        host=host,
        port=port,
        hosts=hosts,
        roots=tuple(Path(root).resolve() for root in roots),
        engines=offered_engines(engines, targets),
        choices=offered_models(models, rerankers, contexts),
        workers=workers,
        executor=executor,
        analysts=analysts or DEFAULT_ANALYSTS,
        warm_up=warm_up,
        unsafe=unsafe,
        shared=shared,
        limits=RequestLimits().changed(limits),
    )
    serve(settings, ready=ready, note=lambda line: click.echo(f"note: {line}", err=True))
