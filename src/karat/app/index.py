"""Index the documents of a collection: check its options, cut it into chunks, name its commit."""

from pathlib import Path

from karat.corpus import CHUNKERS, Corpus, chunk_corpus, create_chunker
from karat.corpus.chunkers.chunking import ChunkedCorpus
from karat.corpus.git_objects import git
from karat.engines.caches import user_caches
from karat.engines.embedding.base import PACKAGED, missing_modules
from karat.errors import InputError, UnknownName
from karat.installation import install_hint, without_checkout
from karat.model.spec import parse_call


def model_installs() -> dict[str, str]:
    """Return the command that installs each packaged embedding model, empty for installed ones.

    The command names the distribution, never a folder: clients of a service read it.
    """
    hint = without_checkout(install_hint("dense"))
    return {model: hint if missing_modules(model) else "" for model in PACKAGED}


# Maximum number of chunks that may repeat a line or word: each is stored and embedded.
MOST_COPIES = 10


def check_cutting(chunker: str) -> None:
    """Raise InputError for an unknown *chunker*, or for one whose overlap is too large.

    >>> check_cutting("window(unit=characters, size=100, overlap=95)")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'window': overlap is 95; expected at most 90 of 100 here
    """
    name, _ = parse_call(chunker)
    try:
        # Check the name first: create_chunker would import an unknown name as a module.
        CHUNKERS.canonical(name.partition(":")[0])
        spec = create_chunker(chunker).spec
    except UnknownName as error:
        raise InputError(str(error)) from None
    size, overlap = spec.params.get("size"), spec.params.get("overlap")
    if isinstance(size, int) and isinstance(overlap, int):
        most = size * (MOST_COPIES - 1) // MOST_COPIES
        if overlap > most:
            raise InputError(
                f"chunker {spec.name!r}: overlap is {overlap}; expected at most {most} of {size} "
                "here"
            )


HEAD = "HEAD"


FIELDS = ("id", "committed_at", "subject")


def commit_of(folder: Path, revision: str | None = None) -> dict[str, str] | None:
    """Return the id, the time and the subject of *revision*; None if Git does not know it.

    Without a revision it is the commit that is checked out, if the folder is in it: whatever was
    changed there and not committed is not included.
    """
    try:
        if revision is None:
            git(str(folder), "rev-parse", "--verify", "--quiet", f"{HEAD}:./")
        # Unlike git log, rev-list ignores the configuration of the repository.
        printed = git(
            str(folder),
            "rev-list",
            "--max-count=1",
            "--format=%H%x00%cI%x00%s",
            "--end-of-options",
            revision or HEAD,
        )
    except InputError:
        return None
    _, _, line = printed.decode(errors="replace").partition("\n")
    return dict(zip(FIELDS, line.rstrip("\n").split("\0"), strict=True))


def pinned_commit(folder: Path, revision: str) -> str:
    """Return the commit that *revision* is now: a branch moves on, what is searched must not."""
    try:
        commit = git(
            str(folder), "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"
        )
    except InputError as error:
        raise InputError(
            f"{str(folder)!r} has no revision {revision!r}; expected a commit, a tag or a branch "
            "of a Git repository"
        ) from error
    return commit.decode().strip()


def check_model(model: str) -> None:
    """Raise InputError where the packaged *model* is not installed, before anything is indexed."""
    if missing := missing_modules(model):
        installs = model_installs()
        installed = [name for name, install in installs.items() if not install]
        instead = f"choose {' or '.join(installed)}, or " if installed else ""
        raise InputError(
            f"the embedding model {model!r} is not installed on this service (it lacks "
            f"{', '.join(missing)}); {installs[model]} installs it; {instead}set "
            '"dense": false'
        )


def chunk_documents(corpus: Corpus, chunker: str) -> ChunkedCorpus:
    """Return *corpus* cut into chunks, which are cached for the engines that will index it."""
    with user_caches(True).chunks() as cache:
        return chunk_corpus(corpus, create_chunker(chunker), cache=cache)
