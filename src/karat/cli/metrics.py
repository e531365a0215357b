"""karat metrics: what each number means."""

import click

__all__ = ["command"]


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """Explain every metric, or those NAMEd: definition, formula, range and parameters.

    \b
    karat metrics
    karat metrics ndcg mrr
    """
    from karat.app.metrics import describe
    from karat.report.json import plain

    found = describe(names)
    if as_json:
        import json

        click.echo(json.dumps([plain(entry) for entry in found], indent=2, ensure_ascii=False))
        return
    for entry in found:
        click.echo(f"{entry.usage}\n    {entry.definition}\n    = {entry.formula}")
        click.echo(f"    range {entry.low:g} to {entry.high:g}" + _params(entry.params))
        if entry.aliases:
            click.echo(f"    also written {', '.join(entry.aliases)}")
        click.echo()


def _params(params: dict[str, object]) -> str:
    if not params:
        return ""
    return "; parameters " + ", ".join(f"{name}={value}" for name, value in params.items())
