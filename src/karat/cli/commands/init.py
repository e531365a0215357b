"""karat init: a configuration to begin with."""

from pathlib import Path

import click

from karat.errors import InputError

__all__ = ["command"]

TEMPLATE = """\
# A benchmark of searches over this repository:
#
#   karat compare --config {name}                    all agents
#   karat evaluate --config {name} --agent bm25      one of them
#
# Paths count from the folder of this file.

dataset:
  # The gold set is mined from the history of a Git repository: what a commit says it does becomes
  # a query, and the files that it changed, as they were before, are what a search should find.
  repository_path: "."
  exclude_patterns:          # no targets, as in .gitignore
    - "*.md"
    - "docs/*"
  min_files: 1               # targets of a case, at least and at most
  max_files: 10
  include_merge_commits: false
  limit: 50                  # cases; 0 takes all
  # level: file              # or line, symbol: what has to be found
  # hardness: cleaned        # or masked, words, dropped, all: how much a query gives away
  # since: 2024-01-01
  # gold_set: gold.json      # in place of all these: a set that is there already

evaluation:
  num_runs: 3                # how often each query is timed, the first time cold
  timeout_seconds: 30
  randomize_order: true      # by a seed that is kept

agents:
  # The first is the baseline of all comparisons.
  - name: keyword_search
    class: KeywordSearchAgent
    config:
      case_sensitive: false

  - name: bm25
    engine: bm25

  # Embeddings need karatbench[dense].
  # - name: semantic_search
  #   class: SemanticSearchAgent
  #   config:
  #     model: sentence-transformers/all-MiniLM-L6-v2
  #     top_k: 10
  # - name: hybrid
  #   class: HybridAgent
  # - name: mine               # any class with index and search, or initialize and retrieve
  #   class: my_package.search:MySearch
  #   config: {{depth: 3}}

output:
  directory: benchmark_results
  formats: [json, csv, markdown, html]
  generate_visualizations: false   # charts as PNG and SVG; needs karatbench[charts]
"""


@click.command("init")
@click.argument("file", default="benchmark.yaml", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def command(file: str, *, force: bool) -> None:
    """Write a configuration to FILE, benchmark.yaml by default: it runs as it is in a repository.

    \b
    karat init
    karat compare --config benchmark.yaml
    """
    from karat.formats.atomic import write_text

    if Path(file).exists() and not force:
        raise InputError(f"{file}: exists already; --force replaces it")
    write_text(file, TEMPLATE.format(name=Path(file).name))
    click.echo(f"wrote {file}; next: karat compare --config {file}")
    folder = Path(file).absolute().parent
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        click.echo(f"{folder} is in no Git repository: set repository_path or gold_set first")
