"""Memory of a lexical index of a million documents against bm25s, and under a limit of 1 GB.

Writes a BEIR folder of made-up documents (Zipf's law over words of random letters), then indexes
and searches it by each tool in a process of its own. The peak of the process counts: what reading,
tokenising, indexing and searching take together. The last process repeats Karat's with its
address space limited, and its hits have to be the same.

With --workers, so many processes at once index the corpus by ``bm25``, each apart and then with
the index mapped from files, and their proportional memory (PSS) is added up.

    .venv-bench/bin/python benchmarks/lean_indexes.py                     # a million documents
    .venv-bench/bin/python benchmarks/lean_indexes.py --documents 100000
    .venv-bench/bin/python benchmarks/lean_indexes.py --only karat limited --limit-mb 1024
    .venv-bench/bin/python benchmarks/lean_indexes.py --documents 100000 --workers 1 2 4
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

# Karat may take this many times the memory of the peer.
GOAL = 1.5
K = 10
WORDS = 60
VOCABULARY = 200_000
QUERIES = 50
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


def write(folder: Path, documents: int) -> None:
    """Write a BEIR corpus of *documents* and its queries, the same for the same number."""
    import numpy as np

    random = np.random.default_rng(7)
    lengths = random.integers(2, 9, VOCABULARY)
    letters = random.choice(list(LETTERS), (VOCABULARY, 8), p=_zipf(len(LETTERS), 0.6))
    words = ["".join(row[:n]) for row, n in zip(letters, lengths, strict=True)]
    frequency = _zipf(VOCABULARY, 1.0)
    cumulated = np.cumsum(frequency)
    folder.mkdir(parents=True, exist_ok=True)

    def text(count: int) -> str:
        picked = np.searchsorted(cumulated, random.random(count) * cumulated[-1])
        return " ".join(words[number] for number in picked)

    with (folder / "corpus.jsonl").open("w") as stream:
        for number in range(documents):
            count = int(random.integers(WORDS // 2, WORDS * 3 // 2))
            row = {"_id": f"{number * 7919 % documents:d}", "title": "", "text": text(count)}
            stream.write(json.dumps(row) + "\n")
    with (folder / "queries.jsonl").open("w") as stream:
        for number in range(QUERIES):
            stream.write(json.dumps({"_id": f"q{number}", "text": text(6)}) + "\n")


def _zipf(size: int, power: float) -> "NDArray[np.float64]":
    import numpy as np

    weights: NDArray[np.float64] = 1.0 / np.arange(1, size + 1) ** power
    return weights / weights.sum()


def queries(folder: Path) -> list[str]:
    """Return the texts of the queries."""
    return [row["text"] for row in rows(folder / "queries.jsonl")]


def rows(file: Path) -> Iterator[dict[str, str]]:
    """Yield the objects of a file of JSON lines."""
    with file.open("rb") as stream:
        yield from map(json.loads, stream)


def karat(folder: Path) -> list[object]:
    """Index the corpus by ``bm25`` and return the hits of all queries."""
    from karat.corpus import from_beir
    from karat.engines.spec import build, parse_spec

    engine = build(parse_spec("bm25(cache=false)"))
    engine.index(from_beir(folder))
    print(json.dumps({"indexed_mb": current_mb(), "index_s": time.process_time()}))
    return [[tuple(hit) for hit in engine.search(query, K)] for query in queries(folder)]


def bm25s(folder: Path) -> list[object]:
    """Index the corpus by bm25s and return the hits of all queries."""
    import bm25s as package

    names, texts = [], []
    for row in rows(folder / "corpus.jsonl"):
        names.append(row["_id"])
        texts.append(row["text"])
    tokens = package.tokenize(texts, stopwords="en", show_progress=False)
    del texts
    retriever = package.BM25(method="lucene")
    retriever.index(tokens, show_progress=False)
    del tokens
    print(json.dumps({"indexed_mb": current_mb(), "index_s": time.process_time()}))
    hits: list[object] = []
    for query in queries(folder):
        asked = package.tokenize([query], stopwords="en", return_ids=False, show_progress=False)
        found, scores = retriever.retrieve(asked, k=K, show_progress=False)
        hits.append([(names[n], float(s)) for n, s in zip(found[0], scores[0], strict=True)])
    return hits


def current_mb() -> float:
    """Return what the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def worker(way: str, folder: Path) -> None:
    """Index and search as a worker does, print the figures, and wait to be measured."""
    from karat.corpus import from_beir
    from karat.engines import caches
    from karat.engines.spec import build, parse_spec

    if way == "apart":
        caches.LARGE_DOCUMENTS = caches.LARGE_BYTES = sys.maxsize
    engine = build(parse_spec("bm25"))
    corpus = from_beir(folder)
    read_s, read_mb = time.process_time(), pss_mb("self")
    engine.index(corpus)
    index_s = time.process_time() - read_s
    started = time.process_time()
    found = [[tuple(hit) for hit in engine.search(query, K)] for query in queries(folder)]
    figures = {
        "hits": sha256(json.dumps(found).encode()).hexdigest()[:16],
        "read_mb": read_mb,
        "index_s": index_s,
        "search_ms": (time.process_time() - started) / len(found) * 1e3,
    }
    print(json.dumps(figures), flush=True)
    sys.stdin.readline()


