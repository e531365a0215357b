"""Start a real `karat serve` over Karat's own source, for scripts that measure it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from karat.client import Client

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("chunk", "corpus", "query", "engine", "path", "line", "score", "rank", "metric", "tree")


@contextmanager
def service(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the address and the process of a service that stores everything in *folder*."""
    command = [sys.executable, "-m", "karat", "serve", "--port", "0", "--root", str(ROOT)]
    # Its own cache, so that it does not wait for other users of Karat on this machine.
    environment = {**os.environ, "KARAT_CACHE": str(folder / "cache")}
    log = folder / "log"
    with (
        log.open("w", encoding="utf-8") as stream,
        subprocess.Popen(command, cwd=folder, env=environment, stderr=stream) as process,
    ):
        try:
            while not (found := re.search(r"running at (\S+)", log.read_text(encoding="utf-8"))):
                sleep(0.1)
            yield found[1], process.pid
        finally:
            process.terminate()


def gold(queries: int, judgments: int) -> str:
    """Return a dataset of words of the trade, whose documents are files of the source."""
    files = [path.relative_to(ROOT / "src") for path in sorted((ROOT / "src").rglob("*.py"))]
    rows = [
        {
            "query_key": f"q{number}",
            "query_text": f"{WORDS[number % 10]} of a {WORDS[number // 10 % 10]} {number}",
            "relevant_docs": [
                {"doc_ref": {"path": str(files[(number + each) % len(files)])}}
                for each in range(judgments)
            ],
        }
        for number in range(queries)
    ]
    return json.dumps({"queries": rows})


def prepared(
    client: Client,
    dataset: Path,
    matrix: Mapping[str, object],
    *,
    index: Mapping[str, object] | None = None,
    timing: str = "sample",
) -> str:
    """Return a benchmark of *matrix* over the source that is ready to be started."""
    source = {"kind": "git", "path": str(ROOT / "src"), "revision": "HEAD"}
    made = client.create_collection("Source", source, index=index or {"model": "static"})
    for _ in client.operation_events(str(made.operation_uuid)):
        pass
    uploaded = client.upload_dataset("Words", dataset)
    mapping = client.map(uploaded.id, made.id)
    client.resolve(uploaded.id, mapping.id)
    return client.create_benchmark("Load", mapping.id, matrix, timing=timing).id
