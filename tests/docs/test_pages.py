"""Pages that are made from the registries say what the registries say."""

from pathlib import Path

from karat.app.metrics import describe, page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_metric_is_explained() -> None:
    written = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert written == page(describe()), "run: karat metrics --markdown > docs/metrics.md"
