"""Run the service as a process: check, listen, serve, and stop gracefully."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from socket import AF_INET, AF_INET6, create_server, socket
from uuid import uuid4

import uvicorn

from karat.errors import InputError
from karat.experiments.store import SqlStore, Store, open_store
from karat.extensions.service.api.app import create_app
from karat.extensions.service.jobs.worker import WorkerPool
from karat.extensions.service.logs import start_log, start_tracing
from karat.extensions.service.settings import ServiceSettings, bracketed
from karat.extensions.service.store import ServiceStore
from karat.system.files import write_text

logger = logging.getLogger("karat.service")

# The file in the folder of uploads that says which store it belongs to.
DATA_ID = "data.id"

# How long requests that are being answered may take when the service stops.
GRACE_S = 10


def serve(
    settings: ServiceSettings, *, ready: Callable[[str], None], note: Callable[[str], None]
) -> None:
    """Serve until stopped; *ready* is called with the address when requests are accepted.

    *note* is called with each sentence that the operator should know.

    InputError is raised for a service that other machines can reach while no valid token exists,
    unless it was declared unsafe.
    """
    notes = check(settings)
    listening = _bound(settings.host, settings.port)
    start_log()
    start_tracing()
    for line in notes:
        note(line)
        logger.warning(line)
    config = uvicorn.Config(
        create_app(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        # A header does not prove the address of a client.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    workers = WorkerPool(settings)
    workers.start()
    try:
        Server(config, ready).run([listening])
    finally:
        workers.stop()
        listening.close()


def check(settings: ServiceSettings) -> list[str]:
    """Raise InputError for a service that would be open to other machines by mistake.

    Its store and its folder are created if missing, readable by their owner only. InputError is
    also raised where other services on its store have another folder for uploads. Return what the
    operator should know.
    """
    with open_store(settings.store, new=True) as opened:
        notes = _migration(opened)
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{settings.data}: cannot create the folder for uploads: {error}"
        ) from error
    with ServiceStore(settings.store) as store:
        now = datetime.now(UTC)
        if settings.needs_tokens and not any(token.valid(now) for token in store.tokens.all()):
            raise InputError(
                f"{settings.host} can be reached by other machines, and no valid token exists; "
                "create one with karat token create, or allow all clients with "
                "--unsafe-allow-unauthenticated"
            )
        _check_data(settings, store)
        sharing = store.settings.sharing(settings.shared)
    if sharing.is_kept:
        notes.append(
            f"this store has things of {sharing.owners} owners, who see only their own; --shared "
            "lets all tokens see everything, --private keeps it so without this line"
        )
    return notes


def _migration(store: Store) -> list[str]:
    """Return what the operator should know after *store* was opened."""
    migrated = store.migrated if isinstance(store, SqlStore) else None
    if migrated is None:
        return []
    before, after = migrated
    return [
        f"the store was migrated from version {before} to {after} of its tables; an older Karat "
        "cannot open it any more"
    ]


def _check_data(settings: ServiceSettings, store: ServiceStore) -> None:
    """Raise InputError where the uploads of *store* are in another folder."""
    file = settings.data / DATA_ID
    known = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    offered = known or str(uuid4())
    if store.settings.data(offered) != offered:
        raise InputError(
            f"{settings.data} is not the folder of uploads of this store; start all services of "
            f"one store with the same --data, on a disk that they share (a folder that was moved "
            f"keeps its file {DATA_ID})"
        )
    if not known:
        write_text(file, f"{offered}\n")


def _bound(host: str, port: int) -> socket:
    """Return a listening socket; InputError instead of the exit code 1 of uvicorn."""
    family = AF_INET6 if ":" in host else AF_INET
    try:
        return create_server((host.strip("[]"), port), family=family)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on {host}, port {port}: {error}") from error


class Server(uvicorn.Server):
    """Calls back with its address when it is ready; the port is chosen by then."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._ready(f"http://{bracketed(host)}:{port}")

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop; close event streams first, because they would never end by themselves."""
        if self.started:
            self.config.app.state.service.event_bus.close()  # type: ignore[union-attr]
        await super().shutdown(sockets)
