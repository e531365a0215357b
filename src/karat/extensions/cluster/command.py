"""karat executors: the slots of an executor, their versions, and what would be rejected."""

import json
from typing import TYPE_CHECKING

import click

from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.extensions.cluster.slots import SlotListing


UNUSABLE = 3


@click.command("executors")
@click.argument("url", default="local", envvar="KARAT_EXECUTOR", metavar="[URL]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, url: str, as_json: bool) -> None:
    """Show the slots of an executor: where workers run, their versions, and rejected ones.

    URL is that of --executor; by default that of KARAT_EXECUTOR, or local. The exit code is 3 if
    no slot can be used.

    \b
    karat executors dask://127.0.0.1:8786
    """
    from karat.extensions.cluster.slots import list_slots, local_fingerprint, open_executor

    executor = open_executor(url)
    if executor.warning:
        click.echo(f"warning: {executor.warning}", err=True)
    slots = list_slots(executor)
    if as_json:
        here = local_fingerprint()._asdict()
        listing = {"executor": url, "here": here, "slots": [_listed(one) for one in slots]}
        click.echo(json.dumps(listing, indent=2))
    else:
        for one in slots:
            click.echo(printable(_line(one)))
        usable = sum(not one.rejected for one in slots)
        click.echo(f"{counted(len(slots), 'slot')}, {usable} usable")
    if all(one.rejected for one in slots):
        ctx.exit(UNUSABLE)


def _line(one: "SlotListing") -> str:
    slot = one.slot
    parts = [f"{slot.id}  {slot.machine}"]
    if slot.fingerprint:
        parts.append(f"karat {slot.fingerprint.karat}, {slot.fingerprint.kernels}")
    if one.rejected:
        parts.append(f"rejected: {one.rejected}")
    elif one.differs:
        parts.append(f"differs: {one.differs}")
    return "  ".join(parts)


def _listed(one: "SlotListing") -> dict[str, object]:
    slot = one.slot
    return {
        "id": slot.id,
        "machine": slot.machine,
        "fingerprint": slot.fingerprint._asdict() if slot.fingerprint else None,
        "rejected": one.rejected or None,
        "differs": one.differs or None,
    }
