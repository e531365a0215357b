"""Count the files and names of the source, and trace how many functions a command walks through.

    python benchmarks/census.py                # this checkout
    python benchmarks/census.py --walks        # and its walks; --names lists their functions
    PYTHONPATH=../old/src python benchmarks/census.py --source ../old/src

A walk is one command, or a benchmark of the service from its request to its page, in an interpreter
of its own: the distinct functions of Karat that it calls, in all threads but without worker
processes, their files, and the deepest stack. Code objects are functions and what Python runs like
one: lambdas, comprehensions (before Python 3.12), generator expressions, and the bodies of all
classes and modules that are imported.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# The folder of this script has a module statistics, which must not replace Python's own.
sys.path.pop(0)
ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
WALKS = {
    "score": "score {demo}/gold.json {demo}/bm25.run --json",
    "baseline update": "baseline update {demo}/gold.json {demo}/bm25.run -o {work}/baseline.json",
    "gate": "gate {demo}/gold.json {demo}/bm25.run --baseline {work}/baseline.json --json",
    "generate": "generate --repo {root} --limit 20 -o {work}/mined.json --json",
    "compare --agents": "compare {work}/mined.json --agents keyword bm25 --timed none "
    "--workers 1 --json --store {work}/store.db",
}
PAGE = "POST to page"
PARTICIPLE = re.compile(r"_?[A-Z][a-z]*(ed|en)|_?(Asked|Done|Found|Held|Kept|Lost|Made|Said|Told)")


def main() -> None:
    """Print the census."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder that has karat/")
    parser.add_argument("--walks", action="store_true", help="trace commands as well")
    parser.add_argument("--names", action="store_true", help="list the functions of each walk")
    parser.add_argument("--walk", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.walk:
        walk(options.walk[0], Path(options.walk[1]), options.source / "karat", names=options.names)
        return
    count(options.source / "karat")
    if options.walks:
        arguments = [sys.executable, __file__, "--source", str(options.source)]
        arguments += ["--names"] if options.names else []
        with tempfile.TemporaryDirectory() as work:
            for name in (*WALKS, PAGE):
                subprocess.run([*arguments, "--walk", name, work], check=True)


def count(source: Path) -> None:
    """Print files, lines, classes, class names that occur twice, and bare participles."""
    modules = sorted(source.rglob("*.py"))
    lines = sorted(len(module.read_text(encoding="utf-8").splitlines()) for module in modules)
    names = [
        node.name
        for module in modules
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    public = Counter(name for name in names if not name.startswith("_"))
    print(f"files {len(modules)}, under 60 lines {sum(size < 60 for size in lines)}")
    print(f"lines {sum(lines)}, median {lines[len(lines) // 2]}")
    print(f"classes {len(names)}, names of several {sum(n > 1 for n in public.values())}")
    print(f"bare participles {sum(bool(PARTICIPLE.fullmatch(n)) for n in names)}")


def walk(name: str, work: Path, package: Path, *, names: bool) -> None:
    """Take one walk in this process, and print which of Karat's code it went through."""
    folder = f"{package.resolve()}/"
    walked: dict[tuple[str, int, str], CodeType] = {}
    depths: dict[int, int] = {}
    calls = deepest = 0

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls, deepest
        code = frame.f_code
        if not code.co_filename.startswith(folder):
            return
        thread = threading.get_ident()
        if event == "call":
            calls += 1
            depths[thread] = depths.get(thread, 0) + 1
            deepest = max(deepest, depths[thread])
            walked[code.co_filename, code.co_firstlineno, code.co_qualname] = code
        elif event == "return":
            depths[thread] = depths.get(thread, 0) - 1

    def begin() -> None:
        threading.setprofile(profile)
        sys.setprofile(profile)

    take = answer_a_benchmark if name == PAGE else run_command
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            take(name, work, begin)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    functions = {
        place: code
        for place, code in walked.items()
        if code.co_flags & CO_OPTIMIZED and code.co_name[0] != "<"
    }
    files = {file for file, _, _ in functions}
    print(
        f"{name}: {len(functions)} functions, {len(files)} files, depth {deepest}, "
        f"{calls:,} calls, {len(walked)} code objects"
    )
    if names:
        for file, line, function in sorted(functions):
            print(f"  {file.removeprefix(folder)}:{line} {function}")


def run_command(name: str, work: Path, begin: Callable[[], None]) -> None:
    """Run the command of a walk from its first import to its end."""
    begin()
    from karat.cli.main import main as karat

    try:
        karat(WALKS[name].format(demo=DEMO, root=ROOT, work=work).split())
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{name} failed with exit code {ended.code}")


def answer_a_benchmark(_name: str, work: Path, begin: Callable[[], None]) -> None:
    """Make a benchmark on documents that a service has, run it, and read its results and page."""
    from fastapi.testclient import TestClient

    try:
        service = "karat.extensions.service"
        import_module(service)
    except ModuleNotFoundError:
        service = "karat.service"
    job = import_module(f"{service}.jobs.job")
    load_handlers = getattr(job, "load_handlers", None)
    worker = import_module(f"{service}.jobs.worker")
    handlers = load_handlers() if load_handlers else worker.HANDLERS
    settings = import_module(f"{service}.settings").ServiceSettings(
        store=str(work / "service.db"), data=work / "data", roots=(work,), warm_up=False
    )
    store = import_module(f"{service}.store").ServiceStore(settings.store)

    def client() -> TestClient:
        # A new thread for each: only threads that start after the beginning are traced.
        app = import_module(f"{service}.api.app").create_app(settings)
        return TestClient(app, base_url="http://localhost:8080")

    def post(path: str, **options: Any) -> str:
        answer = karat.post(f"/api/v2/{path}", **options)
        return str(answer.raise_for_status().json().get("id"))

    def do_jobs() -> None:
        """Do what a worker process does, in this one."""
        while waiting := store.jobs.claim("census"):
            stopping = threading.Event()
            common = {"store": store, "settings": settings, "handlers": handlers}
            job.perform(waiting, "census", stopping=stopping, **common)

    (work / "notes").mkdir()
    for word in ("amber", "basil", "cedar"):
        (work / "notes" / f"{word}.md").write_text(f"# {word}\n\nAll about {word}.\n")
    queries = [{"query_key": "q1", "query_text": "amber", "relevant_docs": ["amber.md"]}]
    with client() as karat:
        notes = {"kind": "folder", "path": str(work / "notes")}
        asked = {"name": "notes", "source": notes, "index": {"dense": False}}
        collection = post("collections", json=asked)
        do_jobs()
        gold = {"file": ("gold.json", json.dumps({"queries": queries}))}
        dataset = post("benchmark-datasets", files=gold, data={"name": "gold"})
        mappings = f"benchmark-datasets/{dataset}/mappings"
        mapping = post(mappings, json={"collection_id": collection})
        post(f"{mappings}/{mapping}/resolve")
    begin()
    with client() as karat:
        matrix = {"search_modes": ["sparse"], "top_k_values": [1, 2]}
        asked = {"name": "walk", "mapping_id": mapping, "config_matrix": matrix, "timing": "none"}
        benchmark = post("benchmarks", json=asked)
        post(f"benchmarks/{benchmark}/start")
        do_jobs()
        karat.get(f"/api/v2/benchmarks/{benchmark}/results").raise_for_status()
        karat.get(f"/app/benchmarks/{benchmark}").raise_for_status()
    store.close()


if __name__ == "__main__":
    main()
