"""The page in the package is the one that its source makes, and its types are those of the API."""

import gzip
import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "ui"
BUILT = ROOT / "src" / "karat" / "extensions" / "service" / "api" / "static"
REPORT = ROOT / "src" / "karat" / "report" / "page" / "built"
MOST_BYTES = 350_000
LEFT_OUT = {"node_modules"}


def digest(folder: Path) -> str:
    """Return the digest that `ui/scripts/digest.ts` describes."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and LEFT_OUT.isdisjoint(path.relative_to(folder).parts)
    }
    found = hashlib.sha256()
    for name in sorted(files, key=str.encode):
        own = hashlib.sha256(files[name].read_bytes()).hexdigest()
        found.update(f"{name}\0{own}\n".encode())
    return found.hexdigest()


@pytest.mark.parametrize("built", [BUILT, REPORT])
def test_the_build_is_of_this_source(built: Path) -> None:
    recorded = (built / "source.sha256").read_text(encoding="ascii").strip()
    assert recorded == digest(SOURCE), "ui/ was changed since the page was built: run make ui"


def test_another_source_has_another_digest(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("1", encoding="utf-8")
    first = digest(tmp_path)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "b.ts").write_text("1", encoding="utf-8")
    assert digest(tmp_path) == first
    (tmp_path / "a.ts").write_text("2", encoding="utf-8")
    assert digest(tmp_path) != first


def test_the_types_are_of_this_schema() -> None:
    first, *_ = (SOURCE / "src" / "api" / "schema.d.ts").read_text(encoding="utf-8").splitlines()
    schema = (
        ROOT / "src" / "karat" / "extensions" / "service" / "api" / "openapi.json"
    ).read_bytes()
    wanted = f"// openapi.json {hashlib.sha256(schema).hexdigest()}"
    assert first == wanted, "the API was changed since its types were written: run make ui"


def test_the_page_is_light() -> None:
    files = [path for path in BUILT.rglob("*") if path.suffix in {".html", ".js", ".css", ".svg"}]
    assert len(files) >= 4
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < MOST_BYTES


def test_the_template_of_reports_is_one_light_file_with_the_licences_of_its_parts() -> None:
    page = (REPORT / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 500_000
    assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="', page) == []
    assert page.count("<!--karat-data-->") == page.count("<title>Karat report</title>") == 1
    assert "react-dom" in (REPORT / "licenses.txt").read_text(encoding="utf-8")
    # Judging and the colours of code are of the service alone.
    assert "Judge unjudged hits" not in page
    assert "hljs" not in page


def test_styles_load_nothing() -> None:
    (styles,) = BUILT.rglob("*.css")
    assert not re.search(r"url\(|@import", styles.read_text(encoding="utf-8"))


def test_the_page_names_only_files_of_the_service() -> None:
    page = (BUILT / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert named
    assert all((BUILT / name.removeprefix("/")).is_file() for name in named)
