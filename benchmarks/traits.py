"""Audit of the traits of files: source files held back by a name, and copies that are not.

    python benchmarks/traits.py --tree FOLDER [--projects owner/name ...] [--list]

FOLDER has one bare repository per project, named ``owner+name/repo`` or ``owner+name``. For each
project at HEAD, the script counts source files by trait and prints groups: a trait, and the folder
or file name that decides about it. With --list, every group shows some of its files. A last group
has source files without a trait whose text or name suggests that they are generated or a copy.
Whether a group is right is decided by reading it; the decisions are in README.md.
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

# This folder's statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from question_sets import repository  # noqa: E402

from karat.corpus import Trait, classify, from_git  # noqa: E402
from karat.corpus.chunkers.grammars import CONFIG, PROSE  # noqa: E402
from karat.corpus.git_objects import git  # noqa: E402

PROJECTS = (
    *("prometheus/prometheus", "jquery/jquery", "redis/redis", "pytest-dev/pytest"),
    *("BurntSushi/ripgrep", "psf/requests", "spring-projects/spring-petclinic"),
    *("neovim/neovim", "astral-sh/uv", "Muvon/octocode"),
)
HELD = Trait.TEST | Trait.DOCS | Trait.VENDORED | Trait.GENERATED | Trait.MINIFIED
SUSPECT = re.compile(r"generated (?:by|from|with|using)|auto-?generated|do not edit", re.IGNORECASE)
SUSPECT_PATH = re.compile(
    r"(?:^|/)(?:old|backup|bak|legacy|deprecated|copy|orig|dist|build|out|deps|external|extern"
    r"|contrib|fixtures?|mocks?|snapshots?|testutils?|test_?helpers?|golden)(?:/)"
    r"|\.(?:orig|bak|old)$|_copy\.|generated",
    re.IGNORECASE,
)
HEAD_CHARACTERS = 3000
SHOWN = 4


def reason(path: str, trait: Trait) -> str:
    """Return the folder that gives a file its trait, else its name."""
    folders = path.split("/")[:-1]
    for depth, folder in enumerate(folders):
        if trait in classify(f"{folder}/x.{path.rpartition('.')[2]}").traits:
            return "/".join(folders[: depth + 1]) + "/"
    return "name" if trait in classify(path).traits else "text"


def main() -> None:
    """Print the counts and the groups of every project."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--projects", nargs="+", default=PROJECTS)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    for project in arguments.projects:
        place = repository(arguments.tree, project)
        corpus = from_git(place)
        commit = git(place, "rev-parse", "--short=12", "HEAD").decode().strip()
        sources = [d for d in corpus if d.language and d.language not in PROSE | CONFIG]
        counts: Counter[str] = Counter()
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for document in sources:
            held = document.traits & HELD
            for trait in held:
                counts[str(trait.name)] += 1
                groups[str(trait.name), reason(document.path, trait)].append(document.path)
            if not held:
                counts["production"] += 1
                head = corpus.read(document.path)[:HEAD_CHARACTERS] if arguments.list else ""
                if SUSPECT.search(head) or SUSPECT_PATH.search(document.path):
                    groups["suspect", "text" if SUSPECT.search(head) else "path"].append(
                        document.path
                    )
        shown = ", ".join(f"{count:,} {name.lower()}" for name, count in counts.most_common())
        print(f"{project} {commit}: {len(sources):,} source files: {shown}", flush=True)
        if not arguments.list:
            continue
        for (name, why), paths in sorted(groups.items(), key=lambda group: -len(group[1])):
            step = max(1, len(paths) // SHOWN)
            print(f"  {name:9} {len(paths):5,} {why}: {', '.join(paths[::step][:SHOWN])}")


if __name__ == "__main__":
    main()
