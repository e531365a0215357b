"""The text of PDF, DOCX and HTML files: extracted in a child process, cached by content."""

import atexit
import base64
import json
import re
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from threading import Lock
from typing import NamedTuple

from karat.errors import KaratError
from karat.system.files import cache_folder
from karat.system.processes import ChildProcess
from karat.system.sqlite import KeyValueFile

__all__ = [
    "FORMATS",
    "MAX_DOCUMENT_BYTES",
    "Extraction",
    "extract",
    "is_installed",
    "page_lines",
    "page_of",
    "split_page",
]

# Language by file name -> language of the extracted text.
FORMATS = {"pdf": "text", "docx": "markdown", "html": "markdown"}
# Formats of the extra; the others need nothing.
LIBRARIES = {"pdf": "pypdf", "docx": "docx"}
DISTRIBUTIONS = ("pypdf", "python-docx")
# Documents are larger than their text.
MAX_DOCUMENT_BYTES = 50_000_000
TIMEOUT_S = 60.0
MAX_CACHE_BYTES = 1_000_000_000
WORKER = "karat.corpus.files.document_worker"
_PAGE = re.compile(r"(.+)#page=([1-9]\d{0,5})", re.DOTALL)


class Extraction(NamedTuple):
    """The text of a document, or the *reason* why it has none."""

    text: str
    reason: str = ""


def is_installed(format_name: str) -> bool:
    """Return whether the library that reads *format_name* is installed."""
    library = LIBRARIES.get(format_name)
    return library is None or _found(library)


@cache
def _found(library: str) -> bool:
    return find_spec(library) is not None


def extract(data: bytes, format_name: str) -> Extraction:
    """Return the text of a file of the format ``pdf``, ``docx`` or ``html``.

    A file that takes longer than a minute, needs more than 2 GB of memory or has more than 10
    million characters has none. Results are cached by content in the user's cache folder.
    """
    key = sha256(b"\0".join((_versions(), format_name.encode(), data))).digest()
    stored = _cache()
    if stored is not None and (value := stored.get([key]).get(key)):
        return Extraction(*json.loads(value))
    found = _WORKER.extract(data, format_name)
    if stored is not None and found.reason != "extraction-timeout":
        stored.put({key: json.dumps(found).encode()})
    return found


@cache
def _versions() -> bytes:
    """Return a digest of all that decides about the text: libraries and the code of the worker."""
    from importlib.resources import files

    digest = sha256((files(__package__) / "document_worker.py").read_bytes())
    for name in DISTRIBUTIONS:
        try:
            digest.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            continue
    return digest.digest()


@cache
def _cache() -> KeyValueFile | None:
    try:
        path = cache_folder() / "documents.db"
        found = KeyValueFile(path, name="document cache", version=1, max_bytes=MAX_CACHE_BYTES)
    except (KaratError, OSError):
        return None
    atexit.register(found.close)
    return found


class _Worker:
    """The child process; it is started when needed, and replaced after a time-out or a crash."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._lock = Lock()

    def extract(self, data: bytes, format_name: str) -> Extraction:
        request = {"format": format_name, "data": base64.b64encode(data).decode()}
        with self._lock:
            if self._child is None:
                self._child = ChildProcess.python(WORKER)
                atexit.register(self.close)
            try:
                answer = self._child.request(request, TIMEOUT_S)
            except TimeoutError:
                self._end()
                return Extraction("", "extraction-timeout")
            except (EOFError, KaratError, ValueError):
                self._end()
                return Extraction("", "damaged")
        return Extraction(str(answer.get("text", "")), str(answer.get("reason", "")))

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
            atexit.unregister(self.close)


_WORKER = _Worker()


def split_page(path: str) -> tuple[str, int]:
    """Return the path of a document and the page that it names, 0 without one.

    >>> split_page("manual.pdf#page=3"), split_page("manual.pdf")
    (('manual.pdf', 3), ('manual.pdf', 0))
    """
    match = _PAGE.fullmatch(path)
    return (match[1], int(match[2])) if match else (path, 0)


def page_lines(text: str, page: int) -> tuple[int, int] | None:
    r"""Return the first and the last line of *page*, None if *text* has fewer pages.

    >>> page_lines("one\ntwo\n\fthree\n", 2), page_lines("one\n", 2)
    ((3, 3), None)
    """
    lines = text.rstrip("\n").split("\n")
    starts = [
        1,
        *(row for row, line in enumerate(lines, 1) if line.startswith("\f")),
        len(lines) + 1,
    ]
    return (starts[page - 1], starts[page] - 1) if page < len(starts) else None


def page_of(text: str, line: int) -> int:
    r"""Return the page that *line* of *text* is on, 0 for a text without pages.

    >>> page_of("one\ntwo\n\fthree\n", 3), page_of("one\n", 1)
    (2, 0)
    """
    if "\f" not in text:
        return 0
    return 1 + sum(each.startswith("\f") for each in text.split("\n")[:line])
