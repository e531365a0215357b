"""A lexical index as one file: an uncompressed zip of arrays, never pickled."""

import json
import os
import zlib
from dataclasses import asdict
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from karat.engines.lexical.bm25 import BM25
from karat.engines.lexical.index import LexicalIndex
from karat.engines.lexical.postings import Postings
from karat.engines.lexical.tokens import TokenRules
from karat.errors import InputError
from karat.formats.atomic import replacing

__all__ = ["VERSION", "load", "save"]

# Of the file and of what the tokeniser makes of a text: either one's change is a new version.
VERSION = 1
# What zipfile, json and numpy raise on bytes that make no sense to them.
DAMAGE = (BadZipFile, KeyError, TypeError, ValueError, EOFError, RuntimeError, zlib.error)
KIND = "karat lexical index"
ARRAYS = {"lengths": "int32", "offsets": "int64", "documents": "int32", "counts": "uint16"}


def save(index: LexicalIndex, path: str | os.PathLike[str]) -> None:
    """Write *index* to the file *path*, whole or not at all."""
    postings = index.compact()
    header = {
        "kind": KIND,
        "version": VERSION,
        "rules": asdict(index.rules),
        "bm25": asdict(index.bm25),
    }
    with replacing(path) as stream, ZipFile(stream, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("terms.txt", "\n".join(index.terms))
        for name in ARRAYS:
            packed = BytesIO()
            np.lib.format.write_array(packed, getattr(postings, name), allow_pickle=False)
            archive.writestr(f"{name}.npy", packed.getbuffer())


def load(path: str | os.PathLike[str]) -> LexicalIndex:
    """Return the index in the file *path*; raise InputError where it is damaged or too new."""
    name = os.fspath(path)
    try:
        with ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            check_version(header, name)
            text = archive.read("terms.txt").decode()
            columns = {
                column: np.lib.format.read_array(
                    BytesIO(archive.read(f"{column}.npy")), allow_pickle=False
                )
                for column in ARRAYS
            }
            rules, bm25 = TokenRules(**header["rules"]), BM25(**header["bm25"])
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{name}: a damaged {KIND}: {error}; index the corpus anew") from error
    terms = text.split("\n") if text else []
    check_columns(columns, len(terms), name)
    postings = Postings(first=0, **columns)
    return LexicalIndex.of_parts([postings], terms, rules=rules, bm25=bm25)


def check_version(header: Any, name: str) -> None:
    """Raise InputError unless *header* is that of an index which this version of Karat reads."""
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise InputError(f"{name}: no {KIND}")
    if header.get("version") != VERSION:
        raise InputError(
            f"{name}: version {header.get('version')!r} of a {KIND}; expected {VERSION}, "
            "index the corpus anew"
        )


def check_columns(columns: dict[str, NDArray[Any]], terms: int, name: str) -> None:
    """Raise InputError unless the columns fit each other, so that no search can run astray."""
    lengths, offsets = columns["lengths"], columns["offsets"]
    documents, counts = columns["documents"], columns["counts"]
    fits = (
        all(columns[key].ndim == 1 and columns[key].dtype == ARRAYS[key] for key in ARRAYS)
        and len(offsets) == terms + 1
        and offsets[0] == 0
        and offsets[-1] == len(documents) == len(counts)
        and not np.any(np.diff(offsets) < 0)
        and (not len(documents) or (documents.min() >= 0 and documents.max() < len(lengths)))
    )
    if not fits:
        raise InputError(f"{name}: a damaged {KIND}: its columns do not fit each other")
