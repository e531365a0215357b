"""Collects documents for a corpus and counts what is left out, by reason."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.corpus.files.content import Content, content_traits, decode
from karat.corpus.files.traits import Trait, classify
from karat.corpus.snapshot import Corpus, Document, Reader

__all__ = ["FileIntake", "Intake", "Look", "look_at", "taken"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the bytes of a file told: why it is no text, or its traits and encoding."""

    reason: str
    traits: Trait
    encoding: str


def look_at(data: bytes, language: str) -> Look:
    """Return what the bytes say about a file of this *language*."""
    content = decode(data)
    return Look(content.reason, _traits(content, language), content.encoding)


def _traits(content: Content, language: str) -> Trait:
    return Trait.NONE if content.reason else content_traits(content.text, language)


class FileIntake(NamedTuple):
    """What became of a file: a document, perhaps with a remark, or the reason why it is none."""

    document: Document | None
    remark: str = ""


def taken(path: str, blob: str, size: int, *, look: Look) -> FileIntake:
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
    """What a source has found so far, by path."""

    documents: dict[str, Document] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count one thing that is left out."""
        self.skipped[reason] += 1

    def add(self, path: str, blob: str, size: int, *, look: Look) -> None:
        """Take one text, or count why it is none."""
        self.put(taken(path, blob, size, look=look))

    def put(self, found: FileIntake) -> None:
        """Take a document, or count why it is none."""
        if found.document is None:
            self.skip(found.remark)
            return
        self.documents[found.document.path] = found.document
        if found.remark:
            self.notes[found.remark] += 1

    def withdraw(self, found: FileIntake) -> None:
        """Undo :meth:`put`."""
        if found.document is None:
            self.skipped[found.remark] -= 1
            return
        del self.documents[found.document.path]
        if found.remark:
            self.notes[found.remark] -= 1

    def corpus(self, name: str, reader: Reader) -> Corpus:
        """Return what was taken, sorted by path; reasons are sorted as well."""
        # In place, so that little is to be sorted when a few documents have come or gone.
        self.documents = {d.path: d for d in sorted(self.documents.values())}
        # A plus leaves out what was withdrawn entirely.
        skipped, notes = dict(sorted((+self.skipped).items())), dict(sorted((+self.notes).items()))
        return Corpus(name, tuple(self.documents.values()), reader, skipped, notes)
