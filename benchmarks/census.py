"""Count the files and names of the source, and trace how many functions a command walks through.

    python benchmarks/census.py                # this checkout
    PYTHONPATH=../old/src python benchmarks/census.py --source ../old/src

A walk is one command run in this process: the distinct functions of Karat that it calls, in all
threads but without worker processes, their files, and the deepest stack. Code objects are functions
and what Python runs like one: lambdas, comprehensions (before Python 3.12), generator expressions,
and the bodies of classes and modules that a walk is the first to import.
"""

import argparse
import ast
import io
import re
import sys
import tempfile
import threading
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

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
PARTICIPLE = re.compile(r"_?[A-Z][a-z]*(ed|en)|_?(Asked|Done|Found|Held|Kept|Lost|Made|Said|Told)")


def main() -> None:
    """Print the census."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder that has karat/")
    parser.add_argument("--walks", action="store_true", help="trace commands as well")
    options = parser.parse_args()
    count(options.source / "karat")
    if options.walks:
        with tempfile.TemporaryDirectory() as work:
            for name, command in WALKS.items():
                arguments = command.format(demo=DEMO, root=ROOT, work=work).split()
                walk(name, arguments, options.source / "karat")


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


def walk(name: str, arguments: list[str], package: Path) -> None:
    """Run a command in this process and print which of Karat's code it went through."""
    from karat.cli.main import main as karat

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
            depths[thread] -= 1

    status: object = 0
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            karat(arguments)
        except SystemExit as ended:
            status = ended.code
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if status:
        sys.exit(f"{name} failed with exit code {status}")
    functions = [
        code for code in walked.values() if code.co_flags & CO_OPTIMIZED and code.co_name[0] != "<"
    ]
    files = {code.co_filename for code in functions}
    print(
        f"{name}: {len(functions)} functions, {len(files)} files, depth {deepest}, "
        f"{calls:,} calls, {len(walked)} code objects"
    )


if __name__ == "__main__":
    main()
