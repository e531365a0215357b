"""karat init: write a commented configuration file, or an extension to start from."""

from pathlib import Path

import click

from karat.errors import InputError

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
  # chunk_size: [256, 512]   # a parameter of them, which an engine file has as "{{chunk_size}}"

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
  generate_visualizations: false   # charts as SVG, and as PNG with karatbench[charts]
"""


PLUGIN = '''"""An extension of Karat: a command and a measure.

    karat --plugin {name} hello
    karat --plugin {name} score GOLDSET RUN -m pair@5
"""

import click

from karat import JudgedQuery, metric
from karat.extension import Command, Extension


@click.command("hello")
def hello() -> None:
    """Print a greeting."""
    click.echo("Hello from {name}.")


@metric(
    "Whether two relevant hits are among the first k.",
    formula="1 if two relevant hits have rank <= k, else 0",
    laws={{"ideal", "padding", "promotion", "zero"}},
)
def pair(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return 1 if two relevant hits are among the first *k*, else 0."""
    ranks = judged.relevant(level)
    return float(len(ranks) > 1 and (k is None or ranks[1] <= k))


EXTENSION = Extension(
    "{stem}",
    "A greeting and a measure.",
    commands={{"hello": Command(f"{{__name__}}:hello", "Print a greeting.", "Extend Karat")}},
    adds={{"metric": {{"pair": f"{{__name__}}:pair"}}}},
)
'''

PLUGIN_TEST = '''"""The contract of the extension in {name}: python -m pytest {test}."""

from pathlib import Path

import pytest
from karat.extension import Extension, load_file
from karat.testing import ExtensionSuite


class TestExtension(ExtensionSuite):
    @pytest.fixture
    def extension(self) -> Extension:
        return load_file(Path(__file__).with_name("{name}"))
'''


@click.command("init")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--plugin", is_flag=True, help="Write an extension and its test, my_plugin.py.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def command(file: str | None, *, plugin: bool, force: bool) -> None:
    """Write a commented configuration file, karat.yaml by default.

    It works as it is in a Git repository; docs/configuration.md explains every key. With --plugin,
    FILE is a Python file with an extension; see docs/extending.md.

    \b
    karat init
    karat generate --config karat.yaml -o gold.json
    karat compare --config karat.yaml
    karat init --plugin my_plugin.py
    """
    if plugin:
        _write_plugin(Path(file or "my_plugin.py"), force=force)
        return
    file = file or "karat.yaml"
    _write_new(Path(file), TEMPLATE.format(name=Path(file).name), force=force)
    folder = Path(file).absolute().parent
    click.echo(f"wrote {file}")
    if not any((directory / ".git").exists() for directory in (folder, *folder.parents)):
        click.echo(f"{folder} is not in a Git repository: first set repository_path or gold_set")
    click.echo(f"next: karat compare --config {file}")


def _write_plugin(file: Path, *, force: bool) -> None:
    """Write an extension and the test of its contract."""
    if file.suffix != ".py":
        raise InputError(f"{file}: expected a Python file, such as {file}.py")
    test = file.with_name(f"test_{file.name}")
    names = {"name": file.name, "stem": file.stem, "test": test.name}
    _write_new(file, PLUGIN.format(**names), force=force)
    _write_new(test, PLUGIN_TEST.format(**names), force=force)
    click.echo(f"wrote {file} and {test}")
    click.echo(f"next: karat --plugin {file} hello")
    click.echo(f"      python -m pytest -q {test}  (needs the package pytest)")


def _write_new(file: Path, text: str, *, force: bool) -> None:
    from karat.system.files import write_text

    if file.exists() and not force:
        raise InputError(f"{file} exists already; --force replaces it")
    write_text(str(file), text)
