"""Texts a second of hub models on the GPU: Karat against sentence-transformers alone, in one run.

Models have the shape of real ones and random weights, so that no hub is needed; their speed is that
of trained ones. The texts are pieces of the source below --tree. Wall time counts, because a GPU
has no CPU time: run it on a machine that does nothing else.

    python benchmarks/gpu.py                        # speed, batch sizes, an index, short memory
    python benchmarks/gpu.py --only agreement --texts FOLDER --gold GOLD.json
        # ranks and nDCG of granite, converted for torch, in each precision
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path.pop(0)

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from karat.engines.embedding import create_embedder
from karat.extensions.models import device as placement
from karat.extensions.models.device import Batches, Placement

# Layers, width, and texts that a run embeds.
SHAPES = {"6 x 384": (6, 384, 20_000), "24 x 1024": (24, 1024, 4_000)}
CHARACTERS = 1_570
VOCABULARY = 30_000
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")


def pieces(tree: Path, most: int) -> list[str]:
    """Return the first *most* pieces of the Python files below *tree*."""

    def cut() -> Iterator[str]:
        for path in sorted(tree.rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            for start in range(0, len(text), CHARACTERS):
                yield text[start : start + CHARACTERS]

    return [text for text, _ in zip(cut(), range(most), strict=False)]


def made_model(folder: Path, layers: int, width: int, texts: list[str]) -> Path:
    """Write a BERT of that shape with random weights, and a WordPiece vocabulary of *texts*."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = BertWordPieceTokenizer(lowercase=True)
    words.train_from_iterator(texts[:2_000], vocab_size=VOCABULARY, show_progress=False)
    words.save_model(str(folder))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    made = SentenceTransformer(str(folder / "bert"), device="cpu")
    made.max_seq_length = 512
    made.save(str(folder / "st"))
    return folder / "st"


def rate(texts: list[str], embed: Callable[[list[str]], object]) -> float:
    """Return texts a second, after a warm-up."""
    embed(texts[:200])
    _finished()
    start = time.perf_counter()
    embed(texts)
    _finished()
    return len(texts) / (time.perf_counter() - start)


