"""karat metrics: what each number means."""

import click

from karat.cli.options.shared import one_style

__all__ = ["command"]


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Markdown, as docs/metrics.md.")
def command(names: tuple[str, ...], *, as_json: bool, as_markdown: bool) -> None:
    """Explain every metric, or those NAMEd: definition, formula, range and parameters.

    \b
    karat metrics
    karat metrics ndcg mrr
    """
    from karat.app.metrics import describe, page

    style = one_style(json=as_json, markdown=as_markdown)
    found = describe(names)
    if style == "json":
        import json

        from karat.report.json import plain

        click.echo(json.dumps([plain(entry) for entry in found], indent=2, ensure_ascii=False))
    elif style == "markdown":
        click.echo(page(found), nl=False)
    else:
        click.echo("\n\n".join(str(entry) for entry in found))
