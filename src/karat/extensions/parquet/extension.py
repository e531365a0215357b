"""What the extension adds: the format of runs in Parquet."""

from karat.extension import Extension

EXTENSION = Extension(
    "parquet",
    "Read and write runs of millions of rows in Parquet, in one file or in parts.",
    adds={"format": {"parquet": "karat.extensions.parquet.run:FORMAT"}},
)
