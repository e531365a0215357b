"""karat init: write a commented configuration file."""

from pathlib import Path

import click

from karat.errors import InputError

__all__ = ["command"]

TEMPLATE = """\
# Configuration of Karat; docs/configuration.md explains every key.
#
#   karat generate --config {name} -o gold.json    mine the gold set
#   karat compare --config {name}                  compare all engines
#   karat evaluate --config {name} --engine bm25   run one engine
#   karat sweep --config {name}                    compare all configurations of the matrix
#   karat gate gold.json bm25.run --config {name}  check a run
#
# Paths are relative to the folder of this file. Options of a command override the file.

dataset:
  # The gold set is mined from the history of a Git repository: each commit message becomes a
  # query, and its targets are the files that the commit changed.
  repository_path: "."
  exclude_patterns:          # not targets, as in .gitignore
    - "*.md"
    - "docs/*"
  min_files: 1               # minimum and maximum number of target files per case
  max_files: 10
  include_merge_commits: false
  limit: 50                  # maximum number of cases; 0 means no limit
  # level: file              # or line, symbol: what a search has to find
  # hardness: cleaned        # or masked, words, dropped, all: what a query reveals
  # since: 2024-01-01
  # gold_set: gold.json      # instead of all settings above: an existing gold set

engines:
  # The first one is the baseline of all comparisons.
  - name: keyword
    engine: keyword

  - name: bm25
    engine: bm25

  # Embeddings need karatbench[dense].
  # - name: semantic
  #   engine: dense
  #   config:
  #     model: sentence-transformers/all-MiniLM-L6-v2
  #     top_k: 10
  # - name: mine             # any class with index and search, or initialize and retrieve
  #   class: my_package.search:MySearch
  #   config: {{depth: 3}}

metrics: [ndcg@10, mrr@10, hit@5, recall@10]

evaluation:
  num_runs: 3                # how often each query is timed, the first time cold
  timeout_seconds: 30
  randomize_order: true      # with a stored seed

matrix:
  # karat sweep runs every combination of these values.
  search_modes: [sparse]     # dense and hybrid need karatbench[dense]
  chunkers: [auto, "window:256"]
  top_k_values: [10]
  # k1: [1.2, 1.6]           # BM25; b, code_ranking, rerank_depth, and for hybrid fusion and
  # dense_weight: [0.3, 0.6] # the share of the embeddings
  # engines: [fast, keyword] # profiles, own engines and engine files beside the search modes

# suites:                    # named lists of configurations, for karat sweep --suite
#   sizes:
#     - {{name: small, chunk_size: 256, embedding_model: granite, use_reranker: false}}
#     - {{name: large, chunk_size: 512, embedding_model: granite, use_reranker: false}}

gate:
  min: {{hit@5: 0.2}}          # minimum means
  # baseline: baseline.json  # file of karat baseline update
  # max_regression: 0.02     # instead of the tolerance; or for each measure: {{ndcg@10: 0.02}}
  # max_latency: {{p90: 200ms}}

output:
  directory: benchmark_results
  formats: [json, csv, markdown, html]
  generate_visualizations: false   # charts as PNG and SVG; needs karatbench[charts]
"""


@click.command("init")
@click.argument("file", default="karat.yaml", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def command(file: str, *, force: bool) -> None:
    """Write a commented configuration file, karat.yaml by default.

    It works as it is in a Git repository; docs/configuration.md explains every key.

    \b
    karat init
    karat generate --config karat.yaml -o gold.json
    karat compare --config karat.yaml
    """
    from karat.system.files import write_text

    if Path(file).exists() and not force:
        raise InputError(f"{file} exists already; --force replaces it")
    write_text(file, TEMPLATE.format(name=Path(file).name))
    folder = Path(file).absolute().parent
    click.echo(f"wrote {file}")
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        click.echo(f"{folder} is not in a Git repository: first set repository_path or gold_set")
    click.echo(f"next: karat compare --config {file}")
