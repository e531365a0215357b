"""Zstandard: whole files, and members of zip archives, which Python reads itself from 3.14 on."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import FormatError, MissingExtra, Problem

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MAGIC = b"\x28\xb5\x2f\xfd"
# The header of a member of an archive: its name and extra field stand before the data.
MEMBER = struct.Struct("<4s5H3I2H")


def decompressed(data: bytes, source: str) -> bytes:
    """Return Zstandard *data* as it was before; *source* is named in errors."""
    try:
        import zstandard
    except ImportError:
        purpose = f"{source}: Zstandard compression"
        raise MissingExtra("zstandard", extra="zstd", purpose=purpose) from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            plain: bytes = stream.read()
    except zstandard.ZstdError as error:
        raise FormatError([Problem(source, 0, str(error))]) from None
    return plain


def member(archive: "ZipFile", info: "ZipInfo", path: Path) -> bytes:
    """Return the bytes of a member of *archive*, which was opened from *path*."""
    try:
        return archive.read(info)
    except NotImplementedError:
        with path.open("rb") as stream:
            stream.seek(info.header_offset)
            header = MEMBER.unpack(stream.read(MEMBER.size))
            stream.seek(header[-2] + header[-1], 1)
            packed = stream.read(info.compress_size)
        return decompressed(packed, f"{path}/{info.filename}")
