"""A child process that extracts the text of PDF, DOCX and HTML, which may be malicious.

It answers ``{"format": ..., "data": base64}`` with ``{"text": ...}`` or ``{"reason": ...}``. Its
memory is limited; the parent limits its time.
"""

import base64
import io
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser

from karat.system.processes import ParentLink

MEMORY_BYTES = 2 << 30
MAX_CHARACTERS = 10_000_000
MAX_UNPACKED_BYTES = 300_000_000


class ExtractionError(Exception):
    """A file without text to extract; the message is the reason."""


def pdf_text(data: bytes) -> str:
    """Return the text of all pages; each page but the first begins with a form feed."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ExtractionError("encrypted")
    pages: list[str] = []
    size = 0
    for page in reader.pages:
        text = page.extract_text().replace("\f", " ").strip("\n")
        size += len(text)
        if size > MAX_CHARACTERS:
            raise ExtractionError("too-much-text")
        pages.append(text)
    if not any(text.strip() for text in pages):
        raise ExtractionError("no-text")
    return "\n\f".join(pages) + "\n"


def docx_text(data: bytes) -> str:
    """Return paragraphs and tables in their order, headings as in Markdown."""
    import zipfile

    from docx import Document
    from docx.table import Table

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise ExtractionError("too-much-text")
    lines: list[str] = []
    for block in Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(block, Table):
            lines += (" | ".join(cell.text.strip() for cell in row.cells) for row in block.rows)
            lines.append("")
            continue
        level = re.fullmatch(r"(?:Heading ([1-6])|Title)", str(block.style and block.style.name))
        mark = "#" * int(level[1] or 1) + " " if level else ""
        lines += (f"{mark}{block.text}", "")
    text = "\n".join(lines).strip("\n") + "\n"
    if not text.strip():
        raise ExtractionError("no-text")
    return text


HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "nav"})
_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL
)
_TEMPLATE = re.compile(r"\{\{|\{%|<%|<\?php|<\?=")


def html_text(data: bytes) -> str:
    r"""Return the visible text of a page; each word stays on its line, headings are Markdown.

    A fragment, a template and a page with more script than text are source code: not a page.

    >>> html_text(b"<!doctype html>\n<h1>Log in</h1>\n<p>Use a <b>token</b>.\n")
    '\n# Log in\nUse a token.\n'
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if not _PAGE.match(text) or _TEMPLATE.search(text):
        raise ExtractionError("not-a-page")
    page = _Page(text.count("\n") + 1)
    page.feed(text)
    page.close()
    if page.hidden_size > page.size or not page.size:
        raise ExtractionError("not-a-page")
    return "\n".join(" ".join(line.split()) for line in page.lines)


class _Page(HTMLParser):
    def __init__(self, lines: int) -> None:
        super().__init__(convert_charrefs=True)
        self.lines = [""] * lines
        self.size = self.hidden_size = 0
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as inherited
        if tag in HIDDEN:
            self._hidden.append(tag)
        elif re.fullmatch(r"h[1-6]", tag) and not self._hidden:
            self._add("#" * int(tag[1]) + " ")
        elif tag in ("br", "td", "th", "li", "p", "div"):
            self._add(" ")

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as inherited
        if tag == "br":
            self._add(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.size += len(data.strip())
            self._add(data)
        elif self._hidden[0] == "script":
            self.hidden_size += len(data.strip())

    def _add(self, text: str) -> None:
        row = self.getpos()[0] - 1
        for shift, part in enumerate(text.split("\n")):
            self.lines[min(row + shift, len(self.lines) - 1)] += part


EXTRACTORS = {"pdf": pdf_text, "docx": docx_text, "html": html_text}


def _answers(link: ParentLink) -> Iterator[dict[str, object]]:
    for request in link.requests():
        try:
            text = EXTRACTORS[request["format"]](base64.b64decode(request["data"]))
        except ExtractionError as error:
            yield {"reason": str(error)}
        # Parsers of damaged files raise anything; the file is skipped with a reason.
        except (Exception, RecursionError, MemoryError) as error:  # noqa: BLE001
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            yield {"reason": "damaged"}
        else:
            if len(text) > MAX_CHARACTERS:
                yield {"reason": "too-much-text"}
            else:
                yield {"text": text.replace("\0", " ").encode("utf-8", "replace").decode()}


def main() -> None:
    """Limit the memory of this process and answer requests until the parent is gone."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    link = ParentLink()
    for answer in _answers(link):
        link.send(answer)


if __name__ == "__main__":
    main()
