"""Collect the documents of a corpus, and count skipped files by reason."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.corpus.files.content import Content, content_traits, decode
from karat.corpus.files.traits import Trait, classify
from karat.corpus.snapshot import Corpus, Document, Reader

__all__ = ["FileIntake", "Intake", "Look", "file_intake", "look_at"]


@dataclass(frozen=True, slots=True)
class Look:
    """The inspected bytes of a file: why they are not text, or their traits and encoding."""

    reason: str
    traits: Trait
    encoding: str


def look_at(data: bytes, language: str) -> Look:
    """Inspect the bytes of a file of this *language*."""
    content = decode(data)
    return Look(content.reason, _traits(content, language), content.encoding)


def _traits(content: Content, language: str) -> Trait:
    return Trait.NONE if content.reason else content_traits(content.text, language)


class FileIntake(NamedTuple):
    """The outcome of a file: a document, perhaps with a note, or the reason why it was skipped."""

    document: Document | None
    remark: str = ""


def file_intake(path: str, blob: str, size: int, *, look: Look) -> FileIntake:
    """Return the document of a file at *path* that was looked at."""
    if look.reason:
        return FileIntake(None, look.reason)
    language, traits = classify(path)
    if look.traits:
        traits |= look.traits
    remark = "" if look.encoding == "utf-8" else look.encoding
    return FileIntake(Document(path, blob, size, language, traits), remark)


@dataclass(slots=True)
class Intake:
    """The documents of a source so far, by path."""

    documents: dict[str, Document] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count one thing that is left out."""
        self.skipped[reason] += 1

    def add(self, path: str, blob: str, size: int, *, look: Look) -> None:
        """Add one text, or count why it is skipped."""
        self.put(file_intake(path, blob, size, look=look))

    def put(self, file: FileIntake) -> None:
        """Add a document, or count why it is skipped."""
        if file.document is None:
            self.skip(file.remark)
            return
        self.documents[file.document.path] = file.document
        if file.remark:
            self.notes[file.remark] += 1

    def withdraw(self, file: FileIntake) -> None:
        """Undo :meth:`put`."""
        if file.document is None:
            self.skipped[file.remark] -= 1
            return
        del self.documents[file.document.path]
        if file.remark:
            self.notes[file.remark] -= 1

    def corpus(self, name: str, reader: Reader) -> Corpus:
        """Return the documents sorted by path; reasons are sorted as well."""
        # In place, so that little is to be sorted when a few documents have come or gone.
        self.documents = {d.path: d for d in sorted(self.documents.values())}
        # A plus leaves out what was withdrawn entirely.
        skipped, notes = dict(sorted((+self.skipped).items())), dict(sorted((+self.notes).items()))
        return Corpus(name, tuple(self.documents.values()), reader, skipped, notes)
