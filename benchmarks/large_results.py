"""CPU time and peak memory of `karat score` on large runs: Parquet against TREC text of equal rows.

Every size is generated once, as text and as Parquet of the same rows, 1,000 hits a query; some
scores are equal. Each run is scored by a process of its own, and the scores are compared to the
last digit. With `--orders`, the same rows are also ordered by document, and written as lists. With
`--duckdb PYTHON`, an interpreter that has DuckDB computes nDCG@10 from the same files.

    .venv/bin/python benchmarks/large_results.py --rows 1e6 1e7 1e8 --folder /tmp/large
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

HITS = 1_000
DOCUMENTS = 1_000_000
# Steps of a prime through all documents: no query returns one twice.
STEP = 7_919
QUERIES_AT_ONCE = 1_000
JUDGED = 3
SCHEMA = {
    "query_id": pl.String,
    "doc_id": pl.String,
    "rank": pl.Int64,
    "score": pl.Float64,
}
# The same tie rule as trec_eval: score, then id, both descending.
NDCG = """
import sys, duckdb
duckdb.sql('set enable_progress_bar = false')
run, qrels = sys.argv[1:]
print(duckdb.sql(f'''
with q as (select * from read_csv('{qrels}', delim=' ', header=false, columns={{
    'query_id': 'VARCHAR', 'zero': 'VARCHAR', 'doc_id': 'VARCHAR', 'grade': 'DOUBLE'}})),
top as (select query_id, doc_id, row_number() over (
    partition by query_id order by score desc, doc_id desc) as place
    from '{run}' qualify place <= 10),
got as (select query_id, sum(grade / log2(place + 1)) as gain
    from top join q using (query_id, doc_id) group by query_id),
best as (select query_id, sum(grade / log2(place + 1)) as gain from (
    select query_id, grade, row_number() over (partition by query_id order by grade desc) as place
    from q qualify place <= 10) group by query_id)
select avg(coalesce(got.gain, 0) / best.gain) from best left join got using (query_id)
''').fetchall()[0][0])
"""


class Cost(NamedTuple):
    """What one process took, and what it printed."""

    cpu_s: float
    peak_mb: float
    output: str


def main() -> None:
    """Generate each size, score it from each file, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--folder", type=Path, required=True, help="for files of 40 bytes a row")
    parser.add_argument("--orders", action="store_true", help="also in no order, and as lists")
    parser.add_argument("--convert", action="store_true", help="also karat convert, both ways")
    parser.add_argument("--duckdb", metavar="PYTHON", help="an interpreter that has DuckDB")
    options = parser.parse_args()
    print(f"{'rows':>12} {'what':28}{'CPU s':>9}{'peak MB':>10}")
    for rows in map(int, options.rows):
        folder = options.folder / str(rows)
        folder.mkdir(parents=True)
        try:
            measure(folder, rows, options)
        finally:
            shutil.rmtree(folder)


def measure(folder: Path, rows: int, options: argparse.Namespace) -> None:
    """Print the cost of scoring *rows* rows from each kind of file."""
    text, parquet, qrels = folder / "x.run", folder / "x.parquet", folder / "x.qrels"
    write_files(rows, text=text, parquet=parquet, qrels=qrels)
    sources = {"text": text, "Parquet": parquet}
    if options.orders:
        shuffled, lists = folder / "shuffled" / "x.parquet", folder / "lists" / "x.parquet"
        shuffled.parent.mkdir()
        lists.parent.mkdir()
        scan = pl.scan_parquet(parquet)
        # By document: the rows of every query are spread over the whole file.
        scan.sort("doc_id").sink_parquet(shuffled)
        lists_of(parquet, lists)
        sources |= {"Parquet, by document": shuffled, "Parquet, lists": lists}
    scores: dict[str, object] = {}
    for name, path in sources.items():
        command = ["score", str(qrels), str(path), "--ci", "none", "--json"]
        cost = run([sys.executable, "-m", "karat", *command])
        scores[name] = json.loads(cost.output)
        show(rows, name, cost)
    different = [name for name in scores if scores[name] != scores["text"]]
    print(f"{'':13}{'DIFFERENT: ' + ', '.join(different) if different else 'equal scores'}")
    if options.convert:
        there, back = folder / "converted.parquet", folder / "converted.run"
        for old, new in ((text, there), (there, back)):
            cost = run([sys.executable, "-m", "karat", "convert", str(old), str(new)])
            show(rows, f"convert {old.suffix} {new.suffix}", cost)
    if options.duckdb:
        cost = run([options.duckdb, "-c", NDCG, str(parquet), str(qrels)])
        show(rows, f"DuckDB, nDCG@10 = {float(cost.output):.5f}", cost)


