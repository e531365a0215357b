"""A real Qdrant server, started once."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from socket import socket
from threading import Thread
from typing import NoReturn

import pytest


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
