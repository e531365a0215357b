"""karat token: access tokens of a service."""

from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import store_option

if TYPE_CHECKING:
    from karat.extensions.service.store.records import Token


@click.group("token", cls=CommandGroup)
def command() -> None:
    """Create, list and revoke the access tokens of a service.

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
    help="read: view only; run: also change data and start work; admin: the same, with serve "
    "--private for the data of all owners.",
)
@click.option("--name", default="", help="Purpose, such as 'nightly job'.")
@click.option("--days", default=90, show_default=True, help="Days until it expires.")
@click.option("--no-expiry", is_flag=True, help="Never expires.")
@store_option
def create(owner: str, *, scope: str, name: str, days: int, no_expiry: bool, store: str) -> None:
    """Create a token for OWNER and print its secret, once.

    \b
    karat token create ada
    karat token create nightly --scope read --days 365
    """
    from datetime import UTC, datetime

    from karat.extensions.service.store import ServiceStore
    from karat.extensions.service.store.service import create_token

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
    click.echo("Store this secret now; it cannot be shown again.", err=True)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def list_tokens(*, as_json: bool, store: str) -> None:
    """List all tokens, newest first, without their secrets.

    \b
    karat token list
    """
    from karat.extensions.service.store import ServiceStore

    with ServiceStore(store) as opened:
        tokens = opened.tokens.all()
    if as_json:
        import json

        click.echo(json.dumps([_record(token) for token in tokens], indent=2))
        return
    for token in tokens:
        click.echo(_line(token))
    if not tokens:
        click.echo("no tokens yet; create one with: karat token create OWNER", err=True)


@command.command("revoke")
@click.argument("token")
@store_option
def revoke(token: str, store: str) -> None:
    """Revoke TOKEN, given by its id; requests with it are rejected from now on.

    \b
    karat token revoke k3nq7d
    """
    from karat.extensions.service.store import ServiceStore

    with ServiceStore(store) as opened:
        opened.tokens.revoke(token)
    click.echo(f"revoked {token}", err=True)


def _line(token: "Token") -> str:
    from karat.report.display import printable

    if token.revoked:
        end = f"revoked {token.revoked:%Y-%m-%d}"
    else:
        end = f"until {token.expires:%Y-%m-%d}" if token.expires else "no expiry"
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
