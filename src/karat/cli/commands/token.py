"""karat token: who may ask a service."""

from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import store_option

if TYPE_CHECKING:
    from karat.service.store.records import Token

__all__ = ["command"]


@click.group("token", cls=CommandGroup)
def command() -> None:
    """Make, list and end the tokens that open a service.

    \b
    karat token create ada --scope run --days 30
    karat token list
    karat token revoke 2f0c8c1e-8f0e-4f6c-9d6a-3a2c5d0b7e11
    """


@command.command("create")
@click.argument("owner")
@click.option(
    "--scope",
    type=click.Choice(["read", "run", "admin"]),
    default="run",
    show_default=True,
    help="read looks, run also changes and starts work, admin also sees what others have.",
)
@click.option("--name", default="", help="What it is for, such as 'nightly job'.")
@click.option("--days", default=90, show_default=True, help="How long it is valid.")
@click.option("--no-expiry", is_flag=True, help="It is valid until it is revoked.")
@store_option
def create(owner: str, *, scope: str, name: str, days: int, no_expiry: bool, store: str) -> None:
    """Make a token of OWNER and show its secret, this once.

    \b
    karat token create ada
    karat token create nightly --scope read --days 365
    """
    from datetime import UTC, datetime

    from karat.service.store import ServiceStore
    from karat.service.tokens import create_token

    with ServiceStore(store) as opened:
        token, secret = create_token(
            opened.tokens,
            owner,
            scope=scope,
            name=name,
            days=None if no_expiry else days,
            now=datetime.now(UTC),
        )
    click.echo(secret)
    click.echo(_line(token), err=True)
    click.echo("This secret is shown only now; nobody can tell it again.", err=True)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
@store_option
def list_tokens(*, as_json: bool, store: str) -> None:
    """List all tokens, the newest first; their secrets are not known.

    \b
    karat token list
    """
    from karat.service.store import ServiceStore

    with ServiceStore(store) as opened:
        found = opened.tokens.all()
    if as_json:
        import json

        click.echo(json.dumps([_record(token) for token in found], indent=2))
        return
    for token in found:
        click.echo(_line(token))
    if not found:
        click.echo("no token yet; karat token create OWNER makes one", err=True)


@command.command("revoke")
@click.argument("token")
@store_option
def revoke(token: str, store: str) -> None:
    """End TOKEN, which is named by its id; requests that carry it are refused from now on.

    \b
    karat token revoke k3nq7d
    """
    from karat.service.store import ServiceStore

    with ServiceStore(store) as opened:
        opened.tokens.revoke(token)
    click.echo(f"{token} opens nothing any more", err=True)


def _line(token: "Token") -> str:
    from karat.report.display import printable

    if token.revoked:
        end = f"revoked {token.revoked:%Y-%m-%d}"
    else:
        end = f"until {token.expires:%Y-%m-%d}" if token.expires else "without end"
    words = (token.id, token.owner, token.scopes[-1], end, token.name)
    return printable("  ".join(word for word in words if word))


def _record(token: "Token") -> dict[str, object]:
    return {
        "id": token.id,
        "owner": token.owner,
        "name": token.name,
        "scopes": list(token.scopes),
        "created": token.created.isoformat(),
        "expires": token.expires and token.expires.isoformat(),
        "revoked": token.revoked and token.revoked.isoformat(),
    }
