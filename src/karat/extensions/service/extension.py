"""What the extension adds: the service, its access tokens, and the commands of ``--server``."""

from karat.extension import Command, Extension

COMMANDS = "karat.extensions.service.commands"
TEAM = "Serve a team"
USE = "Use the service"
REMOTE_HELP = """Use a Karat service.

\b
karat --server URL collections create docs --path /srv/docs
karat --server URL datasets upload gold.json
karat --server URL sweep gold --collection docs --matrix matrix.yaml
karat --server URL runs list
karat --server URL report latest -o report.html
"""

EXTENSION = Extension(
    "service",
    "Serve benchmarks to a team: an API, a web page, jobs and a client.",
    commands={
        "serve": Command(f"{COMMANDS}.serve:command", "Start the service: API and web page.", TEAM),
        "token": Command(
            f"{COMMANDS}.token:command", "Create, list and revoke access tokens of a service.", TEAM
        ),
    },
    remote={
        "collections": Command(
            f"{COMMANDS}.remote:collections",
            "Create, list, reindex and delete collections of documents.",
            USE,
        ),
        "datasets": Command(
            f"{COMMANDS}.remote:datasets", "Upload, list and delete gold sets.", USE
        ),
        "engines": Command(f"{COMMANDS}.remote:engines", "List the engines of the service.", USE),
        "sweep": Command(f"{COMMANDS}.remote:sweep", "Compare many configurations.", USE),
        "runs": Command(
            f"{COMMANDS}.remote:runs", "List, show, cancel and delete benchmarks.", USE
        ),
        "report": Command(f"{COMMANDS}.remote:report", "Write the report of a benchmark.", USE),
    },
    remote_help=REMOTE_HELP,
    adds={
        "job": {
            "benchmark": "karat.extensions.service.jobs.benchmark:BenchmarkJob",
            "index": "karat.extensions.service.jobs.collection:IndexJob",
            "resolve": "karat.extensions.service.jobs.collection:ResolveJob",
        },
        "tables": {"service": "karat.extensions.service.store.schema:TABLES"},
    },
    needs=("analyze", "mining", "ndcg"),
)