def _finished() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def speed(tree: Path, share: float) -> dict[str, Any]:
    """Measure each shape: the library by precision and batch, Karat by its options."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows: dict[str, Any] = {}
    for name, (layers, width, count) in SHAPES.items():
        texts = pieces(tree, max(64, int(count * share)))
        with tempfile.TemporaryDirectory() as folder:
            model = made_model(Path(folder), layers, width, texts)
            row: dict[str, float] = {}
            for precision in ("float32", "bfloat16"):
                library = SentenceTransformer(str(model), device=device)
                library.to(getattr(torch, precision))
                for batch in (32, 256, 1_024):
                    row[f"library {precision} {batch}"] = rate(
                        texts,
                        lambda some, batch=batch, library=library: library.encode(
                            some,
                            batch_size=batch,
                            show_progress_bar=False,
                            convert_to_tensor=True,
                        ),
                    )
                del library
            for option in ("?precision=float32", ""):
                karat = create_embedder(f"st:{model}{option}")
                row[f"karat {option or 'default'}"] = rate(texts, karat.embed)
                del karat
            for size in (128, 256, 512, 1_024, 2_048):
                placement.TEXTS_ON_GPU = size
                karat = create_embedder(f"st:{model}")
                row[f"karat batch {size}"] = rate(texts, karat.embed)
                del karat
            placement.TEXTS_ON_GPU = 512
            rows[name] = {key: round(value) for key, value in row.items()}
            print(name, json.dumps(rows[name]), flush=True)
    return rows


def index(tree: Path) -> dict[str, float]:
    """Index *tree* with the small model, without a cache."""
    from karat.corpus import from_folder
    from karat.engines.builtin import dense

    layers, width, _ = SHAPES["6 x 384"]
    with tempfile.TemporaryDirectory() as folder:
        model = made_model(Path(folder), layers, width, pieces(tree, 2_000))
        corpus = from_folder(tree)
        seconds = {}
        for option in ("?precision=float32", ""):
            engine = dense(model=f"st:{model}{option}", cache=False)
            start = time.perf_counter()
            engine.index(corpus)
            seconds[option or "default"] = round(time.perf_counter() - start, 1)
    print("index", len(corpus), "files", json.dumps(seconds), flush=True)
    return seconds


def short_memory(tree: Path) -> dict[str, Any]:
    """Embed with a share of the memory that the first batch does not fit in."""
    layers, width, _ = SHAPES["24 x 1024"]
    texts = pieces(tree, 1_500)
    with tempfile.TemporaryDirectory() as folder:
        model = made_model(Path(folder), layers, width, texts)
        whole = create_embedder(f"st:{model}").embed(texts)
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(3 * 2**30 / total)
        karat = create_embedder(f"st:{model}")
        rows = karat.embed(texts)
        left: Batches = karat._batches  # type: ignore[attr-defined]  # noqa: SLF001
        torch.cuda.set_per_process_memory_fraction(1.0)
    cosine = float((whole * rows).sum(axis=1).min())
    result = {"batch with 3 GiB": left.size, "smallest cosine": round(cosine, 5)}
    print("short memory", json.dumps(result), flush=True)
    return result


def granite_for_torch(folder: Path) -> Path:
    """Write the packaged granite model, its weights as floats, as a sentence-transformers model."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    from karat.extensions.models.packaged import GRANITE, _header, _tensors, read_tokenizer

    content = GRANITE.read()
    header, start = _header(content)
    tensors = _tensors(content, start + header["tokenizer_len"], header["tensors"])
    arch = header["arch"]

    def floats(name: str) -> "torch.Tensor":
        tensor = tensors[name]
        rows = tensor if isinstance(tensor, np.ndarray) else tensor.rows()
        return torch.tensor(np.array(rows, np.float32))

    words = floats("word_emb")
    config = RobertaConfig(
        vocab_size=words.shape[0],
        hidden_size=words.shape[1],
        num_hidden_layers=arch["layers"],
        num_attention_heads=arch["heads"],
        intermediate_size=floats("l0.f1.w").shape[0],
        max_position_embeddings=floats("pos_emb").shape[0],
        layer_norm_eps=arch["layer_norm_eps"],
        type_vocab_size=floats("type_emb").shape[0],
        pad_token_id=1,
    )
    model = RobertaModel(config, add_pooling_layer=False)
    state = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": floats("pos_emb"),
        "embeddings.token_type_embeddings.weight": floats("type_emb"),
        "embeddings.LayerNorm.weight": floats("emb_ln.w"),
        "embeddings.LayerNorm.bias": floats("emb_ln.b"),
    }
    for number in range(arch["layers"]):
        start_of = f"encoder.layer.{number}"
        for kind in ("w", "b"):
            there = "weight" if kind == "w" else "bias"
            parts = torch.chunk(floats(f"l{number}.qkv.{kind}"), 3)
            for part, value in zip(("query", "key", "value"), parts, strict=True):
                state[f"{start_of}.attention.self.{part}.{there}"] = value
            for name, target in (
                ("ao", "attention.output.dense"),
                ("aln", "attention.output.LayerNorm"),
                ("f1", "intermediate.dense"),
                ("f2", "output.dense"),
                ("fln", "output.LayerNorm"),
            ):
                state[f"{start_of}.{target}.{there}"] = floats(f"l{number}.{name}.{kind}")
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or [name for name in missing if "position_ids" not in name]:
        sys.exit(f"weights do not fit: {missing} {unexpected}")
    model.save_pretrained(folder / "model")
    tokenizer = Tokenizer.from_str(read_tokenizer(content, GRANITE.path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    special = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": text for name, text in special.items()}
    ).save_pretrained(folder / "model")
    from sentence_transformers.sentence_transformer import modules

    words_module = modules.Transformer(str(folder / "model"), max_seq_length=256)
    pooling = modules.Pooling(words_module.get_embedding_dimension(), pooling_mode="cls")
    SentenceTransformer(modules=[words_module, pooling], device="cpu").save(str(folder / "st"))
    return folder / "st"


def agreement(texts: Path, gold: Path) -> dict[str, Any]:
    """Compare the ranks of chunks and nDCG@10 of files in each precision on the queries of *gold*.

    *texts* is the folder of the files; *gold* a JSON list of a query and a path.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    questions = json.loads(gold.read_text(encoding="utf-8"))
    chunks: list[tuple[str, str]] = []
    for path in sorted(texts.rglob("*")):
        if path.suffix in (".py", ".rst", ".md") and path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            name = path.relative_to(texts).as_posix()
            chunks += [(name, "\n".join(lines[at : at + 30])) for at in range(0, len(lines), 30)]
    with tempfile.TemporaryDirectory() as folder:
        model = granite_for_torch(Path(folder))
        result: dict[str, Any] = {"chunks": len(chunks), "queries": len(questions)}
        rankings = {}
        for precision in ("float32", "bfloat16", "float16"):
            karat = create_embedder(f"st:{model}?device={device}&precision={precision}")
            rows = karat.embed([text for _, text in chunks])
            asked = karat.embed([query for query, _ in questions], kind="query")
            order = np.argsort(-(asked @ rows.T), axis=1, kind="stable")[:, :100]
            rankings[precision] = order
            result[precision] = {"ndcg@10": _ndcg(order, chunks, questions)}
        full = rankings["float32"]
        for precision in ("bfloat16", "float16"):
            other = rankings[precision]
            pairs = list(zip(full[:, :10], other[:, :10], strict=True))
            result[precision] |= {
                "first hit equal": float(np.mean(full[:, 0] == other[:, 0])),
                "of the first 10": float(np.mean([len({*a} & {*b}) / 10 for a, b in pairs])),
            }
    print("agreement", json.dumps(result), flush=True)
    return result


def _ndcg(order: Any, chunks: list[tuple[str, str]], questions: list[list[str]]) -> float:
    import karat

    gold, run = {}, {}
    for number, ((_, path), row) in enumerate(zip(questions, order, strict=True)):
        files = list(dict.fromkeys(chunks[at][0] for at in row))
        gold[str(number)] = {path: 1}
        run[str(number)] = {name: 1 / rank for rank, name in enumerate(files, 1)}
    return round(karat.evaluate(gold, run, ["ndcg@10"])["ndcg@10"], 4)


def main() -> None:
    """Print what *--only* names, and write all of it to *--out*."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(torch.__file__).parent)
    parser.add_argument("--share", type=float, default=1.0, help="share of the texts")
    parser.add_argument("--only", nargs="*", default=["speed", "index", "memory"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(torch.__version__, Placement(*placement.place(placement.ModelChoice(""))).text)
    steps: dict[str, Callable[[], Any]] = {
        "speed": lambda: speed(options.tree, options.share),
        "index": lambda: index(options.tree),
        "memory": lambda: short_memory(options.tree),
        "agreement": lambda: agreement(options.texts, options.gold),
    }
    results = {name: steps[name]() for name in options.only}
    if options.out:
        options.out.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
