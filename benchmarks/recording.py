"""Record the output and the files of commands, to compare two revisions of Karat.

    python benchmarks/recording.py BEFORE [--tree REPOSITORY]   # at one revision
    python benchmarks/recording.py AFTER [--tree REPOSITORY]    # at the other
    diff -r BEFORE AFTER

Runs a fixed list of commands of the Karat that Python imports and writes one file per command: its
exit code, its output and the files that it wrote. Every command is there, and so are all help
pages, the Python API, the names of the public doors, the tables of a store, the description of the
web API, a service's answers about its example, and the data of HTML reports. Times, ids, dates and
paths are masked; scores, intervals, hits and verdicts are recorded as they are. Without --tree, the
commands that need a repository use the bundled history of ``karat demo``.
"""

import argparse
import os
import re
import shlex
import signal
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
TEXT = "--timed none --workers 1 --store {work}/store.db"
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
    "inspect": "inspect {work}/mined.json",
    "inspect-lines": "inspect {work}/lines.json --json",
    "validate-text": "validate {work}/mined.json",
    "questions": "generate --repo {tree} --from docstrings --limit 20 -o {work}/questions.json",
    "headings": "generate --corpus {docs} --from headings --limit 20 -o {work}/headings.json",
    "evaluate-text": f"evaluate {{work}}/headings.json --corpus {{docs}} -e bm25 {TEXT}",
    "compare-text": f"compare {{work}}/mined.json --agents keyword bm25 {TEXT} "
    "-o {work}/agents.html",
    "page": "view page-data {work}/agents.html",
    "verify": "verify {work}/agents.html --store {work}/store.db",
    "report-stored": "report latest --store {work}/store.db -o {work}/stored.md",
    "report-latex": "report {gold} {keyword} {bm25} -o {work}/table.tex",
    "report-html": "report {gold} {keyword} {bm25} {stemmed} -o {work}/files.html",
    "page-files": "view page-data {work}/files.html",
    "runs": "runs list --store {work}/store.db",
    "runs-show": "runs show latest --store {work}/store.db",
    "runs-latest": "runs latest --store {work}/store.db",
    "runs-export": "runs export latest.1 --store {work}/store.db -o {work}/exported.run",
    "trend": "analyze trend --store {work}/store.db --json",
    "losses": "report latest --store {work}/store.db --losses -o {work}/losses.json",
    "runs-delete": "runs delete latest --store {work}/store.db",
    "carry": "carry {work}/lines.json --to HEAD -o {work}/carried.json --json",
    "resolve": "resolve {work}/headings.json {docs} -o {work}/resolved.json --json",
    "import-log": "import-log {work}/clicks.csv -o {work}/clicked.json",
    "judge-list": "judge {gold} {bm25} {stemmed} --list -k 3",
    "judge": "judge {work}/mined.json {work}/agents-bm25.run -k 2 -o {work}/judged.json",
    "training": "export training {work}/mined.json --engine bm25 -o {work}/training --json",
    "baseline": "baseline update {gold} {bm25} -o {work}/baseline.json -m ndcg@10,hit@5",
    "gate-baseline": "gate {gold} {stemmed} --baseline {work}/baseline.json "
    "--junit {work}/gate.xml --summary {work}/gate.md --annotations",
    "index": "index {tree} --rev HEAD --engine bm25 --json",
    "waste": "analyze index {tree} --rev HEAD --gold {work}/mined.json --json",
    "embedding": "analyze embedding {work}/headings.json {docs} --model static --json",
    "engines-list": "engines",
    "engines-check": "engines check bm25 --corpus {docs} --query boiler --no-calibrate",
    "executors": "executors",
    "metrics-one": "metrics ndcg",
    "metrics-text": "metrics",
    "load": "load {work}/headings.json {docs} -e bm25 --rate 20 --seconds 2 --json",
    "watch": "watch {work}/headings.json --corpus {docs} -e bm25 -m ndcg@10",
    "init": "init {work}/karat.yaml",
    "init-run": "evaluate --config {work}/karat.yaml --help",
    "token": "token create ada --store {work}/store.db",
    "token-list": "token list --store {work}/store.db",
    "token-revoke": "token revoke unknown --store {work}/store.db",
    "plugins": "plugins --json",
    "plugins-text": "plugins",
    "init-plugin": "init --plugin {work}/mine.py",
    "plugin": "--plugin {work}/mine.py score {gold} {bm25} -m pair@5",
    "demo": "demo -o {work}/demo",
    "score-text": "score {gold} {bm25}",
    "compare-files-text": "compare {gold} {keyword} {bm25} {stemmed}",
    "sweep-text": f"sweep {{work}}/mined.json --matrix {{work}}/matrix.yaml {TEXT}",
    "unknown-command": "scoer",
    "unknown-engine": "evaluate {gold} -e bm52",
    "unknown-metric": "score {gold} {bm25} -m nDGC@10",
    "help": "view help",
    "doors": "view doors",
    "tables": "view tables {work}/store.db",
    "python": "view python {gold} {keyword} {bm25} {stemmed}",
    "openapi": "view openapi",
    "service": "view service",
}
# Seconds after which a command that does not end by itself is interrupted.
ENDLESS = {"watch": 20.0}
# What a command reads from standard input: two grades, then quit.
TYPED = {"judge": "2\n0\nq\n"}
CLICKS = """query,path,session
where are ties broken,src/ties.py,s1
where are ties broken,src/ties.py,s2
how to install,README.md,s3
"""
VIEWS = Path(__file__).parent / "support" / "recorded_views.py"
MATRIX = """search_modes: [dense, sparse, hybrid]
top_k_values: [10, 50]
rrf_k_values: [20, 60]
"""
VARYING = "latency|_ms|_ns|_s|seconds|load|memory|bytes|rows|embedded|reused"
MASKS = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(rf'"([a-z0-9_]*(?:{VARYING})[a-z0-9_]*)": [^,}}\n]+'), r'"\1": <n>'),
    (re.compile(r"(stored as|karat report|deleted) (?!latest)\w+"), r"\1 <id>"),
    (re.compile(r'"run": "[a-z0-9]{10}\.'), '"run": "<id>.'),
    (re.compile(r"^[a-z0-9]{10}(?=\.\d|,|  )", re.MULTILINE), "<id>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\b\d+(\.\d+)? (ns|us|ms|s|MB|MiB|kB)\b"), r"<n> \2"),
    (re.compile(r"until \d{4}-\d\d-\d\d"), "until <day>"),
    (re.compile(r"karat_[\w-]{20,}"), "<secret>"),
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
        (work / "clicks.csv").write_text(CLICKS, encoding="utf-8")
        values = {
            "{work}": str(work),
            "{tree}": str(options.tree.resolve() if options.tree else bundled(work)),
            "{data}": str(DATA),
            "{docs}": str(copied_docs(work)),
            "{gold}": str(DEMO / "gold.json"),
            "{keyword}": str(DEMO / "keyword.run"),
            "{bm25}": str(DEMO / "bm25.run"),
            "{stemmed}": str(DEMO / "bm25-stemmed.run"),
        }
        for name, line in COMMANDS.items():
            for mark, value in values.items():
                line = line.replace(mark, shlex.quote(value))  # noqa: PLW2901 - filled in
            text = masked(recorded(name, shlex.split(line), work), values)
            (options.out / f"{name}.txt").write_text(text, encoding="utf-8")
            print(f"{name}: {text.partition(chr(10))[0]}, {len(text):,} characters")


