"""karat metrics: list and explain the measures."""

import click

from karat.cli.options.shared import one_style

WIDTH = 100
# Widest column of names.
COLUMN = 24


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="List all measures.")
@click.option("--json", "as_json", is_flag=True, help="Print all measures as JSON.")
@click.option(
    "--markdown", "as_markdown", is_flag=True, help="Print all as Markdown, as docs/metrics.md."
)
def command(names: tuple[str, ...], *, everything: bool, as_json: bool, as_markdown: bool) -> None:
    """List the common measures by purpose, or explain each NAME.

    An explanation has the definition, the formula, the range and the parameters. Any other word,
    such as diversity, searches the descriptions of the measures.

    \b
    karat metrics
    karat metrics --all
    karat metrics ndcg mrr@10
    karat metrics diversity
    """
    from karat.app.metrics import describe, page

    style = one_style(json=as_json, markdown=as_markdown)
    if style == "json":
        import json

        from karat.report.json import plain

        entries = [plain(entry) for entry in describe(names)]
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
    elif style == "markdown":
        click.echo(page(describe(names)), nl=False)
    elif names:
        click.echo("\n\n".join(str(entry) for entry in describe(names)))
    else:
        _list(everything=everything)


def _list(*, everything: bool) -> None:
    from karat.app.metrics import METRICS, group_measures
    from karat.cli.output.show import terminal_width

    formatter = click.HelpFormatter(width=min(WIDTH, terminal_width() or WIDTH))
    groups = group_measures(everything=everything)
    for group in groups:
        with formatter.section(group.purpose):
            formatter.write_dl(group.measures, col_max=COLUMN)
    click.echo(formatter.getvalue().lstrip("\n"))
    hint = "Explain one: karat metrics ndcg."
    click.echo(
        hint if everything else f"{hint} List all {len(list(METRICS))}: karat metrics --all."
    )
