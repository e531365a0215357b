"""Count the files and names of the source, and trace how many functions a command walks through.

    python benchmarks/census.py                # this checkout
    PYTHONPATH=../old/src python benchmarks/census.py --source ../old/src

A walk is one command run in this process: distinct functions, files and the deepest stack of
Karat's own code, without worker processes.
"""

import argparse
import ast
import io
import re
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

# The folder of this script has a module statistics, which must not replace Python's own.
sys.path.pop(0)
ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
WALKS = {
    "score": "score {demo}/gold.json {demo}/bm25.run --json",
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

    functions: set[tuple[str, int]] = set()
    calls = depth = deepest = 0

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls, depth, deepest
        if not frame.f_code.co_filename.startswith(folder):
            return
        if event == "call":
            calls += 1
            depth += 1
            deepest = max(deepest, depth)
            functions.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
        elif event == "return":
            depth -= 1

    code: object = 0
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        sys.setprofile(profile)
        try:
            karat(arguments)
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.setprofile(None)
    if code:
        sys.exit(f"{name} failed with exit code {code}")
    files = {file for file, _ in functions}
    print(
        f"{name}: {len(functions)} functions, {len(files)} files, depth {deepest}, {calls:,} calls"
    )


if __name__ == "__main__":
    main()
