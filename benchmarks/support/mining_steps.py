"""The steps that benchmarks/mining.py measures, each in its own process.

    python benchmarks/support/mining_steps.py STEP REPOSITORY NUMBER

prints one JSON object. CPU seconds are user and system time, including finished child processes. A
step imports what it needs, because its process counts from the start.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

Figures = dict[str, Any]

YEARS = 2
REBUILT = 5
K = 10


def cpu_s() -> float:
    """Return the CPU seconds of this process and of all its children that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


@contextmanager
def timed() -> Iterator[SimpleNamespace]:
    """Give an object that has the CPU seconds of the block when it ends."""
    taken, start = SimpleNamespace(cpu_s=0.0), cpu_s()
    yield taken
    taken.cpu_s = cpu_s() - start


def peak_mb() -> float:
    """Return the largest memory that this process has held, without its children."""
    from pathlib import Path

    # getrusage reports at least the memory of the parent when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def scan(repository: str, _number: int) -> Figures:
    """Read all commits and discard them."""
    from karat.extensions.mining.scan import scan as commits

    before = peak_mb()
    with timed() as taken:
        count = sum(1 for _ in commits(repository))
    return {"cpu_s": taken.cpu_s, "commits": count, "start_mb": before, "peak_mb": peak_mb()}


def lines(repository: str, number: int) -> Figures:
    """Mine *number* cases of files and lines; nothing is parsed."""
    from karat.extensions.mining.commits import UnreadableCommits
    from karat.extensions.mining.filters import Filters, select
    from karat.extensions.mining.sampling import Sampling, sample_cases
    from karat.extensions.mining.scan import scan as commits

    unreadable, filters = UnreadableCommits(), Filters()
    chosen = select(commits(repository, unreadable=unreadable), filters)
    wanted = Sampling(number, 0, lambda _: True, syntax=False)
    drawn = sample_cases(repository, chosen, filters, wanted, unreadable=unreadable)
    return {"cases": len(drawn.cases)}


def symbols(repository: str, number: int) -> Figures:
    """Mine *number* cases of files, lines and symbols, as ``karat generate`` does."""
    from karat.extensions.mining.mine import mine
    from karat.extensions.mining.recipe import MiningRecipe
    from karat.extensions.mining.targets import Grain

    mined = mine(repository, MiningRecipe(limit=number, grain=Grain.SYMBOL))
    return {"cases": len(mined.queries)}


def filters(repository: str, _number: int) -> Figures:
    """Choose among all commits, which are read before."""
    from karat.extensions.mining.commits import UnreadableCommits
    from karat.extensions.mining.filters import select
    from karat.extensions.mining.scan import scan as commits

    read = list(commits(repository, unreadable=UnreadableCommits()))
    with timed() as taken:
        kept = len(select(read).candidates)
    return {"cpu_s": taken.cpu_s, "kept": kept}