def write_files(rows: int, *, text: Path, parquet: Path, qrels: Path) -> None:
    """Write the same rows as text and as Parquet, and three judgments for each query."""
    rng = np.random.default_rng(0)

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        with text.open("wb") as lines, qrels.open("w", encoding="utf-8") as judgments:
            for start in range(0, rows // HITS, QUERIES_AT_ONCE):
                count = min(QUERIES_AT_ONCE, rows // HITS - start)
                frame = some_queries(start, count, rng)
                frame.select(
                    "query_id",
                    pl.lit("Q0").alias("iteration"),
                    "doc_id",
                    "rank",
                    "score",
                    pl.lit("x").alias("tag"),
                ).write_csv(lines, separator=" ", include_header=False)
                judge(frame, judgments, rng)
                yield frame

    register_io_source(frames, schema=SCHEMA).sink_parquet(parquet, row_group_size=1 << 18)


def some_queries(start: int, count: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return the hits of *count* queries, best first; scores of four decimals repeat."""
    first = rng.integers(0, DOCUMENTS, count)[:, None]
    documents = ((first + np.arange(HITS)[None, :] * STEP) % DOCUMENTS).ravel()
    scores = np.sort(np.round(rng.random((count, HITS)) * 20, 4), axis=1)[:, ::-1].ravel()
    frame = pl.DataFrame(
        {
            "query_id": np.repeat(np.arange(start, start + count), HITS),
            "doc_id": documents,
            "rank": np.tile(np.arange(1, HITS + 1), count),
            "score": scores,
        }
    )
    return frame.with_columns(
        pl.format("q{}", "query_id").alias("query_id"), pl.format("doc{}", "doc_id").alias("doc_id")
    )


def judge(frame: pl.DataFrame, judgments: TextIO, rng: np.random.Generator) -> None:
    """Write grades of three of the first hundred hits of each query."""
    for start in range(0, len(frame), HITS):
        query = frame["query_id"][start]
        for place in rng.choice(100, JUDGED, replace=False).tolist():
            document = frame["doc_id"][start + place]
            print(query, 0, document, 1 + place % 3, file=judgments)


def lists_of(parquet: Path, lists: Path) -> None:
    """Write one row per query with lists of documents and scores."""

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        scan = pl.scan_parquet(parquet)
        total = scan.select(pl.len()).collect().item()
        for start in range(0, total, QUERIES_AT_ONCE * HITS):
            part = scan.slice(start, QUERIES_AT_ONCE * HITS).collect()
            grouped = part.group_by("query_id", maintain_order=True)
            yield grouped.agg(pl.col("doc_id").alias("doc_ids"), pl.col("score").alias("scores"))

    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "query_id": pl.String,
        "doc_ids": pl.List(pl.String),
        "scores": pl.List(pl.Float64),
    }
    register_io_source(frames, schema=schema).sink_parquet(lists)


def run(command: list[str]) -> Cost:
    """Run *command* and return its cost; the peak is that of this process alone."""
    boot = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024,\n"
        "    done.stdout, done.stderr, done.returncode]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", boot, *command], capture_output=True, text=True, check=True
    )
    cpu_s, peak_mb, output, errors, code = json.loads(done.stdout)
    if code:
        sys.exit(errors)
    return Cost(cpu_s, peak_mb, output)


def show(rows: int, what: str, cost: Cost) -> None:
    """Print one line of the table."""
    print(f"{rows:12,} {what:28}{cost.cpu_s:9.1f}{cost.peak_mb:10,.0f}", flush=True)


if __name__ == "__main__":
    main()
