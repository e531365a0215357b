"""The pages of the documentation: in docs/, and beside the extension that each describes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = sorted((ROOT / "src" / "karat" / "extensions").glob("*/docs/*.md"))
DOCS = [*sorted((ROOT / "docs").glob("*.md")), *EXTENSIONS]
PAGES = [ROOT / "README.md", *DOCS]


def page(name: str) -> Path:
    """Return the page that is called *name*."""
    (found,) = [path for path in DOCS if path.stem == name]
    return found
