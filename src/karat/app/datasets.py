"""Datasets as they are uploaded: read within limits, told by line what is wrong, and kept."""

import shutil
from pathlib import Path
from typing import NamedTuple

from karat.app.archives import ArchiveLimits, unpack
from karat.errors import FormatError, InputError, LimitExceeded
from karat.formats import DEFAULT, Limits, read_dataset
from karat.model import Dataset
from karat.store.service import ServiceStore

__all__ = ["Upload", "add_dataset", "read_upload"]

SCHEMA_VERSION = "1.0"
ZIP = b"PK\x03\x04"
PACKED = (b"\x1f\x8b", b"PAR1")  # gzip and Parquet
NOT_PLAIN = "the file is packed; expected it as plain text, or a BEIR folder as a zip"


class Upload(NamedTuple):
    """A file, and what it is to be called and by whom."""

    file: Path
    owner: str
    name: str
    description: str = ""
    limits: Limits = DEFAULT


class Refused(NamedTuple):
    """Why a file cannot be taken; errors themselves do not travel between processes."""

    reason: str
    too_large: bool


def read_upload(file: Path, limits: Limits = DEFAULT) -> Dataset:
    """Return the gold set in *file*, of any format, within *limits*.

    Of several files, as BEIR has them, it is a zip. Anything else that is packed is refused: how
    large it becomes is known too late.
    """
    if _begins(file, *PACKED):
        raise InputError(NOT_PLAIN)
    zipped = _begins(file, ZIP)
    gold = _from_beir(file, limits) if zipped else read_dataset(file, limits=limits)
    if len(gold) > limits.upload_queries:
        raise LimitExceeded(f"{len(gold):,} queries; at most {limits.upload_queries:,} are allowed")
    for row, query in enumerate(gold.query_ids):
        if not gold.texts[row].strip():
            raise InputError(f"query {query!r} has no text to search for")
        count = gold.offsets[row + 1] - gold.offsets[row]
        if count > limits.upload_judgments:
            raise LimitExceeded(
                f"query {query!r} has {count:,} judgments; at most {limits.upload_judgments:,} "
                "are allowed"
            )
    return gold


def _from_beir(file: Path, limits: Limits) -> Dataset:
    """Return the queries and judgments of a zipped BEIR folder; its corpus may be left out."""
    bounds = ArchiveLimits(limits.upload_bytes * 10, files=100, ratio=100)
    target = file.with_name("beir")
    unpack(file, target, bounds)
    try:
        files = sorted(path for path in target.rglob("*") if path.is_file())
        if any(_begins(found, *PACKED) for found in files):
            raise InputError(NOT_PLAIN)
        for found in files:
            if found.name == "queries.jsonl":
                return read_dataset(found.parent, format="beir", limits=limits)
    finally:
        shutil.rmtree(target)
    raise InputError("the archive holds no queries.jsonl; expected a BEIR folder")


def _begins(file: Path, *signs: bytes) -> bool:
    with file.open("rb") as stream:
        return stream.read(4).startswith(signs)


def add_dataset(store: str, upload: Upload) -> str | Refused:
    """Keep an uploaded gold set in *store* and return its id, or why it is refused.

    To be called in a process of its own: a large file takes seconds to read.
    """
    try:
        gold = read_upload(upload.file, upload.limits)
        with ServiceStore(store) as opened:
            return opened.datasets.add(
                upload.owner,
                upload.name,
                description=upload.description,
                gold=gold,
                schema_version=SCHEMA_VERSION,
            ).id
    except InputError as error:
        # The folder is ours, and tells nobody anything.
        reason = str(error).replace(f"{upload.file.parent}/", "")
        too_large = isinstance(error, LimitExceeded) and not isinstance(error, FormatError)
        return Refused(reason, too_large)