def bundled(work: Path) -> Path:
    """Return the repository of the bundled example."""
    from karat.extensions.mining.demo import build_repository

    return build_repository(work)


def copied_docs(work: Path) -> Path:
    """Return a folder with fixed documentation, the same at every revision."""
    folder = work / "docs"
    folder.mkdir()
    for part in ("pump", "filter", "boiler", "valve", "display", "grinder", "tank", "cable"):
        text = "\n".join(
            f"## {verb} the {part} after a long break\n\nOpen the cover, {verb.lower()} the {part} "
            f"and {rest}.\n"
            for verb, rest in (
                ("Install", "turn the machine on"),
                ("Replace", "throw the old one away"),
                ("Descale", "rinse it with cold water twice"),
            )
        )
        (folder / f"{part}.md").write_text(f"# The {part}\n\n{text}", encoding="utf-8")
    return folder


def recorded(name: str, words: Sequence[str], work: Path) -> str:
    """Return the exit code of a command, its output and the files that it wrote."""
    before = set(work.iterdir())
    environment = {**os.environ, "KARAT_CACHE": str(work / "cache"), "COLUMNS": "160"}
    start = [str(VIEWS), *words[1:]] if words[0] == "view" else ["-m", "karat", *words]
    process = subprocess.Popen(
        [sys.executable, *start],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=work,
        env=environment,
    )
    try:
        output, errors = process.communicate(TYPED.get(name, ""), timeout=ENDLESS.get(name, 900))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
    texts = [f"exit {process.returncode}", output, errors]
    for path in sorted(set(work.iterdir()) - before):
        if path.suffix in {".json", ".jsonl", ".run", ".csv", ".md", ".tex", ".xml", ".yaml"}:
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
        # Markdown escapes an underscore in the name of a temporary folder.
        text = text.replace(value, mark).replace(value.replace("_", r"\_"), mark)
    text = text.replace(str(ROOT), "{root}")
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


if __name__ == "__main__":
    main()
