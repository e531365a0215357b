"""Record the output and the files of commands, to compare two revisions of Karat.

    python benchmarks/recording.py BEFORE [--tree REPOSITORY]   # at one revision
    python benchmarks/recording.py AFTER [--tree REPOSITORY]    # at the other
    diff -r BEFORE AFTER

Runs a fixed list of commands of the Karat that Python imports and writes one file per command: its
exit code, its output and the files that it wrote. Times, ids, dates and paths are masked; scores,
intervals, hits and verdicts are recorded as they are. Without --tree, the commands that need a
repository use the bundled history of ``karat demo``.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# The folder of this script has a module statistics, which must not replace Python's own.
sys.path.pop(0)
ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
DATA = ROOT.parent / "shared" / "data" / "trec_eval"
# Workers share work at random, and so the number of shared indexes varies.
ALONE = "--timed none --workers 1 --json --store {work}/store.db"
COMMANDS = {
    "score": "score {gold} {bm25} --json",
    "score-queries": "score {gold} {bm25} --csv --per-query",
    "score-ties": "score {gold} {bm25} --json --ties worst --depth 5",
    "compare": "compare {gold} {keyword} {bm25} {stemmed} --json",
    "compare-queries": "compare {gold} {keyword} {bm25} {stemmed} --csv --per-query",
    "compare-tukey": "compare {gold} {keyword} {bm25} {stemmed} --json --correction tukey -m map",
    "gate": "gate {gold} {bm25} --min ndcg@10=0.6 --json",
    "report-json": "report {gold} {keyword} {bm25} {stemmed} -o {work}/report.json",
    "report-csv": "report {gold} {keyword} {bm25} {stemmed} -o {work}/report.csv",
    "validate": "validate {gold} --json",
    "convert": "convert {bm25} {work}/run.jsonl",
    "topics": "analyze topics {gold} {bm25} --json",
    "metrics": "metrics --json",
    "trec-eval": "trec-eval -q -m all_trec {data}/qrels.test {data}/results.test",
    "generate": "generate --repo {tree} --limit 40 -o {work}/mined.json --json",
    "generate-lines": "generate --repo {tree} --limit 20 --level line -o {work}/lines.json",
    "engines": "compare {work}/mined.json --agents keyword bm25 'dense(model=static)' "
    f"'hybrid(model=static)' --run-out {{work}}/agents-{{engine}}.run {ALONE}",
    "sweep": "sweep {work}/mined.json --matrix {work}/matrix.yaml "
    f"--run-out {{work}}/sweep-{{engine}}.run {ALONE}",
    "lines": f"evaluate {{work}}/lines.json -e bm25 {ALONE}",
    "search": "search 'where is the order of ties decided' {tree} --rev HEAD --json",
}
MATRIX = """search_modes: [dense, sparse, hybrid]
top_k_values: [10, 50]
rrf_k_values: [20, 60]
"""
VARYING = "latency|_ms|_ns|_s|seconds|load|memory|bytes|rows|embedded|reused"
MASKS = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(rf'"([a-z0-9_]*(?:{VARYING})[a-z0-9_]*)": [^,}}\n]+'), r'"\1": <n>'),
    (re.compile(r"(stored as|karat report) \w+"), r"\1 <id>"),
    (re.compile(r"\b[a-z0-9]{20,40}\b(?=[; ,\"\n.]|$)"), "<id>"),
]


def main() -> None:
    """Run every command and write its results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--tree", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "matrix.yaml").write_text(MATRIX, encoding="utf-8")
        values = {
            "{work}": str(work),
            "{tree}": str(options.tree.resolve() if options.tree else bundled(work)),
            "{data}": str(DATA),
            "{gold}": str(DEMO / "gold.json"),
            "{keyword}": str(DEMO / "keyword.run"),
            "{bm25}": str(DEMO / "bm25.run"),
            "{stemmed}": str(DEMO / "bm25-stemmed.run"),
        }
        for name, line in COMMANDS.items():
            for mark, value in values.items():
                line = line.replace(mark, shlex.quote(value))  # noqa: PLW2901 - filled in
            text = masked(recorded(shlex.split(line), work), values)
            (options.out / f"{name}.txt").write_text(text, encoding="utf-8")
            print(f"{name}: {text.partition(chr(10))[0]}, {len(text):,} characters")


def bundled(work: Path) -> Path:
    """Return the repository of the bundled example."""
    from karat.app.demo import build_repository

    return build_repository(work)


def recorded(words: Sequence[str], work: Path) -> str:
    """Return the exit code of a command, its output and the files that it wrote."""
    before = set(work.iterdir())
    environment = {**os.environ, "KARAT_CACHE": str(work / "cache"), "COLUMNS": "160"}
    done = subprocess.run(
        [sys.executable, "-m", "karat", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=work,
        env=environment,
    )
    texts = [f"exit {done.returncode}", done.stdout, done.stderr]
    for path in sorted(set(work.iterdir()) - before):
        if path.suffix in {".json", ".jsonl", ".run", ".csv"}:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".run":
                # Queries are written in the order in which they were answered.
                text = "".join(sorted(text.splitlines(keepends=True), key=_query))
            texts += [f"== {path.name}", text]
    return "\n".join(texts)


def _query(line: str) -> str:
    return line.partition(" ")[0]


def masked(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with run-dependent parts masked."""
    for mark, value in values.items():
        text = text.replace(value, mark)
    text = text.replace(str(ROOT), "{root}")
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


if __name__ == "__main__":
    main()