def pss_mb(process: int | str) -> float:
    """Return the memory of a process; pages that several map are divided between them."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1]) * 1024 / 1e6


WAYS = ("apart", "shared")


def compare_workers(folder: Path, counts: list[int]) -> bool:
    """Print the memory and CPU time of workers, apart and shared; return whether hits agree."""
    print("| workers | index | PSS MB, all | each | CPU s of indexing, all | search ms | hits |")
    print("|---|---|---|---|---|---|---|")
    hits = set()
    for count in counts:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as cache:
                found = _workers(way, count, folder, cache)
            hits |= {str(one["hits"]) for one in found}
            total, cpu_s, search_ms = (
                sum(float(one[name]) for one in found)
                for name in ("pss_mb", "index_s", "search_ms")
            )
            print(
                f"| {count} | {way} | {total:.0f} | {total / count:.0f} | {cpu_s:.1f} | "
                f"{search_ms / count:.1f} | {' '.join({str(one['hits']) for one in found})} |",
                flush=True,
            )
    print(f"\nof a worker's memory the corpus and the code take {found[0]['read_mb']:.0f} MB")
    return len(hits) == 1


def _workers(way: str, count: int, folder: Path, cache: str) -> list[dict[str, float | str]]:
    command = [sys.executable, __file__, "--work", way, "--folder", str(folder)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "KARAT_CACHE": cache}
    children = [
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]
    figures = [json.loads(child.stdout.readline()) for child in children if child.stdout]
    for child, one in zip(children, figures, strict=True):
        one["pss_mb"] = pss_mb(child.pid)
    for child in children:
        child.communicate("\n")
    return figures


TOOLS = {"karat": karat, "bm25s": bm25s, "limited": karat}


def work(tool: str, folder: Path, limit_mb: int) -> None:
    """Index and search by one tool, and print its figures: the child process."""
    if tool in WAYS:
        worker(tool, folder)
        return
    if tool == "limited":
        resource.setrlimit(resource.RLIMIT_AS, (limit_mb * 2**20, limit_mb * 2**20))
    found = TOOLS[tool](folder)
    print(
        json.dumps(
            {
                "hits": sha256(json.dumps(found).encode()).hexdigest()[:16],
                "cpu_s": time.process_time(),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
            }
        )
    )


def measured(tool: str, folder: Path, limit_mb: int) -> dict[str, float | str]:
    """Return the figures of one tool, which runs in a process of its own."""
    command = [sys.executable, __file__, "--work", tool, "--folder", str(folder)]
    # Each thread of a linear algebra library reserves address space, and none is used here.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [*command, "--limit-mb", str(limit_mb)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {k: v for line in result.stdout.splitlines() for k, v in json.loads(line).items()}


def main() -> int:
    """Measure all tools; the exit code is 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    parser.add_argument("--limit-mb", type=int, default=1024)
    parser.add_argument("--folder", type=Path, help="where the corpus is, or is written")
    parser.add_argument("--workers", type=int, nargs="+", default=[], help="compare so many")
    parser.add_argument("--work", choices=[*TOOLS, *WAYS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.folder, options.limit_mb)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "queries.jsonl").exists():
            write(folder, options.documents)
        size = (folder / "corpus.jsonl").stat().st_size
        print(f"{options.documents:,} documents, {size / 1e6:.0f} MB of JSON lines\n")
        if options.workers:
            return 0 if compare_workers(folder, options.workers) else 1
        print("| tool | CPU s | peak MB | after indexing MB | bytes a document | hits |")
        print("|---|---|---|---|---|---|")
        figures = {}
        for tool in options.only:
            found = figures[tool] = measured(tool, folder, options.limit_mb)
            each = float(found["peak_mb"]) * 1e6 / options.documents
            print(
                f"| {tool} | {found['cpu_s']:.0f} | {found['peak_mb']:.0f} | "
                f"{found['indexed_mb']:.0f} | {each:.0f} | {found['hits']} |",
                flush=True,
            )
    good = True
    if {"karat", "bm25s"} <= figures.keys():
        ratio = float(figures["karat"]["peak_mb"]) / float(figures["bm25s"]["peak_mb"])
        good &= ratio <= GOAL
        print(f"\nkarat / bm25s: {ratio:.2f} of the memory, goal at most {GOAL}")
    if {"karat", "limited"} <= figures.keys():
        same = figures["karat"]["hits"] == figures["limited"]["hits"]
        good &= same
        print(f"hits under the limit: {'the same' if same else 'others'}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
