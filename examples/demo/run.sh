#!/usr/bin/env bash
# From the history of a repository to an answer, by Karat's own commands: run.sh [REPOSITORY]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=${1:-.}
work=build/demo
gold=$work/gold.json
# With fewer cases, hardly any difference between two searches could be told from chance.
fewest=30

show() {
    echo "\$ karat $*"
    karat "$@"
}

mined() { # whether the history of $1 gives enough cases
    show generate --repo "$1" --limit 100 -o "$gold" && (($(grep -c '"commit_hash"' "$gold") >= fewest))
}

if (($#)) && ! git -C "$1" rev-parse --git-dir >/dev/null 2>&1; then
    echo "error: $1 is no Git repository" >&2
    exit 2
fi
mkdir -p "$work"
if ! mined "$repository"; then
    echo
    echo "$repository gives fewer than $fewest cases, too few to compare searches on. Instead: the"
    echo "first commits of Karat itself, which come along in examples/demo/history.bundle."
    echo
    rm -rf "$work/karat.git"
    git clone --quiet --bare "$here/history.bundle" "$work/karat.git"
    mined "$work/karat.git"
fi
echo
# Word vectors embed a large repository in seconds. A transformer, as in `balanced`, takes minutes.
show compare "$gold" --agents keyword bm25 "dense(model=static)" "hybrid(model=static)" \
    -m ndcg@10,mrr@10,hit@5 --timed 20 --losses --store "$work/karat.db" -o demo.html
echo
echo "Open demo.html in a browser: one file, every query, no network. Then, with .venv/bin in your PATH:"
echo "  karat inspect $gold                                     read the cases"
echo "  karat compare $gold --agents bm25 balanced              run a transformer as well (takes several minutes the first time)"
echo "  karat runs show latest --store $work/karat.db       the stored results"
