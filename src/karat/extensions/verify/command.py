"""karat verify: repeat the runs of a report and compare."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import WholeNumber, store_option
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.experiments.run_records import RunRecord
    from karat.extensions.verify.verify import Verification
    from karat.model import Dataset


DIFFERS = 1


@click.command("verify")
@click.argument("report", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--gold-set",
    type=click.Path(exists=True),
    metavar="FILE",
    help="Gold set, if it is not in the store.",
)
@click.option(
    "--place",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Folder of the repository or corpus, if it has moved.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Also run engines that are not built in: a report may name any program, module, model"
    " or host.",
)
@click.option(
    "--workers",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of parallel processes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
@click.pass_context
def command(
    ctx: click.Context,
    report: str,
    gold_set: str | None,
    place: str | None,
    *,
    trust: bool,
    workers: int,
    store: str,
    as_json: bool,
) -> None:
    """Repeat the runs of REPORT (HTML or JSON) and compare the hits of every query.

    A report contains engines, seeds, and digests of all inputs. The exit code is 0 if all hits
    are identical, and 1 if something differs, which is listed. Latency is not compared.

    \b
    karat verify report.html
    karat verify report.json --gold-set gold.json --place ../project
    """
    from karat.cli.output.progress import run_progress
    from karat.extensions.verify.records import read_records
    from karat.extensions.verify.verify import verify

    records = read_records(report)
    gold = _gold(records, gold_set, store)
    with run_progress({record.name: len(gold) for record in records}) as listen:
        verification = verify(
            records, gold, folder=place, trusted=trust, workers=workers, listen=listen
        )
    _print_json(verification) if as_json else _print_text(verification)
    ctx.exit(0 if verification.identical else DIFFERS)


def _gold(records: "Sequence[RunRecord]", path: str | None, store: str) -> "Dataset":
    if path is not None:
        from karat.formats import read_dataset

        return read_dataset(path)
    from karat.experiments.store import open_store

    with open_store(store) as opened:
        return opened.dataset(records[0].gold)


def _print_text(verification: "Verification") -> None:
    what = f"{counted(verification.runs, 'run')}, {counted(verification.answers, 'answer')}"
    click.echo(f"identical: {what}" if verification.identical else f"different: {what}")
    for line in verification.differences:
        click.echo(printable(f"  {line}"))
    for line in verification.notes:
        click.echo(printable(f"note: {line}"), err=True)


def _print_json(verification: "Verification") -> None:
    from karat.formats.jsontext import dumps

    value = {
        "identical": verification.identical,
        "runs": verification.runs,
        "answers": verification.answers,
        "differences": list(verification.differences),
        "notes": list(verification.notes),
    }
    click.echo(dumps(value))
