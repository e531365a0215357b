"""Engines on a cluster of three Qdrant nodes, one of which is killed while queries run.

    python benchmarks/vector_cluster.py [--documents 2000] [--queries 300]

Starts three nodes on the loopback interface (the binary of ``make test``, or the first ``qdrant``
on the PATH), indexes a synthetic corpus with two replicas, kills one node in the middle of the
queries, and compares all hits with those of an index in this process.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path
from socket import socket

# This folder's statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from karat import from_texts  # noqa: E402
from karat.engines import build  # noqa: E402
from karat.errors import KaratError  # noqa: E402

WORDS = (  # noqa: SIM905 - easier to read
    "account address archive balance batch branch budget cache channel client commit config copy "
    "cursor daemon delete deploy digest driver editor engine event export filter folder format "
    "handler header import index invoice journal kernel label ledger limit login logger market "
    "merge message metric module network order packet parse partner payment pipeline plugin policy "
    "profile query queue rating record refund region render report request retry router schedule "
    "schema script search session shard signal socket source stream table target tenant token "
    "trace update upload vector version wallet webhook worker zone"
).split()


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Node:
    """A Qdrant node in a folder of its own; the first one starts the cluster."""

    def __init__(self, folder: Path, binary: str, first: "Node | None") -> None:
        """Start the node, and wait until it answers."""
        self.port, self.peer_port = free_port(), free_port()
        self.peer = f"http://127.0.0.1:{self.peer_port}"
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir()
        settings = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(self.port),
            "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
            "QDRANT__CLUSTER__ENABLED": "true",
            "QDRANT__CLUSTER__P2P__PORT": str(self.peer_port),
            "QDRANT__TELEMETRY_DISABLED": "true",
        }
        join = ["--bootstrap", first.peer] if first else []
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [binary, "--uri", self.peer, *join],
                cwd=folder,
                env={**os.environ, **settings},
                stdout=log,
                stderr=log,
            )
        self.wait()

    def wait(self) -> None:
        """Wait until the node is ready."""
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=1):  # noqa: S310
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"the node at {self.url} is not ready after a minute")


def corpus(count: int, rng: random.Random) -> dict[str, str]:
    """Return documents of random words."""
    return {
        f"notes/{number:06}.md": " ".join(rng.choices(WORDS, k=40)) + "\n"
        for number in range(count)
    }


def main() -> None:
    """Print failed queries and differing hits, before and after the death of a node."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--model", default="static")
    arguments = parser.parse_args()
    beside = shutil.which("qdrant", path=sysconfig.get_path("scripts"))
    binary = beside or shutil.which("qdrant")
    if not binary:
        raise SystemExit("qdrant: not found beside Python nor on the PATH; make test installs it")
    rng = random.Random(7)
    texts = from_texts(corpus(arguments.documents, rng))
    queries = [" ".join(rng.choices(WORDS, k=4)) for _ in range(arguments.queries)]
    local = build({"engine": "dense", "model": arguments.model, "cache": False})
    local.index(texts)
    expected = [[hit.path for hit in local.search(query, 10)] for query in queries]
    nodes: list[Node] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number in range(3):
                first = nodes[0] if nodes else None
                nodes.append(Node(Path(folder) / str(number), binary, first))
            urls = " ".join(node.url for node in nodes)
            store = f"qdrant(url={urls}, shards=3, replicas=2)"
            engine = build(
                {"engine": "dense", "model": arguments.model, "cache": False, "store": store}
            )
            started = time.perf_counter()
            engine.index(texts)
            print(f"{len(texts):,} documents uploaded in {time.perf_counter() - started:.1f} s")
            failed = different = 0
            slowest = {"before": 0.0, "after": 0.0}
            for number, (query, hits) in enumerate(zip(queries, expected, strict=True)):
                if number == len(queries) // 3:
                    # The node that requests go to, which is the harder case.
                    nodes[0].process.kill()
                    nodes[0].process.wait()
                    print(f"node 1 killed before query {number + 1}")
                when = "after" if number >= len(queries) // 3 else "before"
                started = time.perf_counter()
                try:
                    found = [hit.path for hit in engine.search(query, 10)]
                except KaratError as error:
                    failed += 1
                    print(f"query {number + 1} failed: {error}")
                    continue
                slowest[when] = max(slowest[when], time.perf_counter() - started)
                different += found != hits
            print(f"{len(queries)} queries: {failed} failed, {different} with other hits")
            print(
                f"slowest query: {slowest['before']:.2f} s before, {slowest['after']:.2f} s after"
            )
        finally:
            for node in nodes:
                node.process.kill()
                node.process.wait()


if __name__ == "__main__":
    main()
