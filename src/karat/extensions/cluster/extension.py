"""What the extension adds: executors on other machines, and the command karat executors."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "cluster",
    "Run experiments on the workers of a Dask or Ray cluster.",
    commands={
        "executors": Command(
            "karat.extensions.cluster.command:command",
            "Show the slots of an executor, and which would be rejected.",
            "Run engines",
            after="engines",
        )
    },
    adds={
        "executor": {
            "dask": "karat.extensions.cluster.dask:dask_executor",
            "dask+tls": "karat.extensions.cluster.dask:dask_tls_executor",
            "ray": "karat.extensions.cluster.ray:ray_executor",
        }
    },
)
