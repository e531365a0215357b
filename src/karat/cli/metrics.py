"""karat metrics: what each number means."""

import click

__all__ = ["command"]


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "style", flag_value="json", help="JSON.")
@click.option("--markdown", "style", flag_value="markdown", help="Markdown, as docs/metrics.md.")
def command(names: tuple[str, ...], *, style: str | None) -> None:
    """Explain every metric, or those NAMEd: definition, formula, range and parameters.

    \b
    karat metrics
    karat metrics ndcg mrr
    """
    from karat.app.metrics import describe, page

    found = describe(names)
    if style == "json":
        import json

        from karat.report.json import plain

        click.echo(json.dumps([plain(entry) for entry in found], indent=2, ensure_ascii=False))
    elif style == "markdown":
        click.echo(page(found), nl=False)
    else:
        click.echo("\n\n".join(str(entry) for entry in found))
