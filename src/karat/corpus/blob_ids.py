"""The name that Git gives to the bytes of a file."""

from hashlib import sha1

__all__ = ["blob_id"]


def blob_id(data: bytes) -> str:
    r"""Return the id that Git gives to *data*, so that a folder and a revision agree.

    >>> blob_id(b"hello\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    # Git's choice of hash: it names content here and keeps no secret.
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
