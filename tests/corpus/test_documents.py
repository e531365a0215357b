"""Text of PDF, DOCX and HTML files: extraction, pages, limits, and the missing extra."""

import io
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from karat.corpus import from_folder, from_git, page_lines, page_of, skipped_text
from karat.corpus.files import content
from karat.corpus.files.document_worker import ExtractionError, docx_text, html_text, pdf_text


def make_pdf(pages: Sequence[str]) -> bytes:
    """Return a PDF with one line of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        stream = f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode() if text else b""
        objects.append(page.encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    data = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, body in enumerate(objects, 1):
        starts.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % start for start in starts)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
    )
    return bytes(data)


PDF = make_pdf(["Install the pump", "", "Replace the filter"])
PAGE = b"""<!doctype html>
<title>Manual</title>
<h2>Log in</h2>
<script>x()</script>
<p>Use a token.
"""

needs_pypdf = pytest.mark.skipif(not content.is_installed("pdf"), reason="needs pypdf")
needs_docx = pytest.mark.skipif(not content.is_installed("docx"), reason="needs python-docx")


@pytest.fixture(autouse=True)
def own_cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path_factory.mktemp("cache")))
    content._cache.cache_clear()
    yield
    content._cache.cache_clear()


@pytest.mark.parametrize("stands_in_the_way", ["the folder", "the file"])
def test_a_cache_that_cannot_be_opened_is_named_and_not_used(
    stands_in_the_way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    if stands_in_the_way == "the folder":
        cache.touch()
    else:
        (cache / "documents.db").mkdir(parents=True)
    monkeypatch.setenv("KARAT_CACHE", str(cache))
    with pytest.warns(UserWarning, match=r"document cache cannot be used: .*; continuing without"):
        extraction = content.extract(b"<html><body><p>Use a token.</p></body></html>", "html")
    assert extraction.text == "Use a token."


@needs_pypdf
def test_pdf_is_read_from_folder_and_git_alike(tmp_path: Path) -> None:
    (tmp_path / "manual.pdf").write_bytes(PDF)
    folder = from_folder(tmp_path)
    (document,) = folder
    assert (document.language, document.size) == ("text", len(PDF))
    assert document.source
    assert document.source != document.blob
    assert folder.read("manual.pdf") == "Install the pump\n\f\n\fReplace the filter\n"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    commit = from_git(tmp_path)
    assert commit.snapshot == folder.snapshot
    assert commit.read("manual.pdf") == folder.read("manual.pdf")


@needs_pypdf
def test_extraction_is_cached_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    first = content.extract(PDF, "pdf")
    monkeypatch.setattr(content, "_WORKER", None)
    assert content.extract(PDF, "pdf") == first


@needs_pypdf
def test_a_damaged_or_scanned_pdf_is_skipped_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(make_pdf(["", ""]))
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4\nnothing")
    corpus = from_folder(tmp_path)
    assert corpus.skipped_files == {"bad.pdf": "damaged", "scan.pdf": "no-text"}
    line = "skipped 2 files: 1 damaged (bad.pdf), 1 without text, perhaps scanned (scan.pdf)"
    assert skipped_text(corpus.skipped_files) == line


@needs_pypdf
def test_a_slow_document_is_given_up_and_the_next_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(content, "TIMEOUT_S", 0.0)
    assert content.extract(PDF, "pdf").reason == "extraction-timeout"
    monkeypatch.setattr(content, "TIMEOUT_S", 60.0)
    assert content.extract(PDF, "pdf").text.startswith("Install")


@needs_pypdf
def test_too_much_text_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.corpus.files.document_worker.MAX_CHARACTERS", 5)
    with pytest.raises(ExtractionError, match="too-much-text"):
        pdf_text(PDF)


@needs_docx
def test_docx_has_headings_and_tables() -> None:
    from docx import Document

    made = Document()
    made.add_heading("Pump", level=2)
    made.add_paragraph("Install it.")
    table = made.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "part", "filter"
    stream = io.BytesIO()
    made.save(stream)
    assert docx_text(stream.getvalue()) == "## Pump\n\nInstall it.\n\npart | filter\n"


@needs_docx
def test_a_zip_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.corpus.files.document_worker.MAX_UNPACKED_BYTES", 1_000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "0" * 100_000)
    with pytest.raises(ExtractionError, match="too-much-text"):
        docx_text(stream.getvalue())


def test_html_pages_keep_their_lines(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    corpus = from_folder(tmp_path)
    assert corpus.read("page.html") == "\nManual\n## Log in\n\nUse a token.\n"
    assert corpus.documents[0].language == "markdown"


@pytest.mark.parametrize(
    "source",
    [
        b"<p>A fragment</p>",
        b"<!doctype html><p>{{ user }}</p>",
        b"<!doctype html><p>a</p><script>let value = 1;</script>",
    ],
)
def test_other_html_is_source_code(source: bytes, tmp_path: Path) -> None:
    with pytest.raises(ExtractionError, match="not-a-page"):
        html_text(source)
    (tmp_path / "a.html").write_bytes(source)
    corpus = from_folder(tmp_path)
    assert corpus.read("a.html") == source.decode()
    assert corpus.documents[0].language == "html"


def test_without_the_extra_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "is_installed", lambda name: name == "html")
    (tmp_path / "manual.pdf").write_bytes(PDF)
    corpus = from_folder(tmp_path)
    assert corpus.skipped == {"needs-documents": 1}
    line = skipped_text(corpus.skipped_files)
    assert line.startswith("skipped 1 file: 1 PDF or DOCX (manual.pdf); to read PDF and DOCX: pip ")
    assert line.endswith("[documents]'")


def test_a_document_may_be_larger_than_a_text(tmp_path: Path) -> None:
    assert content.max_bytes_of("manual.pdf", 1_000_000) == content.MAX_DOCUMENT_BYTES
    assert content.max_bytes_of("page.html", 1_000_000) == 1_000_000
    assert content.max_bytes_of("a.md", 10) == 10


def test_pages_of_lines_and_lines_of_pages() -> None:
    text = "one\ntwo\n\f\n\fthree\nfour\n"
    assert [page_lines(text, page) for page in (1, 2, 3, 4)] == [(1, 2), (3, 3), (4, 5), None]
    assert [page_of(text, line) for line in (1, 2, 3, 4, 5)] == [1, 1, 2, 3, 3]