def pydriller(repository: str, number: int) -> Figures:
    """Read the changed lines of every commit, or of *number* spread evenly where there are more.

    The preparation (a list of the commits and a clone) is reported as ``prepared_s``.
    """
    from tempfile import TemporaryDirectory

    from pydriller import Git, Repository

    with TemporaryDirectory() as folder:
        with timed() as prepared:
            listed = ["git", "-C", repository, "rev-list", "--no-merges", "HEAD"]
            history = (
                subprocess.run(listed, check=True, capture_output=True).stdout.decode().split()
            )
            # GitPython asks the configuration whether a repository is bare; not every one says so.
            clone = ["git", "clone", "--quiet", "--bare", "--shared", repository, folder]
            subprocess.run(clone, check=True)
        if len(history) > number:
            found = map(Git(folder).get_commit, history[:: -(-len(history) // number)])
        else:
            found = Repository(folder, only_no_merge=True).traverse_commits()
        done = 0
        with timed() as taken:
            for commit in found:
                done += 1
                _ = commit.msg, commit.author.email, commit.committer_date
                for file in commit.modified_files:
                    _ = file.old_path, file.new_path, file.change_type, file.diff_parsed
    return {
        "cpu_s": taken.cpu_s,
        "prepared_s": prepared.cpu_s,
        "commits": done,
        "all": len(history),
    }


def chunks(repository: str, number: int) -> Figures:
    """Count the distinct chunks of code in parent snapshots, for two chunkers."""
    from karat.corpus import GitRepository, create_chunker
    from karat.corpus.chunkers.base import chunk_id
    from karat.corpus.chunkers.grammars import GRAMMARS

    cases = recent_cases(repository, number)
    chunkers = {name: create_chunker(name) for name in ("definitions", "syntax")}
    of_blob: dict[tuple[str, str], dict[str, set[str]]] = {}
    entries = 0
    with GitRepository(repository) as opened:
        for _, corpus in opened.snapshots(cases):
            code = [document for document in corpus if document.language in GRAMMARS]
            new = {(d.blob, d.language): d for d in code if (d.blob, d.language) not in of_blob}
            for key, text in zip(new, corpus.reader(list(new.values())), strict=True):
                of_blob[key] = {
                    name: {chunk_id(piece.text, "") for piece in chunker.split(text, key[1]).pieces}
                    for name, chunker in chunkers.items()
                }
            entries += len(code)
    last = {(document.blob, document.language): None for document in code}

    def distinct(name: str, keys: Iterable[tuple[str, str]]) -> int:
        return len(set[str]().union(*(of_blob[key][name] for key in keys)))

    counts = {name: [distinct(name, of_blob), distinct(name, last)] for name in chunkers}
    blobs = [len(of_blob), len(last)]
    return {"snapshots": len(cases), "entries": entries, "blobs": blobs, **counts}


def search(repository: str, number: int) -> Figures:
    """Search each parent snapshot for its case: one index and its views, or an index for each."""
    from karat.corpus import GitRepository
    from karat.engines.builtin import bm25

    cases = recent_cases(repository, number)
    engine, alike = bm25(cache=False), True
    shared = rebuilt = 0.0
    first_rows = 0
    with GitRepository(repository) as opened:
        for place, (parent, corpus) in enumerate(opened.snapshots(cases)):
            with timed() as taken:
                (engine.show if place else engine.index)(corpus)
                found = engine.search(cases[parent], K)
            shared += taken.cpu_s
            first_rows = first_rows or engine.work()["rows"]
            if place % -(-len(cases) // REBUILT) == 0:
                with timed() as taken:
                    fresh = bm25(cache=False)
                    fresh.index(corpus)
                    again = fresh.search(cases[parent], K)
                rebuilt += taken.cpu_s
                alike = alike and again == found
    samples = len(range(0, len(cases), -(-len(cases) // REBUILT)))
    return {
        "snapshots": len(cases),
        "shared_s": shared,
        "rebuilt_s": rebuilt / samples,
        "samples": samples,
        "alike": alike,
        "rows": [engine.work()["rows"], first_rows],
    }


def recent_cases(repository: str, number: int) -> dict[str, str]:
    """Return the parents of at most *number* cases of the last years, each with its question."""
    from karat.corpus.git_objects import git
    from karat.extensions.mining.filters import select
    from karat.extensions.mining.sampling import Sampler
    from karat.extensions.mining.scan import scan as commits

    head = int(git(repository, "show", "-s", "--format=%ct", "HEAD"))
    since = datetime.fromtimestamp(head - YEARS * 365.25 * 86400, UTC).isoformat()
    drawn = Sampler(select(commits(repository, since=since)).candidates, 0).take(number)
    return {found.commit.parents[0]: found.query for found in drawn}


STEPS: dict[str, Callable[[str, int], Figures]] = {
    step.__name__: step for step in (scan, filters, lines, symbols, pydriller, chunks, search)
}


def main(arguments: Iterable[str]) -> None:
    """Run one step and print its figures."""
    step, repository, number = arguments
    print(json.dumps(STEPS[step](repository, int(number))))


if __name__ == "__main__":
    main(sys.argv[1:])
